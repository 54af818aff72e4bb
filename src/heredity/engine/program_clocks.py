"""Clocks for one call of a sandboxed program: wall time, or CPU time where machine load must not decide."""

from __future__ import annotations

import asyncio

from heredity.sandbox.waiting import LOOK_S, LateError, UnansweredError, Wait, WorkerTime

UNANSWERED = "unanswered"
"""Category of calls that only wait, where CPU time is counted: they cannot be judged slow."""


class EndedError(Exception):
    """The process has ended or must end, with the reason in the terms of `ToolResult`."""

    def __init__(self, error: str, message: str) -> None:
        self.error, self.message = error, message
        super().__init__(message)


class Clock:
    """The time of one call: `left` runs only while the program does, `wall` pauses only in the queue for a turn."""

    def __init__(self, wall_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self.wall_s, self.wall = wall_s, self._loop.time() + wall_s
        self.allow(wall_s, "the call")

    def allow(self, seconds: float, what: str) -> None:
        """Give the program `seconds` from now on, for `what`."""
        self.left, self._seconds, self._what = seconds, seconds, what
        self._since = self._loop.time()

    def stop(self) -> None:
        """Pause: the program waits."""
        self.left -= self._loop.time() - self._since

    def go_on(self, since: float) -> None:
        """Resume; the program was in the queue since then."""
        self._since = self._loop.time()
        self.wall += self._since - since

    @property
    def deadline(self) -> float:
        """The loop's time by which a running program must have answered."""
        return min(self._since + self.left, self.wall)

    def expired(self) -> EndedError | None:
        """Return the error if the deadline has passed, else None."""
        if self._since + self.left > self.wall:
            return EndedError("timeout", f"it took more than {self.wall_s:g} s in all, waiting included")
        return EndedError("timeout", f"{self._what} took more than {self._seconds:g} s")


class ProcessorClock(Clock):
    """The CPU time of one call, so that machine load does not decide."""

    def __init__(self, wall_s: float, time: WorkerTime) -> None:
        self._time = time
        super().__init__(wall_s)

    def allow(self, seconds: float, what: str) -> None:
        """Give the program `seconds` of CPU time from now on, for `what`."""
        super().allow(seconds, what)
        self._wait = Wait(self._time, seconds)

    @property
    def deadline(self) -> float:
        """The loop's time of the next check of the CPU time."""
        return self._loop.time() + LOOK_S

    def expired(self) -> EndedError | None:
        """Return the error if its CPU time is used up or it only waits, else None."""
        try:
            self._wait.look()
        except UnansweredError:
            return EndedError(UNANSWERED, f"{self._what} did not finish and used little CPU time")
        except LateError:
            return EndedError("timeout", f"{self._what} took more than {self._seconds:g} s of CPU time")
        return None
