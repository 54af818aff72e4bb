"""What is going on in a suite: shown live in a terminal, or as one line per finished run."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from heredity.evolution import Budget
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
        state: `waiting`, `evolving`, `judging`, `done`, `failed` or `stopped`.
        session: its session while it evolves.
        rollouts: episodes run so far, hidden ones included.
        trained: train episodes run so far.
        heldout: mean held-out return once it is judged.
        started: monotonic time at which it started.
        seconds: how long it took.
        message: what went wrong.
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
    heldout: float | None = None
    started: float = 0.0
    seconds: float = 0.0
    message: str = ""

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

    def end(self, state: str, message: str = "") -> None:
        """Note how the run ended."""
        self.state, self.message = state, message
        self.seconds = time.monotonic() - self.started if self.started else 0.0


class Watcher(Protocol):
    """Is told when a run changes state; looks at the rest whenever it likes."""

    def changed(self, run: RunProgress) -> None:
        """Take note that a run has changed state."""
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
        async with closing(self.runner.run(jobs, limits)) as stream:
            async for item in stream:
                self.progress.rollouts += 1
                self.progress.trained += jobs[0].task.split == "train"
                yield item

    async def close(self) -> None:
        """Leave the shared runner open: it belongs to the suite."""
