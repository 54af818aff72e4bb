"""One name for several models with fallback, in the order given or cheapest first."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Literal, get_args

from heredity._core.errors import ConfigError, ProviderError
from heredity._core.spans import span
from heredity.models.contract import Delta, Model, Request
from heredity.models.layers import Ask, Layer
from heredity.models.prices import prices_of

Policy = Literal["fallback", "cheapest"]


class Routed(Layer):
    """Calls models one after the other until one answers; `Reply.model` says which did.

    It moves on when a model has failed permanently, retries included, unless the request itself is at fault
    (`"request"`): that fails everywhere. A stream that has started stays with its model. Every failed backend is
    recorded in the span `"route"`.

    Args:
        name: name of the route.
        models: at least one.
        policy: `"fallback"` keeps the order given; `"cheapest"` sorts by price (three tokens in for one out), so that
            a dearer model is called only where the cheaper ones fail.

    Raises:
        ConfigError: if the models are empty, the policy is unknown, or `"cheapest"` meets a model without known
            prices.
    """

    def __init__(self, name: str, models: Sequence[Model], policy: Policy = "fallback") -> None:
        if not models:
            raise ConfigError(f"the route {name!r} has no models; give at least one")
        if policy not in get_args(Policy):
            raise ConfigError(f"the route {name!r} has the policy {policy!r}; expected {' or '.join(get_args(Policy))}")
        super().__init__(*(_by_price(name, models) if policy == "cheapest" else models), name=name)

    async def _answer(self, request: Request, ask: Ask) -> AsyncGenerator[Delta]:
        started = time.monotonic()
        failed: list[ProviderError] = []
        for model in self.models:
            streaming = False
            try:
                async with ask(model, request) as deltas:
                    async for delta in deltas:
                        streaming = True
                        yield _answered_by(model, delta, time.monotonic() - started)
                return
            except ProviderError as error:
                failed.append(error)
                with span("route", route=self.name, failed=model.name, failure=error.kind, message=str(error)[:500]):
                    if streaming or error.kind == "request" or model is self.models[-1]:
                        raise self._final(failed) from error

    def _final(self, failed: Sequence[ProviderError]) -> ProviderError:
        error = failed[-1]
        if len(failed) == 1:
            return error
        backends = "; ".join(f"{m.name}: {e}" for m, e in zip(self.models, failed, strict=False))
        message = f"no model of the route {self.name!r} answered: {backends}"
        transient = any(e.transient for e in failed)
        return ProviderError(error.kind, message, transient=transient, retry_after_s=error.retry_after_s)


def _by_price(name: str, models: Sequence[Model]) -> list[Model]:
    priced = [(model, prices_of(model)) for model in models]
    if unknown := [model.name for model, prices in priced if prices is None]:
        raise ConfigError(
            f"the route {name!r} goes by price, but {', '.join(unknown)} has none; "
            "give prices in [gateway.providers.NAME.prices], or use the policy fallback"
        )
    return [model for model, _ in sorted(priced, key=lambda pair: pair[1].blended if pair[1] else 0.0)]


def _answered_by(model: Model, delta: Delta, seconds: float) -> Delta:
    if delta.reply is None:
        return delta
    reply = replace(delta.reply, model=delta.reply.model or model.name, seconds=seconds)
    return replace(delta, reply=reply)
