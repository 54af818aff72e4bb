"""Prices of tokens: configured, or from the `genai-prices` package."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from heredity.models.contract import Usage

if TYPE_CHECKING:
    from genai_prices.types import AbstractUsage

_MILLION = 1_000_000
_FREE_KINDS = ("scripted", "replay", "local", "offline")
"""Prefixes of model names that run locally and cost nothing."""

UsdPerMillion = Annotated[float, Field(ge=0, le=10**9)]


class Prices(BaseModel):
    """US dollars per million tokens.

    Attributes:
        input: price of the request.
        output: price of the reply, reasoning included.
        cached: price of the part of the request that the provider had cached; by default as the rest.
        cache_write: price of the part that the provider wrote to its cache; by default as the rest.
        cache_write_1h: price of the part written for an hour; by default as other writes.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    input: UsdPerMillion
    output: UsdPerMillion
    cached: UsdPerMillion | None = None
    cache_write: UsdPerMillion | None = None
    cache_write_1h: UsdPerMillion | None = None

    def cost(self, usage: Usage, written: int = 0, written_1h: int = 0) -> float | None:
        """Return the cost of a usage in US dollars; None if its tokens are unknown and not free.

        Args:
            usage: the usage.
            written: input tokens that the provider wrote to its cache.
            written_1h: those of them kept for an hour.
        """
        if not any((self.input, self.output, self.cached, self.cache_write, self.cache_write_1h)):
            return 0.0
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = usage.cached_tokens or 0
        write = _or(self.cache_write, self.input)
        parts = (
            (usage.input_tokens - cached - written) * self.input,
            cached * _or(self.cached, self.input),
            (written - written_1h) * write,
            written_1h * _or(self.cache_write_1h, write),
            usage.output_tokens * self.output,
        )
        return sum(parts) / _MILLION

    @property
    def blended(self) -> float:
        """One number to rank models by: three tokens in for each token out, as in most conversations."""
        return (3 * self.input + self.output) / 4


def _or(price: float | None, default: float) -> float:
    return default if price is None else price


FREE = Prices(input=0.0, output=0.0, cached=0.0)

_LISTED_AS: Mapping[str, str] = {"xai": "x-ai", "bedrock": "aws", "google-cloud": "google", "vertex": "google"}
"""Provider to its name in `genai-prices`, where it differs."""

_DATE = re.compile(
    r"[-@](20\d\d-?\d\d-?\d\d|(0[1-9]|1[0-2])-?([0-2]\d|3[01])|2\d(0[1-9]|1[0-2])|latest)(?=(-v\d+:\d+)?$)"
)
"""The date at the end of a snapshot's name."""


def undated(model: str) -> str:
    """Return the name of a model without the date of its snapshot: `"gpt-5"` for `"gpt-5-2026-01-01"`."""
    return _DATE.sub("", model)


def listed_prices(model: str, provider: str) -> Prices | None:
    """Return the provider's list price from `genai-prices`; None if it has neither the model nor the base of its snapshot.

    A price that rises above a number of tokens is taken at its first step; the cost of a reply uses all steps.
    """
    from genai_prices import Usage as Tokens

    def per_million(**tokens: int) -> float | None:
        cost = listed_cost(Tokens(**tokens), (model,), provider)
        return None if cost is None else round(cost * 1000, 9)

    into, out = per_million(input_tokens=1000), per_million(output_tokens=1000)
    if into is None or out is None:
        return None
    return Prices(
        input=into,
        output=out,
        cached=per_million(input_tokens=1000, cache_read_tokens=1000),
        cache_write=per_million(input_tokens=1000, cache_write_tokens=1000),
        cache_write_1h=per_million(input_tokens=1000, cache_write_tokens=1000, cache_write_1h_tokens=1000),
    )


def listed_context(model: str, provider: str) -> int | None:
    """Return the context of a model in tokens as `genai-prices` lists it; None if it does not."""
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    for name in _with_bases((model,)):
        try:
            found = calc_price(Tokens(input_tokens=1), name, provider_id=_LISTED_AS.get(provider, provider))
        except (LookupError, ValueError):
            continue
        return found.model.context_window
    return None


def listed_cost(
    usage: AbstractUsage, models: Sequence[str], provider: str, context: Mapping[str, Any] | None = None
) -> float | None:
    """Return the cost of a usage in US dollars from the first of these models that is listed; None if none is.

    Args:
        usage: the usage as the provider reports it.
        models: names of the model, the most exact one first; a snapshot that is not listed costs as much as its base.
        provider: the provider.
        context: details of the reply that affect its price, such as the service tier.
    """
    from genai_prices import calc_price

    listed = _LISTED_AS.get(provider, provider)
    for name in _with_bases(models):
        try:
            return float(calc_price(usage, name, provider_id=listed, price_context=context).total_price)
        except (LookupError, ValueError):
            continue
    return None


def _with_bases(models: Sequence[str]) -> Iterator[str]:
    for model in filter(None, models):
        yield model
        if (base := undated(model)) != model:
            yield base


def prices_of(model: object) -> Prices | None:
    """Return the prices of a model, found through the layers around it; None if unknown."""
    if hasattr(model, "prices"):
        prices = getattr(model, "prices", None)
        return prices if isinstance(prices, Prices) else None
    inner = getattr(model, "model", None)
    if inner is not None:
        return prices_of(inner)
    return FREE if str(getattr(model, "name", "")).partition("/")[0] in _FREE_KINDS else None


def pricing(name: str) -> str:
    """Return the advice that gives a provider's model a price, for error messages."""
    provider, _, model = name.partition("/")
    prices = f'gateway.providers.{provider}.prices."{model}"'
    return f"set {prices} = {{ input = …, output = … }}, in US dollars per million tokens"
