"""Errors of hooks, and time limits over many turns; needs no hook to be importable."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from contextvars import ContextVar

from heredity.kinds.world.dsl.bounded import RuleError


class HookError(RuleError):
    """A failure in a hook.

    Attributes:
        traceback: the author's lines, where it was raised.
    """

    def __init__(self, message: str, traceback: str = "") -> None:
        self.traceback = traceback
        super().__init__(message)


class SlowHookError(HookError):
    """A hook that timed out, or hooks whose allowance is exhausted."""


class UnansweredHookError(SlowHookError):
    """A hook that waits or gets no CPU time, so its speed cannot be judged."""


class Allowance:
    """Seconds that hooks may use together, over many turns.

    Args:
        seconds: the limit; CPU time by default, so that machine load has no effect.
        clock: use wall-clock time instead, for callers that wait for the results of hooks.
    """

    def __init__(self, seconds: float, *, clock: bool = False) -> None:
        self.seconds = self.left = seconds
        self.clock = clock


_ALLOWANCE: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextlib.contextmanager
def spending(allowance: Allowance) -> Generator[None]:
    """Charge the hooks called inside to an allowance; once it is exhausted they raise `SlowHookError`."""
    token = _ALLOWANCE.set(allowance)
    try:
        yield
    finally:
        _ALLOWANCE.reset(token)


def allowance() -> Allowance | None:
    """Return the active allowance; None if there is none."""
    return _ALLOWANCE.get()
