"""Harnesses on container tasks: what a rollout records, and what a bad harness cannot do."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.actors.fakes import ListedModel, SlowModel, provider_error
from tests.actors.fakes import candidate as parts
from tests.rollouts.harnesses import LOOP, asks, calling, harness, results, with_files
from tests.tasks.containers.folders import TOML, write_task

from heredity import library
from heredity.actors.contract import Solving
from heredity.errors import ConfigError
from heredity.gateway import Model
from heredity.judging.rollouts import outcome_of
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import candidate_from_folder
from heredity.rollouts.container.runner import ContainerRunner
from heredity.rollouts.container.shell import shortened, shown
from heredity.rollouts.contract import Job
from heredity.rollouts.programs import ProgramLimits, SandboxedPrograms
from heredity.rollouts.trajectory import Trajectory
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.containers import BubblewrapBackend, ContainerLimits, ExecResult
from heredity.sandbox.limits import Limits
from heredity.tasks import Task, TasksetInfo
from heredity.tasks.containers import read_task

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(available() is not None, reason=f"container tasks cannot be isolated here: {available()}"),
]
EXAMPLE = Path(library.__path__[0]) / "harnesses" / "worker"
GREET = "printf hello > greeting.txt"
LIMITS = Limits(act_s=1.0, episode_s=20.0)
INFO = TasksetInfo("tasks/small", "1", "container", {}, {}, "Small.", 0.0)
PLAIN = harness(None)


class Place:
    """A backend, programs and tasks for one module of tests."""

    def __init__(self, backend: BubblewrapBackend, programs: SandboxedPrograms, folder: Path) -> None:
        self.backend, self.programs, self.folder = backend, programs, folder

    def task(self, name: str = "greeting", split: str = "train", **given: str) -> Task:
        folder = self.folder / name
        read = read_task(folder if folder.exists() else write_task(folder, **given))  # type: ignore[arg-type]
        spec = {"folder": str(folder), "domain": "small", "name": name, "digest": read.digest}
        return Task(f"{split}/0", split, 0, spec)

    def runner(self, model: Model, concurrent: int = 2, **settings: Any) -> ContainerRunner:
        solving = Solving(**{"tool_seconds": 5.0, **settings})
        return ContainerRunner(
            model, backend=self.backend, programs=self.programs, settings=solving, concurrent=concurrent
        )

    async def run(self, runner: ContainerRunner, jobs: Sequence[Job], limits: Limits = LIMITS) -> list[Trajectory]:
        found = {position: trajectory async for position, trajectory in runner.run(jobs, limits)}
        return [found[position] for position in range(len(jobs))]


Rollout = Callable[..., Awaitable[Trajectory]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    backend = BubblewrapBackend(ContainerLimits(processes=64))
    async with SandboxedPrograms(2, ProgramLimits(memory_bytes=256 << 20)) as programs:
        yield Place(backend, programs, tmp_path_factory.mktemp("tasks"))
    await backend.close()


@pytest.fixture
def attempt(place: Place) -> Rollout:
    async def attempted(
        candidate: Candidate = PLAIN, model: Model | None = None, task: Task | None = None, **settings: Any
    ) -> Trajectory:
        limits = settings.pop("limits", LIMITS)
        jobs = [Job(INFO, candidate, task or place.task(), policy_seed=7)]
        [found] = await place.run(place.runner(model or calling(GREET), **settings), jobs, limits)
        assert Trajectory.decode(found.encode()).status == found.status
        list(found.rows())
        return found

    return attempted


def last(trajectory: Trajectory, key: str) -> Any:
    return trajectory.columns[f"info/{key}"][-1]


# --- what a rollout records


async def test_work_that_passes_is_rewarded_and_work_that_does_not_says_why(place: Place, rollout: Rollout) -> None:
    task = place.task(
        "told", test="cat /app/greeting.txt; [ -e /app/greeting.txt ]; echo $((1 - $?)) > /logs/verifier/reward.txt\n"
    )
    good, bad = await attempt(task=task), await attempt(model=calling("ls"), task=task)
    assert (good.status, good.failure_source, good.total_reward, good.terminated) == ("ok", "none", 1.0, True)
    assert (last(good, "correct"), last(good, "reason"), last(good, "ended")) == (True, "", "answered")
    assert (bad.status, bad.failure_source, bad.total_reward) == ("ok", "none", 0.0)
    assert last(bad, "correct") is False
    assert "No such file" in last(bad, "reason")
    assert bad.columns["obs"][-1] == f"reward 0: {last(bad, 'reason')}"
    assert last(bad, "question") == "Write hello into /app/greeting.txt."
    assert good.cost["tool_calls"] == 1
    assert good.cost["model_calls"] == 2
    assert {"input_tokens", "output_tokens", "cost_usd"} <= good.cost.keys()
    assert good.columns["reward"].tolist() == [0.0, 1.0]  # type: ignore[union-attr]


@pytest.mark.parametrize("candidate", [PLAIN, harness()], ids=["default loop", "own program"])
async def test_the_shell_says_what_was_printed_and_how_the_command_ended(
    rollout: Rollout, candidate: Candidate
) -> None:
    model = calling(
        "echo one; echo two >&2; false", "pwd; cd /; x=1", "pwd; echo $x", "printf %9000d 0", "no-such-command"
    )
    told = results(list((await attempt(candidate, model, tool_output_chars=500)).rows()))
    assert told[0] == "one\n[stderr]\ntwo\n[exit code: 1]"
    assert told[1:3] == ["/app\n[exit code: 0]", "/app\n[exit code: 0]"]
    assert len(told[3]) <= 500
    assert "characters left out]" in told[3]
    assert "not found" in told[4]
    assert told[4].endswith("[exit code: 127]")


async def test_both_ends_of_what_is_too_long_are_shown() -> None:
    assert shortened("ab" * 50, 10) == "ababa\n[90 characters left out]\nbabab"
    text = shown(ExecResult(0, "o" * 5000, "e" * 5000), 1000)
    assert len(text) <= 1000
    assert "ooo" in text
    assert "eee" in text
    assert shown(ExecResult(137, "", "", "timeout"), 100) == "[exit code: 137, ended: it took too long]"
    assert len(shown(ExecResult(0, "x" * 500, ""), 1)) < 100


async def test_a_command_may_take_the_time_of_a_tool_and_no_more(rollout: Rollout) -> None:
    found = await attempt(model=calling("echo begun; sleep 60", GREET), tool_seconds=0.3)
    assert results(list(found.rows()))[0].startswith("begun\n[exit code: 137, ended")
    assert found.total_reward == 1.0


async def test_a_model_without_tool_calls_may_write_its_actions(rollout: Rollout) -> None:
    about = json.dumps({"parameters": {"style": "react"}})
    react = Candidate({"prompt/system": SourceTree({"prompt.md": "Work.", "resource.json": about})})
    model = ListedModel([f'<action>{{"action": "shell", "params": {{"command": "{GREET}; ls"}}}}</action>', "done"])
    found = await attempt(react, model)
    assert found.total_reward == 1.0
    assert "Runs a command with bash" in found.columns["obs"][0]
    assert found.columns["obs"][1] == "<observation>\ngreeting.txt\n[exit code: 0]\n</observation>"


async def test_tools_of_a_candidate_reach_the_shell(rollout: Rollout) -> None:
    tool = "from heredity_harness import shell\n\ndef run(command: str):\n    return shell(command).splitlines()\n"
    for program in (None, LOOP):
        found = await attempt(harness(program, tool_lines=tool), calling(f"{GREET}; ls", tool="lines"))
        assert results(list(found.rows())) == ['["greeting.txt", "[exit code: 0]"]']
        assert (found.total_reward, found.cost["tool_calls"]) == (1.0, 2.0)


async def test_wrong_arguments_are_told_and_not_run(rollout: Rollout) -> None:
    model = ListedModel([asks("shell", {"cmd": "ls"}), asks("shell", {"command": 7}, 1), "done"])
    for candidate in (PLAIN, harness()):
        told = results(list((await attempt(candidate, model)).rows()))
        assert "shell has no command" in told[0]
        assert "must be string" in told[1]
        model.asked.clear()
    asked = harness('from heredity_guest import ask\n\ndef solve(problem, host):\n    return ask("shell", "ls")\n')
    found = await attempt(asked)
    assert (found.status, found.failure_source) == ("act_error", "candidate")
    assert found.failure is not None
    assert "shell must be object" in found.failure.message


async def test_a_candidate_may_not_have_a_shell_of_its_own(rollout: Rollout) -> None:
    found = await attempt(harness(None, tool_shell="def run(command: str):\n    return command\n"))
    assert (found.status, found.failure_source, found.length) == ("import_error", "candidate", 0)
    assert found.failure is not None
    assert "tool/shell" in found.failure.message


async def test_project_files_are_in_the_container_and_fresh_in_every_attempt(place: Place) -> None:
    made = with_files(
        harness(), {"project/run.sh": "#!/bin/sh\nprintf hello > /app/greeting.txt\n", "project/a/b": "c\n"}
    )
    model = calling("cat /harness/a/b && /harness/run.sh && rm -r /harness && ls /")
    jobs = [Job(INFO, made, place.task())] * 2
    for found in await place.run(place.runner(model, concurrent=1), jobs):
        assert found.total_reward == 1.0
        assert results(list(found.rows()))[0].startswith("c\n")
        assert "harness" not in results(list(found.rows()))[0]


async def test_the_shipped_harness_does_a_task(rollout: Rollout) -> None:
    written = asks("write-file", {"path": "deep/folder/it's.txt", "text": "h\u00e9llo $HOME `x` \\n'\"\n" * 9000})
    repeated = [asks("shell", {"command": "seq 99999"}, n) for n in (2, 3, 4)]
    model = ListedModel(
        [written, asks("shell", {"command": "wc -c deep/*/*; cat /harness/README.md"}, 1), *repeated, "done"]
    )
    found = await attempt(candidate_from_folder(EXAMPLE), model)
    told = results(list(found.rows()))
    size = len(("h\u00e9llo $HOME `x` \\n'\"\n" * 9000).encode())
    assert found.failure is None
    assert told[0] == f"{size} bytes were written to deep/folder/it's.txt"
    assert told[1].startswith(f"{size} deep/folder/it's.txt\n# Files of the harness")
    assert 4000 < len(told[2]) < 4100
    assert told[4].startswith("Not called")


# --- how a rollout ends


async def test_what_is_done_when_the_turns_are_used_up_counts(rollout: Rollout) -> None:
    found = await attempt(model=calling(GREET, *["ls"] * 9), max_turns=3)
    assert (found.status, found.failure_source, found.total_reward, found.length) == ("ok", "none", 1.0, 3)
    assert found.columns["truncated"].tolist() == [False, False, True]  # type: ignore[union-attr]
    assert last(found, "ended") == "turns"
    assert found.failure is not None
    assert found.failure.category == "no_answer"
    assert outcome_of(Task("train/0", "train", 0, {}), found, 0.0).score == 1.0


@pytest.mark.parametrize("least", ["settings", "limits", "task"])
async def test_the_time_of_an_attempt_is_the_least_of_three_and_what_is_done_counts(
    place: Place, rollout: Rollout, least: str
) -> None:
    task = place.task(least, toml=TOML.replace("[agent]\ntimeout_sec = 20", "[agent]\ntimeout_sec = 1"))
    limits = Limits(episode_s=1.0) if least == "limits" else LIMITS
    settings = {"seconds": 1.0} if least == "settings" else {}
    begun = time.monotonic()
    found = await attempt(
        model=calling(GREET, "sleep 60"), task=task if least == "task" else None, limits=limits, **settings
    )
    assert time.monotonic() - begun < 4
    assert (found.status, found.total_reward, last(found, "ended")) == ("ok", 1.0, "timeout")
    assert found.failure is not None
    assert found.failure.category == "rollout_timeout"


async def test_an_empty_reply_ends_the_work_which_counts(rollout: Rollout) -> None:
    found = await attempt(model=ListedModel([asks("shell", {"command": GREET}), ""]))
    assert (found.status, found.total_reward, last(found, "ended")) == ("ok", 1.0, "empty")


async def test_a_provider_that_fails_is_to_blame(rollout: Rollout) -> None:
    for candidate in (PLAIN, harness()):
        found = await attempt(candidate, ListedModel([asks("shell", {"command": "ls"}), provider_error("server")]))
        assert (found.status, found.failure_source, found.length) == ("provider_error", "provider", 1)


async def test_a_verifier_without_a_reward_is_the_environments_fault(place: Place, rollout: Rollout) -> None:
    found = await attempt(task=place.task("silent", test="echo I forgot\n"))
    assert (found.status, found.failure_source) == ("environment_error", "environment")
    assert found.failure is not None
    assert "reward_missing" in found.failure.message
    assert "I forgot" in found.failure.message


async def test_a_task_that_has_changed_is_the_environments_fault(place: Place, rollout: Rollout) -> None:
    task = place.task("changing")
    (place.folder / "changing" / "tests" / "test.sh").write_text("echo 1 > /logs/verifier/reward.txt\n")
    found = await attempt(task=task)
    assert (found.status, found.failure_source) == ("environment_error", "environment")
    assert found.failure is not None
    assert "has changed since the run began" in found.failure.message


async def test_a_task_that_cannot_be_built_is_the_environments_fault(place: Place, rollout: Rollout) -> None:
    found = await attempt(task=place.task("unbuilt", dockerfile="FROM debian\nRUN false\n"))
    assert (found.status, found.failure_source) == ("environment_error", "environment")


async def test_partial_rewards_and_what_was_left_behind_are_recorded(place: Place, rollout: Rollout) -> None:
    test = 'printf \'{"a": 1, "reward": 0.5}\' > /logs/verifier/reward.json; echo half\n'
    found = await attempt(
        model=calling("setsid sleep 300 & echo 1 > /logs/verifier/reward.txt; sleep 0.3"),
        task=place.task("half", test=test),
    )
    assert (found.total_reward, last(found, "correct"), last(found, "reason")) == (0.5, False, "half")
    assert last(found, "rewards") == {"a": 1.0, "reward": 0.5}
    assert any("sleep 300" in command for command in last(found, "leftovers"))
    assert last(found, "discarded") == ["/logs/verifier/reward.txt"]


async def test_a_conversation_is_on_record_once_whatever_middleware_adds_to_it(rollout: Rollout) -> None:
    adding = harness(middleware="def before_model(self, messages):\n    return [*messages, Message('user', 'Look.')]")
    said = (await attempt(adding, calling("ls", GREET))).columns["messages"]
    assert [message["role"] for message in said] == [
        "user",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]


# --- harnesses that are wrong


WRONG = {
    "forgets to return": ("def before_model(self, messages):\n    messages.append(1)", "before_model returned None"),
    "wrong type": ("def before_model(self, messages):\n    return 'x'", "before_model returned a str"),
    "a dictionary": ("def before_model(self, messages):\n    return [{}]", "before_model returned a list with a dict"),
    "no messages": ("def before_model(self, messages):\n    return []", "an empty list"),
    "content of another type": (
        "def before_model(self, messages):\n    return [Message('user', ['x'])]",
        "before_model raised ContractError: Message: content is a list",
    ),
    "reply": ("def after_model(self, reply):\n    return reply.text", "after_model returned a str"),
    "call": ("def before_tool(self, call):\n    pass", "before_tool returned None"),
    "result": ("def after_tool(self, call, result):\n    return 7", "after_tool returned a int"),
    "raises": ("def before_model(self, messages):\n    return messages[99]", "before_model raised IndexError"),
    "signature": ("def before_model(self):\n    return []", "before_model takes other arguments"),
    "misspelt": ("def before_models(self, messages):\n    return messages", "before_models is no hook"),
    "drops results": (
        "def before_model(self, messages):\n    return [m for m in messages if m.role != 'tool']",
        "a tool call without its result",
    ),
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_middleware_that_breaks_the_contract_is_named(rollout: Rollout, name: str) -> None:
    lines, message = WRONG[name]
    found = await attempt(harness(middleware=lines))
    assert (found.status, found.failure_source, found.total_reward) == ("act_error", "candidate", 0.0)
    assert found.failure is not None
    assert message in found.failure.message, found.failure.message
    assert "middleware/one.py" in found.failure.message
    assert "expected" in found.failure.message


async def test_the_authors_line_is_in_the_traceback(rollout: Rollout) -> None:
    found = await attempt(harness(middleware=WRONG["raises"][0]))
    assert found.failure is not None
    assert 'File "middleware/one.py", line 5' in found.failure.traceback
    assert "heredity_harness.py" not in found.failure.traceback


async def test_a_hook_that_loops_for_ever_ends_after_its_own_time(rollout: Rollout) -> None:
    begun = time.monotonic()
    found = await attempt(
        harness(middleware="def before_model(self, messages):\n    while True: pass"), limits=Limits(act_s=0.5)
    )
    assert time.monotonic() - begun < 5
    assert (found.status, found.failure_source, found.total_reward) == ("rollout_timeout", "candidate", 0.0)


async def test_waiting_for_the_shell_is_not_a_programs_own_time(rollout: Rollout) -> None:
    found = await attempt(harness(), calling("sleep 0.8", GREET), limits=Limits(act_s=0.5))
    assert (found.status, found.total_reward) == ("ok", 1.0)


async def test_a_hundred_megabytes_of_output_are_cut(rollout: Rollout) -> None:
    printing = harness(
        middleware="def before_model(self, messages):\n    print('x' * 100_000_000)\n    return messages"
    )
    found = await attempt(printing, calling(f"yes | head -c 100000000; {GREET}"), limits=Limits(act_s=10.0))
    assert found.total_reward == 1.0
    assert len(found.encode()) < 100_000


async def test_killing_everything_ends_only_what_is_the_agents(rollout: Rollout) -> None:
    found = await attempt(model=calling("sleep 61 & kill -9 -1", "grep -l '[s]leep.61' /proc/[0-9]*/cmdline", GREET))
    assert found.total_reward == 1.0
    assert results(list(found.rows()))[1] == "[exit code: 1]"


async def test_nothing_of_a_harness_changes_by_its_own_hand(place: Place) -> None:
    writing = (
        "import os, heredity_harness as h\n"
        "def solve(problem, host):\n"
        "    here, done = os.path.dirname(__file__), []\n"
        "    for name in (here + '/kept.txt', here + '/agent.py', '/harness/kept.txt', 'kept.txt', '/tmp/kept.txt'):\n"
        "        done.append(os.path.exists(name) and not name.endswith('agent.py'))\n"
        "        try:\n"
        "            open(name, 'a').write('mine')\n"
        "        except OSError:\n"
        "            pass\n"
        "    was = h.shell('cat /harness/memory.txt /memory.txt; echo mine >> /harness/memory.txt; echo mine > /memory.txt')\n"
        "    return repr((any(done), host['memories'], was))\n"
    )
    made = with_files(harness(writing, memory_notes="first"), {"project/memory.txt": "old\n"})
    before = made.digest
    first, second = await place.run(place.runner(calling(), concurrent=1), [Job(INFO, made, place.task())] * 2)
    said = [json.dumps(t.columns["messages"]) for t in (first, second)]
    assert said[0] == said[1]
    assert "mine" not in said[0]
    assert "(False, {'notes': 'first'}, 'old" in said[0]
    assert made.digest == before


DUMP = """
import os, sys
from heredity_harness import shell

def solve(problem, host):
    seen = [repr((problem, host, dict(os.environ), sys.argv, os.getcwd(), __file__))]
    for folder in ("/", os.getcwd(), os.path.dirname(__file__), "/proc/self", "/tmp", "/work", "/root"):
        try:
            seen.append(repr(os.listdir(folder)))
        except OSError:
            pass
    for name in ("/proc/self/environ", "/proc/self/cmdline", "/proc/self/mountinfo", "/proc/1/cmdline"):
        try:
            seen.append(open(name).read())
        except OSError:
            pass
    seen.append(shell("env; id; hostname; ls -laR /app /logs /tests /harness /run /tmp /solution 2>&1; cat /proc/*/cmdline"))
    seen.append(shell("cat /proc/self/mountinfo; find / -xdev -type f -not -path '/proc/*' -not -path '/usr/*' 2>/dev/null"))
    return "\\n".join(seen)
"""


async def test_a_harness_learns_neither_name_nor_split_nor_reward(place: Place, rollout: Rollout) -> None:
    # Names that nothing else has, wherever they may come from.
    task = place.task("zebra-quilt", "heldout", toml=TOML.replace("heredity/greeting", "heredity/zebra-quilt"))
    found = await attempt(with_files(harness(DUMP), {"project/x": "y"}), task=task, tool_output_chars=200_000)
    assert found.failure is None
    seen = json.dumps(found.columns["messages"])
    assert "Write hello into" in seen
    assert "/harness/x" in seen
    for secret in (
        "zebra",
        "quilt",
        "heldout",
        "train",
        "ood",
        "splits.toml",
        "test.sh",
        "reward",
        "small",
        task.spec["digest"],
    ):
        assert secret not in seen.replace("constraint", ""), secret
    assert str(place.folder) not in seen


async def test_the_verifiers_files_are_not_there_while_the_harness_works(rollout: Rollout) -> None:
    found = await attempt(
        model=calling("find / -name 'test.sh' -o -name 'reward*' 2>/dev/null | grep -v ^/proc; ls /tests", GREET)
    )
    assert results(list(found.rows()))[0].startswith("[stderr]\nls: cannot access '/tests'")


# --- running many


async def test_attempts_run_side_by_side_and_repeats_have_seeds_of_their_own(place: Place) -> None:
    class Gauge(ListedModel):
        now, most = 0, 0

        async def reply(self, request: Any) -> Any:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0.1)
            self.now -= 1
            self.asked.append(request)
            return await calling(GREET).reply(request)

    model = Gauge([])
    jobs = [Job(INFO, PLAIN, place.task(), policy_seed=7)] * 5
    found = await place.run(place.runner(model, concurrent=3), jobs)
    assert [t.total_reward for t in found] == [1.0] * 5
    assert model.most == 3
    assert len({request.sampling.seed for request in model.asked}) == 5


async def test_cancelling_leaves_neither_processes_nor_folders(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def sandboxes() -> int:
        return sum(
            b"first_process.py" in (path / "cmdline").read_bytes()
            for path in Path("/proc").iterdir()
            if path.name.isdigit() and own(path)
        )

    def own(path: Path) -> bool:
        try:
            while path.name not in ("0", "1"):
                if path.name == str(os.getpid()):
                    return True
                path = path.with_name((path / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            pass
        return False

    for model in (SlowModel(), calling("sleep 60")):
        stream = place.runner(model).run(
            [Job(INFO, with_files(harness(), {"project/x": "y"}), place.task())] * 2, LIMITS
        )
        running = asyncio.ensure_future(anext(stream))
        for _ in range(400):
            if sandboxes() < 2 * 2:
                await asyncio.sleep(0.05)
        assert [name.startswith("heredity-harnesses-") for name in os.listdir(tmp_path)] == [True]
        assert sandboxes() == 2 * 2  # bubblewrap itself and the first process
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await stream.aclose()
        assert os.listdir(tmp_path) == []
        assert sandboxes() == 0


async def test_wrong_settings_are_refused(place: Place) -> None:
    with pytest.raises(ConfigError, match="container tasks have none and self"):
        place.runner(calling(), feedback="verdict")
    with pytest.raises(ConfigError, match="concurrent is 0"):
        place.runner(calling(), concurrent=0)
    runner = ContainerRunner(calling(), backend=place.backend)
    with pytest.raises(ConfigError, match="no sandbox to run them in"):
        await place.run(runner, [Job(INFO, harness(), place.task())])
    [found] = await place.run(runner, [Job(INFO, parts(prompt_system="Work."), place.task())])
    assert found.status == "ok"
