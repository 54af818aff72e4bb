"""The gateway's contract: requests to a language model, replies, usage, and the interface of a model."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

from heredity._core.errors import ConfigError
from heredity._core.ids import digest_json

if TYPE_CHECKING:
    from heredity.records.events import UsageData

Role = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "length", "tool_calls", "refusal"]
"""Reason a reply ended: finished, token limit reached, tools to call, or refused by the model or a filter."""

ROLES = ("system", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Image:
    """An image in a message: `media_type` such as `"image/png"`, and its bytes."""

    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's request to call a tool.

    Attributes:
        id: identifies the call; the tool's message answers under the same id.
        name: the tool.
        arguments: the arguments as JSON text, exactly as the model wrote them; may not be valid JSON.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as described to a model: `parameters` is the JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes:
        role: the speaker.
        content: the text.
        images: images of a user's message.
        tool_calls: calls requested by an assistant's message.
        tool_call_id: for a tool's message, the call it answers.
        failed: for a tool's message, True if the content is an error; it then begins with `error: `, for models whose
            API has no field for it.
    """

    role: Role
    content: str = ""
    images: tuple[Image, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    failed: bool = False

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ConfigError(f"role is {self.role!r}; expected one of {', '.join(ROLES)}")
        if (self.role == "tool") != bool(self.tool_call_id):
            raise ConfigError("a tool's message names the call it answers (tool_call_id), and no other message does")

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values, without empty fields."""
        value: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.images:
            value["images"] = [[i.media_type, base64.b64encode(i.data).decode()] for i in self.images]
        if self.tool_calls:
            value["tool_calls"] = [[c.id, c.name, c.arguments] for c in self.tool_calls]
        if self.tool_call_id:
            value["tool_call_id"] = self.tool_call_id
        if self.failed:
            value["failed"] = True
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Message:
        """Read what `to_json` gave."""
        return cls(
            value["role"],
            value["content"],
            tuple(Image(kind, base64.b64decode(data)) for kind, data in value.get("images", ())),
            tuple(ToolCall(*call) for call in value.get("tool_calls", ())),
            value.get("tool_call_id", ""),
            value.get("failed", False),
        )


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters; None leaves one to the model.

    Attributes:
        temperature: 0 or more; 0 takes the likeliest token.
        top_p: probability mass to sample from, above 0, at most 1.
        max_tokens: upper limit on the reply's tokens.
        seed: for models that can be seeded. Requests with different seeds are different requests to the cache too.
        stop: texts that end the reply.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.temperature is not None and self.temperature < 0:
            raise ConfigError(f"temperature is {self.temperature}; expected 0 or more")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ConfigError(f"top_p is {self.top_p}; expected more than 0 and at most 1")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ConfigError(f"max_tokens is {self.max_tokens}; expected 1 or more")

    @property
    def deterministic(self) -> bool:
        """True if a model that obeys answers equal requests equally: the temperature is 0, or there is a seed."""
        return self.temperature == 0 or self.seed is not None

    def without(self, names: Collection[str]) -> Sampling:
        """Return it with the parameters of these names left to the model."""
        return Sampling(**{f.name: getattr(self, f.name) for f in fields(self) if f.name not in names})

    def to_json(self) -> dict[str, Any]:
        """Return the parameters that are set as JSON values."""
        values = {name: getattr(self, name) for name in ("temperature", "top_p", "max_tokens", "seed")}
        return {
            **{k: v for k, v in values.items() if v is not None},
            **({"stop": list(self.stop)} if self.stop else {}),
        }


EMBEDDINGS = ("embeddings", "embed_content", "batch_embed_contents")
"""APIs that answer with vectors, OpenAI's and Google's two."""


@dataclass(frozen=True)
class Original:
    """A request in the words of the API in which a program wrote it.

    Attributes:
        api: `"chat.completions"`, `"responses"`, `"messages"`, `"generate_content"`, or one of `EMBEDDINGS`.
        body: the body, without the model's name.
        stream: whether the answer comes as events.
        headers: headers that change the meaning of the body, such as `anthropic-beta`.
        client: headers that name the program, such as `user-agent`; sent, and not part of the request's identity.
    """

    api: str
    body: Mapping[str, Any] = field(repr=False)
    stream: bool = False
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    client: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return what identifies it as JSON values."""
        return {"api": self.api, "body": dict(self.body), "stream": self.stream, "headers": dict(self.headers)}


@dataclass(frozen=True)
class Request:
    """A request to a model.

    Attributes:
        messages: the conversation so far, at least one message.
        tools: the tools it may call.
        sampling: the sampling parameters.
        tool_choice: `"auto"`, `"none"`, `"required"`, or the name of one tool.
        purpose: kind of use (`"execution"`, `"optimisation"`, `"judge"`), kept for the accounts and not part of the
            request's identity.
        options: further parameters, for a model that takes them (`options_of`): `thinking` (false, true or an effort),
            `parallel_tool_calls`, `top_k`, `presence_penalty`, `frequency_penalty`, and `format`, the JSON schema of the
            answer as an object with `name`, `schema` and `strict`; with `optional`, a model whose provider refuses
            the format is asked without it.
        original: for a model of the same API (`apis_of`), the request to send instead of all the others, which then
            only describe it.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    sampling: Sampling = field(default_factory=Sampling)
    tool_choice: str = "auto"
    purpose: str = "execution"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    original: Original | None = None

    def __post_init__(self) -> None:
        if not self.messages:
            raise ConfigError("a request has no messages; give at least one")

    @classmethod
    def of(cls, prompt: str, system: str = "", **fields: Any) -> Request:
        """Return a request with one user message, preceded by a system message if one is given."""
        first = (Message("system", system),) if system else ()
        return cls((*first, Message("user", prompt)), **fields)

    def to_json(self) -> dict[str, Any]:
        """Return what identifies it as JSON values."""
        return {
            "messages": [m.to_json() for m in self.messages],
            "tools": [[t.name, t.description, dict(t.parameters)] for t in self.tools],
            "sampling": self.sampling.to_json(),
            "tool_choice": self.tool_choice,
            **({"options": dict(self.options)} if self.options else {}),
            **({"original": self.original.to_json()} if self.original else {}),
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 over `to_json`, shared by equal requests."""
        return digest_json(self.to_json())


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of one reply. None means unknown, and makes every sum unknown; it is never taken for 0.

    Attributes:
        input_tokens: tokens of the request, cached ones included.
        output_tokens: tokens of the reply, reasoning included.
        cached_tokens: input tokens that the provider had cached.
        cost_usd: US dollars.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None

    def __add__(self, other: Usage) -> Usage:
        def total(name: str) -> Any:
            mine, theirs = getattr(self, name), getattr(other, name)
            return None if mine is None or theirs is None else mine + theirs

        return Usage(*map(total, ("input_tokens", "output_tokens", "cached_tokens", "cost_usd")))

    @property
    def tokens(self) -> int | None:
        """Input and output together."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens

    def to_json(self) -> UsageData:
        """Return it as a JSON object; unknown is null."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "cost_usd": self.cost_usd,
        }


NOTHING_USED = Usage(0, 0, 0, 0.0)
"""Starting value of sums."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer.

    Attributes:
        text: the text; may be empty when the model calls tools.
        tool_calls: requested tool calls, in order.
        finish: reason it ended.
        usage: the usage; nothing for a reply from the cache.
        model: the model that answered, after routing and fallback.
        seconds: wall time, retries included.
        attempts: number of provider calls; 0 for a reply from the cache.
        cache: cache result (`"hit"`, `"miss: …"`, `"off"`), for people.
        reasoning: the model's reasoning, where exposed; not part of the conversation.
        ignored: names of the request's sampling parameters that the model does not take, and `"format"` if an optional
            one was left out.
        original: the answer to an original request, as the provider gave it: JSON text, or the text of its events.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    seconds: float = 0.0
    attempts: int = 1
    cache: str = "off"
    reasoning: str = ""
    ignored: tuple[str, ...] = ()
    original: str = field(default="", repr=False)

    @property
    def message(self) -> Message:
        """Return the assistant's message that continues the conversation."""
        return Message("assistant", self.text, tool_calls=self.tool_calls)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "text": self.text,
            "tool_calls": [[c.id, c.name, c.arguments] for c in self.tool_calls],
            "finish": self.finish,
            "usage": self.usage.to_json(),
            "model": self.model,
            "seconds": self.seconds,
            "attempts": self.attempts,
            "cache": self.cache,
            "reasoning": self.reasoning,
            **({"ignored": list(self.ignored)} if self.ignored else {}),
            **({"original": self.original} if self.original else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Reply:
        """Read what `to_json` gave."""
        given = dict(value)
        given["tool_calls"] = tuple(ToolCall(*call) for call in given["tool_calls"])
        given["usage"] = Usage(**given["usage"])
        given["ignored"] = tuple(given.get("ignored", ()))
        return cls(**given)


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a streamed reply: more text, or at the end the whole reply.

    Attributes:
        text: text added.
        reply: the whole reply; with the last piece only.
        events: for an original request, the provider's events as they came; after the last of them the answer is whole.
    """

    text: str = ""
    reply: Reply | None = None
    events: bytes = field(default=b"", repr=False)


class Model(Protocol):
    """A language model: a provider's, a local one, a scripted one, or a layer around another model."""

    @property
    def name(self) -> str:
        """The model's name, such as `"openai/gpt-5"`."""
        ...

    async def reply(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ProviderError: if the call fails; `kind` says why, `transient` whether a retry may help.
            BudgetError: if the budget does not allow the call; no provider was called.
        """
        ...


class StreamingModel(Model, Protocol):
    """A model that can also stream its answers."""

    def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request; the last delta holds the whole reply. Raises as `reply`."""
        ...


def apis_of(model: Model) -> frozenset[str]:
    """Return the APIs in which a model takes requests as programs wrote them (`Request.original`).

    Layers take what all of their models take.
    """
    return _taken(model, "apis")


def options_of(model: Model) -> frozenset[str]:
    """Return the names of the options (`Request.options`) that a model takes; layers take what all of their models take."""
    return _taken(model, "options")


def ignored_by(model: Model) -> frozenset[str]:
    """Return the names of the sampling parameters that a model, or one of a layer's models, does not take."""
    own: frozenset[str] = getattr(model, "ignores", frozenset[str]())
    inside: Sequence[Model] = getattr(model, "models", ())
    return own.union(*map(ignored_by, inside))


def _taken(model: Model, what: str) -> frozenset[str]:
    own: frozenset[str] | None = getattr(model, what, None)
    if own is not None:
        return own
    inside: Sequence[Model] = getattr(model, "models", ())
    return frozenset[str].intersection(*(_taken(each, what) for each in inside)) if inside else frozenset()


async def streamed(model: Model, request: Request) -> AsyncIterator[Delta]:
    """Stream from any model; one that cannot stream answers in one piece."""
    own = getattr(model, "stream", None)
    if own is not None:
        async for delta in own(request):
            yield delta
        return
    reply = await model.reply(request)
    if reply.text:
        yield Delta(reply.text)
    yield Delta(reply=reply)


def conversation_text(messages: Sequence[Message]) -> str:
    """Return messages as text for people, one block each."""
    return "\n\n".join(f"[{m.role}]\n{m.content}" for m in messages)
