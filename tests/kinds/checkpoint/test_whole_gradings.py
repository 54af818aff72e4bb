"""Whole gradings of interactive and judged tasks: real checkpoints in the confined worker, the games and rules of the tasks."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio

from heredity._core.errors import CandidateError, ProviderError
from heredity.engine.actor import Solving
from heredity.engine.kind import Opening
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.runner import Job, Runner
from heredity.engine.trajectory import Trajectory
from heredity.kinds.checkpoint.inference import WarmSandbox
from heredity.kinds.checkpoint.kind import GradingRunner, inner_runner
from heredity.kinds.checkpoint.models import candidate_of, inspect
from heredity.kinds.checkpoint.models.bases import base_model
from heredity.kinds.checkpoint.tasks import PostTrainingTaskset, posttraining_task
from heredity.library.tasks.posttraining.preference.instructions import rule
from heredity.models import Model, Reply, Request, Usage
from heredity.resources import Candidate
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.limits import Limits

if any(importlib.util.find_spec(package) is None for package in ("torch", "transformers")):
    pytest.skip("torch is not installed (extra: posttrain)", allow_module_level=True)

from .parrot import make_parrot

REASON = available()
pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(REASON is not None, reason=f"submitted models cannot be confined here: {REASON}"),
]
installed = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("alfworld", "textworld", "fast_downward")),
    reason="needs alfworld",
)
ENTROPY = 1
UNHURRIED = Limits(episode_s=3600.0)


class Judge:
    """A language model that judges by a function of what it is asked."""

    name = "test/judge"

    def __init__(self, verdict: Callable[[str], str]) -> None:
        self.verdict = verdict
        self.heard: list[str] = []

    async def reply(self, request: Request) -> Reply:
        self.heard.append("\n".join(message.content for message in request.messages))
        return Reply(self.verdict(self.heard[-1]), usage=Usage(10, 5, 0, 0.001))


@dataclass
class Room:
    """What gradings share: a warm sandbox, one for programs, checkpoints by their candidates."""

    root: Path
    programs: SandboxedPrograms
    sandbox: WarmSandbox = field(default_factory=WarmSandbox)
    kept: dict[Candidate, Path] = field(default_factory=dict)

    def resolve(self, candidate: Candidate) -> Path:
        if candidate not in self.kept:
            raise CandidateError("the weights of this checkpoint were not kept")
        return self.kept[candidate]

    def know(self, folder: Path) -> Candidate:
        candidate = candidate_of(inspect(folder))
        self.kept[candidate] = folder
        return candidate

    def parrot(self, says: str) -> Candidate:
        folder = self.root / says
        return self.know(folder if folder.exists() else make_parrot(folder, says))

    async def grade(
        self, name: str, candidate: Candidate, count: int, *, judge: Model | None = None, limits: Limits = UNHURRIED
    ) -> list[Trajectory]:
        def inner(kind: str, model: Model, solving: Solving) -> Runner:
            return inner_runner(kind, Opening(solving, model=model, judge=judge, programs=self.programs))

        taskset = PostTrainingTaskset(posttraining_task(name))
        runner = GradingRunner(self.resolve, inner, sandbox=self.sandbox)
        drawn = taskset.draw("train", count, ENTROPY)
        jobs = [Job(taskset.info, candidate, task, i, policy_seed=i) for i, task in enumerate(drawn)]
        trajectories = {at: trajectory async for at, trajectory in runner.run(jobs, limits)}
        assert sorted(trajectories) == list(range(count))
        assert {t.candidate for t in trajectories.values()} == {candidate.digest}
        return [trajectories[at] for at in range(count)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    async with SandboxedPrograms(1) as programs:
        made = Room(tmp_path_factory.mktemp("gradings"), programs)
        yield made
        await made.sandbox.close()


def tally(trajectories: list[Trajectory]) -> Counter[tuple[str, str]]:
    return Counter((t.status, t.failure_source) for t in trajectories)


async def test_text_game_is_graded_whole_and_twice_alike(room: Room) -> None:
    base = room.know(base_model("characters/text-game"))
    first, again = [await room.grade("text-game", base, 150) for _ in range(2)]
    assert tally(first) == {("ok", "none"): 150}
    won = sum(t.total_reward for t in first) / 150
    assert 0.08 < won < 0.3, "the base is made to win some 16%"
    assert [(list(t.columns["action"]), t.total_reward) for t in first] == [
        (list(t.columns["action"]), t.total_reward) for t in again
    ]


async def test_search_is_graded_whole_by_its_rule(room: Room) -> None:
    trajectories = await room.grade("search", room.parrot("answer[dk]"), 150)
    assert tally(trajectories) == {("ok", "none"): 150}
    assert {(t.length, t.total_reward, t.terminated) for t in trajectories} == {(1, 0.0, True)}
    assert trajectories[0].columns["obs"][0].startswith("Answer the question")


async def test_search_is_graded_by_a_judge_and_what_it_does_not_decide_is_missing(room: Room) -> None:
    undecided = [t.spec["question"] for t in PostTrainingTaskset(posttraining_task("search")).draw("train", 3, ENTROPY)]

    def verdict(prompt: str) -> str:
        assert "dk" in prompt
        if any(question in prompt for question in undecided):
            return "that is hard to say"
        return json.dumps({"score": 1, "reason": "generous"})

    judge = Judge(verdict)
    trajectories = await room.grade("search-judged", room.parrot("answer[dk]"), 12, judge=judge)
    assert [(t.status, t.failure_source) for t in trajectories[:3]] == [("provider_error", "provider")] * 3
    assert [(t.status, t.total_reward) for t in trajectories[3:]] == [("ok", 1.0)] * 9
    assert len(judge.heard) == 9 + 2 * 3


async def test_shop_runs_out_of_steps_with_a_model_that_never_buys(room: Room) -> None:
    trajectories = await room.grade("shop", room.parrot("search[bowl]"), 2)
    assert tally(trajectories) == {("ok", "none"): 2}
    assert {(t.length, t.total_reward, t.terminated) for t in trajectories} == {(15, 0.0, False)}
    assert list(trajectories[0].columns["action"]) == ["search[bowl]"] * 15
    assert "There is no search field here" in trajectories[0].columns["obs"][-1]


async def test_preferences_are_compared_by_the_rule(room: Room) -> None:
    trajectories = await room.grade("preference", room.parrot("GROW DUSK?"), 70)
    assert tally(trajectories) == {("ok", "none"): 70}
    drawn = PostTrainingTaskset(posttraining_task("preference")).draw("train", 70, ENTROPY)
    for trajectory, task in zip(trajectories, drawn, strict=True):
        spec = task.spec
        said = trajectory.columns["action"][-1]
        gap = rule(spec, said) - rule(spec, spec["reference"])
        assert trajectory.columns["info/winner"][-1] == ("tie" if abs(gap) < 0.02 else "a" if gap > 0 else "b")
        assert trajectory.columns["info/length"][-1] == len(said)
    assert 0 < sum(t.total_reward for t in trajectories) / 70 < 0.5


async def test_preferences_are_compared_by_a_judge_in_both_orders(room: Room) -> None:
    def verdict(prompt: str) -> str:
        first = prompt.index("GROW DUSK?") < prompt.index("The second answer:")
        return json.dumps({"winner": "first" if first else "second", "reason": "it is dusk"})

    judge = Judge(verdict)
    trajectories = await room.grade("preference-judged", room.parrot("GROW DUSK?"), 10, judge=judge)
    assert [(t.status, t.total_reward) for t in trajectories] == [("ok", 1.0)] * 10
    assert len(judge.heard) == 20
    assert {t.cost["judge_tokens"] for t in trajectories} == {30.0}


async def test_a_judge_that_is_down_leaves_the_gradings_missing_and_the_checkpoint_without_blame(room: Room) -> None:
    def down(prompt: str) -> str:
        raise ProviderError("server", "overloaded", transient=True)

    for name, says in (("preference-judged", "GROW DUSK?"), ("search-judged", "answer[dk]")):
        trajectories = await room.grade(name, room.parrot(says), 3, judge=Judge(down))
        assert tally(trajectories) == {("provider_error", "provider"): 3}


@installed
async def test_chores_are_played_by_a_checkpoint_in_the_real_engine(room: Room) -> None:
    trajectories = await room.grade("alfworld", room.parrot("invetory"), 2, limits=Limits(episode_s=3600.0, steps=3))
    assert tally(trajectories) == {("ok", "none"): 2}
    assert {(t.length, t.total_reward, t.terminated) for t in trajectories} == {(3, 0.0, False)}
    assert trajectories[0].columns["obs"][-1] == "Nothing happens."


async def test_how_long_a_grading_takes_on_a_busy_machine_fails_no_checkpoint(room: Room) -> None:
    hurried = Limits(episode_s=0.001)
    for name, says in (("search", "answer[dk]"), ("preference", "GROW DUSK?")):
        assert tally(await room.grade(name, room.parrot(says), 4, limits=hurried)) == {("ok", "none"): 4}
    base = room.know(base_model("characters/text-game"))
    assert tally(await room.grade("text-game", base, 4, limits=hurried)) == {("ok", "none"): 4}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count", "steps"),
    [("preference", 4, None), ("search", 2, None), ("shop", 2, 6), pytest.param("alfworld", 2, 6, marks=installed)],
)
async def test_smollm2_is_graded(room: Room, name: str, count: int, steps: int | None) -> None:
    smollm2 = room.know(base_model("smollm2-135m"))
    trajectories = await room.grade(name, smollm2, count, limits=Limits(episode_s=3600.0, steps=steps))
    assert tally(trajectories) == {("ok", "none"): count}
    assert all(0.0 <= t.total_reward <= 1.0 for t in trajectories)
    assert all(t.length <= (steps or 6) for t in trajectories)
    assert all(str(action).strip() for t in trajectories for action in t.columns["action"])
