"""The interface of gates: a subject as input; findings, one of each kind, and a report as output."""

from __future__ import annotations

import inspect
import json
import resource
import signal
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Self

from heredity._core.errors import HeredityError
from heredity._core.ids import digest_bytes, digest_json
from heredity.kinds.world.contract import Action
from heredity.kinds.world.dsl.bounded import Allowance, SlowHookError, UnansweredHookError, spending
from heredity.kinds.world.world import SPLITS, Level, World

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


CERTIFICATE = "certificate.json"

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of fault.

    Attributes:
        kind: its name; a gate reports each kind once.
        message: the first occurrence, and the expected behaviour.
        count: number of occurrences.
        level: level of the first occurrence (empty if it does not concern a level).
        actions: actions that lead there from the level's start, in an agent's format.
    """

    kind: str
    message: str
    count: int = 1
    level: str = ""
    actions: tuple[Any, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values; parts of a malformed action that are not JSON become text."""
        actions = json.loads(json.dumps(list(self.actions), default=repr).replace("NaN", '"NaN"'))
        head = {"kind": self.kind, "message": self.message, "count": self.count}
        return {**head, "trace": {"level": self.level, "actions": actions} if self.level else None}


class Findings:
    """Collects findings: the first of each kind with its trace, the others as a count."""

    def __init__(self) -> None:
        self._first: dict[str, Finding] = {}
        self._counts: dict[str, int] = {}

    def add(self, kind: str, message: str, level: str = "", actions: Iterable[Any] = ()) -> None:
        """Record a fault."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        if kind not in self._first:
            given = tuple(action.to_json() if isinstance(action, Action) else action for action in actions)
            self._first[kind] = Finding(kind, message, 1, level, given)

    def __contains__(self, kind: str) -> bool:
        return kind in self._first

    def all(self) -> tuple[Finding, ...]:
        """Return the findings, in order."""
        return tuple(
            Finding(one.kind, one.message, self._counts[kind], one.level, one.actions)
            for kind, one in self._first.items()
        )


@dataclass(frozen=True, slots=True)
class GateReport:
    """The result of a gate.

    Attributes:
        gate: its name.
        findings: the reasons for rejection; an empty list passes.
        figures: counts and measurements.
        left_out: reason why it was not executed; `""` if it was.
        unjudged: reason why it did not finish, so that it says nothing about the world; `""` if it did.
    """

    gate: str
    findings: tuple[Finding, ...]
    figures: Mapping[str, Any]
    left_out: str = ""
    unjudged: str = ""

    @property
    def passed(self) -> bool:
        """True without findings; False if it could not be judged."""
        return not self.findings and not self.unjudged

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        findings = [finding.to_json() for finding in self.findings]
        if self.left_out:
            return {"gate": self.gate, "passed": None, "left_out": self.left_out}
        if self.unjudged:
            return {"gate": self.gate, "passed": None, "unjudged": self.unjudged}
        return {"gate": self.gate, "passed": self.passed, "findings": findings, "figures": dict(self.figures)}


@dataclass(frozen=True)
class Subject:
    """A world under test.

    Attributes:
        world: the world.
        levels: its shipped levels, test before validation.
        seed: source of all chance of the gates.
        patience: CPU seconds of an episode before its lines are counted.
        library: worlds that it must not copy, by name.
    """

    world: World
    levels: Sequence[Level]
    seed: int = 0
    patience: float = PATIENCE
    library: Mapping[str, World] = field(default_factory=dict[str, World])

    @classmethod
    def of(cls, world: World, *, seed: int = 0, patience: float = PATIENCE, library: Mapping[str, World]) -> Subject:
        """Return a world with all its levels."""
        levels = [level for split in SPLITS for level in world.shipped[split]]
        return cls(world, levels, seed, patience, library)

    def some(self, count: int) -> list[Level]:
        """Return some of the levels, spread over the difficulties."""
        step = max(1, len(self.levels) / count)
        return [self.levels[int(step * index)] for index in range(min(count, len(self.levels)))]


Gate = Callable[[Subject, Findings], Figures]
"""Signature of a gate: inspects a subject, records findings, and returns its figures."""


def files_digest(world: World) -> str:
    """Return the digest of the files of a world, without its certificate."""
    return digest_json({name: digest_bytes(data) for name, data in world.sources.items() if name != CERTIFICATE})
