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
from tests.engine.fakes import ListedModel, SlowModel, provider_error
from tests.engine.fakes import candidate as parts
from tests.engine.harnesses import LOOP, asks, calling, harness, results, with_files
from tests.kinds.container.folders import TOML, write_task

from heredity import library
from heredity._core.errors import ConfigError
from heredity.engine.actor import Solving
from heredity.engine.programs import ProgramLimits, SandboxedPrograms
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.container.format import read_task
from heredity.kinds.container.kind import ContainerRunner, result_text, shortened
from heredity.models import Model
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import candidate_from_folder
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.containers import BubblewrapBackend, ContainerLimits, ExecResult
from heredity.sandbox.limits import Limits
from heredity.session.rollouts import outcome_of
from heredity.tasks import Task, TasksetInfo

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(available() is not None, reason=f"container tasks cannot be isolated here: {available()}"),
]
EXAMPLE = Path(library.__path__[0]) / "harnesses" / "worker"
GREET = "printf hello > greeting.txt"
LIMITS = Limits(act_s=1.0, episode_s=20.0)
INFO = TasksetInfo("tasks/small", "1", "container", {}, {}, "Small.", 0.0)
PLAIN = harness(None)


class Bench:
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
        trajectories = {position: trajectory async for position, trajectory in runner.run(jobs, limits)}
        return [trajectories[position] for position in range(len(jobs))]


Attempt = Callable[..., Awaitable[Trajectory]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bench(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bench]:
    backend = BubblewrapBackend(ContainerLimits(processes=64))
    async with SandboxedPrograms(2, ProgramLimits(memory_bytes=256 << 20)) as programs:
        yield Bench(backend, programs, tmp_path_factory.mktemp("tasks"))
    await backend.close()


@pytest.fixture
def attempt(bench: Bench) -> Attempt:
    async def attempted(
        candidate: Candidate = PLAIN, model: Model | None = None, task: Task | None = None, **settings: Any
    ) -> Trajectory:
        limits = settings.pop("limits", LIMITS)
        jobs = [Job(INFO, candidate, task or bench.task(), policy_seed=7)]
        [trajectory] = await bench.run(bench.runner(model or calling(GREET), **settings), jobs, limits)
        assert Trajectory.decode(trajectory.encode()).status == trajectory.status
        list(trajectory.rows())
        return trajectory

    return attempted


def last(trajectory: Trajectory, key: str) -> Any:
    return trajectory.columns[f"info/{key}"][-1]


# --- what a rollout records


async def test_work_that_passes_is_rewarded_and_work_that_does_not_says_why(bench: Bench, attempt: Attempt) -> None:
    task = bench.task(
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
    attempt: Attempt, candidate: Candidate
) -> None:
    model = calling(
        "echo one; echo two >&2; false", "pwd; cd /; x=1", "pwd; echo $x", "printf %9000d 0", "no-such-command"
    )
    outputs = results(list((await attempt(candidate, model, tool_output_chars=500)).rows()))
    assert outputs[0] == "one\n[stderr]\ntwo\n[exit code: 1]"
    assert outputs[1:3] == ["/app\n[exit code: 0]", "/app\n[exit code: 0]"]
    assert len(outputs[3]) <= 500
    assert "characters left out]" in outputs[3]
    assert "not found" in outputs[4]
    assert outputs[4].endswith("[exit code: 127]")


async def test_both_ends_of_what_is_too_long_are_shown() -> None:
    assert shortened("ab" * 50, 10) == "ababa\n[90 characters left out]\nbabab"
    text = result_text(ExecResult(0, "o" * 5000, "e" * 5000), 1000)
    assert len(text) <= 1000
    assert "ooo" in text
    assert "eee" in text
    assert result_text(ExecResult(137, "", "", "timeout"), 100) == "[exit code: 137, ended: it took too long]"
    assert len(result_text(ExecResult(0, "x" * 500, ""), 1)) < 100


async def test_a_command_may_take_its_own_time_and_no_more(attempt: Attempt) -> None:
    trajectory = await attempt(model=calling("echo begun; sleep 60", GREET), shell_seconds=0.3)
    assert results(list(trajectory.rows()))[0].startswith("begun\n[exit code: 137, ended")
    assert trajectory.total_reward == 1.0


async def test_a_model_without_tool_calls_may_write_its_actions(attempt: Attempt) -> None:
    about = json.dumps({"parameters": {"style": "react"}})
    react = Candidate({"prompt/system": SourceTree({"prompt.md": "Work.", "resource.json": about})})
    model = ListedModel([f'<action>{{"action": "shell", "params": {{"command": "{GREET}; ls"}}}}</action>', "done"])
    trajectory = await attempt(react, model)
    assert trajectory.total_reward == 1.0
    assert "Runs a command with bash" in trajectory.columns["obs"][0]
    assert trajectory.columns["obs"][1] == "<observation>\ngreeting.txt\n[exit code: 0]\n</observation>"


async def test_tools_of_a_candidate_reach_the_shell(attempt: Attempt) -> None:
    tool = "from heredity_harness import shell\n\ndef run(command: str):\n    return shell(command).splitlines()\n"
    for program in (None, LOOP):
        trajectory = await attempt(harness(program, tool_lines=tool), calling(f"{GREET}; ls", tool="lines"))
        assert results(list(trajectory.rows())) == ['["greeting.txt", "[exit code: 0]"]']
        assert (trajectory.total_reward, trajectory.cost["tool_calls"]) == (1.0, 2.0)


async def test_wrong_arguments_are_told_and_not_run(attempt: Attempt) -> None:
    model = ListedModel([asks("shell", {"cmd": "ls"}), asks("shell", {"command": 7}, 1), "done"])
    for candidate in (PLAIN, harness()):
        outputs = results(list((await attempt(candidate, model)).rows()))
        assert "shell has no command" in outputs[0]
        assert "must be string" in outputs[1]
        model.asked.clear()
    asked = harness('from heredity_guest import ask\n\ndef solve(problem, host):\n    return ask("shell", "ls")\n')
    trajectory = await attempt(asked)
    assert (trajectory.status, trajectory.failure_source) == ("act_error", "candidate")
    assert trajectory.failure is not None
    assert "shell must be object" in trajectory.failure.message


async def test_a_candidate_may_not_have_a_shell_of_its_own(attempt: Attempt) -> None:
    trajectory = await attempt(harness(None, tool_shell="def run(command: str):\n    return command\n"))
    assert (trajectory.status, trajectory.failure_source, trajectory.length) == ("import_error", "candidate", 0)
    assert trajectory.failure is not None
    assert "tool/shell" in trajectory.failure.message


async def test_project_files_are_in_the_container_and_fresh_in_every_attempt(bench: Bench) -> None:
    made = with_files(
        harness(), {"project/run.sh": "#!/bin/sh\nprintf hello > /app/greeting.txt\n", "project/a/b": "c\n"}
    )
    model = calling("cat /harness/a/b && /harness/run.sh && rm -r /harness && ls /")
    jobs = [Job(INFO, made, bench.task())] * 2
    for trajectory in await bench.run(bench.runner(model, concurrent=1), jobs):
        assert trajectory.total_reward == 1.0
        assert results(list(trajectory.rows()))[0].startswith("c\n")
        assert "harness" not in results(list(trajectory.rows()))[0]


async def test_the_shipped_harness_does_a_task(attempt: Attempt) -> None:
    written = asks("write-file", {"path": "deep/folder/it's.txt", "text": "h\u00e9llo $HOME `x` \\n'\"\n" * 9000})
    repeated = [asks("shell", {"command": "seq 99999"}, n) for n in (2, 3, 4)]
    model = ListedModel(
        [written, asks("shell", {"command": "wc -c deep/*/*; cat /harness/README.md"}, 1), *repeated, "done"]
    )
    trajectory = await attempt(candidate_from_folder(EXAMPLE), model)
    outputs = results(list(trajectory.rows()))
    size = len(("h\u00e9llo $HOME `x` \\n'\"\n" * 9000).encode())
    assert trajectory.failure is None
    assert outputs[0] == f"{size} bytes were written to deep/folder/it's.txt"
    assert outputs[1].startswith(f"{size} deep/folder/it's.txt\n# Files of the harness")
    assert 4000 < len(outputs[2]) < 4100
    assert outputs[4].startswith("Not called")


# --- how a rollout ends


async def test_what_is_done_when_the_turns_are_used_up_counts(attempt: Attempt) -> None:
    trajectory = await attempt(model=calling(GREET, *["ls"] * 9), max_turns=3)
    assert (trajectory.status, trajectory.failure_source, trajectory.total_reward, trajectory.length) == (
        "ok",
        "none",
        1.0,
        3,
    )
    assert trajectory.columns["truncated"].tolist() == [False, False, True]  # type: ignore[union-attr]
    assert last(trajectory, "ended") == "turns"
    assert trajectory.failure is not None
    assert trajectory.failure.category == "no_answer"
    assert outcome_of(Task("train/0", "train", 0, {}), trajectory, 0.0).score == 1.0


@pytest.mark.parametrize("least", ["settings", "limits", "task"])
async def test_the_time_of_an_attempt_is_the_least_of_three_and_what_is_done_counts(
    bench: Bench, attempt: Attempt, least: str
) -> None:
    task = bench.task(least, toml=TOML.replace("[agent]\ntimeout_sec = 20", "[agent]\ntimeout_sec = 1"))
    limits = Limits(episode_s=1.0) if least == "limits" else LIMITS
    settings = {"seconds": 1.0} if least == "settings" else {}
    begun = time.monotonic()
    trajectory = await attempt(
        model=calling(GREET, "sleep 60"), task=task if least == "task" else None, limits=limits, **settings
    )
    assert time.monotonic() - begun < 50
    assert (trajectory.status, trajectory.total_reward, last(trajectory, "ended")) == ("ok", 1.0, "timeout")
    assert trajectory.failure is not None
    assert trajectory.failure.category == "rollout_timeout"


async def test_an_empty_reply_ends_the_work_which_counts(attempt: Attempt) -> None:
    trajectory = await attempt(model=ListedModel([asks("shell", {"command": GREET}), ""]))
    assert (trajectory.status, trajectory.total_reward, last(trajectory, "ended")) == ("ok", 1.0, "empty")


async def test_a_provider_that_fails_is_to_blame(attempt: Attempt) -> None:
    for candidate in (PLAIN, harness()):
        trajectory = await attempt(candidate, ListedModel([asks("shell", {"command": "ls"}), provider_error("server")]))
        assert (trajectory.status, trajectory.failure_source, trajectory.length) == ("provider_error", "provider", 1)


async def test_a_verifier_without_a_reward_is_the_environments_fault(bench: Bench, attempt: Attempt) -> None:
    trajectory = await attempt(task=bench.task("silent", test="echo I forgot\n"))
    assert (trajectory.status, trajectory.failure_source) == ("environment_error", "environment")
    assert trajectory.failure is not None
    assert "reward_missing" in trajectory.failure.message
    assert "I forgot" in trajectory.failure.message


async def test_a_task_that_has_changed_is_the_environments_fault(bench: Bench, attempt: Attempt) -> None:
    task = bench.task("changing")
    (bench.folder / "changing" / "tests" / "test.sh").write_text("echo 1 > /logs/verifier/reward.txt\n")
    trajectory = await attempt(task=task)
    assert (trajectory.status, trajectory.failure_source) == ("environment_error", "environment")
    assert trajectory.failure is not None
    assert "has changed since the run started" in trajectory.failure.message


async def test_a_task_that_cannot_be_built_is_the_environments_fault(bench: Bench, attempt: Attempt) -> None:
    trajectory = await attempt(task=bench.task("unbuilt", dockerfile="FROM debian\nRUN false\n"))
    assert (trajectory.status, trajectory.failure_source) == ("environment_error", "environment")


async def test_partial_rewards_and_what_was_left_behind_are_recorded(bench: Bench, attempt: Attempt) -> None:
    test = 'printf \'{"a": 1, "reward": 0.5}\' > /logs/verifier/reward.json; echo half\n'
    trajectory = await attempt(
        model=calling("setsid sleep 300 & echo 1 > /logs/verifier/reward.txt; sleep 0.3"),
        task=bench.task("half", test=test),
    )
    assert (trajectory.total_reward, last(trajectory, "correct"), last(trajectory, "reason")) == (0.5, False, "half")
    assert last(trajectory, "rewards") == {"a": 1.0, "reward": 0.5}
    assert any("sleep 300" in command for command in last(trajectory, "leftovers"))
    assert last(trajectory, "discarded") == ["/logs/verifier/reward.txt"]


async def test_a_conversation_is_on_record_once_whatever_middleware_adds_to_it(attempt: Attempt) -> None:
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
async def test_a_middleware_that_breaks_the_contract_is_named(attempt: Attempt, name: str) -> None:
    lines, message = WRONG[name]
    trajectory = await attempt(harness(middleware=lines))
    assert (trajectory.status, trajectory.failure_source, trajectory.total_reward) == ("act_error", "candidate", 0.0)
    assert trajectory.failure is not None
    assert message in trajectory.failure.message, trajectory.failure.message
    assert "middleware/one.py" in trajectory.failure.message
    assert "expected" in trajectory.failure.message


async def test_the_authors_line_is_in_the_traceback(attempt: Attempt) -> None:
    trajectory = await attempt(harness(middleware=WRONG["raises"][0]))
    assert trajectory.failure is not None
    assert 'File "middleware/one.py", line 5' in trajectory.failure.traceback
    assert "heredity_harness.py" not in trajectory.failure.traceback


async def test_a_hook_that_loops_for_ever_ends_after_its_own_time(attempt: Attempt) -> None:
    begun = time.monotonic()
    trajectory = await attempt(
        harness(middleware="def before_model(self, messages):\n    while True: pass"), limits=Limits(act_s=0.5)
    )
    assert time.monotonic() - begun < 50
    assert (trajectory.status, trajectory.failure_source, trajectory.total_reward) == (
        "rollout_timeout",
        "candidate",
        0.0,
    )


async def test_waiting_for_the_shell_is_not_a_programs_own_time(attempt: Attempt) -> None:
    trajectory = await attempt(harness(), calling("sleep 0.8", GREET), limits=Limits(act_s=0.5))
    assert (trajectory.status, trajectory.total_reward) == ("ok", 1.0)


async def test_a_hundred_megabytes_of_output_are_cut(attempt: Attempt) -> None:
    printing = harness(
        middleware="def before_model(self, messages):\n    print('x' * 100_000_000)\n    return messages"
    )
    trajectory = await attempt(printing, calling(f"yes | head -c 100000000; {GREET}"), limits=Limits(act_s=10.0))
    assert trajectory.total_reward == 1.0
    assert len(trajectory.encode()) < 100_000


async def test_killing_everything_ends_only_what_is_the_agents(attempt: Attempt) -> None:
    look = "'[s]leep.61' /proc/[0-9]*/cmdline"  # a killed process is there until it is scheduled once more
    until_gone = f"i=0; while grep -q {look} && [ $i -lt 200 ]; do sleep 0.1; i=$((i+1)); done; grep -l {look}"
    trajectory = await attempt(model=calling("sleep 61 & kill -9 -1", until_gone, GREET))
    assert trajectory.total_reward == 1.0
    assert results(list(trajectory.rows()))[1] == "[exit code: 1]"


async def test_nothing_of_a_harness_changes_by_its_own_hand(bench: Bench) -> None:
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
    first, second = await bench.run(bench.runner(calling(), concurrent=1), [Job(INFO, made, bench.task())] * 2)
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


async def test_a_harness_learns_neither_name_nor_split_nor_reward(bench: Bench, attempt: Attempt) -> None:
    # Names that nothing else has, wherever they may come from.
    task = bench.task("zebra-quilt", "heldout", toml=TOML.replace("heredity/greeting", "heredity/zebra-quilt"))
    trajectory = await attempt(with_files(harness(DUMP), {"project/x": "y"}), task=task, tool_output_chars=200_000)
    assert trajectory.failure is None
    seen = json.dumps(trajectory.columns["messages"])
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
    assert str(bench.folder) not in seen


async def test_the_verifiers_files_are_not_there_while_the_harness_works(bench: Bench, attempt: Attempt) -> None:
    looking = calling("find / -name 'test.sh' -o -name 'reward*' 2>/dev/null | grep -v ^/proc; ls /tests", GREET)
    roomy = bench.task("roomy", toml=TOML.replace("timeout_sec = 20", "timeout_sec = 300"))
    limits = Limits(act_s=1.0, episode_s=300.0)
    trajectory = await attempt(model=looking, task=roomy, limits=limits, tool_seconds=300.0)
    assert results(list(trajectory.rows()))[0].startswith("[stderr]\nls: cannot access '/tests'")


# --- running many


async def test_attempts_run_side_by_side_and_repeats_have_seeds_of_their_own(bench: Bench) -> None:
    together = asyncio.Event()

    class Gauge(ListedModel):
        now, most = 0, 0

        async def reply(self, request: Any) -> Any:
            self.now += 1
            self.most = max(self.most, self.now)
            if self.now == 3:
                together.set()
            await asyncio.wait_for(together.wait(), 120)
            self.now -= 1
            self.asked.append(request)
            return await calling(GREET).reply(request)

    model = Gauge([])
    jobs = [Job(INFO, PLAIN, bench.task(), policy_seed=7)] * 5
    trajectories = await bench.run(bench.runner(model, concurrent=3), jobs)
    assert [t.total_reward for t in trajectories] == [1.0] * 5
    assert model.most == 3
    assert len({request.sampling.seed for request in model.asked}) == 5


async def test_cancelling_leaves_neither_processes_nor_folders(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
        stream = bench.runner(model).run(
            [Job(INFO, with_files(harness(), {"project/x": "y"}), bench.task())] * 2, LIMITS
        )
        running = asyncio.ensure_future(anext(stream))
        for _ in range(400):
            if sandboxes() == 2 * 2:
                break
            await asyncio.sleep(0.05)
        assert [name.startswith("heredity-engine-") for name in os.listdir(tmp_path)] == [True]
        assert sandboxes() == 2 * 2  # bubblewrap itself and the first process
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await stream.aclose()
        assert os.listdir(tmp_path) == []
        assert sandboxes() == 0


async def test_wrong_settings_are_refused(bench: Bench) -> None:
    with pytest.raises(ConfigError, match="container tasks support none and self"):
        bench.runner(calling(), feedback="verdict")
    with pytest.raises(ConfigError, match="concurrent is 0"):
        bench.runner(calling(), concurrent=0)
    runner = ContainerRunner(calling(), backend=bench.backend)
    with pytest.raises(ConfigError, match="no sandbox to run them in"):
        await bench.run(runner, [Job(INFO, harness(), bench.task())])
    [trajectory] = await bench.run(runner, [Job(INFO, parts(prompt_system="Work."), bench.task())])
    assert trajectory.status == "ok"


async def test_work_that_makes_the_verifier_fail_counts_nothing_and_is_not_missing(
    bench: Bench, attempt: Attempt
) -> None:
    test = "[ ! -e /app/greeting.txt ] || exit 1; echo 0 > /logs/verifier/reward.txt\n"
    trajectory = await attempt(task=bench.task("frail", test=test))
    assert (trajectory.status, trajectory.failure_source) == ("reward_missing", "candidate")
    assert outcome_of(bench.task("frail"), trajectory, 0.0).score == 0.0
