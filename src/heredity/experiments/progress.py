"""What is going on in a suite: shown live in a terminal, or as one line per finished run."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from heredity.evolution import Budget
from heredity.results.status import Status
from heredity.rollouts.contract import Job, Runner
from heredity.rollouts.streams import closing
from heredity.rollouts.trajectory import Trajectory
from heredity.sandbox.limits import Limits


class Remaining(Protocol):
    """The part of a session that progress is read from."""

    def remaining(self) -> Budget:
        """Return what is left of the budget."""
        ...


@dataclass(slots=True)
class RunProgress:
    """Where one run stands.

    Attributes:
        id: the run's name.
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
        started: monotonic time at which it started.
        seconds: how long it took.
        message: what went wrong.
        wait: why a model has to be waited for, `""` if none was lately; `wait_ends`: the monotonic time at which it is asked again.
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
            # A run that was resumed after its session had closed has no session to ask.
            return self.episodes if self.state in ("judging", "done") else 0
        return self.episodes - left

    def begin(self) -> None:
        """Note that the run has started."""
        self.started, self.state = time.monotonic(), "evolving"

    def wait_for(self, why: str, seconds: float) -> bool:
        """Note that a model has to be waited for; return whether that is news, and no second call that waits, too."""
        now = time.monotonic()
        if now < self.wait_ends:
            return False
        self.wait, self.wait_ends = why, now + seconds
        return True

    def end(self, state: str, message: str = "") -> None:
        """Note how the run ended."""
        self.state, self.message, self.wait = state, message, ""
        self.seconds = time.monotonic() - self.started if self.started else 0.0


def seconds_left(runs: Sequence[RunProgress], elapsed: float) -> float | None:
    """Return how long a suite has still to go, at the pace so far; None while there is no telling.

    Args:
        runs: all its runs.
        elapsed: seconds since it was started.
    """
    shares = [_share(run) for run in runs]
    done = sum(shares)
    if not done or any(run.episodes == 0 for run in runs) or done < _TELLING * len(runs):
        return None
    return elapsed * (len(runs) - done) / done


_TELLING = 0.02
"""Which share of a suite is to be done before its pace tells anything."""
_JUDGING = 0.8
"""Which share of a run is over when its evolver is done."""


def _share(run: RunProgress) -> float:
    if run.state in ("done", "failed", "paused", "stopped"):
        return 1.0
    return _JUDGING * min(1.0, run.used / run.episodes) if run.episodes else 0.0


class Watcher(Protocol):
    """Is told when a run changes state or has to wait; looks at the rest whenever it likes."""

    def changed(self, run: RunProgress) -> None:
        """Take note that a run has changed state, or has to wait."""
        ...


@dataclass(slots=True)
class Silent:
    """Watches without a word.

    Attributes:
        seen: names of the runs that changed state, in order.
    """

    seen: list[str] = field(default_factory=list[str])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def changed(self, run: RunProgress) -> None:
        """Remember the run's name."""
        self.seen.append(run.id)


@dataclass(frozen=True, slots=True)
class CountingRunner:
    """A runner that counts what it has run, for one run's progress."""

    runner: Runner
    progress: RunProgress

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        """Attempt jobs (see `Runner.run`)."""
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
        """Leave the shared runner open: it belongs to the suite."""
