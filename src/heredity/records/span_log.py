"""`spans.jsonl`: the finished spans of a run, one per line, for analysis of its steps and times.

It is not part of the record: metrics never depend on it, and a run continues if it cannot be written. It may contain
hidden
tasks, so only its owner can read it, and it is outside the folders that agents see.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from heredity._core.errors import RecordError
from heredity._core.outside import ANY_SIZE, read_bytes
from heredity._core.spans import Span

NAME = "spans.jsonl"
MOST_BYTES = 1 << 30
"""Maximum size of a trace in bytes; later spans are left out."""

_FLUSH_BYTES, _FLUSH_S = 64 << 10, 2.0
_TEXT_CHARS, _SPAN_CHARS, _ITEMS, _DEPTH = 4000, 16_000, 100, 6


class SpanLog:
    """Appends spans to a file; a `heredity._core.spans.Sink`, for any number of tasks and threads.

    Spans are buffered up to 64 KiB or two seconds, and written as whole lines. After the first failure the log warns
    once and
    drops the rest.

    Args:
        path: the file; an existing one is continued, without an incomplete last line of a killed writer.
        warn: called at most once, with the reason if the file is incomplete.
    """

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self._path, self._warn = path, warn
        self._lock = threading.Lock()
        self._lines: list[bytes] = []
        self._held, self._since = 0, 0.0
        self._file: tuple[int, int] | None = None
        self._ended = False

    def __call__(self, span: Span) -> None:
        """Add a finished span."""
        if self._ended:
            return
        line = _encoded(span)
        with self._lock:
            if not self._lines:
                self._since = time.monotonic()
            self._lines.append(line)
            self._held += len(line)
            if self._held >= _FLUSH_BYTES or time.monotonic() - self._since >= _FLUSH_S:
                self._flush()

    def close(self) -> None:
        """Write buffered spans; later ones are dropped."""
        with self._lock:
            self._flush()
            self._end()

    def _flush(self) -> None:
        data = b"".join(self._lines)
        self._lines.clear()
        self._held = 0
        if self._ended or not data:
            return
        fd, end = -1, 0
        try:
            fd, end = self._file or _opened(self._path)
            self._file = fd, end + len(data)
            if end + len(data) > MOST_BYTES:
                raise OSError(f"it has {end} bytes of at most {MOST_BYTES}")
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(fd, end)
            self._end()
            self._warn(f"the trace is incomplete: {self._path} could not be written: {error.strerror or error}")

    def _end(self) -> None:
        self._ended = True
        if self._file is not None:
            os.close(self._file[0])
            self._file = None


def read_spans(path: Path) -> tuple[list[Span], int]:
    """Return the spans of a file in the order of their ends, and the number of damaged lines.

    An incomplete last line, of a running or killed run, counts as neither.

    Raises:
        RecordError: if the file cannot be read.
    """
    try:
        data = read_bytes(path, ANY_SIZE)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}; give the folder of a run with a trace") from error
    *lines, _ = data.split(b"\n")
    decoded = [_decoded(line) for line in lines]
    return [span for span in decoded if span is not None], decoded.count(None)


def _opened(path: Path) -> tuple[int, int]:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        size = end = os.fstat(fd).st_size
        while end and os.pread(fd, 1, end - 1) != b"\n":
            start = max(0, end - _FLUSH_BYTES)
            end = start + os.pread(fd, end - start, start).rfind(b"\n") + 1
        if end < size:
            os.ftruncate(fd, end)
    except OSError:
        os.close(fd)
        raise
    return fd, end


def _encoded(span: Span) -> bytes:
    fields = {name: getattr(span, name) for name in Span.__dataclass_fields__}
    fields["attributes"] = _bounded(span.attributes, [_SPAN_CHARS], _DEPTH)
    # Lone surrogates, which UTF-8 cannot encode, are written as JSON escapes.
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _bounded(value: Any, left: list[int], depth: int) -> Any:
    """Return a value as JSON values, with long or deep parts cut; `left` is the number of characters that still fit."""
    left[0] -= 8
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        kept = _cut(value, max(0, min(_TEXT_CHARS, left[0])))
        left[0] -= len(kept)
        return kept
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and value.bit_length() < 64):
        return None if isinstance(value, float) and not math.isfinite(value) else value
    if isinstance(value, Mapping | list | tuple) and (depth == 0 or left[0] <= 0):
        return "…"
    if isinstance(value, Mapping):
        pairs = islice(value.items(), _ITEMS)
        return {_cut(str(key), 200): _bounded(inner, left, depth - 1) for key, inner in pairs}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_bounded(inner, left, depth - 1) for inner in value[:_ITEMS]]
    return f"<{type(value).__name__}>"


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}… {len(text) - 2 * half} characters …{text[len(text) - half :]}"


def _decoded(line: bytes) -> Span | None:
    try:
        fields: dict[str, Any] = json.loads(line)
        span = Span(**fields)
    except (ValueError, TypeError, RecursionError):
        return None
    types = {"attributes": dict, "span_id": str, "parent_id": str, "start_ns": int, "end_ns": int}
    return span if all(isinstance(fields.get(name), kind) for name, kind in types.items()) else None
