"""Messages from a policy process. They are untrusted: everything here is checked for its type and cut to size."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Mapping
from typing import Any

from heredity.engine.trajectory import Failure
from heredity.results.status import PROGRAM_FAILURES, Status
from heredity.sandbox.guest import frames

_POSITION = re.compile("[0-9]{1,5}")
_FAILURE_FIELDS = ("category", "message", "traceback")
_TIMEOUTS = {Status.INIT_TIMEOUT, Status.ROLLOUT_TIMEOUT}
_GUEST_CATEGORIES = (PROGRAM_FAILURES - _TIMEOUTS) | {Status.INVALID_ACTION}
"""Categories a policy process may report; timeouts are measured on this side."""


def parse(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object in `data`, or None if there is none."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def failures(news: Mapping[str, Any]) -> dict[int, Failure]:
    """Return the failures of single episodes: position to failure."""
    entries = news.get("failures")
    if not isinstance(entries, dict):
        return {}
    parsed = {int(k): failure(v) for k, v in entries.items() if _POSITION.fullmatch(k)}
    return {k: v for k, v in parsed.items() if v is not None}


def failure(value: Any) -> Failure | None:
    """Return one failure, or None if there is none. A process cannot choose the failure source: it is always the candidate."""
    if not isinstance(value, dict):
        return None
    category, message, traceback = (v if isinstance(v, str) else "" for v in map(value.get, _FAILURE_FIELDS))
    return Failure(category if category in _GUEST_CATEGORIES else Status.ACT_ERROR, message[:500], traceback[:10_000])


def location(value: Any) -> list[Any] | None:
    """Return the location of `act` (file, line, name), or None if the message has none."""
    if isinstance(value, list) and [type(v) for v in value] == [str, int, str] and 0 < value[1] < 1 << 31:
        return [value[0][:200], value[1], value[2][:100]]
    return None


def exit_text(status: int) -> str:
    """Describe a process's exit status."""
    if status == frames.LIVED_ON:
        return "it closed its pipe to the host"
    if status < 0:
        names = {s.value: s.name for s in signal.Signals}  # real-time signals have no names
        return f"signal {names.get(-status, -status)}"
    return "it ended itself" if status == 0 else f"exit status {status}"
