"""Spans as OpenTelemetry's OTLP in JSON, for collectors' `/v1/traces` endpoint (ExportTraceServiceRequest, OTLP 1.x).

Attributes use the names of OpenTelemetry's semantic conventions for generative AI if they exist, and the prefix
`heredity.` otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from heredity import __version__
from heredity._core.spans import Span
from heredity.models import Usage
from heredity.models.contract import NOTHING_USED

UNENDED = "not ended"
"""Name of the stand-in for a span with only its children recorded: it was still running, or its process was killed."""


@dataclass(slots=True, eq=False)
class Node:
    """A span and the spans inside it, by start."""

    span: Span
    children: list[Node] = field(default_factory=list["Node"])

    @property
    def seconds(self) -> float:
        """Wall time from its start to its end."""
        return (self.span.end_ns - self.span.start_ns) / 1e9

    @property
    def self_seconds(self) -> float:
        """Wall time without any running child; children may overlap."""
        covered, until = 0, self.span.start_ns
        for child in self.children:
            end = min(child.span.end_ns, self.span.end_ns)
            if end > until:
                covered += end - max(child.span.start_ns, until)
                until = end
        return (self.span.end_ns - self.span.start_ns - covered) / 1e9

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Node]]:
        """Yield the node and its descendants, each before its children, with its depth."""
        waiting = [(depth, self)]
        while waiting:
            level, node = waiting.pop()
            yield level, node
            waiting += [(level + 1, child) for child in reversed(node.children)]


@dataclass(frozen=True, slots=True)
class Total:
    """Totals of all spans of a kind.

    Attributes:
        count: number of spans.
        problems: number of spans with a problem.
        seconds: wall time, summed over spans not inside another of the kind; may exceed that of the run, since spans
            run concurrently.
        self_seconds: the part of it not spent inside their children.
        usage: usage of the model calls inside them; unknown if any is unknown.
    """

    count: int = 0
    problems: int = 0
    seconds: float = 0.0
    self_seconds: float = 0.0
    usage: Usage = NOTHING_USED

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values; unknown is null."""
        return {**asdict(self), "usage": self.usage.to_json()}


def span_tree(spans: Iterable[Span]) -> list[Node]:
    """Return the topmost spans, by start, with the others inside them.

    Spans with a missing parent are grouped under one named `UNENDED`.
    """
    nodes = {span.span_id: Node(span) for span in spans}
    for node in list(nodes.values()):
        parent = node.span.parent_id
        if parent and parent not in nodes:
            nodes[parent] = Node(Span(UNENDED, "other", node.span.trace_id, parent, "", 0))
    roots: list[Node] = []
    for node in nodes.values():
        (nodes[node.span.parent_id].children if node.span.parent_id else roots).append(node)
    for node in nodes.values():
        node.children.sort(key=lambda child: child.span.start_ns)
        if node.span.name == UNENDED and node.children:
            node.span.start_ns = node.children[0].span.start_ns
            node.span.end_ns = max(child.span.end_ns for child in node.children)
    return sorted(roots, key=lambda node: node.span.start_ns)


def totals(roots: Sequence[Node]) -> dict[str, Total]:
    """Return the totals of each kind of span, in order of first occurrence."""
    by_kind: dict[str, Total] = {}

    def add(node: Node, outer: tuple[str, ...]) -> tuple[str, ...]:
        kind = node.span.kind
        before = by_kind.get(kind, Total())
        fresh = kind not in outer
        by_kind[kind] = replace(
            before,
            count=before.count + 1,
            problems=before.problems + bool(problem_of(node.span)),
            seconds=before.seconds + node.seconds * fresh,
            self_seconds=before.self_seconds + node.self_seconds,
        )
        inside = (*outer, kind) if fresh else outer
        if kind == "model":
            used = usage_of(node.span)
            for enclosing in inside:
                by_kind[enclosing] = replace(by_kind[enclosing], usage=by_kind[enclosing].usage + used)
        return inside

    waiting: list[tuple[Node, tuple[str, ...]]] = [(root, ()) for root in reversed(roots)]
    while waiting:
        node, outer = waiting.pop()
        inside = add(node, outer)
        waiting += [(child, inside) for child in reversed(node.children)]
    return by_kind


def problem_of(span: Span) -> str:
    """Return the problem of a span in one line; `""` if it has none."""
    attributes = span.attributes
    if span.error:
        return span.error
    if attributes.get("error") or attributes.get("failed"):
        return ": ".join(
            str(attributes[key]) for key in ("error", "failed", "failure", "message") if attributes.get(key)
        )
    return "" if attributes.get("status", "ok") in ("ok", "finished") else str(attributes["status"])


def usage_of(span: Span) -> Usage:
    """Return the usage of a model call; unknown if it is not recorded."""
    usage = span.attributes.get("usage")
    names = Usage.__dataclass_fields__
    return Usage(**{name: usage.get(name) for name in names}) if isinstance(usage, Mapping) else Usage()


def selected(
    roots: Sequence[Node], kinds: Sequence[str] = (), rollout: str = "", slowest: int | None = None
) -> list[Node]:
    """Return the selected spans.

    Args:
        roots: a whole tree.
        kinds: only these kinds; empty for all.
        rollout: only spans inside rollouts of this task, such as `"train/3"`; `""` for all.
        slowest: number of spans, longest first; None for all spans by start.
    """
    within = [node for root in roots for _, node in root.walk()]
    if rollout:
        rollouts = [n for n in within if n.span.kind == "rollout" and n.span.attributes.get("task") == rollout]
        within = [node for top in rollouts for _, node in top.walk()]
    chosen = [node for node in within if not kinds or node.span.kind in kinds]
    if slowest is None:
        return chosen
    return sorted(chosen, key=lambda node: -node.seconds)[:slowest]


_INTERNAL, _CLIENT = 1, 3
_ERROR = 2
_OPERATIONS = {"model": "chat", "tool": "execute_tool", "rollout": "invoke_agent"}
_NAMES = {
    "model": {
        "model": "gen_ai.request.model",
        "answered_by": "gen_ai.response.model",
        "finish": "gen_ai.response.finish_reasons",
    },
    "tool": {"tool": "gen_ai.tool.name", "arguments": "gen_ai.tool.call.arguments", "value": "gen_ai.tool.call.result"},
    "rollout": {"candidate": "gen_ai.agent.id"},
    "verify": {"score": "gen_ai.evaluation.score.value", "reason": "gen_ai.evaluation.explanation"},
}
_USED = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cost_usd": "heredity.cost_usd",
}


def to_otlp(spans: Iterable[Span], resource: Mapping[str, Any]) -> dict[str, Any]:
    """Return spans as one OTLP request in JSON.

    Args:
        spans: in any order.
        resource: their common resource, such as `{"heredity.run.id": …}`; `service.name` and `service.version` are
            added.
    """
    service = {"service.name": "heredity", "service.version": __version__, **resource}
    scope = {"name": "heredity", "version": __version__}
    scoped = {"scope": scope, "spans": [_span(span) for span in spans]}
    return {"resourceSpans": [{"resource": {"attributes": _pairs(service)}, "scopeSpans": [scoped]}]}


def _span(span: Span) -> dict[str, Any]:
    problem = problem_of(span)
    record: dict[str, Any] = {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "name": _name(span),
        "kind": _CLIENT if span.kind == "model" else _INTERNAL,
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": _pairs(_attributes(span)),
        "status": {"code": _ERROR, "message": problem} if problem else {},
    }
    if span.parent_id:
        record["parentSpanId"] = span.parent_id
    return record


def _name(span: Span) -> str:
    """Return the conventional span name: operation and target."""
    target = span.attributes.get({"model": "model", "tool": "tool"}.get(span.kind, ""))
    return f"{_OPERATIONS[span.kind]} {target}" if target else span.name


def _attributes(span: Span) -> dict[str, Any]:
    attributes: dict[str, Any] = {"heredity.kind": span.kind}
    if span.kind in _OPERATIONS:
        attributes["gen_ai.operation.name"] = _OPERATIONS[span.kind]
    if span.kind == "model" and "/" in str(span.attributes.get("model")):
        attributes["gen_ai.provider.name"] = str(span.attributes["model"]).partition("/")[0]
    if span.kind == "model":
        used = usage_of(span).to_json()
        attributes |= {name: used[key] for key, name in _USED.items() if used[key] is not None}
    if problem := problem_of(span):
        attributes["error.type"] = problem.partition(":")[0]
    names = _NAMES.get(span.kind, {})
    for key, value in span.attributes.items():
        if key == "usage" or value is None:
            continue
        name = names.get(key, f"heredity.{key}")
        attributes[name] = [value] if name == "gen_ai.response.finish_reasons" else value
    return attributes


def _pairs(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: Any) -> dict[str, Any]:
    """Return a JSON value as OTLP's AnyValue; null and nested values, which it cannot hold, become JSON text."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, list) and all(isinstance(element, str | bool | int | float) for element in value):
        return {"arrayValue": {"values": [_value(element) for element in value]}}
    return {"stringValue": json.dumps(value, ensure_ascii=False)}
