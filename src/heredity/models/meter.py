"""Usage accounts of models, and limits on them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from heredity._core.errors import BudgetError, ConfigError, ProviderError
from heredity.models.contract import NOTHING_USED, Delta, Model, Request, Usage
from heredity.models.layers import Ask, Layer
from heredity.models.prices import prices_of, pricing

_UNBILLED = frozenset({"rate_limit", "server", "auth", "unknown_model", "request", "context", "unscripted"})
"""Failures in which the provider did no work. After any other failure (a timeout, say) the charge is unknown."""


@dataclass(frozen=True, slots=True)
class Account:
    """Usage of a number of calls.

    Attributes:
        calls: number of provider calls, failures included.
        failures: calls that failed or were cancelled.
        usage: the sum over all calls; None where one of them is unknown.
        known: the sum over the known values: a lower bound, never None.
        unknown_calls: number of calls with unknown tokens or cost.
    """

    calls: int = 0
    failures: int = 0
    usage: Usage = NOTHING_USED
    known: Usage = NOTHING_USED
    unknown_calls: int = 0

    def __add__(self, other: Account) -> Account:
        return Account(
            self.calls + other.calls,
            self.failures + other.failures,
            self.usage + other.usage,
            self.known + other.known,
            self.unknown_calls + other.unknown_calls,
        )

    @classmethod
    def of_call(cls, usage: Usage, *, failed: bool) -> Account:
        """Return the account of one call."""
        counted = Usage(*(value or 0 for value in usage.to_json().values()))  # pyright: ignore[reportArgumentType]
        return cls(1, int(failed), usage, counted, int(usage.tokens is None or usage.cost_usd is None))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SpendLimits:
    """Spending limits; None for no limit.

    Attributes:
        tokens: input and output together.
        cost_usd: US dollars.
        calls: number of provider calls.
    """

    tokens: int | None = None
    cost_usd: float | None = None
    calls: int | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and value < 0:
                raise ConfigError(f"the limit {name} is {value}; expected 0 or more, or None for no limit")


@dataclass
class Meter:
    """Keeps accounts by purpose and model. One meter may serve many models; limits then hold for their total."""

    _accounts: dict[tuple[str, str], Account] = field(default_factory=dict[tuple[str, str], Account])
    _under_way: int = 0
    _silent: set[str] = field(default_factory=set[str])

    @property
    def accounts(self) -> Mapping[tuple[str, str], Account]:
        """Accounts by (purpose, model)."""
        return dict(self._accounts)

    def total(self, purpose: str | None = None, model: str | None = None) -> Account:
        """Return the sum over all accounts, or over those of one purpose or one model."""
        chosen = (
            account
            for (of_purpose, of_model), account in self._accounts.items()
            if purpose in (None, of_purpose) and model in (None, of_model)
        )
        return sum(chosen, Account())

    def begin(self, limits: SpendLimits) -> None:
        """Open a call.

        Raises:
            BudgetError: if a limit is reached, or can no longer be enforced because a model does not report its
                usage.
        """
        usage = self.total()
        used: dict[str, float] = {
            "tokens": usage.known.tokens or 0,
            "cost_usd": usage.known.cost_usd or 0.0,
            "calls": usage.calls + self._under_way,
        }
        for name, limit in asdict(limits).items():
            if limit is not None and used[name] >= limit:
                raise BudgetError(f"{used[name]:g} {name} of {limit:g} are spent; raise the limit, or end here")
            if limit is not None and name in self._silent:
                raise BudgetError(
                    f"a model answered without reporting its {name}, so the limit of {limit:g} cannot be enforced; "
                    "limit calls instead"
                )
        self._under_way += 1

    def end(self, purpose: str, model: str, usage: Usage, *, failed: bool) -> None:
        """Close a call and record its usage."""
        self._under_way -= 1
        key = (purpose, model)
        self._accounts[key] = self._accounts.get(key, Account()) + Account.of_call(usage, failed=failed)
        if not failed:
            self._silent |= {
                name for name, value in (("tokens", usage.tokens), ("cost_usd", usage.cost_usd)) if value is None
            }

    def to_json(self) -> list[dict[str, Any]]:
        """Return one JSON object per purpose and model, sorted."""
        return [
            {"purpose": purpose, "model": model, **account.to_json()}
            for (purpose, model), account in sorted(self._accounts.items())
        ]


class Metered(Layer):
    """Records every call in a meter, and refuses calls once a limit is reached.

    Calls already admitted are finished, so a limit on tokens or cost is overshot at most by the calls in flight; a
    limit on calls is exact.

    Args:
        model: the model to meter.
        meter: the meter that records the calls.
        limits: apply to everything in the meter.

    Raises:
        ConfigError: if cost is limited and the model's prices are unknown: the limit would never be reached.
    """

    def __init__(self, model: Model, meter: Meter, limits: SpendLimits | None = None) -> None:
        super().__init__(model)
        self._meter, self._limits = meter, limits or SpendLimits()
        if self._limits.cost_usd is not None and prices_of(model) is None:
            raise ConfigError(
                f"cost is limited to {self._limits.cost_usd:g} USD, but the prices of {model.name} are not known; "
                f"{pricing(model.name)}, or limit tokens or calls"
            )

    async def _answer(self, request: Request, ask: Ask) -> AsyncGenerator[Delta]:
        self._meter.begin(self._limits)
        usage, failed = Usage(), True
        try:
            async with ask(self.model, request) as deltas:
                async for delta in deltas:
                    if delta.reply is not None:
                        usage, failed = delta.reply.usage, False
                    yield delta
        except ProviderError as error:
            usage = NOTHING_USED if error.kind in _UNBILLED else usage
            raise
        finally:
            self._meter.end(request.purpose, self.name, usage, failed=failed)
