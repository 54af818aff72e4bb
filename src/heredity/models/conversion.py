"""Conversion between our messages and pydantic-ai's."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from heredity._core.errors import ConfigError, ProviderError
from heredity.models.contract import Finish, Message, Reply, Request, ToolCall, Usage
from heredity.models.replies import without_thoughts

if TYPE_CHECKING:
    from pydantic_ai import messages as theirs
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.usage import RequestUsage

_FINISHES: dict[str, Finish] = {
    "length": "length",
    "content_filter": "refusal",
    "tool_call": "tool_calls",
    "stop": "stop",
}


def to_messages(messages: Sequence[Message]) -> list[theirs.ModelMessage]:
    """Convert a conversation.

    Raises:
        ConfigError: if a tool's message answers a call that does not exist.
    """
    from pydantic_ai import messages as theirs

    names: dict[str, str] = {}
    converted: list[theirs.ModelMessage] = []
    asked: list[theirs.ModelRequestPart] = []
    for message in messages:
        if message.role != "assistant":
            asked.append(_request_part(message, names))
            continue
        if asked:
            converted.append(theirs.ModelRequest(parts=asked))
            asked = []
        names |= {call.id: call.name for call in message.tool_calls}
        converted.append(theirs.ModelResponse(parts=list(_response_parts(message))))
    if asked:
        converted.append(theirs.ModelRequest(parts=asked))
    return converted


def _request_part(message: Message, names: dict[str, str]) -> theirs.ModelRequestPart:
    from pydantic_ai import messages as theirs

    if message.role == "system":
        return theirs.SystemPromptPart(content=message.content)
    if message.role == "user":
        pictures = [theirs.BinaryContent(data=i.data, media_type=i.media_type) for i in message.images]
        return theirs.UserPromptPart(content=[message.content, *pictures] if pictures else message.content)
    if message.tool_call_id not in names:
        raise ConfigError(
            f"a tool's message answers the call {message.tool_call_id!r}, which no assistant's message before it made; "
            f"calls made: {', '.join(names) or 'none'}"
        )
    return theirs.ToolReturnPart(
        tool_name=names[message.tool_call_id],
        content=message.content.removeprefix("error: ") if message.failed else message.content,
        tool_call_id=message.tool_call_id,
        outcome="failed" if message.failed else "success",
    )


def _response_parts(message: Message) -> Iterable[theirs.ModelResponsePart]:
    from pydantic_ai import messages as theirs

    if message.content:
        yield theirs.TextPart(content=message.content)
    for call in message.tool_calls:
        yield theirs.ToolCallPart(tool_name=call.name, args=call.arguments, tool_call_id=call.id)


def to_parameters(request: Request) -> ModelRequestParameters:
    """Convert the tools, and the schema of the answer.

    Raises:
        ConfigError: if `tool_choice` names an unknown tool, or requires a tool when the request has none.
    """
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    names = [tool.name for tool in request.tools]
    if request.tool_choice not in ("auto", "none", *names) and not (request.tool_choice == "required" and names):
        raise ConfigError(
            f"tool_choice is {request.tool_choice!r}; expected auto, none, required or one of the request's tools: "
            f"{', '.join(names) or 'it has none'}"
        )
    tools = [
        # Strict mode rewrites schemas; a tool must be sent as described.
        ToolDefinition(name=t.name, description=t.description, parameters_json_schema=dict(t.parameters), strict=False)
        for t in request.tools
    ]
    if (form := request.options.get("format")) is None:
        return ModelRequestParameters(function_tools=tools)
    asked = OutputObjectDefinition(
        json_schema=dict(form["schema"]), name=form.get("name") or "answer", strict=form.get("strict") or None
    )
    return ModelRequestParameters(function_tools=tools, output_mode="native", output_object=asked)


def to_settings(
    request: Request, timeout_s: float, extra_body: dict[str, Any], omitted: Collection[str] = ()
) -> ModelSettings:
    """Convert sampling, without the parameters named in `omitted`, options, and the choice of tools.

    The SDK's own retries are off because ours would multiply with them. Seeds are cut to 31 bits, since several
    providers read them as signed 32-bit numbers.
    """
    from pydantic_ai.settings import ModelSettings

    settings = ModelSettings(max_retries=0, timeout=timeout_s, request_timeout=timeout_s)
    sampling = request.sampling.without(omitted)
    if sampling.temperature is not None:
        settings["temperature"] = sampling.temperature
    if sampling.top_p is not None:
        settings["top_p"] = sampling.top_p
    if sampling.max_tokens is not None:
        settings["max_tokens"] = sampling.max_tokens
    if sampling.seed is not None:
        settings["seed"] = sampling.seed & 0x7FFFFFFF
    if sampling.stop:
        settings["stop_sequences"] = list(sampling.stop)
    if request.tools and request.tool_choice != "auto":
        choice = request.tool_choice
        settings["tool_choice"] = choice if choice == "none" or choice == "required" else [choice]
    options: Any = {name: value for name, value in request.options.items() if name != "format"}
    settings.update(options)
    if extra_body:
        settings["extra_body"] = extra_body
    return settings


def to_reply(response: theirs.ModelResponse, model: str, usage: Usage, seconds: float) -> Reply:
    """Convert an answer.

    Thoughts in `<think>` tags before the text belong to the reasoning.

    Raises:
        ProviderError: `"garbage"` if the provider gave no reason for the end, so that the answer may have been cut off;
            `"empty"` if there is neither text nor a tool call.
    """
    from pydantic_ai import messages as theirs

    if response.finish_reason is None and not (response.provider_details or {}).get("finish_reason"):
        message = f"{model} ended its answer without a reason, so it may have been cut off"
        raise ProviderError("garbage", message, transient=True)
    text = "".join(part.content for part in response.parts if isinstance(part, theirs.TextPart))
    calls = tuple(
        ToolCall(part.tool_call_id, part.tool_name, _arguments(part.args))
        for part in response.parts
        if isinstance(part, theirs.ToolCallPart)
    )
    reasoning = response.thinking or ""
    thoughts, text = without_thoughts(text)
    reasoning += thoughts
    if reasoning:
        text = text.lstrip("\n")
    finish = _FINISHES.get(response.finish_reason or "", "stop")
    if finish == "refusal":
        text = text or str((response.provider_details or {}).get("refusal", ""))
    elif response.finish_reason == "error":
        raise ProviderError("server", f"{model} ended its answer with an error of its own", transient=True)
    elif finish != "length":
        finish = "tool_calls" if calls else "stop"
        if not text.strip() and not calls and response.finish_reason == "tool_call":
            message = f"{model} announced a tool call and made none that can be read (an older function_call, perhaps)"
            raise ProviderError("garbage", message, transient=True)
        if not text.strip() and not calls:
            message = f"{model} answered with neither text nor tool calls; finish reason {response.finish_reason!r}"
            raise ProviderError("empty", message, transient=True)
    return Reply(text, calls, finish, usage, model, seconds, reasoning=reasoning)


def to_usage(usage: RequestUsage, cost_usd: float | None) -> Usage:
    """Convert a usage. Cached tokens that the provider does not report count as 0.

    Request and answer each have at least one token, so 0 means that the provider did not count.
    """
    if usage.unmeasured_requests:
        return Usage(cost_usd=cost_usd)
    tokens = usage.input_tokens or None
    return Usage(tokens, usage.output_tokens or None, usage.cache_read_tokens if tokens else None, cost_usd)


def _arguments(value: object) -> str:
    if value is None:
        return "{}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
