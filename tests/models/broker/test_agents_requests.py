"""What coding agents send beyond plain functions, as Codex 0.169.0 and Claude Code 2.1.330 were seen to, in few words."""

from __future__ import annotations

import json
from typing import Any

from heredity.models import Reply, ToolCall
from heredity.models.broker.messages import Messages
from heredity.models.broker.responses import Memory, Responses

PATCH: dict[str, Any] = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Edits files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: hunk+"},
}
SLEEP = {
    "type": "function",
    "name": "sleep",
    "parameters": {"type": "object", "properties": {"ms": {"type": "number"}}},
}
SEARCH = {"type": "tool_search", "execution": "client", "description": "Finds tools.", "parameters": {"type": "object"}}
USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "?"}]}


def asked(items: list[dict[str, Any]], *tools: dict[str, Any]) -> Responses:
    return Responses({"model": "m", "input": items, "tools": list(tools), "stream": True}, 100, Memory())


def namespace(name: str, *tools: dict[str, Any]) -> dict[str, Any]:
    return {"type": "namespace", "name": name, "description": "Some.", "tools": list(tools)}


def answered(call: Responses, *calls: ToolCall) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the items of an answer in one piece, and the events of a stream."""
    reply = Reply("", calls)
    told = call.closing(reply).decode().split("\n\n")
    return call.answer(reply)["output"], [json.loads(e.partition("data: ")[2]) for e in told if e]


def seen(call: Responses | Messages) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in call.request.messages]


def test_a_custom_tool_is_a_function_of_its_input_and_is_called_as_what_it_is() -> None:
    call = asked([USER], PATCH, {"type": "web_search"})
    (spec,) = call.request.tools
    assert spec.name == "apply_patch"
    assert spec.description == "Edits files.\n\nThe input follows this grammar (lark):\nstart: hunk+"
    assert spec.parameters["required"] == ["input"]
    (item,), events = answered(call, ToolCall("c1", "apply_patch", '{"input": "*** Begin"}'))
    wanted = {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": "*** Begin"}
    assert wanted.items() <= item.items()
    kinds = {event["type"]: event for event in events}
    assert kinds["response.custom_tool_call_input.delta"]["delta"] == "*** Begin"
    assert kinds["response.custom_tool_call_input.done"]["input"] == "*** Begin"
    assert kinds["response.output_item.added"]["item"]["input"] == ""
    assert wanted.items() <= kinds["response.output_item.done"]["item"].items()


def test_what_a_model_wrote_without_the_input_is_handed_on_as_it_is() -> None:
    for written, text in [("text(1)", "text(1)"), ('{"code": 1}', '{"code": 1}'), ('{"input": {"a": 1}}', '{"a": 1}')]:
        (item,), _ = answered(asked([USER], PATCH), ToolCall("c", "apply_patch", written))
        assert item["input"] == text


def test_a_custom_tools_call_and_result_are_read_again() -> None:
    made = {"type": "custom_tool_call", "call_id": "c1", "name": "exec", "namespace": "functions", "input": "text(1)"}
    told = {"type": "custom_tool_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "1"}]}
    call = asked([USER, made, told])
    (written,) = call.request.messages[1].tool_calls
    assert (written.name, json.loads(written.arguments)) == ("functions__exec", {"input": "text(1)"})
    assert seen(call)[2] == ("tool", "1")


def test_tools_of_namespaces_and_of_items_are_offered_and_called_by_both_names() -> None:
    brought = {"type": "additional_tools", "role": "developer", "tools": [namespace("clock", SLEEP), PATCH]}
    call = asked([brought, USER], SLEEP)
    assert [tool.name for tool in call.request.tools] == ["sleep", "clock__sleep", "apply_patch"]
    items, _ = answered(call, ToolCall("c1", "clock__sleep", '{"ms": 1}'), ToolCall("c2", "sleep", "{}"))
    assert {"name": "sleep", "namespace": "clock", "arguments": '{"ms": 1}'}.items() <= items[0].items()
    assert "namespace" not in items[1]


def test_tools_that_a_search_found_are_offered_from_then_on() -> None:
    (item,), events = answered(asked([USER], SEARCH), ToolCall("c1", "tool_search", '{"query": "sleep"}'))
    assert item["type"] == "tool_search_call"
    assert (item["execution"], item["arguments"]) == ("client", {"query": "sleep"})
    assert [event["type"] for event in events if "item" in event] == [
        "response.output_item.added",
        "response.output_item.done",
    ]
    found = {"type": "tool_search_output", "call_id": "c1", "tools": [namespace("clock", SLEEP)]}
    call = asked([USER, item, found], SEARCH)
    assert [tool.name for tool in call.request.tools] == ["tool_search", "clock__sleep"]
    assert seen(call)[-1] == ("tool", "[these tools can be called now: clock__sleep]")
    # A search that the vendor runs is none of ours to offer.
    assert asked([USER], {**SEARCH, "execution": "server"}).request.tools == ()


def test_what_agents_tell_each_other_and_a_program_by_itself_is_heard() -> None:
    content = [{"type": "input_text", "text": "New task:"}, {"type": "encrypted_content", "encrypted_content": "Dig."}]
    told = {"type": "agent_message", "author": "/root", "recipient": "/root/a", "content": content}
    goal = {"type": "function_call_output", "name": "goal_objective", "namespace": "agent", "output": "win"}
    said = [("user", "[message from /root to /root/a]\nNew task:\nDig."), ("system", "goal_objective\nwin")]
    assert seen(asked([told, goal])) == said


def result(*content: dict[str, Any]) -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": "c1", "name": "Read", "input": {}}
    back = {"type": "tool_result", "tool_use_id": "c1", "content": list(content)}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [back]}]


def messages(history: list[dict[str, Any]]) -> Messages:
    names = {"Read": {}, "Fetch": {"defer_loading": True}, "Placeholder": {"defer_loading": True}}
    tools = [{"name": name, "input_schema": {"type": "object"}, **more} for name, more in names.items()]
    said = [{"role": "user", "content": "?"}, *history]
    return Messages({"model": "m", "max_tokens": 9, "messages": said, "tools": tools})


def test_a_deferred_tool_is_offered_once_a_result_refers_to_it() -> None:
    assert [tool.name for tool in messages([]).request.tools] == ["Read"]
    call = messages(result({"type": "tool_reference", "tool_name": "Fetch"}))
    assert [tool.name for tool in call.request.tools] == ["Read", "Fetch"]
    assert seen(call)[-1] == ("tool", "[the tool Fetch can be called now]")


def test_a_document_in_a_result_ends_no_conversation() -> None:
    pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}
    text = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "All of it."}}
    said = seen(messages(result({"type": "text", "text": "Read."}, pdf, text)))[-1][1].splitlines()
    assert (said[0], said[2]) == ("Read.", "All of it.")
    assert said[1].startswith("[a document (application/pdf) that cannot be shown here")
