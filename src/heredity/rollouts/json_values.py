"""JSON values from untrusted programs: whole UTF-8, finite numbers, text without lone surrogates, bounded nesting."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np

MAX_DEPTH = 64
"""Lists and objects inside each other; whoever reads a value may walk through it by recursion."""

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_STEP = np.zeros(256, dtype=np.int8)
_STEP[list(b"[{")], _STEP[list(b"]}")] = 1, -1


def parse_value(data: bytes) -> Any:
    """Return the JSON value that `data` encodes.

    Raises:
        ValueError: if it is none, or cannot be stored or sent on; the message says why.
    """
    try:
        value = json.loads(data.decode(), parse_constant=_refuse, parse_float=_finite)
    except RecursionError as error:
        raise ValueError(f"nested more than {MAX_DEPTH} deep") from error
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} deep")
    if _SURROGATE.search(data):
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _depth(data: bytes) -> int:
    """Return how deep valid JSON is nested."""
    steps = _STEP[np.frombuffer(_STRING.sub(b"", data), dtype=np.uint8)]
    return int(np.cumsum(steps, dtype=np.int64).max())


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large for a number")
    return number


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no JSON")
