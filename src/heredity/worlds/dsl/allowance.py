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


class Allowance:
    """Wall seconds that hooks may take together, over many turns."""

    def __init__(self, seconds: float) -> None:
        self.seconds = self.left = seconds


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
