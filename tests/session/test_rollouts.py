"""Which failures leave rollouts missing, and which stop everything: what a provider fails at says nothing of a candidate."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest

from heredity._core.errors import HostError, OutageError, ProviderError
from heredity.engine.rollout import attributed
from heredity.engine.runner import Job
from heredity.engine.trajectory import Failure, Trajectory
from heredity.results.status import FailureSource
from heredity.sandbox.limits import Limits
from heredity.session.rollouts import Rollouts
from heredity.tasks import Task

from .fakes import NumbersTaskset, program


def down(kind: str, *, transient: bool = True) -> ProviderError:
    return ProviderError(kind, f"down ({kind})", transient=transient)


@dataclass(frozen=True)
class Kept:
    job: Job

    def failed(self, status: str, failure_source: FailureSource, message: str, trace: str = "") -> Trajectory:
        failure = Failure(status, message, trace)
        return Trajectory(
            self.job.task.id, "", status, failure_source, 0.0, 0, terminated=False, columns={}, failure=failure
        )


@dataclass
class Failing:
    """Fails each rollout as its task says, round after round; the last word stays."""

    script: dict[int, list[HostError | None]]
    rounds: list[list[int]] = field(default_factory=list[list[int]])

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        self.rounds.append([job.task.index for job in jobs])
        for position, job in enumerate(jobs):
            yield position, await attributed(Kept(job), self._rollout(job))

    async def _rollout(self, job: Job) -> Trajectory:
        outcomes = self.script.get(job.task.index, [None])
        outcome = outcomes.pop(0) if len(outcomes) > 1 else outcomes[0]
        if outcome is not None:
            raise outcome
        return Trajectory(job.task.id, "", "ok", FailureSource.NONE, 1.0, 1, terminated=True, columns={})

    async def close(self) -> None:
        pass


def jobs(count: int) -> list[Job]:
    tasks = [Task(f"train/{i}", "train", i, {"seed": i}) for i in range(count)]
    return [
        Job(NumbersTaskset().info, program("value 1"), task, episode_index=task.index, policy_seed=0) for task in tasks
    ]


async def statuses(runner: Failing, count: int = 3) -> list[str]:
    return [trajectory.status for trajectory in await Rollouts(runner, Limits()).all(jobs(count))]


@pytest.mark.parametrize("kind", ["connection", "rate_limit"])
async def test_a_provider_that_answers_nothing_stops_everything_after_every_retry(kind: str) -> None:
    runner = Failing({1: [down(kind)]})
    with pytest.raises(OutageError, match=f"down .{kind}"):
        await statuses(runner)
    assert runner.rounds == [[0, 1, 2], [1], [1]]


@pytest.mark.parametrize("kind", ["auth", "unknown_model", "rate_limit"])
async def test_what_does_not_pass_is_not_tried_again(kind: str) -> None:
    runner = Failing({1: [down(kind, transient=False)]})
    with pytest.raises(OutageError, match=f"down .{kind}"):
        await statuses(runner)
    assert runner.rounds == [[0, 1, 2]]


async def test_an_outage_that_passes_leaves_nothing_behind() -> None:
    assert await statuses(Failing({0: [down("connection"), None], 2: [down("server"), None]})) == ["ok"] * 3


@pytest.mark.parametrize("kind", ["server", "timeout", "garbage"])
async def test_a_provider_that_fails_at_some_requests_leaves_those_missing(kind: str) -> None:
    assert await statuses(Failing({1: [down(kind)]})) == ["ok", "provider_error", "ok"]


@pytest.mark.parametrize("error", [down("server"), down("timeout"), down("garbage"), HostError("no server answers")])
async def test_rollouts_of_which_none_could_be_made_are_no_result(error: HostError) -> None:
    with pytest.raises(OutageError, match="all 3 rollouts failed: "):
        await statuses(Failing({task: [error] for task in range(3)}))


@pytest.mark.parametrize("kind", ["request", "unscripted", "verdict"])
async def test_what_is_wrong_with_the_requests_alone_is_missing(kind: str) -> None:
    runner = Failing({task: [down(kind, transient=False)] for task in range(3)})
    assert await statuses(runner) == ["provider_error"] * 3
