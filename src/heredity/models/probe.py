"""Finds out what a model can do by asking it: a few short calls, and the evidence for every answer."""

from __future__ import annotations

import asyncio
import json
import os
import time
import urllib.request
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from http.client import HTTPException
from typing import Any, cast
from urllib.parse import urlsplit

from heredity._core.errors import ConfigError, ProviderError
from heredity.models.contract import NOTHING_USED, Model, Reply, Request, Sampling, ToolSpec, Usage, streamed
from heredity.models.gateway import ProviderModel, resolve
from heredity.models.layers import close
from heredity.models.prices import Prices, prices_of, pricing
from heredity.models.settings import CLIENTS, Client, GatewaySettings, ProviderSettings

_CONNECT_S = 5.0
_MOST_BYTES = 1 << 24
_ADDRESSES = {
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
    "mistral": "https://api.mistral.ai",
    "openrouter": "https://openrouter.ai/api/v1",
}
"""Addresses of kinds that need no `base_url`."""

_LISTS = {
    "anthropic": ("/v1/models?limit=1000", "x-api-key"),
    "google": ("/v1beta/models?pageSize=1000", "x-goog-api-key"),
    "mistral": ("/v1/models", ""),
}
"""Kind to the path of its list of models, and the header of its key where it is not a bearer token."""

_CONTEXTS = (
    "loaded_context_length",  # LM Studio
    "max_model_len",  # vLLM
    "context_length",  # OpenRouter, Ollama
    "context_window",  # Groq
    "max_context_length",  # Mistral
    "max_input_tokens",  # Anthropic, LiteLLM
    "inputTokenLimit",  # Google
)
"""Fields of a model's entry that hold its context, in tokens."""


@dataclass(frozen=True, slots=True)
class Served:
    """A server's statement.

    Attributes:
        names: names of its models; empty if it has no list.
        context: tokens of the model's context; None if it does not say.
        source: path that gave the context.
    """

    names: tuple[str, ...] = ()
    context: int | None = None
    source: str = ""


def ask_server(provider: ProviderSettings, model: str) -> Served:
    """Ask a provider's server for its models and for a model's context, with at most four requests, each of 5 s."""
    base = (provider.base_url or _ADDRESSES.get(provider.kind, "")).rstrip("/")
    if not base:
        return Served()
    if provider.kind == "azure" and not base.endswith("/v1"):
        base += "/openai/v1"
    path, header = _LISTS.get(provider.kind, ("/models", ""))
    entries = {name: entry for entry in _entries(_get(base + path, provider, header)) for name in _names_of(entry)}
    names = tuple(entries)
    compatible = CLIENTS.get(provider.kind, Client("openai")).module == "openai" and base.endswith("/v1")
    local = not provider.api_key_env or urlsplit(base).hostname in ("127.0.0.1", "localhost", "::1")
    for root, key in _OWN if compatible and local else ():
        context = _context_at(base.removesuffix("/v1") + root, key, provider, model)
        if context is not None:
            return Served(names, context, root)
    return Served(names, _context_of(entries.get(model, {})), path.partition("?")[0])


_OWN = (
    ("/api/ps", ""),  # Ollama: models in memory, with the context they were loaded with
    ("/api/v0/models", ""),  # LM Studio
    ("/props", "n_ctx"),  # llama.cpp: one model
)
"""Paths at which local servers tell the context that a model really runs with, and the field if there is no list."""


def _context_at(address: str, field: str, provider: ProviderSettings, model: str) -> int | None:
    answer = _get(address, provider, "")
    if field:
        inner = answer.get("default_generation_settings")
        value = cast("Mapping[str, Any]", inner).get(field) if isinstance(inner, Mapping) else None
        return value if isinstance(value, int) else None
    same = {model, f"{model}:latest"}
    return next((_context_of(entry) for entry in _entries(answer) if not same.isdisjoint(_names_of(entry))), None)


def _context_of(entry: Mapping[str, Any]) -> int | None:
    values = (entry.get(field) for field in _CONTEXTS)
    return next((value for value in values if isinstance(value, int) and value > 0), None)


def _entries(answer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    listed = next((answer[key] for key in ("data", "models") if isinstance(answer.get(key), list)), [])
    yield from (cast("Mapping[str, Any]", entry) for entry in listed if isinstance(entry, Mapping))


def _names_of(entry: Mapping[str, Any]) -> Iterator[str]:
    for key in ("id", "name", "model"):
        if isinstance(name := entry.get(key), str):
            yield name.removeprefix("models/")
            return


def _get(address: str, provider: ProviderSettings, header: str) -> Mapping[str, Any]:
    """Return the JSON object at an address; an empty one for anything else."""
    key = os.environ.get(provider.api_key_env, "") if provider.api_key_env else ""
    request = urllib.request.Request(address, headers={"User-Agent": "heredity"})
    if key:
        # Redirects are not followed with the key: it would be sent to another server.
        request.add_unredirected_header(header or "Authorization", key if header else f"Bearer {key}")
        if provider.kind == "anthropic":
            request.add_header("anthropic-version", "2023-06-01")
    try:
        with urllib.request.urlopen(request, timeout=_CONNECT_S) as answer:
            read = json.loads(answer.read(_MOST_BYTES))
    except (OSError, HTTPException, ValueError):
        return {}
    return cast("Mapping[str, Any]", read) if isinstance(read, dict) else {}


_COUNT = "Count from 1 to 60 in digits, separated by spaces. Write nothing else."
_DRAW = "Write 24 random decimal digits without blanks. Write nothing else."
_ADD = ToolSpec(
    "add",
    "Adds two integers.",
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]},
)
_CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "population": {"type": "integer"}},
    "required": ["city", "population"],
    "additionalProperties": False,
}
_LIMIT = 4096
"""Limit on the tokens of each reply; reasoning counts."""

_WORDS = 6000
"""Words of the prompt that shows whether a local server cuts long prompts: more than the common default of 4096."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer.

    Attributes:
        answer: true or false, a figure, or None if it could not be found out.
        evidence: what was asked and what came back, or where a figure is from.
    """

    answer: bool | float | None
    evidence: str


@dataclass(frozen=True)
class Probe:
    """What was found out about a model.

    Attributes:
        model: its name.
        findings: by name: `"tools"`, `"structured_output"`, `"seed"`, `"temperature"`, `"streaming"`,
            `"context_tokens"`, `"price"` (whether it is known), `"first_text_s"`, `"tokens_per_s"`; empty if it did
            not answer.
        calls: number of calls of the model.
        usage: what they used.
        prices: its prices; None if they are not known.
        failure: why it did not answer; None if it did.
        near: names of the server's models near to an unknown one.
        advice: what to do about the failure.
    """

    model: str
    findings: dict[str, Finding] = field(default_factory=dict[str, Finding])
    calls: int = 0
    usage: Usage = NOTHING_USED
    prices: Prices | None = None
    failure: ProviderError | None = None
    near: tuple[str, ...] = ()
    advice: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        failure = None
        if self.failure is not None:
            failure = {"kind": self.failure.kind, "message": str(self.failure), "advice": self.advice}
        return {
            "model": self.model,
            "reachable": self.failure is None,
            "calls": self.calls,
            "usage": self.usage.to_json(),
            "prices": self.prices and self.prices.model_dump(mode="json"),
            "findings": {n: {"answer": f.answer, "evidence": f.evidence} for n, f in self.findings.items()},
            "failure": failure and {**failure, "near": list(self.near)},
        }


async def probe(name: str, settings: GatewaySettings | None = None) -> Probe:
    """Find out what a model can do with up to seven short calls; a model that does not answer gets one.

    Args:
        name: PROVIDER/MODEL, or a role of the settings.
        settings: the gateway's settings.

    Raises:
        UnknownNameError: if the provider is unknown.
        ConfigError: if the model cannot be opened as configured, such as for lack of its key.
        MissingExtraError: if it needs an optional dependency.
    """
    settings = settings or GatewaySettings()
    name = getattr(settings, name, "") or name if "/" not in name else name
    if name in settings.routes:
        raise ConfigError(f"{name!r} is a route; name one of its models: {', '.join(settings.routes[name].models)}")
    model = resolve(name, settings)
    try:
        return await _Probing(model, settings.provider(name)).run()
    finally:
        await close(model)


class _Probing:
    def __init__(self, model: Model, provider: ProviderSettings | None) -> None:
        self._model, self._provider = model, provider
        self._calls, self._usage = 0, NOTHING_USED
        self._findings: dict[str, Finding] = {}
        self._known = frozenset[str](getattr(model, "ignores", ()))

    async def run(self) -> Probe:
        try:
            first = await self._speed()
        except ProviderError as error:
            return await self._failed(error)
        await self._seed(first)
        self._findings["tools"] = await self._tools()
        self._findings["structured_output"] = await self._structured()
        self._findings["context_tokens"] = await self._context()
        self._findings["price"] = self._price(first)
        return Probe(self._model.name, self._findings, self._calls, self._usage, prices_of(self._model))

    async def _failed(self, error: ProviderError) -> Probe:
        served = await self._served()
        asked = self._model.name.partition("/")[2]
        near = tuple(get_close_matches(asked, served.names, 3, 0.5)) if error.kind == "unknown_model" else ()
        advice = self._advice(error, served)
        return Probe(self._model.name, {}, self._calls, self._usage, None, error, near, advice)

    def _advice(self, error: ProviderError, served: Served) -> str:
        provider, first = self._provider or ProviderSettings(), self._model.name.partition("/")[0]
        address = f"gateway.providers.{first}.base_url"
        if error.kind == "auth" and not provider.api_key_env:
            return f"name the environment variable of its key in gateway.providers.{first}.api_key_env"
        if error.kind == "unknown_model" and served.names:
            return f"its server lists {len(served.names)} models, and not this one"
        return {
            "auth": f"correct the key in {provider.api_key_env}",
            "connection": f"start its server, or correct {address}",
            "garbage": f"correct {address} (most end in /v1) or gateway.providers.{first}.kind",
            "unknown_model": f"correct the model's name, or {address} (most end in /v1): no list of models is there",
            "rate_limit": "wait and try again" if error.transient else "add credit to the account, or use another",
            "timeout": f"raise gateway.providers.{first}.timeout_s",
        }.get(error.kind, "")

    async def _served(self) -> Served:
        if self._provider is None:
            return Served()
        return await asyncio.to_thread(ask_server, self._provider, self._model.name.partition("/")[2])

    async def _speed(self) -> Reply:
        """Make the first call: streamed, at temperature 0, with a seed."""
        began = time.monotonic()
        request = Request.of(_COUNT, sampling=Sampling(temperature=0.0, seed=1, max_tokens=_LIMIT))
        times: list[float] = []
        reply: Reply | None = None
        self._calls += 1
        async for delta in streamed(self._model, request):
            if delta.text:
                times.append(time.monotonic() - began)
            reply = delta.reply or reply
        seconds = time.monotonic() - began
        if reply is None:
            raise ProviderError("garbage", f"{self._model.name} ended its stream without a reply", transient=True)
        self._usage += reply.usage
        span = times[-1] - times[0] if times else 0.0
        whole = len(times) < 2
        text = f"{len(times)} pieces of text, the last {span:.2f} s after the first" if times else "no text came"
        self._findings["streaming"] = Finding(None if not times else not whole, text)
        first = round(times[0], 3) if times else None
        self._findings["first_text_s"] = Finding(first, f"the whole answer took {seconds:.2f} s" if times else text)
        tokens = reply.usage.output_tokens
        speed = round(tokens / seconds, 1) if tokens and seconds else None
        counted = f"{tokens} tokens in {seconds:.2f} s, waiting included" if tokens else "no tokens were counted"
        self._findings["tokens_per_s"] = Finding(speed, counted)
        return reply

    async def _seed(self, first: Reply) -> None:
        """Draw digits at temperature 1: twice with one seed, once with another."""
        if "seed" in first.ignored:
            self._findings["seed"] = self._not_taken("seed")
            taken = "temperature" not in first.ignored
            self._findings["temperature"] = Finding(True, "0 was accepted") if taken else self._not_taken("temperature")
            return
        ignored = set(first.ignored)
        texts: list[str] = []
        try:
            for seed in (11, 11, 12):
                sampling = Sampling(temperature=1.0, seed=seed, max_tokens=_LIMIT)
                reply = await self._reply(Request.of(_DRAW, sampling=sampling))
                texts.append(reply.text.strip())
                ignored |= set(reply.ignored)
        except ProviderError as error:
            self._findings["seed"] = self._findings["temperature"] = _refused(error)
            return
        same, other = texts[0] == texts[1], texts[0] != texts[2]
        if "seed" in ignored:
            self._findings["seed"] = self._not_taken("seed")
        elif not same:
            self._findings["seed"] = Finding(False, "accepted, but two answers with one seed differ")
        elif other:
            self._findings["seed"] = Finding(True, "two answers with one seed agree, a third with another differs")
        else:
            self._findings["seed"] = Finding(None, "accepted; answers with another seed are the same too")
        if "temperature" in ignored:
            self._findings["temperature"] = self._not_taken("temperature")
        else:
            drawn = "answers at 1 differ" if other or not same else "answers at 1 are all the same"
            self._findings["temperature"] = Finding(True, f"0 and 1 were accepted; {drawn}")

    def _not_taken(self, name: str) -> Finding:
        if name in self._known:
            return Finding(
                False, f"not sent, not tested: its table in omit, or pydantic-ai, says that {name} is not taken"
            )
        return Finding(False, f"its API refused {name} by name")

    async def _tools(self) -> Finding:
        sampling = Sampling(max_tokens=_LIMIT)
        asked = Request.of("What is 2 + 40? Call the tool add with these numbers.", tools=(_ADD,), sampling=sampling)
        try:
            reply = await self._reply(asked)
        except (ProviderError, ConfigError) as error:
            return _refused(error)
        if not reply.tool_calls:
            return Finding(False, f"asked to call a tool, it answered in text: {reply.text[:60]!r}")
        call = reply.tool_calls[0]
        arguments: Any = None
        with suppress(ValueError):
            arguments = json.loads(call.arguments)
        fits = call.name == "add" and _fits(arguments, {"a": int, "b": int})
        return Finding(fits, f"it called {call.name} with {call.arguments[:60]}")

    async def _structured(self) -> Finding:
        if not isinstance(self._model, ProviderModel):
            return Finding(False, "only models of providers take a JSON schema")
        asked = Request.of("Name a large city and its population.", sampling=Sampling(max_tokens=_LIMIT))
        asked = replace(asked, options={"format": {"name": "answer", "schema": _CITY, "strict": True}})
        try:
            reply = await self._made(self._model.reply(asked))
        except (ProviderError, ConfigError) as error:
            return _refused(error)
        value: Any = None
        with suppress(ValueError):
            value = json.loads(reply.text)
        fits = _fits(value, {"city": str, "population": int})
        kept = "fits" if fits else "does not fit"
        return Finding(fits, f"with a JSON schema its answer {kept} it: {reply.text[:60]!r}")

    async def _context(self) -> Finding:
        served = await self._served()
        if served.context is not None:
            return Finding(served.context, f"its server says so at {served.source}")
        if self._provider is not None and not self._provider.api_key_env and self._provider.base_url:
            return await self._cut()
        if isinstance(self._model, ProviderModel) and (listed := self._model.listed_context):
            return Finding(listed, "listed by genai-prices, not tested: its server does not say")
        return Finding(None, "its server does not say")

    async def _cut(self) -> Finding:
        """Send a long prompt to a server without a key, which costs nothing: some cut what is too long, and say nothing."""
        text = "tick " * _WORDS + "\nAnswer with the word tock."
        try:
            reply = await self._reply(Request.of(text, sampling=Sampling(max_tokens=16)))
        except ProviderError as error:
            kind = f"a prompt of {_WORDS} words was refused: {str(error)[:120]}"
            return Finding(None, kind if error.kind == "context" else str(error)[:160])
        counted = reply.usage.input_tokens
        if counted is None:
            return Finding(None, "its server does not say, and counts no tokens")
        if counted < _WORDS:
            remedy = "raise it there (Ollama: OLLAMA_CONTEXT_LENGTH=32768 ollama serve)"
            return Finding(
                counted, f"a prompt of {_WORDS} words was cut to {counted} tokens without an error; {remedy}"
            )
        return Finding(None, f"its server does not say; a prompt of {counted} tokens was read whole")

    def _price(self, first: Reply) -> Finding:
        prices = prices_of(self._model)
        if prices is None:
            reported = first.usage.cost_usd is not None
            told = "its replies tell their cost" if reported else pricing(self._model.name)
            return Finding(reported, told)
        model = self._model.name.partition("/")[2]
        if prices.cost(Usage()) == 0.0:
            source = "it costs nothing on this machine, or is configured so"
        elif self._provider is not None and self._provider.prices_of(model) is not None:
            source = "configured"
        else:
            source = "listed by genai-prices, not by the provider"
        return Finding(True, f"{prices.input:g} USD in, {prices.output:g} USD out per million tokens: {source}")

    async def _reply(self, request: Request) -> Reply:
        return await self._made(self._model.reply(request))

    async def _made(self, call: Awaitable[Reply]) -> Reply:
        self._calls += 1
        reply = await call
        self._usage += reply.usage
        return reply


def _fits(value: object, fields: Mapping[str, type]) -> bool:
    return (
        isinstance(value, dict)
        and set(cast("dict[str, Any]", value)) == set(fields)
        and all(type(value[name]) is kind for name, kind in fields.items())
    )


def _refused(error: ProviderError | ConfigError) -> Finding:
    """Return the finding of a call that failed: a refusal of the request is a no, anything else leaves it open."""
    kind = error.kind if isinstance(error, ProviderError) else "request"
    return Finding(False if kind == "request" else None, f"the call failed: {' '.join(str(error).split())[:160]}")
