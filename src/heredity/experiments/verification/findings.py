"""What a check finds, and checks that come to a finding whatever a folder holds."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

import msgpack

from heredity.errors import HeredityError
from heredity.results.card import Check, CheckStatus

Finding = tuple[CheckStatus, str]

_MOST_NAMED = 3
UNREADABLE = (
    HeredityError, OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, MemoryError,
    StopIteration, AssertionError, struct.error, msgpack.exceptions.UnpackException,
)  # fmt: skip
"""What reading and computing from a stranger's records may raise; everything else is a fault of this program."""


def passed(what: str) -> Finding:
    """Return that the claim holds."""
    return CheckStatus.PASSED, what


def failed(what: str) -> Finding:
    """Return that it does not."""
    return CheckStatus.FAILED, what


def not_checked(why: str) -> Finding:
    """Return that nothing is known, and why."""
    return CheckStatus.NOT_CHECKED, why


def failed_on(problems: Sequence[str], otherwise: str) -> Finding:
    """Return that a check failed on each of several problems, of which the first are named; or that there are none."""
    if not problems:
        return passed(otherwise)
    more = len(problems) - _MOST_NAMED
    return failed("; ".join(problems[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else ""))


def check(name: str, run: str | None, work: Callable[[], Finding]) -> Check:
    """Return what a check comes to. Records that make it impossible fail it: they are not what was claimed."""
    try:
        status, reason = work()
    except UNREADABLE as error:
        status, reason = failed(f"{type(error).__name__}: {error}")
    return Check(name=name, run=run, status=status, reason=" ".join(reason.encode("utf-8", "replace").decode().split()))


def skipped(names: Sequence[str], run: str | None, why: str) -> list[Check]:
    """Return checks that were not made, all for one reason."""
    return [Check(name=name, run=run, status=CheckStatus.NOT_CHECKED, reason=why) for name in names]
