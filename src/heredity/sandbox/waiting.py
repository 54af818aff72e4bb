"""How long an answer from the sandbox is waited for: by the processor's time, so that no load of the machine decides."""

from __future__ import annotations

import time
from dataclasses import dataclass

from heredity.errors import HeredityError
from heredity.sandbox.memory import inside, processor_of, queued_of

LOOK_S = 0.1
"""How long is waited before anybody looks at the time."""
UNANSWERED = 4
"""What waits is given up after so many times its processor seconds by the clock."""


MOST_WAITED_S = 60.0
"""No more seconds than that are waited where nothing is done."""


class ProgramError(HeredityError):
    """A program in the sandbox has failed.

    Attributes:
        traceback: its author's lines, where it raised.
    """

    def __init__(self, message: str, traceback: str = "") -> None:
        self.traceback = traceback
        super().__init__(message)


class LateError(ProgramError):
    """A program in the sandbox has not answered in time."""


class UnansweredError(LateError):
    """A program in the sandbox has not answered, and did nothing meanwhile: it waits, or is stopped."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gave.

    Attributes:
        data: JSON.
        spent_s: processor seconds that it took; 0 if it was answered before anybody looked.
    """

    data: bytes
    spent_s: float = 0.0


class WorkerTime:
    """The processor's time of one confined process, as the kernel counts it: nothing that runs in it can change that.

    Args:
        zygote: the process id of what has forked it.
        number: its process id in its own namespace; None while that is not known.
    """

    def __init__(self, zygote: int, number: int | None) -> None:
        self._zygote, self._number = zygote, number
        self._pid: int | None = None

    def read(self) -> tuple[float, float]:
        """Return the seconds that it has had of the processor, and those that it was ready and had none."""
        if self._pid is None and self._number is not None:
            self._pid = inside(self._zygote, self._number)
        return (0.0, 0.0) if self._pid is None else processor_of(self._pid)


class Wait:
    """How long an answer is waited for: by the processor's time that its process has had meanwhile, not by the clock's.

    The clock is the last resort, for what waits: seconds in which a process is ready to work and has no processor do not count,
    nor do those in which this process is stopped, as the clock is counted by looks.

    Args:
        time: of the process.
        seconds: processor seconds that it may take.
    """

    def __init__(self, time: WorkerTime, seconds: float) -> None:
        self._time, self._seconds = time, seconds
        self._first, self._looks, self.spent_s = (0.0, 0.0), 0, 0.0

    def look(self) -> None:
        """Look at the time; called whenever there was no answer within `LOOK_S`.

        Raises:
            LateError: if it has taken more than it may; `UnansweredError`: if it only waits.
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
    """The wall seconds of a run, without those in which the machine had no processor for it.

    Args:
        root: the process id of what has all of its processes below it.
        seconds: that it has, from now on.
    """

    def __init__(self, root: int, seconds: float) -> None:
        self._root, self._end = root, time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left; 0 or less where none are."""
        left = self._end - time.monotonic()
        return left if left > 0 else left + queued_of(self._root)
