"""Google's Gemini API: `generateContent`, `streamGenerateContent` and `countTokens`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from heredity.models import Image, Reply, ToolCall, ToolSpec, Usage
from heredity.models.broker.body import AtLeastOne, Base64, MediaType, Part, Texts, checked_sampling, only
from heredity.models.broker.conversation import Conversation, arguments_of, encode, event, finish_of, new_id, rest_of
from heredity.models.broker.fields import Wish, dropped_of, thinking
from heredity.models.broker.problems import Problem, google_shape

_FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP", "refusal": "SAFETY"}
_NO_COUNTERPART = "other vendors' models have nothing like it; leave it out"


class GooglePart(Part):
    """An object of Google's API, whose names may be written in camel case or in snake case."""

    model_config = ConfigDict(strict=True, frozen=True, alias_generator=to_camel, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _in_camel_case(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {to_camel(name): inner for name, inner in cast("dict[str, Any]", value).items()}


def _standard(value: Any) -> Any:
    """Return base64 of either alphabet, padded or not, in the standard form."""
    if not isinstance(value, str):
        return value
    return value.translate(str.maketrans("-_", "+/")) + "=" * (-len(value) % 4)


class _Blob(GooglePart):
    mime_type: MediaType
    data: Annotated[Base64, BeforeValidator(_standard)]


class _FunctionCall(GooglePart):
    id: str = ""
    name: str
    args: Annotated[dict[str, Any], Field(default_factory=dict)]


class _ResponsePart(GooglePart):
    inline_data: _Blob


class _FunctionResponse(GooglePart):
    id: str = ""
    name: str
    response: Annotated[dict[str, Any], Field(default_factory=dict)]
    parts: Sequence[_ResponsePart] = ()


class _Part(GooglePart):
    text: str = ""
    thought: bool = False
    inline_data: _Blob | None = None
    function_call: _FunctionCall | None = None
    function_response: _FunctionResponse | None = None
    file_data: Annotated[Any, only(why="send the data itself as inlineData; no address is fetched from here")] = None
    executable_code: Annotated[Any, only(why="code of Google's own tool cannot run here")] = None
    code_execution_result: Annotated[Any, only(why="code of Google's own tool cannot run here")] = None
    video_metadata: Annotated[Any, only(why=_NO_COUNTERPART)] = None


class Content(GooglePart):
    """A turn of a conversation."""

    role: Literal["user", "model", "function", "system"] = "user"
    parts: Sequence[_Part] = ()


class _Declaration(GooglePart):
    name: str
    description: str = ""
    parameters: dict[str, Any] | None = None
    parameters_json_schema: dict[str, Any] | None = None


class _GooglesTool(GooglePart):
    set_aside = True


class _Tool(GooglePart):
    function_declarations: Sequence[_Declaration] = ()
    google_search: _GooglesTool | None = None
    google_search_retrieval: _GooglesTool | None = None
    google_maps: _GooglesTool | None = None
    url_context: _GooglesTool | None = None
    code_execution: _GooglesTool | None = None
    file_search: _GooglesTool | None = None
    computer_use: _GooglesTool | None = None
    enterprise_web_search: _GooglesTool | None = None


class _CallingConfig(GooglePart):
    mode: Literal["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"] = "AUTO"
    allowed_function_names: Sequence[str] = ()


class _ToolConfig(GooglePart):
    function_calling_config: _CallingConfig = _CallingConfig()


class _Thinking(GooglePart):
    include_thoughts: bool = False
    thinking_budget: int | None = None
    thinking_level: Literal["MINIMAL", "LOW", "MEDIUM", "HIGH", "minimal", "low", "medium", "high"] | None = None

    @property
    def wishes(self) -> list[Wish]:
        """The wish for thinking; of a budget, only whether there is one."""
        if self.thinking_level is not None:
            return thinking(self.thinking_level.lower(), "generationConfig.thinkingConfig.thinkingLevel")
        if self.thinking_budget is None:
            return []
        return [Wish("thinking", self.thinking_budget != 0, "generationConfig.thinkingConfig.thinkingBudget")]


class _Generation(GooglePart):
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: AtLeastOne | None = None
    seed: int | None = None
    stop_sequences: Texts = ()
    candidate_count: Annotated[int, only(1, why="one answer per call")] = 1
    thinking_config: _Thinking = _Thinking()
    top_k: float | None = None
    presence_penalty: float = 0
    frequency_penalty: float = 0
    response_mime_type: Annotated[
        str, only("text/plain", "application/json", why="give a schema of JSON, or describe the form in the prompt")
    ] = "text/plain"
    response_schema: dict[str, Any] | None = None
    response_json_schema: dict[str, Any] | None = None
    response_modalities: Annotated[Sequence[str], only(["TEXT"], ["Text"], why="text only")] = ("TEXT",)
    response_logprobs: Annotated[bool, only(False, why="log-probabilities are not passed on")] = False
    speech_config: Annotated[Any, only(why="text only")] = None
    image_config: Annotated[Any, only(why="text only")] = None

    @property
    def wishes(self) -> list[Wish]:
        """The options that only some models take."""
        given = (
            ("top_k", self.top_k),
            ("presence_penalty", self.presence_penalty),
            ("frequency_penalty", self.frequency_penalty),
        )
        options = [Wish(name, value, f"generationConfig.{to_camel(name)}") for name, value in given if value]
        return [*self.thinking_config.wishes, *options, *self._format]

    @property
    def _format(self) -> list[Wish]:
        if self.response_mime_type != "application/json":
            return []
        field = "generationConfig.responseSchema"
        schema = self.response_json_schema
        if schema is None and self.response_schema is not None:
            schema = json_schema(self.response_schema)
        if schema is None:
            raise Problem("request", f"{field} is missing; JSON is written here by a schema", field=field)
        return [Wish("format", {"name": "answer", "schema": schema, "strict": False}, field)]


class _GenerateBody(GooglePart):
    contents: Sequence[Content]
    system_instruction: Content = Content()
    tools: Sequence[_Tool] = ()
    tool_config: _ToolConfig = _ToolConfig()
    generation_config: _Generation = _Generation()
    cached_content: Annotated[Any, only(why="send the content itself")] = None

    @model_validator(mode="before")
    @classmethod
    def _with_lists(cls, value: Any) -> Any:
        """Return a body in which a single content is a list of one, as Google's API takes it."""
        if not isinstance(value, dict) or not isinstance(value.get("contents"), dict):
            return value
        body = cast("dict[str, Any]", value)
        return {**body, "contents": [body["contents"]]}


class _CountBody(GooglePart):
    generate_content_request: dict[str, Any] | None = None


class GenerateContent:
    """One call of Gemini's API (see `Exchange`).

    Google's own tools (search, code execution, …) are dropped, since they cannot run here, and so are thoughts and
    signatures of earlier turns, safety settings and the like (`fields.py`). Calls without an id, as older clients write
    them, are answered in their order.
    """

    def __init__(self, body: Mapping[str, Any], asked: str, *, streams: bool = False, as_array: bool = False) -> None:
        """Read a body; raises `Problem`.

        Args:
            body: the body.
            asked: the model's name, from the address.
            streams: answer in pieces.
            as_array: send these as one JSON array instead of as events.
        """
        given = _GenerateBody.read(body)
        self.asked, self.streams, self._as_array = asked, streams, as_array
        self.media_type = "application/json" if as_array else "text/event-stream"
        conversation = Conversation()
        conversation.system("\n".join(part.text for part in given.system_instruction.parts if part.text))
        _add_contents(conversation, given.contents)
        declared = [declaration for tool in given.tools for declaration in tool.function_declarations]
        form, calling = given.generation_config, given.tool_config.function_calling_config
        allowed = calling.allowed_function_names
        tools = tuple(
            ToolSpec(d.name, d.description, _parameters(d)) for d in declared if not allowed or d.name in allowed
        )
        sampling = checked_sampling(
            form.temperature, form.top_p, form.max_output_tokens, form.seed, form.stop_sequences
        )
        self.request = conversation.request(tools, sampling, _choice(calling, len(tools)), "contents")
        self.dropped = [*dropped_of(given), *_thoughts(given.contents)]
        self.wishes: Sequence[Wish] = form.wishes
        self._shows_thoughts = form.thinking_config.include_thoughts
        self._id, self._sent, self._open = new_id("resp"), "", False

    @property
    def ping(self) -> bytes:
        """A piece without content: not every client passes over comments."""
        return b"\n" if self._as_array else self.piece("")

    def answer(self, reply: Reply) -> dict[str, Any]:
        """Return a `GenerateContentResponse`."""
        return self._response(self._parts(reply, reply.text), reply)

    def piece(self, text: str) -> bytes:
        """Return the response that adds text."""
        self._sent += text
        return self._written(self._response([{"text": text}]))

    def closing(self, reply: Reply) -> bytes:
        """Return the response with what was not sent before, the tool calls, the finish reason and the usage."""
        last = self._response(self._parts(reply, rest_of(reply, self._sent)), reply)
        return self._written(last) + (b"]" if self._as_array else b"")

    def failure(self, problem: Problem) -> bytes:
        """Return the error as the last response."""
        return self._written(google_shape(problem)) + (b"]" if self._as_array else b"")

    def _parts(self, reply: Reply, text: str) -> list[dict[str, Any]]:
        thoughts = [{"text": reply.reasoning, "thought": True}] if self._shows_thoughts and reply.reasoning else []
        calls = [_call_json(call) for call in reply.tool_calls]
        return [*thoughts, *([{"text": text}] if text else []), *calls] or [{"text": ""}]

    def _written(self, value: dict[str, Any]) -> bytes:
        if not self._as_array:
            return event(value)
        opening, self._open = (b",\r\n" if self._open else b"["), True
        return opening + encode(value)

    def _response(self, parts: list[dict[str, Any]], reply: Reply | None = None) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
        if reply is not None:
            candidate["finishReason"] = _FINISH[finish_of(reply)]
        usage = {"usageMetadata": told} if reply is not None and (told := _usage(reply.usage)) else {}
        return {"candidates": [candidate], **usage, "modelVersion": self.asked, "responseId": self._id}


def counted_request(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what `countTokens` counts: contents, or a whole request to generate; raises `Problem`."""
    return _CountBody.read(body).generate_content_request or body


class _Calls:
    """The calls of a conversation that have no answer yet."""

    def __init__(self) -> None:
        self._pending: list[ToolCall] = []
        self._made = 0

    def call(self, part: _FunctionCall) -> ToolCall:
        self._made += 1
        made = ToolCall(part.id or f"call_{self._made}", part.name, json.dumps(part.args, ensure_ascii=False))
        self._pending.append(made)
        return made

    def answered(self, part: _FunctionResponse) -> str:
        """Return the id of the call that a response answers; its own if there is no such call."""
        for position, call in enumerate(self._pending):
            if call.id == part.id or (not part.id and call.name == part.name):
                return self._pending.pop(position).id
        return part.id or part.name


def _add_contents(conversation: Conversation, contents: Sequence[Content]) -> None:
    calls = _Calls()
    numbered = enumerate(contents)
    for by_model, run in groupby(numbered, lambda one: one[1].role == "model"):
        if not by_model:
            for position, content in run:
                _add_user(conversation, content, calls, f"contents[{position}]")
            continue
        # A streamed answer comes back in as many pieces as it was sent.
        parts = [part for _, content in run for part in content.parts]
        text = "".join(part.text for part in parts if not part.thought)
        made = [calls.call(part.function_call) for part in parts if part.function_call]
        conversation.assistant(text, made)


def _thoughts(contents: Sequence[Content]) -> list[str]:
    """Return the paths of thoughts of earlier turns."""
    return [
        f"contents[{i}].parts[{j}]"
        for i, content in enumerate(contents)
        for j, part in enumerate(content.parts)
        if part.thought
    ]


def _add_user(conversation: Conversation, content: Content, calls: _Calls, where: str) -> None:
    if content.role == "system":
        conversation.system("\n".join(part.text for part in content.parts if part.text))
        return
    for position, part in enumerate(content.parts):
        if result := part.function_response:
            images = [_image(inner.inline_data) for inner in result.parts]
            at = f"{where}.parts[{position}].functionResponse"
            text, failed = _result(result.response)
            conversation.tool(calls.answered(result), text, images, where=at, failed=failed)
    shown = [part for part in content.parts if not part.function_response]
    if shown or not content.parts:
        images = [_image(part.inline_data) for part in shown if part.inline_data]
        conversation.user("\n".join(part.text for part in shown if part.text), images)


def _result(response: Mapping[str, Any]) -> tuple[str, bool]:
    """Return a function's response as text, a single output or error without its wrapper, and whether it is an error."""
    match dict(response):
        case {"output": str(text), **more} | {"result": str(text), **more} if not more:
            return text, False
        case {"error": str(text), **more} if not more:
            return text, True
        case whole:
            return json.dumps(whole, ensure_ascii=False), False


def _image(blob: _Blob) -> Image:
    return Image(blob.mime_type, blob.data)


def _parameters(declaration: _Declaration) -> dict[str, Any]:
    if declaration.parameters_json_schema is not None:
        return declaration.parameters_json_schema
    return json_schema(declaration.parameters or {"type": "OBJECT", "properties": {}})


def json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of one in Google's form: types in capitals, `nullable`, whole numbers as text."""
    converted: dict[str, Any] = {}
    for name, value in schema.items():
        match name, value:
            case "type", str():
                converted[name] = value.lower()
            case (("properties" | "defs" | "$defs"), dict()):
                inside = cast("dict[str, Any]", value)
                converted[name] = {key: _inner_schema(inner) for key, inner in inside.items()}
            case (("anyOf" | "any_of"), list()):
                converted["anyOf"] = [_inner_schema(inner) for inner in cast("list[Any]", value)]
            case (("items" | "additionalProperties"), dict()):
                converted[name] = json_schema(cast("dict[str, Any]", value))
            case _, str() if name in _COUNTS and value.isdecimal():
                converted[name] = int(value)
            case _ if name not in ("nullable", "propertyOrdering", "property_ordering"):
                converted[name] = value
            case _:
                pass
    if schema.get("nullable") is True and "type" in converted:
        converted["type"] = [converted["type"], "null"]
    if schema.get("nullable") is True and "enum" in converted:
        converted["enum"] = [*converted["enum"], None]
    return converted


_COUNTS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")


def _inner_schema(value: Any) -> Any:
    return json_schema(cast("dict[str, Any]", value)) if isinstance(value, dict) else value


def _choice(calling: _CallingConfig, offered: int) -> str:
    if calling.mode == "NONE":
        return "none"
    if calling.mode == "ANY":
        one = calling.allowed_function_names if len(calling.allowed_function_names) == 1 and offered else ()
        return one[0] if one else "required"
    return "auto"


def _call_json(call: ToolCall) -> dict[str, Any]:
    return {"functionCall": {"id": call.id, "name": call.name, "args": arguments_of(call)}}


def _usage(usage: Usage) -> dict[str, Any] | None:
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": usage.output_tokens,
        "totalTokenCount": usage.input_tokens + usage.output_tokens,
        "cachedContentTokenCount": usage.cached_tokens or 0,
    }
