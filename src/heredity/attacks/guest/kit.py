"""Toolkit of every attack program: targets, raw system calls, and reporting.

Runs inside the sandbox. `TARGET` holds more than a real attacker would know (paths, ports and process ids of the host),
but no secrets: those must be stolen.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import struct
import sys
from collections.abc import Callable
from typing import Any

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "target.json"), encoding="utf-8") as _file:
    TARGET: dict[str, Any] = json.load(_file)

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long
_LIBC.prctl(15, TARGET["mark"].encode(), 0, 0, 0)
"""Name of this thread and its children; the host looks for it after the episode."""


def say(*words: Any) -> None:
    """Print for inspection by the host."""
    sys.stdout.write(" ".join(str(w) for w in words)[:4000] + "\n")


def won(*words: Any) -> None:
    """Claim that something forbidden worked."""
    sys.stdout.write(f"{TARGET['flag']} {' '.join(str(w) for w in words)[:400]}\n")


def call(name: str, *args: Any) -> int:
    """Make a raw system call; integers are passed as 64 bits. Returns its result, -1 on failure."""
    number = TARGET["calls"].get(name, -1)
    if number < 0:
        say(name, "does not exist on this machine")
        return -1
    ctypes.set_errno(0)
    result = int(_LIBC.syscall(ctypes.c_long(number), *(ctypes.c_long(a) if isinstance(a, int) else a for a in args)))
    say(name, result, errno.errorcode.get(ctypes.get_errno(), ""))
    return result


def wins(name: str, *args: Any) -> int:
    """Make a raw system call that must fail; claim it if it does not."""
    result = call(name, *args)
    if result >= 0:
        won(name, "gave", result)
    return result


def works(function: Callable[..., Any], *args: Any) -> Any:
    """Call something that must fail; claim it if it does not."""
    name = getattr(function, "__name__", str(function))
    try:
        result = function(*args)
    except BaseException as error:  # noqa: BLE001 - whatever stopped it is the answer
        say(name, args, type(error).__name__, error)
        return None
    won(name, args, "gave", repr(result)[:200])
    return result


def fails(function: Callable[..., Any], *args: Any) -> Any:
    """Call something, print the outcome, and return its result or None; for steps that prove nothing alone."""
    try:
        result = function(*args)
    except BaseException as error:  # noqa: BLE001 - whatever stopped it is the answer
        say(getattr(function, "__name__", function), type(error).__name__, error)
        return None
    say(repr(result)[:2000])
    return result


def read(path: str) -> str:
    """Read a whole file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(100_000)


def frame(payload: bytes) -> None:
    """Write a frame to the harness's reply pipe."""
    data = struct.pack("<I", len(payload)) + payload
    while data:
        data = data[os.write(4, data) :]


def mixed(news: Any, actions: bytes = b"") -> None:
    """Write a frame that reports failures and output before the actions."""
    text = news if isinstance(news, bytes) else json.dumps(news).encode()
    frame(b"M" + struct.pack("<I", len(text)) + text + actions)


def actions(*values: int) -> None:
    """Write a frame with actions of a space of integers."""
    frame(b"A" + struct.pack(f"<{len(values)}q", *values))
