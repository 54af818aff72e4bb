from __future__ import annotations

import importlib.util
import os
import shutil
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import pytest_asyncio

from heredity._core.errors import CandidateError, ConfigError, UnknownNameError
from heredity.engine.actor import Solving
from heredity.engine.kind import Opening
from heredity.engine.questions import Question
from heredity.engine.runner import Job, Runner
from heredity.engine.trajectory import Trajectory
from heredity.kinds.checkpoint.inference import WarmSandbox
from heredity.kinds.checkpoint.kind import GradingRunner, inner_runner
from heredity.kinds.checkpoint.models import candidate_of, checkpoint_of, inspect, make_characters, snapshot
from heredity.kinds.checkpoint.tasks import (
    BaseRecipe,
    PostTrainingTask,
    PostTrainingTaskset,
    SeveralTasks,
    plain_solver,
)
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset, dealt_info
from heredity.models import Model
from heredity.resources import Candidate, SourceTree
from heredity.results.status import Status
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.limits import Limits

pytestmark = pytest.mark.asyncio(loop_scope="module")

SUMS = tuple((f"{a}+{b}=", str(a + b)) for a in range(5) for b in range(5))
SOLVING = Solving(max_turns=1, max_tokens=3, temperature=0.0)


def sums_task(solving: Solving = SOLVING) -> PostTrainingTask:
    questions = [Question(prompt, answer, {"kind": "exact"}) for prompt, answer in SUMS]
    dealt = {"train": questions[:5], "validation": questions, "heldout": questions[:2]}
    info = dealt_info("sums", version="1", description="Add.", family="math")
    return PostTrainingTask(
        name="sums", level="L1", title="Sums", description="Add.", base_models=("x",), inner=DealtTaskset(info, lambda _: dealt),
        solver=plain_solver(), solving=solving, metric="accuracy", materials=lambda _: {}, graded=25, heldout=2,
        structure={"capability": 1, "interaction": 1, "reward": 1, "horizon": 1},
    )  # fmt: skip


def question_runner(kind: str, model: Model, solving: Solving) -> Runner:
    return inner_runner(kind, Opening(model=model, settings=solving))


@dataclass
class Shelf:
    """Kept checkpoints, and the runner that grades them."""

    root: Path
    taught: Candidate
    weak: Candidate
    kept: dict[Candidate, Path] = field(default_factory=dict)
    sandbox: WarmSandbox = field(default_factory=WarmSandbox)
    runner: GradingRunner = field(init=False)

    def __post_init__(self) -> None:
        self.runner = GradingRunner(self.resolve, question_runner, sandbox=self.sandbox)

    def resolve(self, candidate: Candidate) -> Path:
        if candidate not in self.kept:
            raise CandidateError("the weights of this checkpoint were not kept")
        return self.kept[candidate]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shelf(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shelf]:
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed (extra: posttrain)")
    if (reason := available()) is not None:
        pytest.skip(reason)
    root = tmp_path_factory.mktemp("grading")
    kept: list[tuple[Candidate, Path]] = []
    for name, steps in (("taught", 60), ("weak", 0)):
        recipe = BaseRecipe("0123456789+=", SUMS, steps=steps, batch=32, learning_rate=1e-2)
        folder = make_characters(root / name, recipe, size="tiny")
        checkpoint = inspect(folder)
        kept.append((candidate_of(checkpoint), snapshot(folder, root / "kept", checkpoint)))
    made = Shelf(root, kept[0][0], kept[1][0], dict(kept))
    await made.runner.warm()
    yield made
    await made.sandbox.close()


def jobs(candidate: Candidate, task: PostTrainingTask | SeveralTasks | None = None, repeats: int = 1) -> list[Job]:
    taskset = PostTrainingTaskset(task or sums_task())
    tasks = taskset.draw("train", 25, 0)
    return [Job(taskset.info, candidate, t, i, policy_seed=i) for _ in range(repeats) for i, t in enumerate(tasks)]


async def graded(runner: GradingRunner, asked: Sequence[Job]) -> list[Trajectory]:
    trajectories = {at: trajectory async for at, trajectory in runner.run(asked, Limits())}
    assert sorted(trajectories) == list(range(len(asked)))
    return [trajectories[at] for at in range(len(asked))]


async def test_checkpoints_are_scored_by_the_tasks_own_verifier_under_their_own_name(shelf: Shelf) -> None:
    asked = [*jobs(shelf.taught), *jobs(shelf.weak)]
    trajectories = await graded(shelf.runner, asked)
    assert [t.candidate for t in trajectories] == [job.candidate.digest for job in asked]
    assert [t.task_id for t in trajectories] == [job.task.id for job in asked]
    assert all(t.status == "ok" for t in trajectories)
    for trajectory, (prompt, answer) in zip(trajectories, SUMS * 2, strict=True):
        assert trajectory.columns["obs"][0] == prompt
        assert trajectory.total_reward == float(trajectory.columns["action"][0] == answer)
    taught, weak = (sum(t.total_reward for t in half) for half in (trajectories[:25], trajectories[25:]))
    assert taught >= 10 > 4 > weak


async def test_greedy_grading_is_exact_whatever_is_asked_beside(shelf: Shelf) -> None:
    whole = await graded(shelf.runner, jobs(shelf.taught))
    part = await graded(shelf.runner, jobs(shelf.taught)[::3])
    assert [list(t.columns["action"]) for t in whole[::3]] == [list(t.columns["action"]) for t in part]


async def test_sampled_grading_repeats_itself_and_differs_between_repeats(shelf: Shelf) -> None:
    task = sums_task(replace(SOLVING, temperature=1.5))
    asked = jobs(shelf.taught, task, repeats=2)
    first, again = [[t.columns["action"][0] for t in await graded(shelf.runner, asked)] for _ in range(2)]
    assert first == again
    assert first[:25] != first[25:], "the noise of sampling is there to be measured"


async def test_parts_of_several_tasks_are_graded_each_by_its_own_solver(shelf: Shelf) -> None:
    plain = sums_task()
    backwards = replace(plain, name="asked-otherwise", solver=plain_solver("{{question}}="))
    both, alone = ([job.task for job in jobs(shelf.taught, t)] for t in (SeveralTasks((plain, backwards)), plain))
    assert [t.id for t in both] == [t.id for t in alone]
    trajectories = await graded(shelf.runner, jobs(shelf.taught, SeveralTasks((plain, backwards))))
    prompts = [prompt for prompt, _ in SUMS]
    assert [t.columns["obs"][0] for t in trajectories[::2]] == prompts[:13]
    assert [t.columns["obs"][0] for t in trajectories[1::2]] == [f"{prompt}=" for prompt in prompts[:12]]
    alone_scores = [t.total_reward for t in await graded(shelf.runner, jobs(shelf.taught, plain))]
    assert [t.total_reward for t in trajectories[::2]] == alone_scores[:13]


async def test_a_checkpoint_that_was_not_kept_fails_alone(shelf: Shelf) -> None:
    stranger = Candidate({"model/weights": SourceTree({"checkpoint.json": "{}"})})
    trajectories = await graded(shelf.runner, [*jobs(stranger), *jobs(shelf.weak)])
    assert {(t.status, t.failure_source, t.total_reward) for t in trajectories[:25]} == {
        (Status.MODEL_ERROR, "candidate", 0.0)
    }
    assert trajectories[0].failure is not None
    assert trajectories[0].failure.message == "the weights of this checkpoint were not kept"
    assert Trajectory.decode(trajectories[0].encode()).failure == trajectories[0].failure
    assert all(t.status == "ok" for t in trajectories[25:])


async def test_a_checkpoint_that_cannot_be_loaded_is_its_authors_failure(shelf: Shelf) -> None:
    broken = candidate_of(replace(checkpoint_of(shelf.weak), digest="broken"))
    shelf.kept[broken] = shutil.copytree(shelf.kept[shelf.weak], shelf.root / "broken")
    (shelf.kept[broken] / "tokenizer.json").write_text("{}")
    trajectories = await graded(shelf.runner, jobs(broken)[:2])
    assert {(t.status, t.failure_source) for t in trajectories} == {(Status.MODEL_ERROR, "candidate")}


class Saboteur:
    """Kills the workers of the sandbox again and again while another runner works."""

    def __init__(self, inner: Runner, sandbox: WarmSandbox, deaths: int) -> None:
        self._inner, self._sandbox, self._deaths = inner, sandbox, deaths

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        zygote = self._sandbox._zygote
        assert zygote is not None
        launch = zygote.launch

        def launch_and_kill(folder: Path, settings: Mapping[str, int]) -> object:
            worker = launch(folder, settings)
            self._deaths -= 1
            if self._deaths > 0:
                zygote.kill(worker)
            return worker

        zygote.launch = launch_and_kill  # type: ignore[method-assign]
        zygote.kill(next(iter(zygote._launched.values())))
        try:
            async for pair in self._inner.run(jobs, limits):
                yield pair
        finally:
            zygote.launch = launch  # type: ignore[method-assign]

    async def close(self) -> None:
        await self._inner.close()


@pytest.mark.parametrize("deaths", [1, 2])
async def test_one_death_of_a_worker_costs_nothing_and_a_second_one_is_the_checkpoints(
    shelf: Shelf, deaths: int
) -> None:
    def sabotaged(kind: str, model: Model, solving: Solving) -> Runner:
        return Saboteur(question_runner(kind, model, solving), shelf.sandbox, deaths)

    runner = GradingRunner(shelf.resolve, sabotaged, sandbox=shelf.sandbox)
    trajectories = await graded(runner, jobs(shelf.weak))
    assert {(t.status, t.failure_source) for t in trajectories} == {
        ("ok", "none") if deaths == 1 else (Status.MODEL_ERROR, "candidate")
    }
    assert all("it was killed by SIGKILL" in t.stderr for t in trajectories), "what another process answered says so"
    assert deaths == 1 or "died twice" in str(trajectories[0].failure)


async def test_grading_that_is_given_up_leaves_no_process(shelf: Shelf) -> None:
    stream = shelf.runner.run(jobs(shelf.taught), Limits())
    await anext(stream)
    zygote = shelf.sandbox._zygote
    assert zygote is not None
    assert len(zygote._launched) == 1
    await stream.aclose()
    assert zygote._launched == {}
    assert len(await graded(shelf.runner, jobs(shelf.taught)[:3])) == 3


async def test_a_killed_sandbox_is_started_again_for_the_next_grading(shelf: Shelf) -> None:
    zygote = shelf.sandbox._zygote
    assert zygote is not None
    os.kill(zygote.pid, signal.SIGKILL)
    trajectories = await graded(shelf.runner, jobs(shelf.taught)[:3])
    assert all(t.status == "ok" for t in trajectories)


async def test_other_tasksets_are_refused(shelf: Shelf) -> None:
    (job,) = jobs(shelf.weak)[:1]
    with pytest.raises(ConfigError, match="expected a taskset named posttraining/NAME"):
        await graded(shelf.runner, [replace(job, taskset=replace(job.taskset, kind="question"))])
    with pytest.raises(ConfigError, match="tasks of the kind 'episode' cannot grade a model"):
        inner_runner("episode", Opening())
    with pytest.raises(UnknownNameError, match="unknown kind of task 'debate'"):
        inner_runner("debate", Opening())
