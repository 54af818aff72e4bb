"""What hangs, told by counted work: neither a slow machine, nor a loaded or a stopped one, changes a verdict.

Lines of Python are counted, which costs much, and so only once an episode has taken long. What is not over after so many more is a
hang. What takes its time where no lines are counted, as in C, is told by processor time, and what waits cannot be judged at all.
"""

from __future__ import annotations

import inspect
import resource
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from heredity.errors import HeredityError
from heredity.worlds.dsl.allowance import Allowance, SlowHookError, UnansweredHookError, spending

PATIENCE = 2.0
"""Processor seconds after which lines are counted."""
LINES = 10_000_000
"""Lines that are waited for then, for each second of patience: more than a second of Python, on machines of today."""
FOREVER = 30
"""What is no Python hangs after so many times the patience, and what only waits is given up after as many by the clock."""
_TICK = 0.5
_AWAKE = 0.1
"""Who has had this share of a tick of the processor did not wait."""


class StuckError(HeredityError):
    """An episode that does not come back; no gate goes on after it.

    Attributes:
        level: where; `actions`: what led there, the last the cause.
    """

    level = ""
    actions: Sequence[Any] = ()


class UnjudgedError(StuckError):
    """An episode of which nothing can be said: it waits for something, or the machine gives it no time."""


class _Interrupt(BaseException):
    """Leaves the code of a world, whatever exceptions it catches."""

    def __init__(self, error: StuckError) -> None:
        self.error = error
        super().__init__(str(error))


class _Watch:
    """The time and the lines of one piece of work, in the main thread.

    Time on the clock is counted by its ticks: while a process is stopped there are none.
    """

    current: _Watch | None = None

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self.rounds = self.lines = 0
        self.asleep, self.spent = 0.0, (0.0, 0)
        self.tracer: Any = None
        self.handlers: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self.outer, _Watch.current = _Watch.current, self
        for number, handler in ((signal.SIGPROF, self._processor), (signal.SIGALRM, self._clock)):
            self.handlers[number] = signal.signal(number, handler)
        self.arm()
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        if self.rounds:
            self._leave()
        for number, handler in self.handlers.items():
            signal.signal(number, handler)
        _Watch.current = self.outer
        if self.outer is not None:
            self.outer.arm()

    def _leave(self) -> None:
        """Count lines no longer."""
        sys.settrace(self.tracer)
        frame = inspect.currentframe()
        while frame is not None:
            frame.f_trace = None if frame.f_trace == self._line else frame.f_trace
            frame = frame.f_back

    def arm(self) -> None:
        tick = min(_TICK, self.patience)
        self.spent = _spent()
        signal.setitimer(signal.ITIMER_PROF, self.patience, self.patience)
        signal.setitimer(signal.ITIMER_REAL, tick, tick)

    def _processor(self, number: int, frame: FrameType | None) -> None:
        """Begin to count lines, or give up what has taken too long without many; called every `patience` processor seconds."""
        self.rounds += 1
        if self.rounds > FOREVER:
            raise _Interrupt(StuckError(f"no answer within {FOREVER * self.patience:g} s of processor time"))
        if self.rounds == 1:
            self.tracer = sys.gettrace()
        sys.settrace(self._called)
        while frame is not None:
            frame.f_trace = self._line
            frame = frame.f_back

    def _clock(self, number: int, frame: FrameType | None) -> None:
        """Count what is waited; ticks while a process is stopped are one.

        Who waits gives the processor back. From who does not it is taken, however little there is for whoever works.
        """
        now, tick = _spent(), min(_TICK, self.patience)
        if now[0] - self.spent[0] < _AWAKE * tick and now[1] > self.spent[1]:
            self.asleep += tick
        self.spent = now
        if self.asleep > FOREVER * self.patience:
            raise _Interrupt(UnjudgedError(f"nothing was done for {self.asleep:g} s"))

    def _called(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
        return self._line

    def _line(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
        self.lines += 1
        if self.lines > LINES * self.patience:
            raise _Interrupt(StuckError(f"no answer within {self.lines - 1} lines of Python"))
        return self._line


def _spent() -> tuple[float, int]:
    """Return the processor seconds of this process, and how often it gave the processor back."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_nvcsw


@contextmanager
def watched(patience: float = PATIENCE) -> Generator[None]:
    """Interrupt what hangs. Only the main thread can be watched.

    Hooks have `FOREVER` times as many seconds of the sandbox's processor time, and a call that is not answered is the same as none.

    Raises:
        StuckError: in place of what was interrupted, whatever that has raised.
    """
    try:
        with _Watch(patience), spending(Allowance(FOREVER * patience)):
            yield
    except _Interrupt as interrupt:
        raise interrupt.error from interrupt
    except UnansweredHookError as error:
        raise UnjudgedError(str(error)) from error
    except SlowHookError as error:
        raise StuckError(str(error)) from error
