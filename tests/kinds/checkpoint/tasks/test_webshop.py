"""The adapter to the official WebShop: a package of its interface, in a real process, played by the real guest."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kinds.checkpoint.tasks.grading import graded

from heredity._core.errors import ConfigError, HostError
from heredity.kinds.checkpoint.tasks import PostTrainingTask, PostTrainingTaskset, posttraining_task, workspace_files
from heredity.library.tasks.posttraining.webshop import guest, process, task
from heredity.library.tasks.posttraining.webshop.process import Game, web_shop
from heredity.tasks import Task

ENTROPY = 77

# A shop of lamps in the form of the real one: names, pages, sessions and what it prints are WebShop's, the rest is made up.
STAND_IN = """
import os, random, re, sys, time

print("Products loaded.")
os.write(1, b"not from Python at all\\n")
COLOURS = ("red", "blue", "green")


class Server:
    def __init__(self):
        self.goals = []
        for n in range({goals}):
            limit = 10.0 * random.randint(5, 90)
            text = "i want a %s lamp of kind %d, and price lower than %.2f dollars" % (COLOURS[n % 3], n // 3, limit)
            self.goals.append(dict(instruction_text=text, kind=n // 3, colour=COLOURS[n % 3]))
        random.seed(233)
        random.shuffle(self.goals)
        self.user_sessions = {{}}
        print("Loaded %d goals." % len(self.goals))


class WebAgentTextEnv:
    def __init__(self, observation_mode="html", server=None, **kwargs):
        assert observation_mode == "text_rich"
        assert server is not None or kwargs.get("human_goals")
        self.server = Server() if server is None else server
        self.prefix = kwargs.get("session_prefix")
        self.reset()

    def reset(self, session=None):
        self.session = (self.prefix or "") + str(session if session is not None else random.random())
        goal = self.server.goals[session if session is not None else 0]
        self.state = self.server.user_sessions.setdefault(self.session, dict(goal=goal))
        self.state.update(found=[], item=None, options={{}})
        return self.page(), None

    def page(self):
        lines = ["Instruction: " + self.state["goal"]["instruction_text"]]
        button = lambda t: "[button] %s [button_]" % t
        if self.state["item"] is not None:
            lines += [button("Back to Search"), button("< Prev"), "colour"]
            chosen = self.state["options"].get("colour")
            lines += ["  [clicked button] %s [clicked button_]" % c if c == chosen else "  " + button(c) for c in COLOURS]
            lines += ["Lamp of kind %d" % self.state["item"], "words " * {words}, button("Description"), button("Buy Now")]
        elif self.state["found"]:
            lines += [button("Back to Search"), "Page 1"] + ["\\n" + button("B%09d" % k) for k in self.state["found"]]
        else:
            lines += [button("Search")]
        return "\\n".join(lines)

    def step(self, action):
        read = re.match(r"(.+)\\[(.+)\\]", action)
        name, arg = read.groups() if read else (action, "")
        arg = arg.lower()
        if arg == "crash now":
            sys.exit("a crash, in the words of the shop")
        if arg == "sleep now":
            time.sleep(60)
        reward, done = 0, False
        if name == "search":
            if arg.startswith("<"):
                raise TypeError("no such shortcut")
            self.state.update(item=None, found=[int(k) for k in re.findall(r"\\d+", arg)][:1])
        elif name == "click" and arg == "back to search":
            self.state.update(item=None, found=[])
        elif name == "click" and self.state["item"] is None and re.fullmatch(r"b\\d{{9}}", arg):
            self.state["item"] = int(arg[1:])
        elif name == "click" and self.state["item"] is not None and arg in COLOURS:
            self.state["options"]["colour"] = arg
        elif name == "click" and self.state["item"] is not None and arg == "buy now":
            goal, done = self.state["goal"], True
            fits = (self.state["item"] == goal["kind"]) + (self.state["options"].get("colour") == goal["colour"])
            reward = {scale} * fits / 2
        return self.page(), reward, done, None
"""


class StandIn:
    """A checkout with the stand-in, and the variables that name it."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.write()
        monkeypatch.setenv("WEBSHOP_HOME", str(home))
        monkeypatch.setenv("WEBSHOP_PYTHON", sys.executable)

    def write(self, *, goals: int = 640, words: int = 3, scale: float = 1.0, before: str = "") -> None:
        folder = self.home / "web_agent_site" / "envs"
        folder.mkdir(parents=True, exist_ok=True)
        for package in (folder, folder.parent):
            (package / "__init__.py").touch()
        # Compiled code is told to be old by seconds and size alone.
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)
        code = before + STAND_IN.format(goals=goals, words=words, scale=scale)
        (folder / "web_agent_text_env.py").write_text(code)

    @property
    def shop(self) -> process.WebShop:
        return web_shop(str(self.home), sys.executable)

    def pid(self) -> int:
        server = self.shop._server
        assert server is not None
        return server._process.pid


@pytest.fixture
def standin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    made = StandIn(tmp_path / "WebShop", monkeypatch)
    yield made
    made.shop.end()
    task._goals.cache_clear()
    web_shop.cache_clear()


def shopper(prompt: str) -> str:
    """Buy what is wanted."""
    matches = re.findall(r"i want a (\w+) lamp of kind (\d+)", prompt)
    colour, kind = matches[0]
    page = prompt.rpartition("Observation:")[2]
    if f"[clicked button] {colour}" in page:
        return "Thought: It is all there.\nAction: click[Buy Now]"
    if "Buy Now" in page:
        return f"Action: click[{colour}]"
    return f"Action: click[B{int(kind):09d}]" if "Page 1" in page else f"Action: search[lamp {kind}]"


def drawn(one: PostTrainingTask, count: int) -> tuple[Task, ...]:
    return one.inner.draw("validation", count, ENTROPY)


def the_task() -> PostTrainingTask:
    one = posttraining_task("webshop")
    assert isinstance(one, PostTrainingTask)
    return one


def test_what_is_missing_is_said_before_anything_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEBSHOP_HOME", raising=False)
    with pytest.raises(ConfigError, match="WEBSHOP_HOME is None; expected a checkout of princeton-nlp/WebShop"):
        posttraining_task("webshop")
    monkeypatch.setenv("WEBSHOP_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=r"web_agent_text_env\.py"):
        posttraining_task("webshop")
    StandIn(tmp_path / "WebShop", monkeypatch)
    for wrong in (None, str(tmp_path), str(tmp_path / "python")):
        if wrong is None:
            monkeypatch.delenv("WEBSHOP_PYTHON")
        else:
            monkeypatch.setenv("WEBSHOP_PYTHON", wrong)
        with pytest.raises(ConfigError, match=r"WEBSHOP_PYTHON is .*expected the path of the Python"):
            posttraining_task("webshop")


def test_an_interpreter_without_its_requirements_is_a_matter_of_configuration(standin: StandIn) -> None:
    standin.write(before="import no_such_gym\n")
    with pytest.raises(ConfigError, match=r"cannot be loaded by WEBSHOP_PYTHON.*No module named 'no_such_gym'"):
        drawn(the_task(), 1)


def test_too_few_goals_are_refused_with_what_to_do(standin: StandIn) -> None:
    standin.write(goals=500)
    with pytest.raises(ConfigError, match=r"has 500 goals; expected more than 500: load all its products"):
        drawn(the_task(), 1)


def test_views_are_dealt_from_the_first_goals_and_practice_from_the_others(standin: StandIn) -> None:
    one = the_task()
    taskset = PostTrainingTaskset(one)
    views = [*taskset.draw("train", 100, ENTROPY), *taskset.draw("heldout", 100, ENTROPY)]
    practice = one.inner.draw("train", 140, ENTROPY)
    assert len({t.spec["question"] for t in (*views, *practice)}) == 340
    assert max(t.spec["goal"] for t in views) < 500 <= min(t.spec["goal"] for t in practice)
    assert [t.spec for t in taskset.draw("train", 100, ENTROPY + 1)] != [t.spec for t in views[:100]]
    assert (one.structure, one.labels) == (
        {"capability": 4, "interaction": 5, "reward": 5, "horizon": 5},
        ("public benchmark",),
    )


def test_goals_are_the_same_in_every_process(standin: StandIn) -> None:
    first = list(task._goals(standin.shop))
    standin.shop.end()
    task._goals.cache_clear()
    assert task._goals(standin.shop) == first


def test_a_workspace_has_the_steps_of_purchases_by_rule_and_no_graded_instruction(standin: StandIn) -> None:
    files = workspace_files(the_task(), ENTROPY)
    assert sorted(files) == ["data/instructions.jsonl", "data/train.jsonl"]
    rows = [json.loads(line) for line in files["data/train.jsonl"].splitlines()]
    episode = [row for row in rows if row["episode"] == 0]
    assert [re.sub(r"\[.*", "", row["completion"]) for row in episode] == ["Action: search"] + ["Action: click"] * 3
    assert "price lower" not in episode[0]["completion"]
    assert episode[-1]["completion"] == "Action: click[buy now]"
    assert {row["reward"] for row in rows} == {1.0}
    assert len(files["data/instructions.jsonl"].splitlines()) == 140


async def test_a_shopper_is_graded_in_the_environment_by_its_reward(standin: StandIn) -> None:
    one, asked = the_task(), list[str]()

    def hasty(prompt: str) -> str:
        asked.append(prompt)
        return shopper(prompt).replace("click[red]", "click[buy now]")

    jobs = drawn(one, 12)
    good = await graded(one, jobs, shopper)
    assert [(t.total_reward, t.terminated, t.length, t.failure_source) for t in good] == [(1.0, True, 4, "none")] * 12
    for spec, trajectory in zip((t.spec for t in jobs), await graded(one, jobs, hasty), strict=True):
        assert trajectory.total_reward == (0.5 if "a red lamp" in spec["question"] else 1.0)
    first = next(row for row in map(json.loads, workspace_files(one, ENTROPY)["data/train.jsonl"].splitlines()))
    shape = re.compile(r"a \w+ lamp of kind \d+, and price lower than [\d.]+")
    assert shape.sub("", first["prompt"]) == shape.sub("", asked[0])


async def test_one_process_serves_the_same_goal_many_times_at_once(standin: StandIn) -> None:
    one = the_task()
    (job,) = drawn(one, 1)
    before = standin.pid()
    repeated = await graded(one, (job,), shopper, repeats=20)
    assert [t.total_reward for t in repeated] == [1.0] * 20
    assert standin.pid() == before


async def test_what_is_no_action_costs_its_step_and_shortcuts_of_the_site_are_words(standin: StandIn) -> None:
    one, coming = the_task(), iter(["fly", "search[<r>]", "click[B000000007]", "search[<q> 7]", "click[b000000007]"])
    (trajectory,) = await graded(one, drawn(one, 1), lambda _: next(coming, "think"))
    assert (trajectory.status, trajectory.total_reward, trajectory.length) == ("ok", 0.0, process.STEPS)
    seen: Any = trajectory.columns["obs"]
    assert "That is no action" in seen[1]
    assert "[button] B000000007" in seen[4]
    assert "Buy Now" in seen[5]


async def test_a_reward_above_one_is_one_and_a_long_page_keeps_its_buttons(standin: StandIn) -> None:
    standin.write(words=5000, scale=1.5)
    one, asked = the_task(), list[str]()

    def shop(prompt: str) -> str:
        asked.append(prompt)
        return shopper(prompt)

    (trajectory,) = await graded(one, drawn(one, 1), shop)
    assert trajectory.total_reward == 1.0
    assert "(a part is left out)" in asked[-1]
    assert asked[-1].count("words") < 1300
    assert "[button] Buy Now" in asked[-1]


async def test_a_process_that_is_killed_leaves_attempts_missing_and_is_started_again(standin: StandIn) -> None:
    one, jobs = the_task(), drawn(the_task(), 3)
    first = standin.pid()
    alive = [first]

    def killing(prompt: str) -> str:
        if alive and "Page 1" in prompt:
            os.kill(alive.pop(), 9)
        return shopper(prompt)

    trajectories = await graded(one, jobs, killing)
    assert {(t.status, t.failure_source) for t in trajectories} == {("host_error", "host")}
    assert all(t.failure and "WebShop ended with exit code -9" in t.failure.message for t in trajectories)
    again = await graded(one, jobs, shopper)
    assert [t.total_reward for t in again] == [1.0] * 3
    assert standin.pid() != first


async def test_a_shop_that_dies_again_and_again_is_given_up_with_its_last_words(standin: StandIn) -> None:
    one = the_task()
    (job,) = drawn(one, 1)
    code = standin.home / "web_agent_site/envs/web_agent_text_env.py"
    code.write_text(code.read_text().replace('arg == "crash now"', "True"))
    standin.shop.end()
    reasons: list[str] = []
    for _ in range(1):
        (trajectory,) = await graded(one, (job,), lambda _: "search[crash now]")
        assert (trajectory.status, trajectory.failure_source) == ("environment_error", "environment")
        assert trajectory.failure is not None
        reasons.append(trajectory.failure.message)
    assert reasons[0] == "WebShop ended with exit code 1, after “a crash, in the words of the shop”"
    (trajectory,) = await graded(one, (job,), shopper)
    assert trajectory.failure is not None
    assert (trajectory.failure_source, trajectory.failure.message[:26]) == ("host", "WebShop failed 2 times in ")


async def test_an_action_that_ends_the_shop_is_not_excused_however_often_it_is_taken(standin: StandIn) -> None:
    one = the_task()
    jobs = drawn(one, 2)
    for _ in range(2):
        crashed, good = await graded(
            one, jobs, lambda prompt: "search[crash now]" if jobs[0].spec["question"] in prompt else shopper(prompt)
        )
        assert (crashed.status, crashed.failure_source) == ("invalid_action", "candidate")
        assert crashed.failure is not None
        assert crashed.failure.message.endswith("without the action 'search[crash now]' it plays")
        # The other game was in the same process: either it ended before, or what happened is not its own doing.
        assert good.total_reward == 1.0 or good.failure_source == "host"


async def test_a_shop_that_hangs_is_ended(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    one = the_task()
    (job,) = drawn(one, 1)
    monkeypatch.setattr(process, "_ANSWER_SECONDS", 0.5)
    (trajectory,) = await graded(one, (job,), lambda _: "search[sleep now]")
    assert trajectory.failure is not None
    assert (trajectory.failure_source, trajectory.failure.message) == (
        "candidate",
        "WebShop gave no answer within 0.5 seconds; without the action 'search[sleep now]' it plays",
    )


async def test_an_error_of_the_environment_ends_one_attempt_and_not_the_process(standin: StandIn) -> None:
    standin.write(before="boom = 1\n")
    code = standin.home / "web_agent_site/envs/web_agent_text_env.py"
    code.write_text(
        code.read_text().replace('arg == "sleep now"', 'arg == "fail now"').replace("time.sleep(60)", "1 / 0")
    )
    one = the_task()
    jobs = drawn(one, 2)
    before = standin.pid()
    broken, good = await graded(
        one, jobs, lambda prompt: "search[fail now]" if jobs[0].spec["question"] in prompt else shopper(prompt)
    )
    assert broken.failure is not None
    assert broken.failure.message.startswith("WebShop failed: ZeroDivisionError: division by zero; without the action")
    assert (broken.failure_source, good.total_reward, standin.pid()) == ("candidate", 1.0, before)


async def test_goals_that_are_others_than_those_dealt_out_are_not_played(standin: StandIn) -> None:
    one = the_task()
    (job,) = drawn(one, 1)
    standin.shop.end()
    standin.write(goals=700)
    (trajectory,) = await graded(one, (job,), shopper)
    assert trajectory.failure is not None
    assert "another one than was dealt out" in trajectory.failure.message
    assert the_task().inner.info.version != one.inner.info.version


def test_the_process_ends_when_nobody_asks_any_more_but_not_while_a_game_is_open(
    standin: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = tmp_path / "guest.py"
    impatient.write_text(Path(guest.__file__).read_text().replace("IDLE = 600.0", "IDLE = 0.2"))
    monkeypatch.setattr(process, "_GUEST", impatient)
    shop, goals = standin.shop, task._goals(standin.shop)
    game = Game(shop, 3, goals[3])
    game.reset()
    server = shop.serving()
    with pytest.raises(subprocess.TimeoutExpired):
        server._process.wait(0.6)
    game.close()
    assert server._process.wait(5) == 0
    with pytest.raises(HostError, match="WebShop ended with exit code 0"):
        game.step("search[7]")
    assert "[button] Search" in game.reset()
    assert shop.serving() is not server


def test_the_process_ends_with_whoever_started_it(standin: StandIn) -> None:
    task._goals(standin.shop)
    server = standin.shop.serving()
    assert server._process.stdin is not None
    server._process.stdin.close()
    assert server._process.wait(5) == 0


def test_the_guest_is_written_in_a_python_as_old_as_webshops() -> None:
    source = Path(guest.__file__).read_text()
    tree = ast.parse(source, feature_version=(3, 8))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert imported <= set(sys.stdlib_module_names)
    assert "from __future__ import annotations" in source
