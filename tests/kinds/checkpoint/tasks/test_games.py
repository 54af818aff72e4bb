"""Games of text: what holds for each of them, what is asked and read, and the runner that plays them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError, HostError, ProviderError
from heredity.engine.actor import Solving
from heredity.engine.rollout import RolloutError
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.checkpoint.tasks import posttraining_task, workspace_files
from heredity.kinds.checkpoint.tasks.env.ranking import Index
from heredity.kinds.checkpoint.tasks.env.rollout import Transcript, Turn, asked, read_reply, written
from heredity.kinds.checkpoint.tasks.kinds import (
    DIALOGUE,
    GLIMPSE,
    EpisodeRunner,
    LocalGameProcess,
    demonstrated,
    episode_info,
    opening_of,
)
from heredity.kinds.checkpoint.tasks.taskset import PostTrainingTaskset
from heredity.library.tasks.posttraining.corridor import Corridor
from heredity.models import Reply, Request
from heredity.resources import Candidate, SourceTree, retrieval
from heredity.sandbox.limits import Limits
from heredity.tasks import Task

GAMES = ("shop", "search", "search-judged")
ENTROPY = 4711


class Says:
    """A model that answers by a function of what it is asked."""

    name = "fake/says"

    def __init__(self, answer: Callable[[str], str]) -> None:
        self.answer = answer
        self.heard: list[str] = []

    async def reply(self, request: Request) -> Reply:
        self.heard.append(request.messages[-1].content)
        return Reply(self.answer(request.messages[-1].content))


async def played(name: str, model: Any, count: int = 1, **how: Any) -> list[Trajectory]:
    task = posttraining_task(name)
    runner = EpisodeRunner(model, settings=how.pop("solving", task.solving), **how)
    jobs = [Job(task.inner.info, task.solver, t) for t in task.inner.draw("train", count, ENTROPY)]
    ended = {position: trajectory async for position, trajectory in runner.run(jobs, Limits(episode_s=3600))}
    await runner.close()
    return [ended[i] for i in range(count)]


def rows(name: str, file: str = "data/train.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in workspace_files(posttraining_task(name), ENTROPY)[file].splitlines()]


def test_ranking_in_a_workspace_is_the_ranking_of_the_library() -> None:
    texts = ["red desk lamp, dimmable", "blue desk", "", "a red red lamp with 2 bulbs", "garden hose"]
    for query in ("red lamp", "desk 2", "lamp lamp garden", "nothing of it"):
        scores = retrieval.scores(query, texts)
        ranked = sorted((i for i, s in enumerate(scores) if s > 0), key=lambda i: (-scores[i], i))
        assert Index(texts).search(query, 10) == ranked


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Thought: I look.\nAction: search[a b]", ("I look.", "search[a b]")),
        ("action:  click[x] ", ("", "click[x]")),
        ("\n  search[a]\nmore", ("", "search[a]")),
        ("Action: first\nThought: late\nAction: second", ("", "first")),
        ("", ("", "")),
    ],
)
def test_thought_and_action_are_read_out_of_a_reply(reply: str, expected: tuple[str, str]) -> None:
    assert read_reply(reply) == expected


def test_what_is_written_is_read_back() -> None:
    for thought, action in (("I see.", "open[b]"), ("", "look")):
        assert read_reply(written(thought, action)) == (thought, action)


def test_a_long_transcript_keeps_its_opening_and_its_end() -> None:
    transcript = Transcript("the beginning", [Turn("", f"go {i}", "x" * 90) for i in range(30)], chars=500)
    text = transcript.text()
    assert text.startswith("Observation: the beginning\n(earlier steps are left out)\n")
    assert "Action: go 29" in text
    assert "Action: go 24" not in text
    assert len(text) < 600


@pytest.mark.parametrize("name", GAMES)
def test_the_views_of_a_game_are_disjoint_and_extend(name: str) -> None:
    task = posttraining_task(name)
    taskset = PostTrainingTaskset(task)
    graded, heldout = (taskset.draw(s, n, ENTROPY) for s, n in (("train", task.graded), ("heldout", task.heldout)))
    assert len({t.spec["question"] for t in (*graded, *heldout)}) == task.graded + task.heldout
    assert taskset.draw("train", 5, ENTROPY) == graded[:5]
    assert taskset.draw("train", 5, ENTROPY + 1) != graded[:5]
    with pytest.raises(ConfigError, match="asked for; it has"):
        taskset.draw("train", task.graded + 1, ENTROPY)


@pytest.mark.parametrize("name", ["shop", "search"])
async def test_a_graded_model_is_asked_exactly_what_the_rows_to_train_on_say(name: str) -> None:
    taught = {row["prompt"]: row["completion"] for row in rows(name)}
    model = Says(taught.__getitem__)
    trajectories = await played(name, model, 12)
    assert [t.total_reward for t in trajectories] == [1.0] * 12
    assert all(t.terminated and t.status == "ok" and t.length == len(t.columns["action"]) for t in trajectories)
    assert {len(t.columns["obs"]) - t.length for t in trajectories} == {1}
    assert set(model.heard) <= set(taught)


@pytest.mark.parametrize("name", ["shop", "search"])
def test_a_workspace_plays_its_games_without_heredity(name: str, tmp_path: Path) -> None:
    for path, data in workspace_files(posttraining_task(name), ENTROPY).items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    lines = posttraining_task(name).description.split("```text\n")[1].split("```")[0]
    taught = (
        "rows = [json.loads(line) for line in open('data/train.jsonl')]\n"
        "my_model = {row['prompt']: row['completion'] for row in rows}.__getitem__\n"
    )
    code = f"import json\n{taught}{lines}assert played.total == 1.0 and played.done, played\n"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, env={}
    )
    assert done.returncode == 0, done.stderr


def test_no_reference_of_a_view_is_in_a_workspace() -> None:
    for name in ("shop", "search"):
        task = posttraining_task(name)
        files = b"\n".join(workspace_files(task, ENTROPY).values()).decode()
        for split, count in (("validation", task.graded), ("heldout", task.heldout)):
            for drawn in task.inner.draw(split, count, ENTROPY):
                assert drawn.spec["question"] not in files
                assert str(drawn.spec.get("shop", drawn.spec.get("country"))) not in files


async def test_a_model_that_does_nothing_runs_out_of_steps_and_gets_nothing() -> None:
    (trajectory,) = await played("shop", Says(lambda _: ""))
    assert (trajectory.total_reward, trajectory.length, trajectory.terminated) == (0.0, 15, False)
    assert (trajectory.status, trajectory.failure_source) == ("ok", "none")
    assert list(trajectory.columns["truncated"]) == [False] * 14 + [True]
    assert len(list(trajectory.rows())) == 15


async def test_a_provider_that_fails_leaves_the_episode_missing() -> None:
    def fail(_: str) -> str:
        raise ProviderError("server", "down", transient=True)

    (trajectory,) = await played("search", Says(fail))
    assert (trajectory.status, trajectory.failure_source) == ("provider_error", "provider")


async def test_a_model_without_words_loses_its_step_and_nothing_else() -> None:
    def fail(_: str) -> str:
        raise ProviderError("context", "too long", transient=False)

    (trajectory,) = await played("search", Says(fail))
    assert (trajectory.status, trajectory.length, trajectory.total_reward) == ("ok", 6, 0.0)
    assert len(trajectory.columns["obs"]) == 7


async def test_an_episode_that_takes_too_long_is_the_candidates_failure() -> None:
    class Slow(Says):
        async def reply(self, request: Request) -> Reply:
            await asyncio.sleep(5)
            return Reply("")

    (trajectory,) = await played("search", Slow(str), solving=Solving(max_turns=1, seconds=0.05))
    assert (trajectory.status, trajectory.failure_source) == ("rollout_timeout", "candidate")


async def test_a_judge_decides_where_a_game_says_so() -> None:
    taught = {row["prompt"]: row["completion"] for row in rows("search-judged")}
    judge = Says(lambda _: '{"score": 0, "reason": "no"}')
    (trajectory,) = await played("search-judged", Says(taught.__getitem__), judge=judge)
    assert (trajectory.total_reward, trajectory.terminated, len(judge.heard)) == (0.0, True, 1)


async def test_a_judge_without_a_verdict_leaves_the_episode_missing() -> None:
    taught = {row["prompt"]: row["completion"] for row in rows("search-judged")}
    (trajectory,) = await played("search-judged", Says(taught.__getitem__), judge=Says(lambda _: "perhaps"))
    assert (trajectory.status, trajectory.failure_source) == ("provider_error", "provider")


async def test_a_judged_game_without_a_judge_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"set gateway\.judge"):
        await played("search-judged", Says(str))


async def test_a_solver_with_a_program_plays_no_game() -> None:
    task = posttraining_task("search")
    program = Candidate({"agent/solver": SourceTree({"agent.py": "def solve(problem, host): return ''"})})
    job = Job(task.inner.info, program, task.inner.draw("train", 1, 0)[0])
    with pytest.raises(ConfigError, match="prompts alone"):
        _ = [pair async for pair in EpisodeRunner(Says(str)).run([job], Limits())]


@pytest.mark.parametrize("kind", [DIALOGUE, GLIMPSE])
@pytest.mark.parametrize("game_process", ["broken", "wrong"])
async def test_a_game_that_breaks_is_its_own_failure(kind: str, game_process: str) -> None:
    task = posttraining_task("search")
    info = replace(task.inner.info, kind=kind, spec={"game_process": f"{__name__}:{game_process}"})
    job = Job(info, task.solver, Task("train/0", "train", 0, {}))
    ((_, trajectory),) = [pair async for pair in EpisodeRunner(Says(str)).run([job], Limits())]
    assert (trajectory.status, trajectory.failure_source) == ("environment_error", "environment")
    assert "is gone" in str(trajectory.failure)


class Breakable:
    """A game that one word breaks."""

    steps = 3

    def reset(self) -> str:
        return "say something"

    def step(self, action: str) -> tuple[str, float, bool]:
        if action:
            raise ZeroDivisionError(action)
        return "nothing", 0.0, False


@asynccontextmanager
async def breakable(spec: Any, judge: Any) -> AsyncGenerator[Any]:
    yield LocalGameProcess(Breakable())  # type: ignore[arg-type]


async def test_a_game_that_an_action_breaks_is_not_excused() -> None:
    task = posttraining_task("search")
    info = replace(task.inner.info, kind=DIALOGUE, spec={"game_process": f"{__name__}:breakable"})
    job = Job(info, task.solver, Task("train/0", "train", 0, {}))
    ((_, trajectory),) = [pair async for pair in EpisodeRunner(Says(lambda _: "boom")).run([job], Limits())]
    assert (trajectory.status, trajectory.failure_source) == ("invalid_action", "candidate")


class ElsewhereGame:
    """A game in another process, which `breaks` at some actions and takes others."""

    steps, harmless = 3, "look"

    def __init__(self, breaks: Callable[[str], bool]) -> None:
        self._breaks = breaks

    async def reset(self) -> str:
        return "say something"

    async def step(self, action: str) -> tuple[str, float, bool]:
        if self._breaks(action):
            raise RolloutError("the engine ended")
        return "nothing", 0.0, False


@asynccontextmanager
async def elsewhere(spec: Any, judge: Any) -> AsyncGenerator[Any]:
    yield ElsewhereGame(lambda action: action != "look")


@asynccontextmanager
async def dead(spec: Any, judge: Any) -> AsyncGenerator[Any]:
    yield ElsewhereGame(lambda action: True)


@pytest.mark.parametrize(
    ("game_process", "judged", "whose"),
    [("elsewhere", False, "candidate"), ("dead", False, "environment"), ("elsewhere", True, "environment")],
)
async def test_an_engine_that_an_action_ends_is_not_excused_where_it_takes_another(
    game_process: str, judged: bool, whose: str
) -> None:
    task = posttraining_task("search")
    spec = {"game_process": f"{__name__}:{game_process}", "judge": judged}
    job = Job(replace(task.inner.info, kind=DIALOGUE, spec=spec), task.solver, Task("train/0", "train", 0, {}))
    judge = Says(str) if judged else None
    ((_, trajectory),) = [pair async for pair in EpisodeRunner(Says(lambda _: "x"), judge=judge).run([job], Limits())]
    assert trajectory.failure_source == whose


@asynccontextmanager
async def broken(spec: Any, judge: Any) -> AsyncGenerator[Any]:
    raise RolloutError("the game is gone")
    yield


class Wrong:
    steps = 3

    def reset(self) -> str:
        return "begin"

    def step(self, action: str) -> tuple[str, float, bool]:
        raise KeyError("what it needs is gone")


@asynccontextmanager
async def wrong(spec: Any, judge: Any) -> AsyncGenerator[Any]:
    yield LocalGameProcess(Wrong())


@pytest.mark.parametrize("name", ["search", "text-game"])
async def test_a_host_that_cannot_ask_the_model_is_not_taken_for_a_broken_game(name: str) -> None:
    def fail(_: str) -> str:
        raise HostError("no worker can be started")

    (trajectory,) = await played(name, Says(fail))
    assert (trajectory.status, trajectory.failure_source) == ("host_error", "host")


async def test_a_glimpse_shows_the_game_as_it_is_now_and_the_reply_is_the_action() -> None:
    model = Says(lambda seen: " r\n")
    (trajectory,) = await played("text-game", model)
    game = Corridor(posttraining_task("text-game").inner.draw("train", 1, ENTROPY)[0].spec["level"])
    seen = [game.reset()]
    while not game.done:
        seen.append(game.step("r")[0])
    assert model.heard == seen[:-1]
    assert list(trajectory.columns["obs"]) == seen
    assert list(trajectory.columns["action"]) == [" r\n"] * trajectory.length
    assert trajectory.terminated


async def test_a_taskset_may_want_fewer_episodes_at_the_same_time() -> None:
    task = posttraining_task("search")
    info = replace(task.inner.info, spec={"game_process": f"{__name__}:counted", "concurrent": 2})
    jobs = [Job(info, task.solver, Task(f"train/{i}", "train", i, {})) for i in range(6)]
    _OPEN.clear()
    ended = [pair async for pair in EpisodeRunner(Says(str)).run(jobs, Limits())]
    assert len(ended) == 6
    assert max(_OPEN) == 2


_OPEN: list[int] = []


@asynccontextmanager
async def counted(spec: Any, judge: Any) -> AsyncGenerator[Any]:
    _OPEN.append((_OPEN[-1] if _OPEN else 0) + 1)
    await asyncio.sleep(0.01)
    yield LocalGameProcess(Ends())
    _OPEN.append(_OPEN[-1] - 1)


class Ends:
    steps = 1

    def reset(self) -> str:
        return "begin"

    def step(self, action: str) -> tuple[str, float, bool]:
        return "end", 0.5, True


def test_a_taskset_of_another_kind_opens_no_game() -> None:
    info = episode_info("x", "y:z", version="1", description="", family="")
    with pytest.raises(ConfigError, match="with a game_process in its spec"):
        opening_of(replace(info, kind="question"))


def test_a_reference_solution_that_fails_is_noticed() -> None:
    with pytest.raises(ConfigError, match=r"collects 0\.5; expected 1"):
        demonstrated(Ends(), "Play.", [("", "go")])
    assert demonstrated(Ends(), "Play.", [("", "go")], least=0.5) == [
        {"prompt": asked("Play.", Transcript("begin")), "completion": "Action: go"}
    ]
