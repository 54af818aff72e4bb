"""A conversation as a local model reads it, and what it wrote as a reply: chat templates, tools, tool calls."""

from __future__ import annotations

import json
import re
from typing import Any

from heredity.errors import ConfigError, ProviderError
from heredity.gateway.contract import Message, Request, ToolCall

_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)


def prompt_tokens(tokenizer: Any, request: Request, name: str) -> list[int]:
    """Return a request as the tokens of a prompt, by the model's own chat template.

    Raises:
        ConfigError: if the model has no chat template, or the request has what the template or a text model cannot take:
            tools, a demand for tool calls, pictures.
        ProviderError: kind `"request"`, if the template rejects the conversation.
    """
    import jinja2

    if any(message.images for message in request.messages):
        raise ConfigError(f"{name} reads text only; the request has pictures")
    tools = request.tools if request.tool_choice != "none" else ()
    _check_template(tokenizer, request, name, bool(tools))
    try:
        text = tokenizer.apply_chat_template(
            [_rendered(message) for message in request.messages],
            tools=[
                {
                    "type": "function",
                    "function": {"name": t.name, "description": t.description, "parameters": dict(t.parameters)},
                }
                for t in tools
            ]
            or None,
            add_generation_prompt=True,
            tokenize=False,
        )
    except (jinja2.TemplateError, ValueError, TypeError) as error:
        raise ProviderError(
            "request", f"the chat template of {name} rejects the conversation: {error}", transient=False
        ) from error
    return text_tokens(tokenizer, text)


def text_tokens(tokenizer: Any, text: str) -> list[int]:
    """Return a text as tokens; no special token is added, those that the text spells out are understood."""
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def tool_calls(text: str, first: int) -> tuple[str, tuple[ToolCall, ...]]:
    """Split what a model wrote into words and calls in the form `<tool_call>{"name": …, "arguments": …}</tool_call>`.

    Args:
        text: the model's whole answer.
        first: number of the first call; ids are `call-1`, `call-2` and so on over the conversation.

    Returns:
        The text without the calls, and the calls. A block that is not a call in JSON stays in the text.
    """
    calls: list[ToolCall] = []

    def take(match: re.Match[str]) -> str:
        try:
            wish = json.loads(match[1])
            name, arguments = wish["name"], wish.get("arguments", {})
        except (ValueError, TypeError, KeyError, RecursionError):
            return match[0]
        written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        calls.append(ToolCall(f"call-{first + len(calls)}", str(name), written))
        return ""

    words = _CALL.sub(take, text)
    return (words.strip() if calls else words), tuple(calls)


def _check_template(tokenizer: Any, request: Request, name: str, tools: bool) -> None:
    if not tokenizer.chat_template:
        raise ConfigError(f"{name} has no chat template; choose a model that was tuned for conversations")
    template = str(tokenizer.get_chat_template(tools=list(request.tools) if tools else None))
    if tools and not re.search(r"\btools\b", template):
        raise ConfigError(
            f"{name} cannot call tools: its chat template has no place for them; send the request without"
        )
    if request.tool_choice not in ("auto", "none"):
        raise ConfigError(f"tool_choice is {request.tool_choice!r}; {name} can only be given 'auto' or 'none'")


def _rendered(message: Message) -> dict[str, Any]:
    value: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        value["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": _arguments(c.arguments)}}
            for c in message.tool_calls
        ]
    if message.tool_call_id:
        value["tool_call_id"] = message.tool_call_id
    return value


def _arguments(text: str) -> Any:
    # Templates write arguments out as JSON themselves; text that is none is passed on as it is.
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
