"""Detects hangs by counting work, so that a slow, loaded or stopped machine never changes a verdict.

Counting lines of Python is expensive, so it starts only once an episode has taken long. An episode that is not over
after a further number of lines hangs. Code that spends its time where no lines are counted, as in C, is judged by CPU
time. Code that waits cannot be judged.
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

from heredity._core.errors import HeredityError
from heredity.kinds.world.dsl.allowance import Allowance, SlowHookError, UnansweredHookError, spending

PATIENCE = 2.0
"""CPU seconds after which lines are counted."""
LINES = 10_000_000
"""Lines allowed per second of patience after that: more than one second's worth of Python on current machines."""
FOREVER = 30
"""Code other than Python hangs after this many times the patience, and code that only waits is abandoned after as many
by wall-clock time.
"""
_TICK = 0.5
_AWAKE = 0.1
"""A process that used this share of a CPU tick did not wait."""


class StuckError(HeredityError):
    """An episode that hangs; no gate runs after it.

    Attributes:
        level: its level; `actions`: the actions that led there, the last one the cause.
    """

    level = ""
    actions: Sequence[Any] = ()


class UnjudgedError(StuckError):
    """An episode that cannot be judged: it waits, or the machine gives it no CPU time."""


class _Interrupt(BaseException):
    """Leaves the world's code, regardless of the exceptions it catches."""

    def __init__(self, error: StuckError) -> None:
        self.error = error
        super().__init__(str(error))


class _Watch:
    """The time and the lines of one piece of work, in the main thread.

    Wall-clock time is counted in ticks, which pause while a process is stopped.
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
        """Stop counting lines."""
        sys.settrace(self.tracer)
        frame = inspect.currentframe()
        while frame is not None:
            frame.f_trace = None if frame.f_trace == self._line else frame.f_trace
            frame = frame.f_back

    def arm(self) -> None:
        tick = min(_TICK, self.patience)
        self.spent = _cpu_time()
        signal.setitimer(signal.ITIMER_PROF, self.patience, self.patience)
        signal.setitimer(signal.ITIMER_REAL, tick, tick)

    def _processor(self, number: int, frame: FrameType | None) -> None:
        """Start counting lines, or abandon work that took too long without any; called every `patience` CPU seconds."""
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
        """Count waiting time; all ticks while a process is stopped count as one.

        A waiting process yields the CPU voluntarily. A working one is preempted, however little CPU time it gets.
        """
        now, tick = _cpu_time(), min(_TICK, self.patience)
        if now[0] - self.spent[0] < _AWAKE * tick and now[1] > self.spent[1]:
            self.asleep += tick
        self.spent = now
        if self.asleep > FOREVER * self.patience:
            raise _Interrupt(UnjudgedError(f"no work was done for {self.asleep:g} s"))

    def _called(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
        return self._line

    def _line(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
        self.lines += 1
        if self.lines > LINES * self.patience:
            raise _Interrupt(StuckError(f"no answer within {self.lines - 1} lines of Python"))
        return self._line


def _cpu_time() -> tuple[float, int]:
    """Return the CPU seconds of this process, and its number of voluntary context switches."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_nvcsw


@contextmanager
def watched(patience: float = PATIENCE) -> Generator[None]:
    """Interrupt hanging code. Only the main thread can be watched.

    Hooks have `FOREVER` times as many seconds of the sandbox's CPU time. An unanswered call raises the same errors.

    Raises:
        StuckError: replaces any exception of the interrupted code.
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
