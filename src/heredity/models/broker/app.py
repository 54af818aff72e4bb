"""The broker's application: routing of requests to accounts and models."""

from __future__ import annotations

import hmac
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from heredity._core.errors import ConfigError, HeredityError, UnknownNameError, nearest
from heredity.models import Model, Reply, ToolCall, ToolSpec, Usage
from heredity.models.broker.accounts import Account, Ledger
from heredity.models.broker.body import (
    AtLeastOne,
    Body,
    Choice,
    Effort,
    FunctionChoice,
    Part,
    Picture,
    Schema,
    Text,
    TextFormat,
    Texts,
    only,
    parts,
    read_body,
)
from heredity.models.broker.calls import Call, OnCall, Patience
from heredity.models.broker.conversation import (
    Conversation,
    Exchange,
    encode,
    estimated_tokens,
    event,
    finish_of,
    new_id,
    rest_of,
)
from heredity.models.broker.fields import Wish, dropped_of, fit, thinking
from heredity.models.broker.gemini import GenerateContent, counted_request
from heredity.models.broker.messages import Messages
from heredity.models.broker.offline import offline
from heredity.models.broker.passthrough import PassedThrough
from heredity.models.broker.problems import Problem, Shape, anthropic_shape, google_shape, openai_shape, short
from heredity.models.broker.responses import Kept, Responses
from heredity.models.contract import apis_of
from heredity.models.passthrough import BETA_HEADERS

_FINISH = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "refusal": "content_filter"}
_IsFunction = Annotated[str, only("function", why="tools are functions")]


class _Refusal(Part):
    type: Literal["refusal"]
    refusal: str


class _Address(Part):
    url: Picture


class _Picture(Part):
    type: Literal["image_url"]
    image_url: _Address


class _NamedFunction(Part):
    name: str


class _CalledFunction(_NamedFunction):
    arguments: str = ""


class _Call(Part):
    id: str
    type: _IsFunction = "function"
    function: _CalledFunction


_Words = Annotated[Sequence[Annotated[Text | _Refusal, Field(discriminator="type")]], parts("text")]


class _Instructions(Part):
    role: Literal["system", "developer"]
    content: _Words = ()


class _User(Part):
    role: Literal["user"]
    content: Annotated[Sequence[Annotated[Text | _Refusal | _Picture, Field(discriminator="type")]], parts("text")] = ()


class _Assistant(Part):
    role: Literal["assistant"]
    content: _Words = ()
    tool_calls: Sequence[_Call] = ()


class _ToolResult(Part):
    role: Literal["tool"]
    content: _Words = ()
    tool_call_id: str


_Message = _Instructions | _User | _Assistant | _ToolResult


class _OfferedFunction(_NamedFunction):
    description: str = ""
    parameters: Annotated[dict[str, Any], Field(default_factory=dict)]


class _Tool(Part):
    type: _IsFunction = "function"
    function: _OfferedFunction


class _NamedChoice(FunctionChoice):
    function: _NamedFunction


class _StreamOptions(Part):
    include_usage: bool = False


class _Format(TextFormat):
    inside: Annotated[Schema, Field(alias="json_schema")] = Schema()


class _ChatBody(Body):
    messages: Sequence[Annotated[_Message, Field(discriminator="role")]] = ()
    tools: Sequence[_Tool] = ()
    tool_choice: Choice[_NamedChoice] = "auto"
    stop: Texts = ()
    max_tokens: AtLeastOne | None = None
    max_completion_tokens: AtLeastOne | None = None
    stream_options: _StreamOptions = _StreamOptions()
    response_format: _Format = _Format()
    reasoning_effort: Effort | None = None
    parallel_tool_calls: bool = True
    presence_penalty: float = 0
    frequency_penalty: float = 0
    n: Annotated[int, only(1, why="one answer per call")] = 1
    logprobs: Annotated[bool, only(False, why="log-probabilities are not passed on")] = False
    functions: Annotated[Sequence[Any], only([], why="give tools")] = ()
    modalities: Annotated[Sequence[Any], only(["text"], why="text only")] = ("text",)


class ChatCompletion:
    """One call of chat completions (see `Exchange`).

    Refused, because the answer would differ from the request: `n` above 1, a `response_format` without a schema, audio,
    `logprobs`, `functions` (succeeded by `tools`), tools that are not functions, and any field that `fields.py` does not
    name.
    """

    media_type = "text/event-stream"
    ping = b": ping\n\n"

    def __init__(self, body: Mapping[str, Any]) -> None:
        """Read a body; raises `Problem`."""
        asked = _ChatBody.read(body)
        self.asked, self.streams, self._tells_usage = asked.model, asked.stream, asked.stream_options.include_usage
        conversation = Conversation()
        for position, message in enumerate(asked.messages):
            _add(conversation, message, f"messages[{position}]")
        limit = asked.max_tokens if asked.max_completion_tokens is None else asked.max_completion_tokens
        tools = tuple(ToolSpec(t.function.name, t.function.description, t.function.parameters) for t in asked.tools)
        choice = asked.tool_choice if isinstance(asked.tool_choice, str) else asked.tool_choice.function.name
        self.request = conversation.request(tools, asked.sampling(limit, asked.stop), choice, "messages")
        self.dropped = dropped_of(asked)
        self.wishes: Sequence[Wish] = [
            *thinking(asked.reasoning_effort, "reasoning_effort"),
            *asked.response_format.wish("response_format", asked.response_format.inside),
            *(
                Wish(name, value, name)
                for name, value in (
                    ("presence_penalty", asked.presence_penalty),
                    ("frequency_penalty", asked.frequency_penalty),
                )
                if value
            ),
            *([] if asked.parallel_tool_calls else [Wish("parallel_tool_calls", False, "parallel_tool_calls")]),
        ]
        self._id, self._created, self._sent, self._open = new_id("chatcmpl"), int(time.time()), "", False

    def answer(self, reply: Reply) -> dict[str, Any]:
        """Return a `chat.completion`."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
        if reply.tool_calls:
            message["tool_calls"] = [_call_json(call) for call in reply.tool_calls]
        choice = {"index": 0, "message": message, "finish_reason": _FINISH[finish_of(reply)], "logprobs": None}
        return {**self._head("chat.completion"), "choices": [choice], "usage": _usage(reply.usage)}

    def piece(self, text: str) -> bytes:
        """Return chunks that add text."""
        opening = b"" if self._open else self._chunk({"role": "assistant", "content": ""})
        self._open = True
        self._sent += text
        return opening + (self._chunk({"content": text}) if text else b"")

    def closing(self, reply: Reply) -> bytes:
        """Return the chunks with tool calls, the finish reason and, if requested, the usage."""
        events = self.piece(rest_of(reply, self._sent))
        for index, call in enumerate(reply.tool_calls):
            events += self._chunk({"tool_calls": [{"index": index, **_call_json(call)}]})
        events += self._chunk({}, _FINISH[finish_of(reply)])
        if self._tells_usage:
            events += event({**self._head("chat.completion.chunk"), "choices": [], "usage": _usage(reply.usage)})
        return events + b"data: [DONE]\n\n"

    def failure(self, problem: Problem) -> bytes:
        """Return the error as the last chunk; no `[DONE]` follows."""
        return b"data: " + encode(openai_shape(problem)) + b"\n\n"

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self._id, "object": kind, "created": self._created, "model": self.asked}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return event({**self._head("chat.completion.chunk"), "choices": [choice]})


def _add(conversation: Conversation, message: _Message, where: str) -> None:
    text = "\n".join(_text(part) for part in message.content if not isinstance(part, _Picture))
    match message:
        case _Instructions():
            conversation.system(text)
        case _User():
            shown = (part for part in message.content if isinstance(part, _Picture))
            conversation.user(text, [part.image_url.url for part in shown])
        case _Assistant():
            calls = [ToolCall(call.id, call.function.name, call.function.arguments) for call in message.tool_calls]
            conversation.assistant(text, calls)
        case _ToolResult():
            conversation.tool(message.tool_call_id, text, where=f"{where}.tool_call_id")


def _text(part: Text | _Refusal) -> str:
    return part.text if isinstance(part, Text) else part.refusal


def _call_json(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _usage(usage: Usage) -> dict[str, Any] | None:
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens or 0},
    }


Resolver = Callable[[str], Model]
_Reading = Callable[[Mapping[str, Any], int, Ledger], Exchange]
_Doing = Callable[[HttpRequest, Ledger, Send], Awaitable[None]]


class BrokerApp:
    """Serves language models to programs that hold a token and no key.

    It follows OpenAI's API (`/v1/chat/completions`, `/v1/responses`, …), Anthropic's (`/v1/messages`, …) and Gemini's
    (`/v1beta/models/MODEL:generateContent`, …). The token is in the header `Authorization`, `x-api-key` or
    `x-goog-api-key`, in the parameter `key`, or in the path: `/t/TOKEN/v1/…`.

    Attributes:
        asgi: the application to serve.
    """

    def __init__(
        self,
        models: Mapping[str, Model] | Resolver,
        accounts: Iterable[Account] = (),
        *,
        on_call: OnCall | None = None,
        patience: Patience = Patience(),  # noqa: B008 - frozen
    ) -> None:
        """Build the application.

        Args:
            models: the models by name, or a function from a name to its model.
            accounts: the accounts; more can be opened later.
            on_call: called with the record of each call that reached a model, before its answer is complete.
            patience: limits on a stream's silence.

        Raises:
            ConfigError: if two accounts share a token, or one names models that do not exist.
        """
        self._models, self._on_call, self._patience = models, on_call, patience
        self._ledgers: list[Ledger] = []
        for account in accounts:
            self.open(account)
        self.asgi = Starlette(routes=self._routes(), exception_handlers={HTTPException: _unknown_path, Exception: _bug})

    def open(self, account: Account) -> Ledger:
        """Open an account; return its ledger.

        Raises:
            ConfigError: if its token is taken, or it names models that do not exist.
        """
        if any(hmac.compare_digest(ledger.account.token, account.token) for ledger in self._ledgers):
            raise ConfigError(f"the account {account.run!r} has the token of another; give each its own")
        if isinstance(self._models, Mapping):
            for name in (account.models or {}).values():
                if name not in self._models:
                    raise UnknownNameError("model", name, self._models)
        elif account.models is None:
            # A name may stand for a file of the host, so the program never chooses it.
            raise ConfigError(f"the account {account.run!r} names no models; say which it may ask for")
        ledger = Ledger(account)
        self._ledgers.append(ledger)
        return ledger

    def close(self, account: Account) -> Ledger:
        """Close an account; calls in flight are still answered. Return its sums.

        Raises:
            ConfigError: if it was not open.
        """
        for ledger in self._ledgers:
            if hmac.compare_digest(ledger.account.token, account.token):
                self._ledgers.remove(ledger)
                return ledger
        raise ConfigError(f"there is no account {account.run!r} with this token")

    @property
    def ledgers(self) -> tuple[Ledger, ...]:
        """The open accounts with their sums."""
        return tuple(self._ledgers)

    def _routes(self) -> list[Route]:
        chat = self._answering("chat.completions", lambda body, size, ledger: ChatCompletion(body))
        responses = self._answering("responses", lambda body, size, ledger: Responses(body, size, ledger.memory))
        messages = self._answering("messages", lambda body, size, ledger: Messages(body))
        count = self._counting(lambda body, size, ledger: Messages(body, counting=True), "input_tokens")
        count_input = self._counting(
            lambda body, size, ledger: Responses(body, size, ledger.memory),
            "input_tokens",
            object="response.input_tokens",
        )
        endpoints: list[tuple[str, str, _Doing]] = [
            ("POST", "/v1/chat/completions", chat),
            ("POST", "/v1/responses", responses),
            ("POST", "/v1/responses/input_tokens", count_input),
            ("GET", "/v1/responses/{response}", self._retrieve),
            ("DELETE", "/v1/responses/{response}", self._forget),
            ("GET", "/v1/responses/{response}/input_items", self._list_items),
            ("POST", "/v1/messages", messages),
            ("POST", "/v1/messages/count_tokens", count),
            ("POST", "/v1/embeddings", self._answering("embeddings", _refuse_vectors)),
            ("POST", "/v1/completions", _refuse_completions),
            ("GET", "/v1/models", self._list),
            ("GET", "/v1/models/{model:path}", self._list),
            ("GET", "/v1beta/models", self._list_gemini),
            ("GET", "/v1beta/models/{model:path}", self._list_gemini),
            ("POST", "/v1beta/models/{model:path}", self._gemini),
        ]
        routes = [Route("/", _health), Route("/t/{token}", _health)]
        for base in ("", "/t/{token}"):
            routes += [Route(base + path, _Endpoint(self, doing), methods=[verb]) for verb, path, doing in endpoints]
        return routes

    def ledger_of(self, request: HttpRequest) -> Ledger:
        """Return the account that a request's token opens; raises `Problem` if it opens none."""
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        path = request.path_params.get("token", "")
        bearer = bearer.strip() if scheme.lower() == "bearer" else ""
        headers = (request.headers.get(name, "") for name in ("x-api-key", "x-goog-api-key"))
        given = (path,) if path else (*headers, bearer, request.query_params.get("key", ""))
        matching: Ledger | None = None
        for token in given:
            for ledger in self._ledgers:
                if hmac.compare_digest(token.encode("utf-8", "surrogateescape"), ledger.account.token.encode()):
                    matching = ledger
        if matching is None:
            raise Problem("token", "no account has this token; use the one that the run gave")
        return matching

    def _answering(self, endpoint: str, read: _Reading, addressed: Mapping[str, Any] | None = None) -> _Doing:
        """Return the work of an endpoint that calls a model; `addressed` are fields that stand in the address instead."""

        async def answer(request: HttpRequest, ledger: Ledger, send: Send) -> None:
            with ledger.slot():
                try:
                    body, size = await read_body(request)
                    exchange = self._passed(endpoint, body, addressed or body, request, ledger, read)
                    if exchange is None:
                        exchange = read(body, size, ledger)
                        exchange.dropped += [name for name in BETA_HEADERS if name in request.headers]
                    model = self._model(ledger.account, exchange.asked)
                    fit(exchange, model)
                    ledger.begin()
                except Problem:
                    ledger.refused += 1
                    raise
                call = Call(endpoint, exchange, model, ledger, self._on_call)
                await call.run(request.scope, request.receive, send, self._patience)

        return answer

    def _passed(
        self,
        api: str,
        body: Mapping[str, Any],
        fields: Mapping[str, Any],
        request: HttpRequest,
        ledger: Ledger,
        read: _Reading,
    ) -> PassedThrough | None:
        """Return the exchange of a request that its model takes as it is; None if the model has another API."""
        asked = fields.get("model")
        if not isinstance(asked, str) or api not in apis_of(self._model(ledger.account, asked)):
            return None
        streams, dropped = fields.get("stream") is True, list[str]()
        if not ledger.account.online:
            body, dropped = offline(api, body)
        return PassedThrough(
            api, asked, body, request.headers, streams, lambda: read(body, 0, ledger).request, dropped=dropped
        )

    def _model(self, account: Account, asked: str) -> Model:
        name = account.model_for(asked)
        names = self._names(account)
        if name is None or (isinstance(self._models, Mapping) and name not in self._models):
            near = nearest(asked, names) or names[:3]
            raise Problem(
                "unknown_model", f"there is no model {asked[:80]!r} here; there is {', '.join(near)}", field="model"
            )
        if isinstance(self._models, Mapping):
            return self._models[name]
        try:
            return self._models(name)
        except HeredityError as error:
            raise Problem("host", f"the model {asked[:80]!r} cannot be used; tell whoever runs this") from error

    def _names(self, account: Account) -> list[str]:
        if account.models is not None:
            return sorted({short(target) if name == "*" else name for name, target in account.models.items()})
        return sorted(self._models) if isinstance(self._models, Mapping) else []

    def _counting(self, read: _Reading, field: str, **fixed: str) -> _Doing:
        """Return the work of an endpoint that counts a request's tokens, and answers with them in a field."""

        async def count(request: HttpRequest, ledger: Ledger, send: Send) -> None:
            with ledger.slot():
                exchange = read(*await read_body(request), ledger)
                self._model(ledger.account, exchange.asked)
                counted = {**fixed, field: estimated_tokens(exchange.request)}
                await _json(counted)(request.scope, request.receive, send)

        return count

    async def _retrieve(self, request: HttpRequest, ledger: Ledger, send: Send) -> None:
        if request.query_params.get("stream") == "true":
            raise Problem("request", "a response is kept whole; ask for it without stream", field="stream")
        await _json(_kept(request, ledger).response)(request.scope, request.receive, send)

    async def _forget(self, request: HttpRequest, ledger: Ledger, send: Send) -> None:
        name = _kept(request, ledger).response["id"]
        ledger.memory.forget(name)
        await _json({"id": name, "object": "response", "deleted": True})(request.scope, request.receive, send)

    async def _list_items(self, request: HttpRequest, ledger: Ledger, send: Send) -> None:
        items = _kept(request, ledger).items
        if request.query_params.get("order", "desc") == "desc":
            items = items[::-1]
        ends = {"first_id": items[0]["id"] if items else None, "last_id": items[-1]["id"] if items else None}
        listed = {"object": "list", "data": list(items), "has_more": False, **ends}
        await _json(listed)(request.scope, request.receive, send)

    async def _gemini(self, request: HttpRequest, ledger: Ledger, send: Send) -> None:
        asked, _, action = request.path_params["model"].rpartition(":")
        if action in ("generateContent", "streamGenerateContent"):
            streams = action != "generateContent"
            as_array = streams and request.query_params.get("alt") != "sse"
            if as_array and "generate_content" in apis_of(self._model(ledger.account, asked)):
                raise Problem("request", "this model's streams are events; ask with alt=sse", field="alt")

            def read(body: Mapping[str, Any], size: int, ledger: Ledger) -> GenerateContent:
                return GenerateContent(body, asked, streams=streams, as_array=as_array)

            answering = self._answering("generate_content", read, {"model": asked, "stream": streams})
            await answering(request, ledger, send)
        elif action in _VECTORS:
            await self._answering(_VECTORS[action], _refuse_vectors, {"model": asked})(request, ledger, send)
        elif action == "countTokens":
            counting = self._counting(
                lambda body, size, ledger: GenerateContent(counted_request(body), asked), "totalTokens"
            )
            await counting(request, ledger, send)
        else:
            actions = "generateContent, streamGenerateContent, countTokens, embedContent, batchEmbedContents"
            raise Problem(
                "unknown_path", f"there is no {action[:80] or 'action'} of a model here; there are: {actions}"
            )

    async def _list_gemini(self, request: HttpRequest, ledger: Ledger, send: Send) -> None:
        asked = request.path_params.get("model")
        if asked is None:
            answer: dict[str, Any] = {"models": [_described_gemini(name) for name in self._names(ledger.account)]}
        else:
            self._model(ledger.account, asked)
            answer = _described_gemini(asked)
        await _json(answer)(request.scope, request.receive, send)

    async def _list(self, request: HttpRequest, ledger: Ledger, send: Send) -> None:
        asked, names = request.path_params.get("model"), self._names(ledger.account)
        if asked is None:
            listed = [_described(name) for name in names]
            ends = {"first_id": names[0] if names else None, "last_id": names[-1] if names else None}
            answer: dict[str, Any] = {"object": "list", "data": listed, "has_more": False, **ends}
        else:
            self._model(ledger.account, asked)
            answer = _described(asked)
        await _json(answer)(request.scope, request.receive, send)


class _Endpoint:
    """One endpoint: finds the account, does the work, and formats errors as the API does."""

    def __init__(self, app: BrokerApp, doing: _Doing) -> None:
        self._app, self._doing = app, doing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = HttpRequest(scope, receive)
        try:
            await self._doing(request, self._app.ledger_of(request), send)
        except Problem as problem:
            await _problem_response(problem, _shape_of(request))(scope, receive, send)


def _described(name: str) -> dict[str, Any]:
    openai = {"id": name, "object": "model", "created": 0, "owned_by": "heredity"}
    return {**openai, "type": "model", "display_name": name, "created_at": "1970-01-01T00:00:00Z"}


def _described_gemini(name: str) -> dict[str, Any]:
    methods = ["generateContent", "countTokens"]
    return {"name": f"models/{name}", "displayName": name, "version": "1", "supportedGenerationMethods": methods}


def _kept(request: HttpRequest, ledger: Ledger) -> Kept:
    name = request.path_params["response"]
    kept = ledger.memory.recall(name)
    if kept is None:
        why = "it was stored with store: false, belongs to another account, or is too old"
        raise Problem("unknown_response", f"there is no response {name[:80]!r}: {why}", field="response_id")
    return kept


_VECTORS = {"embedContent": "embed_content", "batchEmbedContents": "batch_embed_contents"}


def _refuse_vectors(body: Mapping[str, Any], size: int, ledger: Ledger) -> Exchange:
    message = "this model gives no embeddings by this API; ask for one of a provider that has it"
    raise Problem("request", message, field="model")


async def _refuse_completions(request: HttpRequest, ledger: Ledger, send: Send) -> None:
    message = "completions of a bare prompt are not served; send it as a user's message to /v1/chat/completions"
    raise Problem("unknown_path", message)


def _shape_of(request: HttpRequest) -> Shape:
    if "/v1beta/" in request.scope["path"] or "x-goog-api-key" in request.headers:
        return google_shape
    anthropic = "anthropic-version" in request.headers or "/v1/messages" in request.scope["path"]
    return anthropic_shape if anthropic else openai_shape


def _problem_response(problem: Problem, shape: Shape) -> Response:
    return _json(shape(problem), problem.status, problem.headers)


def _json(value: Mapping[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(encode(value), status, headers, "application/json")


async def _health(request: HttpRequest) -> Response:
    return _json({"status": "ok"})


async def _bug(request: HttpRequest, error: Exception) -> Response:
    return _problem_response(Problem("host", "the host failed to answer this call"), _shape_of(request))


async def _unknown_path(request: HttpRequest, error: Exception) -> Response:
    routes = (
        "POST /v1/chat/completions, /v1/responses, /v1/responses/input_tokens, /v1/embeddings, /v1/messages, "
        "/v1/messages/count_tokens, /v1beta/models/MODEL:generateContent; GET /v1/models, /v1/responses/ID, /v1beta/models"
    )
    problem = Problem("unknown_path", f"there is no {request.method} {request.scope['path']}; there are: {routes}")
    if isinstance(error, HTTPException):
        problem.status = error.status_code
    return _problem_response(problem, _shape_of(request))
