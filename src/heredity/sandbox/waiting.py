"""How long an answer from the sandbox is waited for: by the processor's time, so that no load of the machine decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heredity.errors import HeredityError
from heredity.sandbox.memory import processor_of
from heredity.sandbox.zygote import ZygoteProcess

LOOK_S = 0.1
"""How long is waited before anybody looks at the time."""
UNANSWERED = 4
"""What has not answered is given up after so many times its processor seconds by the clock."""


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
    """A program in the sandbox has not answered, and has had too little of the processor to be called late."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gave.

    Attributes:
        data: JSON.
        spent_s: processor seconds that it took; 0 if it was answered before anybody looked.
    """

    data: bytes
    spent_s: float = 0.0


class Wait:
    """How long an answer is waited for: by the processor's time that the sandbox has had meanwhile, not by the clock's.

    The clock is the last resort, for what waits; it is counted by looks, so that there are none while this process is stopped.

    Args:
        zygote: what has forked the process.
        seconds: processor seconds that it may take.
        busy: how many processes are in the middle of a call: the time of all is one figure.
    """

    def __init__(self, zygote: ZygoteProcess, seconds: float, busy: Callable[[], int]) -> None:
        self._zygote, self._seconds, self._busy = zygote, seconds, busy
        self._first, self._looks, self.spent_s = 0.0, 0, 0.0

    def look(self) -> None:
        """Look at the time; called whenever there was no answer within `LOOK_S`.

        Raises:
            LateError: if it has taken more than it may; `UnansweredError`: if it only waits.
        """
        used = processor_of(self._zygote.pid)
        self._looks += 1
        if self._looks == 1:
            self._first = used
        self.spent_s = max(0.0, used - self._first) / max(1, self._busy())
        if self.spent_s > self._seconds:
            raise LateError("no answer in time")
        if self._looks * LOOK_S > UNANSWERED * self._seconds:
            raise UnansweredError("no answer in time, and little was done meanwhile")
