"""What goes wrong in hooks, and how long they may take over many turns; known where no hook can be called."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from contextvars import ContextVar

from heredity.worlds.dsl.bounded import RuleError


class HookError(RuleError):
    """A hook that went wrong.

    Attributes:
        traceback: the lines of its author, where it raised.
    """

    def __init__(self, message: str, traceback: str = "") -> None:
        self.traceback = traceback
        super().__init__(message)


class SlowHookError(HookError):
    """A hook that has not answered in time, or hooks whose allowance is spent."""


class UnansweredHookError(SlowHookError):
    """A hook that waits, or that the machine gives no time: whether it is slow cannot be said."""


class Allowance:
    """Seconds that hooks may take together, over many turns.

    Args:
        seconds: how many: of the processor, so that no load of the machine decides whether they suffice.
        clock: whether they are of the clock instead, as where somebody waits for what hooks say.
    """

    def __init__(self, seconds: float, *, clock: bool = False) -> None:
        self.seconds = self.left = seconds
        self.clock = clock


_ALLOWANCE: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextlib.contextmanager
def spending(allowance: Allowance) -> Generator[None]:
    """Have the hooks that are called inside take their time from an allowance; one that is spent is a `SlowHookError`."""
    token = _ALLOWANCE.set(allowance)
    try:
        yield
    finally:
        _ALLOWANCE.reset(token)


def allowance() -> Allowance | None:
    """Return the allowance in force; None if there is none."""
    return _ALLOWANCE.get()
