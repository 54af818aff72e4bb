"""Spans: steps with their time and nesting. This module has no dependencies, so every layer can use it.

`with span("model", kind="model", model=name) as s: …; s.set(output=text)`. Without a collector a span costs almost
nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

Sink = Callable[["Span"], None]
_SINK: ContextVar[Sink | None] = ContextVar("heredity_span_sink", default=None)
_CURRENT: ContextVar[Span | None] = ContextVar("heredity_span", default=None)


@dataclass(slots=True)
class Span:
    """One step, as in OpenTelemetry, with JSON attributes.

    Attributes:
        name: the step, `"rollout"`, `"model"`, `"tool"`, `"reflect"`.
        kind: `"run"`, `"operator"`, `"rollout"`, `"round"`, `"model"`, `"tool"`, `"verify"`, `"commit"` or `"other"`.
        trace_id: 32 hexadecimal characters, shared by all spans of one tree; `span_id`: 16; `parent_id`: `""` at
            the top.
        start_ns: Unix time in nanoseconds; `end_ns` likewise, 0 while it lasts.
        attributes: inputs, outputs, decisions; JSON values.
        error: the exception that ended it; `""` on success.
    """

    name: str
    kind: str
    trace_id: str
    span_id: str
    parent_id: str
    start_ns: int
    end_ns: int = 0
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    error: str = ""

    def set(self, **attributes: Any) -> None:
        """Add attributes."""
        self.attributes.update(attributes)


class _Nothing(Span):
    def set(self, **attributes: Any) -> None:
        """No-op, since nothing collects spans."""


_NOTHING = _Nothing("", "other", "", "", "", 0)


@contextmanager
def collecting(sink: Sink) -> Generator[None]:
    """Pass every span that ends inside this block (and in tasks started in it) to `sink`."""
    token = _SINK.set(sink)
    try:
        yield
    finally:
        _SINK.reset(token)


@contextmanager
def watching(sink: Sink) -> Generator[None]:
    """Pass every span that ends inside this block to `sink` too, in addition to the current collector."""
    collector = _SINK.get()

    def both(ended: Span) -> None:
        sink(ended)
        if collector is not None:
            collector(ended)

    with collecting(both):
        yield


@contextmanager
def span(name: str, kind: str = "other", **attributes: Any) -> Generator[Span]:
    """Record a step, as a child of the one around it."""
    sink = _SINK.get()
    if sink is None:
        yield _NOTHING
        return
    parent = _CURRENT.get()
    trace_id = parent.trace_id if parent else os.urandom(16).hex()
    parent_id = parent.span_id if parent else ""
    mine = Span(name, kind, trace_id, os.urandom(8).hex(), parent_id, time.time_ns(), attributes=dict(attributes))
    token = _CURRENT.set(mine)
    try:
        yield mine
    except BaseException as error:
        mine.error = f"{type(error).__name__}: {error}"[:500]
        raise
    finally:
        _CURRENT.reset(token)
        mine.end_ns = time.time_ns()
        sink(mine)
