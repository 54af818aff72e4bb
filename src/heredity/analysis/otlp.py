"""Spans as OpenTelemetry's OTLP in JSON, for collectors' `/v1/traces` endpoint (ExportTraceServiceRequest, OTLP 1.x).

Attributes use the names of OpenTelemetry's semantic conventions for generative AI if they exist, and the prefix
`heredity.` otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from heredity import __version__
from heredity._core.spans import Span
from heredity.analysis.span_tree import problem_of, usage_of

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
