"""Progress of a suite: shown live in a terminal, or as one line per finished run."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from heredity.engine.runner import Job, Runner
from heredity.engine.streams import closing
from heredity.engine.trajectory import Trajectory
from heredity.methods import Budget
from heredity.results.status import Status
from heredity.sandbox.limits import Limits


class Remaining(Protocol):
    """Part of a session that progress is read from."""

    def remaining(self) -> Budget:
        """Return the remaining budget."""
        ...


@dataclass(slots=True)
class RunProgress:
    """Progress of one run.

    Attributes:
        id: name of the run.
        taskset: its taskset.
        label: its evolver.
        seed: its seed.
        episodes: its budget of train episodes; under a schedule, those of one rollout per task.
        state: `waiting`, `evolving`, `judging`, `done`, `failed`, `paused` or `stopped`.
        session: its session while it evolves.
        rollouts: episodes run so far, hidden ones included.
        trained: train episodes run so far.
        best: greatest mean train return of a submission whose rollouts all ended well.
        heldout: mean held-out return once it is judged.
        started: monotonic time of its start.
        seconds: its duration.
        message: why it failed.
        wait: why a model call has to wait, `""` if none does; `wait_ends`: the monotonic time of the next attempt.
    """

    id: str
    taskset: str
    label: str
    seed: int
    episodes: int
    state: str = "waiting"
    session: Remaining | None = None
    rollouts: int = 0
    trained: int = 0
    best: float | None = None
    heldout: float | None = None
    started: float = 0.0
    seconds: float = 0.0
    message: str = ""
    wait: str = ""
    wait_ends: float = 0.0

    @property
    def used(self) -> int:
        """Train episodes charged so far."""
        left = self.session.remaining().episodes if self.session else None
        if left is None and self.trained:
            return min(self.trained, self.episodes)
        if left is None:
            # A run resumed after its session closed has no session to query.
            return self.episodes if self.state in ("judging", "done") else 0
        return self.episodes - left

    def begin(self) -> None:
        """Record the start of the run."""
        self.started, self.state = time.monotonic(), "evolving"

    def wait_for(self, why: str, seconds: float) -> bool:
        """Record that a model call has to wait; return False if another call of this run already waits."""
        now = time.monotonic()
        if now < self.wait_ends:
            return False
        self.wait, self.wait_ends = why, now + seconds
        return True

    def end(self, state: str, message: str = "") -> None:
        """Record the end of the run."""
        self.state, self.message, self.wait = state, message, ""
        self.seconds = time.monotonic() - self.started if self.started else 0.0


def seconds_left(runs: Sequence[RunProgress], elapsed: float) -> float | None:
    """Estimate the remaining time of a suite from its pace; None if it is too early.

    Args:
        runs: all its runs.
        elapsed: seconds since its start.
    """
    shares = [_share(run) for run in runs]
    done = sum(shares)
    if not done or any(run.episodes == 0 for run in runs) or done < _TELLING * len(runs):
        return None
    return elapsed * (len(runs) - done) / done


_TELLING = 0.02
"""Share of a suite that must be done before its pace is used."""
_JUDGING = 0.8
"""Share of a run that is done when its evolver ends."""


def _share(run: RunProgress) -> float:
    if run.state in ("done", "failed", "paused", "stopped"):
        return 1.0
    return _JUDGING * min(1.0, run.used / run.episodes) if run.episodes else 0.0


class Watcher(Protocol):
    """Observer that is notified of state changes and waits, and may read the other fields at any time."""

    def changed(self, run: RunProgress) -> None:
        """Handle a run's change of state, or its wait."""
        ...


@dataclass(slots=True)
class Silent:
    """Watcher without output.

    Attributes:
        seen: names of the runs that changed state, in order.
    """

    seen: list[str] = field(default_factory=list[str])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def changed(self, run: RunProgress) -> None:
        """Record the run's name."""
        self.seen.append(run.id)


@dataclass(frozen=True, slots=True)
class CountingRunner:
    """Runner that counts rollouts for one run's progress."""

    runner: Runner
    progress: RunProgress

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        """Run jobs (see `Runner.run`)."""
        if jobs and jobs[0].task.split != "train":
            self.progress.state = "judging"
        returns: list[float] = []
        async with closing(self.runner.run(jobs, limits)) as stream:
            async for item in stream:
                self.progress.rollouts += 1
                self.progress.trained += jobs[0].task.split == "train"
                if item[1].status == Status.OK:
                    returns.append(item[1].total_reward)
                yield item
        if returns and len(returns) == len(jobs) and jobs[0].task.split == "train":
            mean = math.fsum(returns) / len(returns)
            self.progress.best = mean if self.progress.best is None else max(self.progress.best, mean)

    async def close(self) -> None:
        """No-op; the suite owns the shared runner."""
