"""What an agent prints: kept whole up to a bound, digested whole."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from heredity.results.text import clean

_CHUNK = 1 << 16
_MAX_LINE = 8 << 20
_TAIL_BYTES = 8 << 10
_TAIL_LINES = 20
_LINE_CHARACTERS = 300


class AgentLog:
    """Keeps an agent's output in `agent.log`, and the JSON objects among the lines in `agent.events.jsonl`.

    Attributes:
        digest: SHA-256 of the whole output so far, in the order of arrival.
        size: its bytes, kept or not.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        """Keep at most `limit` bytes of each file below a folder; it is made when the block is entered."""
        self.digest = hashlib.sha256()
        self.size = 0
        self._tail = bytearray()
        self._folder = folder
        self._room = {"agent.log": limit, "agent.events.jsonl": limit}
        self._files: dict[str, IO[bytes]] = {}

    def __enter__(self) -> AgentLog:
        self._folder.mkdir(parents=True, exist_ok=True)
        # Appended: when a run is resumed its agent starts again, and what it said before stays.
        for name in self._room:
            self._files[name] = open(self._folder / name, "ab", buffering=0)
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def last_lines(self, secrets: Sequence[str] = ()) -> str:
        """Return the last lines of the output, control characters as escapes, without what is secret."""
        text = self._tail.decode("utf-8", "replace")
        for secret in filter(None, secrets):
            text = text.replace(secret, "[secret]")
        lines = [clean(line)[:_LINE_CHARACTERS] for line in text.splitlines() if line.strip()]
        return "\n".join(lines[-_TAIL_LINES:])

    async def keep(self, stream: asyncio.StreamReader, *, events: bool) -> None:
        """Keep what comes out of a stream until it ends; `events` looks for JSON objects too."""
        line = bytearray()
        while chunk := await stream.read(_CHUNK):
            self.digest.update(chunk)
            self.size += len(chunk)
            self._tail = (self._tail + chunk)[-_TAIL_BYTES:]
            self._write("agent.log", chunk)
            if events:
                line = self._keep_events(line + chunk)
        if events and line:
            self._keep_events(line + b"\n")

    def _keep_events(self, data: bytearray) -> bytearray:
        *lines, rest = data.split(b"\n")
        for line in lines:
            if _is_object(line):
                self._write("agent.events.jsonl", bytes(line) + b"\n", whole=True)
        # A line without an end is no event; it must not fill the memory either.
        return rest if len(rest) <= _MAX_LINE else bytearray()

    def _write(self, name: str, data: bytes, *, whole: bool = False) -> None:
        room = self._room[name]
        if whole and len(data) > room:
            return
        self._room[name] = room - min(room, len(data))
        self._files[name].write(data[:room])


def _is_object(line: bytes | bytearray) -> bool:
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)
