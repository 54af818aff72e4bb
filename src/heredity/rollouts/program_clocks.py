"""The time of one call of a sandboxed program: by the clock, or by the processor where no load of the machine may decide."""

from __future__ import annotations

import asyncio

from heredity.sandbox.waiting import LOOK_S, LateError, UnansweredError, Wait, WorkerTime

UNANSWERED = "unanswered"
"""The category of what only waits, where the processor's time counts: whether it is slow cannot be said."""


class EndedError(Exception):
    """The process has ended, or has to: why, in the terms of `ToolResult`."""

    def __init__(self, error: str, message: str) -> None:
        self.error, self.message = error, message
        super().__init__(message)


class Clock:
    """The time of one call: `left` runs only while the program does, `wall` stands still only in the queue for a turn."""

    def __init__(self, wall_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self.wall_s, self.wall = wall_s, self._loop.time() + wall_s
        self.allow(wall_s, "the call")

    def allow(self, seconds: float, what: str) -> None:
        """Give the program `seconds` from now on, for `what`."""
        self.left, self._seconds, self._what = seconds, seconds, what
        self._since = self._loop.time()

    def stop(self) -> None:
        """The program waits."""
        self.left -= self._loop.time() - self._since

    def go_on(self, since: float) -> None:
        """The program runs again, after it was in the queue since then."""
        self._since = self._loop.time()
        self.wall += self._since - since

    @property
    def deadline(self) -> float:
        """The loop's time by which a running program must have answered."""
        return min(self._since + self.left, self.wall)

    def expired(self) -> EndedError | None:
        """Return what to end with when the deadline has passed; None if it goes on."""
        if self._since + self.left > self.wall:
            return EndedError("timeout", f"it took more than {self.wall_s:g} s in all, what it waited for included")
        return EndedError("timeout", f"{self._what} took more than {self._seconds:g} s")


class ProcessorClock(Clock):
    """The time of one call by the processor's seconds of its process, so that no load of the machine decides."""

    def __init__(self, wall_s: float, time: WorkerTime) -> None:
        self._time = time
        super().__init__(wall_s)

    def allow(self, seconds: float, what: str) -> None:
        """Give the program so many seconds of the processor from now on, for `what`."""
        super().allow(seconds, what)
        self._wait = Wait(self._time, seconds)

    @property
    def deadline(self) -> float:
        """The loop's time at which somebody looks at the processor's."""
        return self._loop.time() + LOOK_S

    def expired(self) -> EndedError | None:
        """Return what to end with if it has had enough, or only waits."""
        try:
            self._wait.look()
        except UnansweredError:
            return EndedError(UNANSWERED, f"{self._what} came to no end, and little was done meanwhile")
        except LateError:
            return EndedError("timeout", f"{self._what} took more than {self._seconds:g} s of the processor")
        return None
