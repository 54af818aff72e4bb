"""Findings of checks, and checks that return one for any content of a folder."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

import msgpack

from heredity._core.errors import HeredityError
from heredity.results.card import Check, CheckStatus

Finding = tuple[CheckStatus, str]

_MOST_NAMED = 3
UNREADABLE = (
    HeredityError, OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, MemoryError,
    StopIteration, AssertionError, struct.error, msgpack.exceptions.UnpackException,
)  # fmt: skip
"""Exceptions that untrusted records may cause; any other is a bug in Heredity."""


def passed(what: str) -> Finding:
    """Return a finding that the claim holds."""
    return CheckStatus.PASSED, what


def failed(what: str) -> Finding:
    """Return a finding that the claim does not hold."""
    return CheckStatus.FAILED, what


def not_checked(why: str) -> Finding:
    """Return a finding that nothing was checked, with the reason."""
    return CheckStatus.NOT_CHECKED, why


def failed_on(problems: Sequence[str], otherwise: str) -> Finding:
    """Return a failure with the first of several problems, or a pass if there are none."""
    if not problems:
        return passed(otherwise)
    more = len(problems) - _MOST_NAMED
    return failed("; ".join(problems[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else ""))


def check(name: str, run: str | None, work: Callable[[], Finding]) -> Check:
    """Make a check. Records that make it impossible fail it, as they cannot support the claim."""
    try:
        status, reason = work()
    except UNREADABLE as error:
        status, reason = failed(f"{type(error).__name__}: {error}")
    return Check(name=name, run=run, status=status, reason=" ".join(reason.encode("utf-8", "replace").decode().split()))


def skipped(names: Sequence[str], run: str | None, why: str) -> list[Check]:
    """Return checks that were not made, all for one reason."""
    return [Check(name=name, run=run, status=CheckStatus.NOT_CHECKED, reason=why) for name in names]
