"""Bounded pieces of pages, files and errors for agents."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

PIECE = 6_000
"""Characters of a page or file shown at once."""

MOST_FILE_BYTES = 20 << 20


Keep = Callable[[bytes], Awaitable[str]]
"""Stores bytes and returns their name."""


class ActionError(Exception):
    """An impossible action; the message tells the model why."""


def taken(path: Path, folder: Path) -> bytes:
    """Read a file written by the browser, which may be anything."""
    descriptor = os.open(folder / path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        data = file.read(MOST_FILE_BYTES + 1)
    if len(data) > MOST_FILE_BYTES:
        raise ActionError(f"it is larger than {MOST_FILE_BYTES >> 20} MiB")
    return data


async def keep_nothing(_: bytes) -> str:
    """Keep nothing."""
    return ""


def piece(text: str, start: int, what: str = "") -> str:
    """Return the piece of a text from a character on."""
    end = start + PIECE
    if start == 0 and len(text) <= PIECE:
        return text
    more = f"; read on with browser_read and start={end}" if end < len(text) else ""
    return f"{text[start:end]}\n[{what}characters {start} to {min(end, len(text))} of {len(text)}{more}]"


def first_line(error: Exception) -> str:
    """Return the first line of an error: what follows in the driver's is a log of its attempts."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
