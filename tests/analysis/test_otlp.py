from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest

from heredity._core.spans import Span, collecting, span
from heredity.analysis.otlp import to_otlp


@pytest.fixture
def request_json() -> dict[str, Any]:
    spans: list[Span] = []
    used = {"input_tokens": 12, "output_tokens": 3, "cached_tokens": None, "cost_usd": 0.25}
    with collecting(spans.append), span("run", kind="run", seed=3, means=[0.5, 1.0], nested={"a": [None]}):
        with span("rollout", kind="rollout", task="train/1", candidate="c" * 64) as step:
            with span(
                "model", kind="model", model="openai/gpt-5", finish="stop", usage=used, answered_by="openai/gpt-5"
            ):
                pass
            with span("tool", kind="tool", tool="times", arguments={"left": 6}, error="timeout", message="10 s"):
                pass
            step.set(status="ok", score=1.0, note=None)
        with pytest.raises(ValueError, match="no"), span("reflect", kind="operator"):
            raise ValueError("no")
    return json.loads(json.dumps(to_otlp(spans, {"heredity.run.id": "r1"})))


def by_name(request_json: dict[str, Any]) -> dict[str, dict[str, Any]]:
    (resource,) = request_json["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    return {otlp_span["name"]: otlp_span for otlp_span in scope["spans"]}


def attributes(otlp_span: dict[str, Any]) -> dict[str, Any]:
    return {pair["key"]: next(iter(pair["value"].values())) for pair in otlp_span["attributes"]}


def test_ids_are_hexadecimal_and_children_name_their_parents(request_json: dict[str, Any]) -> None:
    spans = by_name(request_json)
    assert set(spans) == {"run", "rollout", "chat openai/gpt-5", "execute_tool times", "reflect"}
    for otlp_span in spans.values():
        assert re.fullmatch(r"[0-9a-f]{32}", otlp_span["traceId"])
        assert re.fullmatch(r"[0-9a-f]{16}", otlp_span["spanId"])
        assert int(otlp_span["startTimeUnixNano"]) <= int(otlp_span["endTimeUnixNano"])
    assert "parentSpanId" not in spans["run"]
    assert spans["chat openai/gpt-5"]["parentSpanId"] == spans["rollout"]["spanId"]


def test_model_calls_and_tools_have_the_names_of_the_conventions(request_json: dict[str, Any]) -> None:
    spans = by_name(request_json)
    model, tool = attributes(spans["chat openai/gpt-5"]), attributes(spans["execute_tool times"])
    assert model["gen_ai.request.model"] == "openai/gpt-5"
    assert (model["gen_ai.usage.input_tokens"], model["gen_ai.usage.output_tokens"]) == ("12", "3")
    assert "gen_ai.usage.cache_read.input_tokens" not in model
    assert model["heredity.cost_usd"] == 0.25
    assert tool["gen_ai.operation.name"] == "execute_tool"
    assert tool["gen_ai.tool.call.arguments"] == '{"left": 6}'
    assert "heredity.note" not in attributes(spans["rollout"])


def test_what_went_wrong_is_a_status(request_json: dict[str, Any]) -> None:
    spans = by_name(request_json)
    assert spans["reflect"]["status"] == {"code": 2, "message": "ValueError: no"}
    assert attributes(spans["reflect"])["error.type"] == "ValueError"
    assert spans["execute_tool times"]["status"]["code"] == 2
    assert spans["rollout"]["status"] == {}


def test_the_names_are_those_of_the_installed_conventions(request_json: dict[str, Any]) -> None:
    conventions = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    defined = {
        value for name, value in vars(conventions).items() if name.startswith("GEN_AI_") and isinstance(value, str)
    }
    used = {
        key
        for otlp_span in by_name(request_json).values()
        for key in attributes(otlp_span)
        if key.startswith("gen_ai.")
    }
    assert used - defined == set()
    assert len(used) >= 8


def test_the_sdk_takes_the_ids(request_json: dict[str, Any]) -> None:
    trace = pytest.importorskip("opentelemetry.trace")
    for otlp_span in by_name(request_json).values():
        context = trace.SpanContext(int(otlp_span["traceId"], 16), int(otlp_span["spanId"], 16), is_remote=False)
        assert context.is_valid
        assert trace.format_trace_id(context.trace_id) == otlp_span["traceId"]


def test_the_protocol_reads_every_field(request_json: dict[str, Any]) -> None:
    service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    from google.protobuf import json_format

    # OTLP writes ids as hexadecimal where protobuf's own JSON has base64; nothing else differs.
    for otlp_span in by_name(request_json).values():
        for name in {"traceId", "spanId", "parentSpanId"} & otlp_span.keys():
            otlp_span[name] = base64.b64encode(bytes.fromhex(otlp_span[name])).decode()
    read = json_format.ParseDict(request_json, service.ExportTraceServiceRequest())
    (resource,) = read.resource_spans
    spans = {otlp_span.name: otlp_span for otlp_span in resource.scope_spans[0].spans}
    assert spans["chat openai/gpt-5"].parent_span_id == spans["rollout"].span_id
    run = {pair.key: pair.value for pair in spans["run"].attributes}
    assert run["heredity.seed"].int_value == 3
    assert [v.double_value for v in run["heredity.means"].array_value.values] == [0.5, 1.0]
    assert json.loads(run["heredity.nested"].string_value) == {"a": [None]}
