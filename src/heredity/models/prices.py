"""Prices of tokens: configured, or from the `genai-prices` package."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from heredity.models.contract import Usage

_MILLION = 1_000_000
_FREE_KINDS = ("scripted", "replay", "local", "offline")
"""Prefixes of model names that run locally and cost nothing."""

UsdPerMillion = Annotated[float, Field(ge=0, le=10**9)]


class Prices(BaseModel):
    """US dollars per million tokens.

    Attributes:
        input: of the request.
        output: of the reply, reasoning included.
        cached: of the part of the request that the provider had cached; None if it costs as much as the rest.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    input: UsdPerMillion
    output: UsdPerMillion
    cached: UsdPerMillion | None = None

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of a usage in US dollars; None if its tokens are unknown."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = usage.cached_tokens or 0
        fresh = usage.input_tokens - cached
        cached_price = self.input if self.cached is None else self.cached
        return (fresh * self.input + cached * cached_price + usage.output_tokens * self.output) / _MILLION

    @property
    def blended(self) -> float:
        """One number to rank models by: three tokens in for each token out, as in most conversations."""
        return (3 * self.input + self.output) / 4


FREE = Prices(input=0.0, output=0.0, cached=0.0)


def listed_prices(model: str, provider: str) -> Prices | None:
    """Return the provider's list price from `genai-prices`; None if it does not have the model.

    A price that rises above a number of tokens is taken at its first step; the cost of a reply uses all steps.
    """
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    def per_million(tokens: Tokens) -> Decimal:
        return calc_price(tokens, model, provider_id=provider).total_price * 1000

    try:
        cached = Tokens(input_tokens=1000, cache_read_tokens=1000)
        parts = [per_million(t) for t in (Tokens(input_tokens=1000), Tokens(output_tokens=1000), cached)]
    except (LookupError, ValueError):
        return None
    return Prices(input=float(parts[0]), output=float(parts[1]), cached=float(parts[2]))


def prices_of(model: object) -> Prices | None:
    """Return the prices of a model, found through the layers around it; None if unknown."""
    if hasattr(model, "prices"):
        prices = getattr(model, "prices", None)
        return prices if isinstance(prices, Prices) else None
    inner = getattr(model, "model", None)
    if inner is not None:
        return prices_of(inner)
    return FREE if str(getattr(model, "name", "")).partition("/")[0] in _FREE_KINDS else None
