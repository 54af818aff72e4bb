"""Timeouts for answers from the sandbox, in CPU time, so that the machine's load does not matter."""

from __future__ import annotations

import time
from dataclasses import dataclass

from heredity._core.errors import HeredityError
from heredity.sandbox.memory import inside, processor_of, queued_of

LOOK_S = 0.1
"""Seconds between looks at the time."""
UNANSWERED = 4
"""Factor on the CPU limit after which an idle program is given up, in wall seconds."""


MOST_WAITED_S = 60.0
"""Upper limit on wall seconds waited for an idle program."""


class ProgramError(HeredityError):
    """A program in the sandbox has failed.

    Attributes:
        traceback: the author's lines of the traceback.
    """

    def __init__(self, message: str, traceback: str = "") -> None:
        self.traceback = traceback
        super().__init__(message)


class LateError(ProgramError):
    """A program in the sandbox did not answer in time."""


class UnansweredError(LateError):
    """A program in the sandbox did not answer, and was idle: it waits, or is stopped."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a call.

    Attributes:
        data: JSON.
        spent_s: CPU seconds it took; 0 if it was answered before the first look.
    """

    data: bytes
    spent_s: float = 0.0


class WorkerTime:
    """CPU time of one confined process, counted by the kernel so that the process cannot change it.

    Args:
        zygote: process id of the zygote that forked it.
        number: its process id in its namespace; None while unknown.
    """

    def __init__(self, zygote: int, number: int | None) -> None:
        self._zygote, self._number = zygote, number
        self._pid: int | None = None

    def read(self) -> tuple[float, float]:
        """Return its CPU seconds, and the seconds it was ready without a processor."""
        if self._pid is None and self._number is not None:
            self._pid = inside(self._zygote, self._number)
        return (0.0, 0.0) if self._pid is None else processor_of(self._pid)


class Wait:
    """Timeout for an answer, in the CPU time of its process instead of wall time.

    Wall time is the last resort, for idle programs. Seconds in which a process is ready without a processor do not
    count, nor do those in which this process is stopped, because time is counted by looks.

    Args:
        time: the process's CPU time.
        seconds: its limit, in CPU seconds.
    """

    def __init__(self, time: WorkerTime, seconds: float) -> None:
        self._time, self._seconds = time, seconds
        self._first, self._looks, self.spent_s = (0.0, 0.0), 0, 0.0

    def look(self) -> None:
        """Look at the time; called whenever an answer took longer than `LOOK_S`.

        Raises:
            LateError: if it has used more than its limit; `UnansweredError`: if it only waits.
        """
        used, queued = self._time.read()
        self._looks += 1
        if self._looks == 1:
            self._first = used, queued
        self.spent_s = max(0.0, used - self._first[0])
        if self.spent_s > self._seconds:
            raise LateError("no answer in time")
        waited = self._looks * LOOK_S - self.spent_s - max(0.0, queued - self._first[1])
        if waited > min(UNANSWERED * self._seconds, MOST_WAITED_S):
            raise UnansweredError("no answer in time, and little was done meanwhile")


class RunClock:
    """Wall seconds of a run, without those in which the machine had no processor for it.

    Args:
        root: process id of the ancestor of all its processes.
        seconds: its limit, from now on.
    """

    def __init__(self, root: int, seconds: float) -> None:
        self._root, self._end = root, time.monotonic() + seconds

    def remaining(self) -> float:
        """Return the remaining seconds; 0 or less at the end."""
        left = self._end - time.monotonic()
        return left if left > 0 else left + queued_of(self._root)
