"""Filters of system calls, as programs of classic BPF that `seccomp(2)` and bubblewrap take.

A filter is a list of rules and a default. The first rule that fits a call decides. A call by the interface of another
architecture (of 32 bits, or x32) ends the process, since its numbers mean other calls.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from heredity._core.errors import IsolationError

ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000

_MACHINES: Mapping[str, tuple[int, str]] = {
    "x86_64": (0xC000003E, "x86_64"),
    "aarch64": (0xC00000B7, "aarch64"),
    "arm64": (0xC00000B7, "aarch64"),
}
"""The number by which the kernel tells an architecture, and its column in syscalls.csv."""
_X32 = 0x40000000
"""Lowest number of a call by the x32 interface, which shares the number of x86_64."""

_NO_CALL = 0xFFFFFFFF
"""The number -1, which no interface has: the call fails anyway."""

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_EQUAL, _AT_LEAST = 0x15, 0x35
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Offsets in the kernel's `struct seccomp_data`; an argument has 8 bytes, the lower half first."""
_LONGEST = 4096
"""Most instructions that the kernel takes."""


def refuse(errno: int) -> int:
    """Return the action that fails a call with this error number."""
    return _ERRNO | errno


@dataclass(frozen=True, slots=True)
class Rule:
    """The action on a system call, if its arguments fit.

    Attributes:
        name: the call; a rule for a call that this architecture lacks is left out.
        action: `ALLOW`, or `refuse` of an error number.
        where: conditions that all must hold: the argument's position, and the value of all its 64 bits.
        mask: the bits that are compared.
    """

    name: str
    action: int
    where: tuple[tuple[int, int], ...] = ()
    mask: int = 0xFFFFFFFF_FFFFFFFF


def compile_filter(rules: Iterable[Rule], default: int) -> bytes:
    """Return a filter for this machine, 8 bytes an instruction.

    Raises:
        IsolationError: if the calls of this machine's architecture are unknown.
    """
    architecture, _ = _machine()
    numbers = call_numbers()
    code = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, architecture, 1, 0),
        _step(_RETURN, _KILL_PROCESS),
        _step(_LOAD, _NUMBER),
        _step(_EQUAL, _NO_CALL, 2, 0),
        _step(_AT_LEAST, _X32, 0, 1),
        _step(_RETURN, _KILL_PROCESS),
    ]
    for rule in rules:
        if rule.name in numbers:
            checked = _arguments(rule)
            # The number is loaded again after conditions on arguments, for the next rule.
            code += [_step(_EQUAL, numbers[rule.name], 0, len(checked) + 1), *checked, _step(_RETURN, rule.action)]
            code += [_step(_LOAD, _NUMBER)] if checked else []
    code.append(_step(_RETURN, default))
    if len(code) > _LONGEST:
        raise IsolationError(f"a filter of {len(code)} instructions is longer than the kernel takes; give fewer rules")
    return b"".join(code)


@cache
def call_numbers() -> Mapping[str, int]:
    """Return the numbers of this machine's system calls by name.

    Raises:
        IsolationError: if they are unknown for its architecture.
    """
    _, column = _machine()
    head, *rows = Path(__file__).with_name("syscalls.csv").read_text(encoding="ascii").splitlines()
    place = head.split(",").index(column)
    cells = (row.split(",") for row in rows)
    return {row[0]: int(row[place]) for row in cells if row[place]}


def _machine() -> tuple[int, str]:
    try:
        return _MACHINES[platform.machine()]
    except KeyError:
        raise IsolationError(
            f"system calls cannot be filtered on {platform.machine() or 'an unknown architecture'}; "
            "use a machine with x86_64 or aarch64"
        ) from None


def _arguments(rule: Rule) -> list[bytes]:
    """Return the checks of a rule's conditions; where one does not hold, they jump past the rule's action."""
    steps: list[bytes] = []
    halves = [
        (_ARGUMENTS + 8 * place + 4 * half, rule.mask >> 32 * half & 0xFFFFFFFF, value >> 32 * half & 0xFFFFFFFF)
        for place, value in rule.where
        for half in (0, 1)
    ]
    for left, (offset, mask, value) in zip(range(len(halves) - 1, -1, -1), halves, strict=True):
        steps += [_step(_LOAD, offset), _step(_AND, mask), _step(_EQUAL, value & mask, 0, 3 * left + 1)]
    return steps


def _step(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)
