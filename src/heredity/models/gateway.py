"""The gateway: models by name or role, with the configured layers around them."""

from __future__ import annotations

import asyncio
import contextvars
import json
import os
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import fields, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import urlsplit

from heredity._core.errors import BudgetError, ConfigError, MissingExtraError, ProviderError, UnknownNameError
from heredity._core.ids import canonical_json, digest_json, generator
from heredity._core.spans import span
from heredity.models.cache import Cached
from heredity.models.clouds import azure_address, open_bedrock, open_google_cloud, open_other
from heredity.models.contract import (
    EMBEDDINGS,
    Delta,
    Model,
    Original,
    Reply,
    Request,
    Sampling,
    Usage,
    conversation_text,
)
from heredity.models.conversion import to_messages, to_parameters, to_reply, to_settings, to_usage
from heredity.models.events import prove_ends
from heredity.models.failures import GARBLED, translated
from heredity.models.layers import Ask, Layer, close, last
from heredity.models.meter import Meter, Metered, SpendLimits
from heredity.models.passthrough import Answer, pass_through, without_sampling
from heredity.models.prices import Prices, listed_context, listed_cost, listed_prices
from heredity.models.replies import WithoutThoughts
from heredity.models.reply_store import ReplyStore
from heredity.models.routing import Routed
from heredity.models.settings import (
    CLIENTS,
    MODELS,
    ROLES,
    TIMEOUT_S,
    WELL_KNOWN,
    Client,
    GatewaySettings,
    ProviderSettings,
    stand_in,
)
from heredity.models.waiting import credit, notice

if TYPE_CHECKING:
    from pydantic_ai import messages as theirs
    from pydantic_ai.models import Model as TheirModel


class ProviderModel:
    """A model of a provider.

    Attributes:
        name: PROVIDER/MODEL.
        prices: configured, or listed by `genai-prices`; None if neither knows.
        options: the options that it takes (see `options_of`).
        apis: the APIs in which it takes requests as programs wrote them (see `apis_of`).
    """

    def __init__(self, name: str, settings: ProviderSettings) -> None:
        self.name = name
        self.apis = settings.takes()
        self._model_name = name.partition("/")[2]
        self._key = _key(name, settings)
        if settings.kind == "azure":
            settings = settings.model_copy(update={"base_url": azure_address(name, settings)})
        self._settings = settings
        self._model = _opened(name, settings, self._key)
        self.options = _options_of(self._model) - set(settings.omit)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._omitted: set[str] = set(settings.omit) | _never_sent(self._model)
        self._limits = _limit_names(settings.kind, self._model)
        self._own_limit = self._limits[0]
        self._told_cut = False
        self._configured = settings.prices_of(self._model_name)
        self.prices: Prices | None = self._configured or listed_prices(self._model_name, self._listed_under)

    @property
    def ignores(self) -> frozenset[str]:
        """The sampling parameters that it does not take, as far as is known; they are not sent."""
        return frozenset(self._omitted - {"format"})

    def __repr__(self) -> str:
        return f"ProviderModel({self.name!r}, {self._settings!r})"

    @property
    def listed_context(self) -> int | None:
        """Tokens of its context as `genai-prices` lists them; None if it does not."""
        return listed_context(self._model_name, self._listed_under)

    async def reply(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ProviderError: if the call fails.
            ConfigError: if the request cannot be expressed in the provider's API.
        """
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import AgentRunError, UserError

        if request.original is not None:
            return await last(self._passed(request), self.name)
        started = time.monotonic()
        while True:
            sent = self._sent(request)
            messages, parameters, settings = self._converted(request, sent)
            failure: ProviderError | None = None
            response: Any = None
            try:
                response = await model_request(
                    self._here(), messages, model_settings=settings, model_request_parameters=parameters
                )
            except (AgentRunError, UserError, OSError, NotImplementedError, *GARBLED) as error:
                failure = translated(error, self.name, self._key, self._settings.base_url)
            # Raised here, because inside the handler Python would attach the original error, which may contain the key.
            if failure is None:
                return self._read(response, request, sent, started)
            if not self._omits_refused(failure, sent):
                raise failure

    async def stream(self, request: Request) -> AsyncGenerator[Delta]:
        """Answer a request piece by piece; raises as `reply`."""
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.exceptions import AgentRunError, UserError

        if request.original is not None:
            async with aclosing(self._passed(request)) as passed:
                async for delta in passed:
                    yield delta
            return
        started = time.monotonic()
        while True:
            sent = self._sent(request)
            messages, parameters, settings = self._converted(request, sent)
            failure: ProviderError | None = None
            try:
                opening = model_request_stream(
                    self._here(), messages, model_settings=settings, model_request_parameters=parameters
                )
                async with opening as events:
                    shown = WithoutThoughts()
                    async for event in events:
                        if text := shown.add(_text_of(event)):
                            yield Delta(text)
                    if text := shown.rest():
                        yield Delta(text)
                    reply = self._read(events.get(), request, sent, started)
            except (AgentRunError, UserError, OSError, NotImplementedError, *GARBLED) as error:
                failure = translated(error, self.name, self._key, self._settings.base_url)
            else:
                yield Delta(reply=reply)
                return
            if not self._omits_refused(failure, sent):
                raise failure

    async def _passed(self, request: Request) -> AsyncGenerator[Delta]:
        """Answer an original request; raises as `reply`."""
        from httpx2 import HTTPError
        from pydantic_ai.exceptions import AgentRunError

        original, started = cast("Original", request.original), time.monotonic()
        if original.api not in self.apis:
            raise ConfigError(f"{self.name} takes no original requests of the API {original.api}")
        body = without_sampling({**original.body, **self._settings.extra_body}, self._settings.omit)
        here = self._here()
        passing = pass_through(
            _http_client(here),
            self._settings.base_url or str(here.base_url),
            self._key,
            self._model_name,
            replace(original, body=body),
            timeout_s=self._settings.timeout_s or TIMEOUT_S,
        )
        failure: ProviderError | None = None
        try:
            async with aclosing(passing) as pieces:
                async for piece in pieces:
                    reply = self._answered(piece.answer, request, started) if piece.answer else None
                    yield Delta(piece.text, reply, piece.events)
        except (AgentRunError, HTTPError, OSError, *GARBLED) as error:
            failure = translated(error, self.name, self._key, self._settings.base_url)
        if failure is not None:
            raise failure

    def _answered(self, answer: Answer, request: Request, started: float) -> Reply:
        from pydantic_ai import messages as theirs
        from pydantic_ai.usage import RequestUsage

        told = theirs.ModelResponse(
            parts=[],
            usage=RequestUsage(**cast("dict[str, Any]", answer.tokens)),
            model_name=answer.model or self._model_name,
            provider_name=self._model.system,
            provider_url=self._model.base_url,
        )
        counted = to_usage(told.usage, None)
        if answer.tokens and request.original is not None and request.original.api in EMBEDDINGS:
            counted = Usage(answer.tokens["input_tokens"], 0, 0)
        return Reply(
            answer.text,
            answer.tool_calls,
            answer.finish,
            self._usage(told, counted),
            self.name,
            time.monotonic() - started,
            reasoning=answer.reasoning,
            ignored=tuple(name for name in request.sampling.to_json() if name in self._settings.omit),
            original=answer.original,
        )

    async def close(self) -> None:
        """Close the connections."""
        # pydantic-ai closes the clients it opened when the last user leaves.
        async with self._model:
            pass

    def _here(self) -> TheirModel:
        """Return their model with connections of this event loop; those of a closed loop are useless."""
        loop = asyncio.get_running_loop()
        if self._loop not in (None, loop):
            self._model = _opened(self.name, self._settings, self._key)
        self._loop = loop
        return self._model

    def _sent(self, request: Request) -> dict[str, str]:
        """Return what a request is sent with of what may be left out, each with its name in the API."""
        names = request.sampling.without(self._omitted).to_json()
        sent = {name: self._limits[0] if name == "max_tokens" else name for name in names}
        if _optional_format(request) and "format" not in self._omitted:
            sent["format"] = "response_format"
        return sent

    def _converted(self, request: Request, sent: dict[str, str]) -> tuple[Any, Any, Any]:
        timeout_s = self._settings.timeout_s or TIMEOUT_S
        extra, omitted = self._settings.extra_body, {name for name in request.sampling.to_json() if name not in sent}
        if _optional_format(request) and "format" not in sent:
            request = replace(request, options={k: v for k, v in request.options.items() if k != "format"})
        limit = sent.get("max_tokens", self._own_limit)
        if limit != self._own_limit:
            extra, omitted = {**extra, limit: request.sampling.max_tokens}, omitted | {"max_tokens"}
        settings = to_settings(request, timeout_s, extra, omitted)
        return to_messages(request.messages), to_parameters(request), settings

    def _omits_refused(self, failure: ProviderError, sent: dict[str, str]) -> bool:
        """Leave out from now on the parameters that a provider says it does not take; True if there are any."""
        # The model's name and the address, which come first, are ours.
        text = str(failure).partition(" failed (")[2]
        if "format" in sent and failure.kind in ("request", "unknown_model") and _FORMAT.search(text):
            # Whether the provider takes no format or not this one: it may go without.
            self._omitted.add("format")
            return True
        if failure.kind != "request" or not _NOT_TAKEN.search(text):
            return False
        refused = {n for n, api in sent.items() if re.search(rf"\b(?:{_PATTERNS.get(api, api)})\b", text)}
        for name in refused:
            if name == "max_tokens" and len(self._limits) > 1:
                # Servers know the limit by its older or by its newer name.
                self._limits = [other for other in self._limits if other != sent[name]]
            elif name != "max_tokens" or sent[name] == self._limits[0]:
                self._omitted.add(name)
        return bool(refused)

    def _read(self, response: theirs.ModelResponse, request: Request, sent: dict[str, str], started: float) -> Reply:
        usage = self._usage(response, to_usage(response.usage, None))
        reply = to_reply(response, self.name, usage, time.monotonic() - started)
        if not self._settings.api_key_env and not self._told_cut:
            self._told_cut = _tell_cut(self.name, request, reply.usage.input_tokens)
        left_out = [name for name in request.sampling.to_json() if name not in sent]
        left_out += ["format"] if _optional_format(request) and "format" not in sent else []
        return replace(reply, ignored=tuple(left_out))

    def _usage(self, response: theirs.ModelResponse, usage: Usage) -> Usage:
        return replace(usage, cost_usd=self._cost(response, usage))

    def _cost(self, response: theirs.ModelResponse, usage: Usage) -> float | None:
        """Return the cost at configured prices, else as reported, else at list prices; None if none is known."""
        used = response.usage
        if self._configured:
            return self._configured.cost(usage, used.cache_write_tokens, used.cache_write_1h_tokens)
        if used.cost is not None:
            return float(used.cost)
        if usage.tokens is None:
            return None
        # A reply may name a snapshot that is not listed yet; it costs as much as the model that was asked for.
        names = (response.model_name or "", self._model_name)
        return listed_cost(used, names, self._listed_under, response.provider_details)

    @property
    def _listed_under(self) -> str:
        return self.name.partition("/")[0] if self._settings.kind == "openai" else self._settings.kind


def _optional_format(request: Request) -> bool:
    return bool(request.options.get("format", {}).get("optional"))


_FORMAT = re.compile(
    "response_?(?:format|mime_?type|(?:json_?)?schema)|output_(?:config|format)|text\\.format|structured[ _]output|json[ _]?"
    "(?:schema|mode|object|output|validate)|(?:valid|generat)\\w* json|grammar|requested parameters",
    re.IGNORECASE,
)
"""What an error says of the form of an answer, which APIs, and the engines behind them, call by many names."""

_PATTERNS = {"stop": "stop_sequences|(?<=['\"`])stop(?=['\"`])"}
"""How providers call a sampling parameter in an error, where not as we do."""


def _limit_names(kind: str, model: TheirModel) -> list[str]:
    """Return the names of the limit on tokens in an API, the one that is sent first."""
    if CLIENTS.get(kind, Client("openai")).module != "openai":
        return ["max_tokens"]
    profile: Any = model.profile
    names = ["max_completion_tokens", "max_tokens"]
    return names if profile.get("openai_chat_supports_max_completion_tokens", True) else names[::-1]


_NOT_TAKEN = re.compile(
    "not support|unsupported|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|not available|deprecated",
    re.IGNORECASE,
)
"""What an error says of a parameter that a model does not take, as opposed to a value that is out of range."""


def _tell_cut(name: str, request: Request, counted: int | None) -> bool:
    """Notice a prompt that a local server cut to its context, which some do without an error; True if it was."""
    words = sum(len(message.content.split()) for message in request.messages)
    if counted is None or counted < _LEAST_CUT or words < 2 * counted:
        return False
    advice = "raise the context of its server (Ollama: OLLAMA_CONTEXT_LENGTH=32768 ollama serve)"
    notice(f"{name} counted {counted} tokens in a prompt of {words} words, so it was probably cut; {advice}", 0.0)
    return True


_LEAST_CUT = 1000
"""Tokens below which a count may be of a prompt that the server had mostly cached."""


def _text_of(event: Any) -> str:
    """Return the text that an event of a stream adds."""
    from pydantic_ai import messages as theirs

    if isinstance(event, theirs.PartStartEvent) and isinstance(event.part, theirs.TextPart):
        return event.part.content
    if isinstance(event, theirs.PartDeltaEvent) and isinstance(event.delta, theirs.TextPartDelta):
        return event.delta.content_delta
    return ""


def _options_of(model: TheirModel) -> frozenset[str]:
    """Return the options that a model takes (see `options_of`)."""
    profile: Any = model.profile
    plain = {"parallel_tool_calls", "top_k", "presence_penalty", "frequency_penalty"} - set(model.unsupported_settings)
    thinks = profile.get("supports_thinking") or profile.get("thinking_always_enabled")
    named = {"thinking": thinks, "format": profile.get("supports_json_schema_output")}
    return frozenset(plain | {name for name, taken in named.items() if taken})


def _never_sent(model: TheirModel) -> set[str]:
    """Return the sampling parameters that pydantic-ai leaves out because the API or the model does not take them."""
    profile: Any = model.profile
    names = {"stop" if name == "stop_sequences" else str(name) for name in model.unsupported_settings}
    if profile.get("anthropic_disallows_sampling_settings"):
        names |= {"temperature", "top_p"}
    if profile.get("openai_supports_reasoning") and not profile.get("openai_supports_reasoning_effort_none"):
        names |= {"temperature", "top_p"}
    return names & {field.name for field in fields(Sampling)}


def provider_model(name: str, settings: ProviderSettings) -> ProviderModel:
    """Return the model PROVIDER/MODEL of a provider, without calling it.

    Raises:
        ConfigError: if the name has no model in it, the key's variable is not set, or the kind is unknown.
        MissingExtraError: if the packages that speak to the provider are not installed.
    """
    if not all(name.partition("/")[::2]):
        raise ConfigError(f"the model is called {name!r}; expected PROVIDER/MODEL, such as openai/gpt-5-mini")
    return ProviderModel(name, settings)


def _key(name: str, settings: ProviderSettings) -> str:
    if not settings.api_key_env:
        return ""
    key = os.environ.get(settings.api_key_env, "")
    if not key:
        raise ConfigError(
            f"{name} needs a key in the environment variable {settings.api_key_env}, which is not set; "
            "set it, or name another one in api_key_env"
        )
    return key


def _opened(name: str, settings: ProviderSettings, key: str) -> TheirModel:
    provider, _, model = name.partition("/")
    try:
        import pydantic_ai  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        raise MissingExtraError(f"the model {name}", "llm") from error
    opening = _BY_KIND.get(settings.kind, open_other)
    try:
        opened = opening(model, provider, settings, key)
    except ImportError as error:
        client = CLIENTS.get(settings.kind, Client("pydantic_ai"))
        what = f"the provider {provider} (kind {settings.kind})"
        raise MissingExtraError(what, client.extra, install=client.install) from error
    if settings.extra_body and "extra_body" in opened.unsupported_settings:
        raise ConfigError(f"providers of the kind {settings.kind!r} take no extra_body; leave it out for {provider!r}")
    if (http := _http_client(opened)) is not None:
        prove_ends(http)
    # pydantic-ai takes thoughts out of a stream where a tag is a whole piece, and with them the answer if the other tag is not.
    # `to_reply` reads the tags.
    cast("Any", opened.profile)["thinking_tags"] = ("<\0think>", "</\0think>")
    return opened


def _http_client(model: TheirModel) -> Any:
    """Return the `httpx2` client of a model of pydantic-ai; None if its package has another kind of client."""
    client: Any = getattr(getattr(model, "_provider", None), "_own_http_client", None)
    return client if type(client).__module__.startswith("httpx2") else None


def _openai(model: str, provider: str, settings: ProviderSettings, key: str) -> TheirModel:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if not settings.base_url:
        raise ConfigError(
            f"the provider {provider!r} has no base_url; give the address of its API, ending in /v1 mostly"
        )
    profile = OpenAIModelProfile(
        # A stream that ends without a finish reason was cut off, and half an answer is not an answer.
        openai_chat_streaming_requires_finish_reason=True,
        # Some servers ignore the newer name of the limit, and would answer without one.
        openai_chat_supports_max_completion_tokens=_is_openai(settings.base_url),
    )
    endpoint = OpenAICompatibleProvider(provider, base_url=settings.base_url, api_key=key or None, profile=profile)

    class ChatModel(OpenAIChatModel):
        def _validate_completion(self, response: Any) -> Any:
            # Some servers give a usage without figures; it is unknown, and the answer is good.
            if response.usage is not None and None in (response.usage.prompt_tokens, response.usage.completion_tokens):
                response.usage = None
            for choice in response.choices or ():
                for number, call in enumerate(choice.message.tool_calls or ()):
                    _complete(call, number)
            return super()._validate_completion(response)

    return ChatModel(model, provider=endpoint)


def _is_openai(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    return host.endswith(("openai.com", ".azure.com"))


def _complete(call: Any, number: int) -> None:
    """Give a tool call what some servers leave out: an id, and its arguments as JSON text."""
    call.id = call.id or f"call-{number}"
    function = getattr(call, "function", None)
    if function is not None and not isinstance(function.arguments, str):
        function.arguments = "{}" if function.arguments is None else json.dumps(function.arguments)


def _anthropic(model: str, provider: str, settings: ProviderSettings, key: str) -> TheirModel:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    endpoint = AnthropicProvider(api_key=key or "none", base_url=settings.base_url or None)
    return AnthropicModel(model, provider=endpoint)


def _google(model: str, provider: str, settings: ProviderSettings, key: str) -> TheirModel:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    endpoint = GoogleProvider(api_key=key or "none", base_url=settings.base_url or None)
    return GoogleModel(model, provider=endpoint)


_BY_KIND: dict[str, Callable[[str, str, ProviderSettings, str], TheirModel]] = {
    **dict.fromkeys(("openai", "azure", "litellm", "vllm", "ollama"), _openai),
    "anthropic": _anthropic,
    "google": _google,
    "bedrock": open_bedrock,
    "google-cloud": open_google_cloud,
}


class Retrying(Layer):
    """Retries a model after transient failures.

    The wait before attempt n + 1 is drawn uniformly from 0 to `base_s` · 2^(n - 1) seconds, at most `cap_s`. The
    delay a provider asks for (Retry-After) is added to that; a delay above `longest_s` is not waited for. A call that
    times out is retried once, one without a usable answer a few times. A stream that breaks off after its first words
    is not restarted: they cannot be taken back. Failed attempts and waits do not count against a rollout's time. A
    model that could not be reached gets one attempt per later call, until it answers.

    Args:
        model: the model to retry.
        attempts: upper limit on attempts, 1 or more.
        base_s: scale of the first wait, in seconds.
        cap_s: upper limit on the jittered wait, in seconds.
        longest_s: upper limit on the wait a provider may ask for, in seconds.
        entropy: with `path`, seeds the random numbers of the jitter.
        path: see `heredity._core.ids.generator`; the model's name if empty.
        sleep: waits a number of seconds; tests replace it.
    """

    def __init__(
        self,
        model: Model,
        *,
        attempts: int = 4,
        base_s: float = 0.5,
        cap_s: float = 20.0,
        longest_s: float = 600.0,
        entropy: int = 0,
        path: tuple[str | int, ...] = (),
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        if attempts < 1:
            raise ConfigError(f"attempts is {attempts}; expected 1 (never ask again) or more")
        super().__init__(model)
        self._attempts, self._base_s, self._cap_s, self._longest_s = attempts, base_s, cap_s, longest_s
        self._draws = generator(entropy, "gateway", "retry", *(path or (model.name,)))
        self._sleep = sleep
        self._down: ProviderError | None = None

    async def _answer(self, request: Request, ask: Ask) -> AsyncGenerator[Delta]:
        started, failures = time.monotonic(), Counter[str]()
        for attempt in range(1, self._attempts + 1):
            streaming, began = False, time.monotonic()
            try:
                async with ask(self.model, request) as deltas:
                    async for delta in deltas:
                        streaming = True
                        yield _counted(delta, attempt, time.monotonic() - started)
                self._down = None
                return
            except ProviderError as error:
                failures[error.kind] += 1
                over = attempt == self._attempts or failures[error.kind] == _MOST.get(error.kind)
                if self._down is not None and error.kind == self._down.kind:
                    raise _again(self._down) from error
                if streaming or not error.transient or over or self._too_long(error):
                    raise self._final(error, attempt) from error
                wait_s, failure = self._wait_s(error, attempt), error
            credit(time.monotonic() - began + wait_s)
            if wait_s >= _LONG_S:
                notice(f"{failure}; retrying in {wait_s:.0f} s", wait_s)
            with span("retry", model=self.name, attempt=attempt, failure=failure.kind, wait_s=wait_s):
                await self._sleep(wait_s)

    def _wait_s(self, error: ProviderError, attempt: int) -> float:
        jitter = float(self._draws.uniform(0, min(self._cap_s, self._base_s * 2 ** (attempt - 1))))
        return jitter + (error.retry_after_s or 0.0)

    def _too_long(self, error: ProviderError) -> bool:
        return error.retry_after_s is not None and error.retry_after_s > self._longest_s

    def _final(self, error: ProviderError, attempts: int) -> ProviderError:
        if attempts == 1 and not self._too_long(error):
            return error
        text = f"{error} (asked {attempts} times)" if attempts > 1 else str(error)
        if self._too_long(error):
            text += f"; it asks for a wait of {error.retry_after_s:.0f} s, more than timeout_s ({self._longest_s:g} s)"
        transient = error.transient and not self._too_long(error) and not error.unreachable
        final = ProviderError(error.kind, text, transient=transient, retry_after_s=error.retry_after_s)
        if error.kind == "connection":
            self._down = _again(final)
        return final


_MOST = {"timeout": 2, "empty": 3, "garbage": 4}
"""Upper limits on attempts that fail in ways that may have been charged, or that use the whole timeout."""
_LONG_S = 5.0
"""Shortest wait that is reported to the user, in seconds."""


def _again(error: ProviderError) -> ProviderError:
    return ProviderError(error.kind, str(error), transient=error.transient, retry_after_s=error.retry_after_s)


def _counted(delta: Delta, attempt: int, seconds: float) -> Delta:
    if delta.reply is None:
        return delta
    reply = replace(delta.reply, attempts=attempt - 1 + delta.reply.attempts, seconds=seconds)
    return replace(delta, reply=reply)


_SHOWN = 2000
"""Characters of input and of output that a span keeps; a transcript keeps all."""


class Transcribed(Layer):
    """Passes a transcript of every call to `sink`, and records a span `"model"` around it.

    A transcript is one JSON object: `model`, `purpose`, `digest` (of the request), `started` (Unix time), `seconds`,
    `request`, and `reply`, or `error` if the call failed.

    Args:
        model: the model to transcribe.
        sink: takes the transcript's bytes; None keeps spans only. Its exceptions propagate.
    """

    def __init__(self, model: Model, sink: Callable[[bytes], None] | None = None) -> None:
        super().__init__(model)
        self._sink = sink

    async def stream(self, request: Request) -> AsyncGenerator[Delta]:
        """Answer a request as a stream."""
        # The span stays open between pieces, while the caller does something else. So it has a separate context: the
        # caller's spans are not its children, and the stream can be closed from anywhere.
        context = contextvars.copy_context()
        loop = asyncio.get_running_loop()
        deltas = super().stream(request)

        async def following() -> Delta | None:
            return await anext(deltas, None)

        try:
            while (delta := await loop.create_task(following(), context=context)) is not None:
                yield delta
        finally:
            await loop.create_task(deltas.aclose(), context=context)

    async def _answer(self, request: Request, ask: Ask) -> AsyncGenerator[Delta]:
        started, clock = time.time(), time.monotonic()
        outcome: dict[str, Any] = {"error": {"kind": "cancelled", "message": "nobody waited for the end"}}
        shown = _short(conversation_text(request.messages))
        with span("model", kind="model", model=self.name, purpose=request.purpose, input=shown) as s:
            try:
                async with ask(self.model, request) as deltas:
                    async for delta in deltas:
                        if delta.reply is not None:
                            outcome = {"reply": delta.reply.to_json()}
                            s.set(**_attributes(delta.reply))
                        yield delta
            except (ProviderError, BudgetError) as error:
                outcome = {"error": {"kind": getattr(error, "kind", "budget"), "message": str(error)}}
                raise
            except Exception as error:
                outcome = {"error": {"kind": type(error).__name__, "message": str(error)}}
                raise
            finally:
                self._write(request, outcome, started, time.monotonic() - clock)

    def _write(self, request: Request, outcome: dict[str, Any], started: float, seconds: float) -> None:
        if self._sink is None:
            return
        head = {"model": self.name, "purpose": request.purpose, "digest": request.digest}
        times = {"started": started, "seconds": seconds}
        self._sink(canonical_json({**head, **times, "request": request.to_json(), **outcome}))


def _attributes(reply: Reply) -> dict[str, Any]:
    return {
        "answered_by": reply.model,
        "finish": reply.finish,
        "usage": reply.usage.to_json(),
        "attempts": reply.attempts,
        "cache": reply.cache,
        "output": _short(reply.text),
        "tool_calls": [[call.name, _short(call.arguments)] for call in reply.tool_calls],
    }


def _short(text: str) -> str:
    if len(text) <= _SHOWN:
        return text
    half = _SHOWN // 2
    return f"{text[:half]}\n… {len(text) - _SHOWN} characters …\n{text[-half:]}"


def resolve(name: str, settings: GatewaySettings | None = None) -> Model:
    """Return a model by its full name, without layers.

    Raises:
        UnknownNameError: if the name is unknown; suggests the nearest names.
        ConfigError: if it cannot be opened as configured, or the package that offers it fails to load.
        MissingExtraError: if it needs an optional dependency.
    """
    settings = settings or GatewaySettings()
    first, _, rest = name.partition("/")
    if first and rest:
        provider = settings.provider(name)
        if provider is not None:
            return provider_model(name, provider)
        if first in MODELS:
            return _loaded(first, rest, settings)
    raise UnknownNameError("model", name, [f"{kind}/{rest or 'MODEL'}" for kind in known_kinds(settings)])


def known_kinds(settings: GatewaySettings | None = None) -> tuple[str, ...]:
    """Return the prefixes of model names, sorted."""
    configured: Iterable[str] = settings.providers if settings else ()
    return tuple(sorted({*MODELS.names(), *WELL_KNOWN, *configured}))


def _loaded(kind: str, rest: str, settings: GatewaySettings) -> Model:
    model: Any = MODELS.load(kind)(rest, settings)
    if not (hasattr(model, "reply") and hasattr(model, "name")):
        raise ConfigError(
            f"{kind}/{rest} opened {type(model).__name__}, which is no model: a model has name and reply(request); "
            "repair or uninstall its package"
        )
    return model


class Limited(Layer):
    """Limits simultaneous calls, and ends each that takes too long; waiting for a slot does not count.

    Args:
        model: the model to limit.
        concurrent: upper limit on simultaneous calls, 1 or more.
        timeout_s: timeout of one call, in seconds, to the end of its stream; None for no limit.
    """

    def __init__(self, model: Model, *, concurrent: int = 8, timeout_s: float | None = None) -> None:
        if concurrent < 1:
            raise ConfigError(f"concurrent is {concurrent}; expected 1 or more")
        if timeout_s is not None and timeout_s <= 0:
            raise ConfigError(f"timeout_s is {timeout_s}; expected more than 0 seconds, or None for no limit")
        super().__init__(model)
        self._concurrent = concurrent
        self._places: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None
        self._timeout_s = timeout_s

    async def _answer(self, request: Request, ask: Ask) -> AsyncGenerator[Delta]:
        loop = asyncio.get_running_loop()
        if self._places is None or self._places[0] is not loop:
            # A semaphore belongs to one event loop; a model may be used in several, one after the other.
            self._places = loop, asyncio.Semaphore(self._concurrent)
        async with self._places[1]:
            deadline = None if self._timeout_s is None else loop.time() + self._timeout_s
            async with ask(self.model, request) as deltas:
                # The deadline is reset for every piece: one held while the caller works would cancel the caller.
                while True:
                    try:
                        async with asyncio.timeout_at(deadline):
                            delta = await anext(deltas, None)
                    except TimeoutError as error:
                        message = f"{self.name} did not finish in {self._timeout_s:g} s (gateway.timeout_s)"
                        raise ProviderError("timeout", message, transient=True) from error
                    if delta is None:
                        return
                    yield delta


class Gateway:
    """All models of a run.

    Every model is wrapped, from the outside in, by transcripts and spans, routes, the cache, retries, the concurrency
    limit, the meter. `docs/gateway.md` explains the order. Event loops may use a gateway one after the other, but not
    two at once.

    Args:
        settings: the configuration.
        sink: takes the transcript of every call, as bytes; None for none.
        namespace: gateways of different namespaces share no cached replies: judging has a separate one. So has the
            role `judge`.
        entropy: seed of the waits between retries.
        resolver: opens a model by its full name.

    Attributes:
        settings: the configuration.
        meter: usage by purpose and model.
    """

    def __init__(
        self,
        settings: GatewaySettings | None = None,
        *,
        sink: Callable[[bytes], None] | None = None,
        namespace: str = "",
        entropy: int = 0,
        resolver: Callable[[str, GatewaySettings], Model] = resolve,
    ) -> None:
        self.settings = settings or GatewaySettings()
        self.meter = Meter()
        self._sink, self._namespace, self._entropy, self._resolver = sink, namespace, entropy, resolver
        self._store = _store(self.settings.cache)
        self._models: dict[tuple[str, str], Model] = {}
        self._legs: dict[str, Model] = {}
        self._opened: list[Model] = []

    def model(self, name_or_role: str) -> Model:
        """Return a model by its name (`"openai/gpt-5-mini"`), a route's name, or its role (`"execution"`).

        The same name gives the same model. It is opened, but not called.

        Raises:
            UnknownNameError: if the name is unknown; suggests the nearest names.
            ConfigError: if no model is configured for the role, or the model cannot be opened as configured.
            MissingExtraError: if it needs an optional dependency.
        """
        name, namespace = self._resolve_role(name_or_role), self._namespace
        if name_or_role == "judge":
            namespace += "/judge"
        if (name, namespace) not in self._models:
            self._models[name, namespace] = Transcribed(self._core(name, namespace), self._sink)
        return self._models[name, namespace]

    def explain(self, name_or_role: str, request: Request) -> str:
        """Explain, for people, whether and why the cache would answer a request: one line per candidate model."""
        core = cast("Transcribed", self.model(name_or_role)).model
        backends = core.models if isinstance(core, Routed) else (core,)
        return "\n".join(
            f"{backend.name}: {backend.explain(request) if isinstance(backend, Cached) else 'off'}"
            for backend in backends
        )

    async def close(self) -> None:
        """Close all models and the cache."""
        for model in self._opened:
            await close(model)
        for models in (self._opened, self._legs, self._models):
            models.clear()
        if self._store is not None:
            self._store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _resolve_role(self, name_or_role: str) -> str:
        name = name_or_role
        if name in ROLES:
            name = str(getattr(self.settings, name))
            if not name:
                raise ConfigError(f"no model is configured for the role {name_or_role}; set gateway.{name_or_role}")
        if "/" in name or name in self.settings.routes:
            return name
        kinds = [f"{kind}/MODEL" for kind in known_kinds(self.settings)]
        raise UnknownNameError("model, route or role", name, [*self.settings.routes, *ROLES, *kinds])

    def _core(self, name: str, namespace: str) -> Model:
        route = self.settings.routes.get(name)
        if route is None:
            return self._cached(name, namespace)
        if nested := [backend for backend in route.models if backend in self.settings.routes]:
            raise ConfigError(
                f"the route {name!r} leads to another route, {nested[0]!r}; name that one's models instead"
            )
        return Routed(name, [self._cached(backend, namespace) for backend in route.models], route.policy)

    def _cached(self, name: str, namespace: str) -> Model:
        backend = self._backend(name)
        # Stand-ins answer at once from files that people edit: caching them would only return stale answers.
        if self._store is None or stand_in(name):
            return backend
        provider = self.settings.provider(name)
        salt = digest_json([namespace, provider.identity if provider else ""])
        return Cached(backend, self._store, salt=salt, sampled=self.settings.cache_sampled)

    def _backend(self, name: str) -> Model:
        """Return one model with its shared layers: slots and accounts are common to all callers."""
        if name not in self._legs:
            s = self.settings
            opened = self._resolver(name, s)
            self._opened.append(opened)
            metered = Metered(opened, self.meter, SpendLimits(s.max_tokens, s.max_cost_usd, s.max_calls))
            provider = s.provider(name)
            timeout_s = (provider and provider.timeout_s) or s.timeout_s
            limited = Limited(metered, concurrent=s.concurrent, timeout_s=timeout_s)
            self._legs[name] = Retrying(limited, attempts=s.attempts, longest_s=timeout_s, entropy=self._entropy)
        return self._legs[name]


def _store(cache: bool | str) -> ReplyStore | None:
    if not cache:
        return None
    return ReplyStore(default_cache_path() if cache is True else Path(cache).expanduser())


def default_cache_path() -> Path:
    """Return the file used by `cache = true`: `heredity/replies.sqlite` in the user's cache folder."""
    folder = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(folder) / "heredity" / "replies.sqlite"
