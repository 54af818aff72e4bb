"""Faults of a provider after a first useful call: the built-in loop and a harness program in the sandbox end alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.engine.harnesses import LOOP, harness
from tests.models.endpoint import Answer, Endpoint, completion, endpoint

from heredity._core.errors import ProviderError
from heredity.engine.actor import Problem, ProvidedTool, Solving
from heredity.engine.conversation import Conversation
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.solver import build
from heredity.models import ToolSpec
from heredity.models.gateway import ProviderModel
from heredity.models.settings import ProviderSettings

BROKEN = ("program_error", "program_timeout")


def error(status: int, message: str, **about: Any) -> Answer:
    return Answer({"error": {"message": message, "type": "invalid_request_error", **about}}, status)


def tool_call(arguments: Any = '{"command": "second"}', **call: Any) -> Answer:
    asked = {"id": "c2", "type": "function", "function": {"name": "shell", "arguments": arguments}, **call}
    return Answer(completion(None, tool_calls=[asked], finish="tool_calls"))


def without_id() -> Answer:
    answer = tool_call()
    del answer.body["choices"][0]["message"]["tool_calls"][0]["id"]
    return answer


LEGACY = {"name": "shell", "arguments": '{"command": "second"}'}
FAULTS: Mapping[str, tuple[Answer, str]] = {
    "a rejected request": (error(400, "messages.2: tool_use ids do not match"), "provider: request"),
    "a context that is too long": (
        error(400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded"),
        "empty",
    ),
    "a body that is too large": (error(413, "too large"), "empty"),
    "a wrong key": (error(401, "no such key"), "provider: auth"),
    "an overload": (error(503, "overloaded"), "provider: server"),
    "a quota": (error(429, "insufficient_quota", code="insufficient_quota"), "provider: rate_limit"),
    "no JSON": (Answer(b"<html>"), "provider: garbage"),
    "a cut answer": (Answer(completion("half", finish="length")), "length"),
    "a refusal": (Answer(completion("", refusal="I cannot help with that.")), "refusal"),
    "a filter": (Answer(completion("", finish="content_filter")), "refusal"),
    "empty content": (Answer(completion("")), "empty"),
    "null content": (Answer(completion(None)), "empty"),
    "a function call of old": (
        Answer(completion(None, function_call=LEGACY, finish="function_call")),
        "provider: garbage",
    ),
    "no call where one is announced": (Answer(completion(None, finish="tool_calls")), "provider: garbage"),
    "half a surrogate pair": (tool_call('{"command": "a\\ud800b"}'), "ok: first, a?b"),
    "a call without an id": (without_id(), "ok: first, second"),
    "a call with a null id": (tool_call(id=None), "ok: first, second"),
    "arguments as an object": (tool_call({"command": "second"}), "ok: first, second"),
    "null arguments": (tool_call(None), "ok: first"),
    "broken arguments": (tool_call('{"command": "sec'), "ok: first"),
    "an unknown tool": (tool_call(function={"name": "shel", "arguments": "{}"}), "ok: first"),
}


async def outcome(server: Endpoint, fault: Answer, programs: SandboxedPrograms | None, *, solved: bool) -> str:
    ran: list[str] = []

    async def shell(arguments: Mapping[str, Any]) -> str:
        ran.append(arguments["command"])
        return "done"

    schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    tool = ProvidedTool(ToolSpec("shell", "Runs a command.", schema), shell)
    first = [tool_call('{"command": "first"}', id="c1")] if solved else []
    server.play(*first, fault, Answer(completion("The end.")))
    model = ProviderModel("lab/m", ProviderSettings(kind="openai", base_url=server.url))
    conversation = Conversation(model, Solving(max_turns=6))
    solver = build(harness(LOOP if programs else None))
    try:
        answer = await solver.attempt(Problem("Do it."), conversation, programs, provided=[tool])
    except ProviderError as error:
        return f"provider: {error.kind}"
    assert answer.status not in BROKEN, answer
    return answer.status if answer.status != "ok" else f"ok: {', '.join(ran)}"


@pytest.mark.parametrize("solved", [True, False], ids=["solved", "unsolved"])
async def test_both_loops_give_one_verdict_and_no_fault_of_a_provider_is_the_candidates(solved: bool) -> None:
    async with endpoint() as server, SandboxedPrograms(1) as programs:
        for name, (fault, verdict) in FAULTS.items():
            expected = verdict if solved else verdict.replace("first, ", "").replace("first", "")
            repeated = replace(
                fault, body=json.loads(json.dumps(fault.body)) if not isinstance(fault.body, bytes) else fault.body
            )
            built_in = await outcome(server, repeated, None, solved=solved)
            program = await outcome(server, repeated, programs, solved=solved)
            assert (name, built_in, program) == (name, expected, expected)
