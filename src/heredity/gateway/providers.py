"""Models of providers, through pydantic-ai: one request, one answer, no retries of its own."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, Any

from heredity.errors import ConfigError, MissingExtraError, ProviderError, UnknownNameError
from heredity.gateway.contract import Delta, Reply, Request, Usage
from heredity.gateway.conversion import to_messages, to_parameters, to_reply, to_settings, to_usage
from heredity.gateway.failures import GARBLED, translated
from heredity.gateway.prices import Prices, listed_prices
from heredity.gateway.settings import CLIENTS, TIMEOUT_S, ProviderSettings

if TYPE_CHECKING:
    from pydantic_ai import messages as theirs
    from pydantic_ai.models import Model as TheirModel

_KINDS = ("openai", "anthropic", "google", "mistral", "groq", "openrouter", "cohere", "cerebras", "huggingface", "xai")
"""Kinds that error messages suggest; whatever else pydantic-ai knows works too."""


class ProviderModel:
    """A model of a provider.

    Attributes:
        name: PROVIDER/MODEL.
        prices: configured, or listed by `genai-prices`; None if neither knows.
    """

    def __init__(self, name: str, settings: ProviderSettings) -> None:
        self.name = name
        provider, _, self._model_name = name.partition("/")
        self._settings = settings
        self._key = _key(name, settings)
        self._model = _opened(name, settings, self._key)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._configured = settings.prices_of(self._model_name)
        self.prices: Prices | None = self._configured or listed_prices(self._model_name, self._listed_under(provider))

    def __repr__(self) -> str:
        return f"ProviderModel({self.name!r}, {self._settings!r})"

    async def reply(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ProviderError: if no answer is to be had.
            ConfigError: if the request cannot be put into the provider's terms.
        """
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import AgentRunError, UserError

        started = time.monotonic()
        messages, parameters, settings = self._converted(request)
        failure: ProviderError | None = None
        response: Any = None
        try:
            response = await model_request(
                self._here(), messages, model_settings=settings, model_request_parameters=parameters
            )
        except (AgentRunError, UserError, OSError, NotImplementedError, *GARBLED) as error:
            failure = translated(error, self.name, self._key, self._settings.base_url)
        # Raised here, because inside the handler Python would attach the error that may tell the key.
        if failure is not None:
            raise failure
        return self._read(response, started)

    async def stream(self, request: Request) -> AsyncGenerator[Delta]:
        """Answer a request piece by piece; raises as `reply`."""
        from pydantic_ai import messages as theirs
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.exceptions import AgentRunError, UserError

        started = time.monotonic()
        messages, parameters, settings = self._converted(request)
        failure: ProviderError | None = None
        try:
            opening = model_request_stream(
                self._here(), messages, model_settings=settings, model_request_parameters=parameters
            )
            async with opening as events:
                async for event in events:
                    text = ""
                    if isinstance(event, theirs.PartStartEvent) and isinstance(event.part, theirs.TextPart):
                        text = event.part.content
                    elif isinstance(event, theirs.PartDeltaEvent) and isinstance(event.delta, theirs.TextPartDelta):
                        text = event.delta.content_delta
                    if text:
                        yield Delta(text)
                reply = self._read(events.get(), started)
        except (AgentRunError, UserError, OSError, NotImplementedError, *GARBLED) as error:
            failure = translated(error, self.name, self._key, self._settings.base_url)
        else:
            yield Delta(reply=reply)
        if failure is not None:
            raise failure

    async def close(self) -> None:
        """Close the connections."""
        # pydantic-ai closes what it opened itself when the last one leaves it.
        async with self._model:
            pass

    def _here(self) -> TheirModel:
        """Return their model with connections of this event loop; those of one that has ended are of no use."""
        loop = asyncio.get_running_loop()
        if self._loop not in (None, loop):
            self._model = _opened(self.name, self._settings, self._key)
        self._loop = loop
        return self._model

    def _converted(self, request: Request) -> tuple[Any, Any, Any]:
        settings = to_settings(request, self._settings.timeout_s or TIMEOUT_S, self._settings.extra_body)
        return to_messages(request.messages), to_parameters(request), settings

    def _read(self, response: theirs.ModelResponse, started: float) -> Reply:
        usage = to_usage(response.usage, None)
        cost = self._configured.cost(usage) if self._configured else _listed_cost(response, usage)
        return to_reply(response, self.name, to_usage(response.usage, cost), time.monotonic() - started)

    def _listed_under(self, provider: str) -> str:
        return provider if self._settings.kind == "openai" else self._settings.kind


def provider_model(name: str, settings: ProviderSettings) -> ProviderModel:
    """Return the model PROVIDER/MODEL of a provider; nothing is asked yet.

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
    opening = _BY_KIND.get(settings.kind, _other)
    try:
        return opening(model, provider, settings, key)
    except ImportError as error:
        what = f"the provider {provider} (kind {settings.kind})"
        client = CLIENTS.get(settings.kind)
        raise MissingExtraError(what, "llm", install=client.install if client else "") from error


def _openai(model: str, provider: str, settings: ProviderSettings, key: str) -> TheirModel:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if not settings.base_url:
        raise ConfigError(
            f"the provider {provider!r} has no base_url; give the address of its API, ending in /v1 mostly"
        )
    # A stream that ends without saying why has been cut off, and half an answer is none.
    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    endpoint = OpenAICompatibleProvider(provider, base_url=settings.base_url, api_key=key or None, profile=profile)
    return OpenAIChatModel(model, provider=endpoint)


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


def _other(model: str, provider: str, settings: ProviderSettings, key: str) -> TheirModel:
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model
    from pydantic_ai.providers import infer_provider_class

    try:
        made: Any = infer_provider_class(settings.kind)
    except ValueError as error:
        raise UnknownNameError("kind of provider", settings.kind, _KINDS) from error
    given = {"api_key": key or None, "base_url": settings.base_url or None}
    try:
        endpoint = made(**{name: value for name, value in given.items() if value})
        return infer_model(f"{settings.kind}:{model}", provider_factory=lambda _: endpoint)
    except (TypeError, UserError) as error:
        raise ConfigError(f"the provider {provider!r} of kind {settings.kind!r} cannot be opened: {error}") from error


_BY_KIND: dict[str, Callable[[str, str, ProviderSettings, str], TheirModel]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
}


def _listed_cost(response: theirs.ModelResponse, usage: Usage) -> float | None:
    """Return what the provider reports that an answer cost, or what its price list says; None if neither is known."""
    if response.usage.cost is not None:
        return float(response.usage.cost)
    if usage.tokens is None or not response.model_name:
        return None
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError):
        return None
