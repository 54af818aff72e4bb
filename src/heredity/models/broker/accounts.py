"""Accounts of a broker: access, limits and usage."""

from __future__ import annotations

import re
import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from heredity._core.errors import ConfigError
from heredity.models import Usage
from heredity.models.broker.problems import Problem
from heredity.models.broker.responses import Memory

Outcome = Literal["answered", "failed", "abandoned"]

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,128}")
_UNPRICED_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of an account; None for no limit.

    Attributes:
        tokens: input and output together.
        cost_usd: US dollars.
        calls: calls that reach a model, failed ones included.
        concurrent: requests at the same time.
    """

    tokens: int | None = None
    cost_usd: float | None = None
    calls: int | None = None
    concurrent: int = 32

    def __post_init__(self) -> None:
        for name in ("tokens", "cost_usd", "calls"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ConfigError(f"{name} is {value}; expected 0 or more, or None for no limit")
        if self.concurrent < 1:
            raise ConfigError(f"concurrent is {self.concurrent}; expected 1 or more")


@dataclass(frozen=True, slots=True)
class Account:
    """One run's access to language models.

    Attributes:
        run: the run that makes the calls.
        models: allowed names, and the model that answers to each; the name `"*"` stands for every other. None allows
            all models of the broker by their real names.
        limits: the account's limits.
        online: whether providers may search, fetch and run for it; if not, such tools are taken out, and addresses refused.
        token: the secret that opens the account: 16 to 128 letters, digits, `-` and `_`.
    """

    run: str
    models: Mapping[str, str] | None = None
    limits: Limits = Limits()
    online: bool = True
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def __post_init__(self) -> None:
        if not _TOKEN.fullmatch(self.token):
            raise ConfigError(
                f"the token of the account {self.run!r} cannot stand in a URL or is too short; give 16 to 128 letters, "
                "digits, - and _, or leave it out"
            )
        if self.models is not None:
            object.__setattr__(self, "models", MappingProxyType(dict(self.models)))

    def model_for(self, asked: str) -> str | None:
        """Return the name of the model that answers to `asked`; None if it is not allowed."""
        if self.models is None:
            return asked
        return self.models.get(asked, self.models.get("*"))


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call that reached a model, for a run's journal.

    Attributes:
        run: the account's run.
        endpoint: `"chat.completions"`, `"responses"`, `"messages"`, `"generate_content"`, `"embeddings"`, `"embed_content"` or
            `"batch_embed_contents"`.
        asked: the model's name as the program gave it.
        model: the model that answered, or was to answer.
        digest: digest of the request.
        outcome: `"answered"`, `"failed"` (by the model or the host), `"abandoned"` (the program hung up first).
        usage: the usage; None where unknown.
        guessed_tokens: an estimate for the limits where the usage is unknown.
        seconds: wall time from the request to the answer's end.
        streamed: whether the answer was streamed.
        finish: reason the reply ended; `""` without a reply.
        dropped: paths of the request's fields that its model's API has no place for.
        error: the failure, for the host only; `""` otherwise.
    """

    run: str
    endpoint: str
    asked: str
    model: str
    digest: str
    outcome: Outcome
    usage: Usage
    guessed_tokens: int
    seconds: float
    streamed: bool
    finish: str = ""
    dropped: tuple[str, ...] = ()
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        values = {name: getattr(self, name) for name in self.__slots__ if name not in ("usage", "guessed_tokens")}
        return {
            **values,
            "dropped": list(self.dropped),
            "seconds": round(self.seconds, 6),
            "usage": self.usage.to_json(),
        }


@dataclass(slots=True)
class Tally:
    """Sums over calls. Sums cover known values; `unknown` counts the calls missing in each.

    Attributes:
        calls: calls that reached a model; `failed` and `abandoned` ones had no answer.
        known: sums of the known values.
        unknown: by field of `Usage`, the number of calls without a value.
    """

    calls: int = 0
    failed: int = 0
    abandoned: int = 0
    known: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_FIELDS, 0))
    unknown: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_FIELDS, 0))

    def add(self, record: CallRecord) -> None:
        """Count one more call."""
        self.calls += 1
        self.failed += record.outcome == "failed"
        self.abandoned += record.outcome == "abandoned"
        for name in _FIELDS:
            value: float | None = getattr(record.usage, name)
            if value is None:
                self.unknown[name] += 1
            else:
                self.known[name] += value

    @property
    def usage(self) -> Usage:
        """The sums; None where a call's part is unknown."""
        return Usage(**{name: None if self.unknown[name] else self.known[name] for name in _FIELDS})  # pyright: ignore[reportArgumentType]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        counts = {"calls": self.calls, "failed": self.failed, "abandoned": self.abandoned}
        return {**counts, "usage": self.usage.to_json(), "known": dict(self.known), "unknown": dict(self.unknown)}


_FIELDS = ("input_tokens", "output_tokens", "cached_tokens", "cost_usd")


class Ledger:
    """Usage of one account, and enforcement of its limits.

    A call's usage is known when it ends, so calls in flight may overshoot a limit together; no call starts once it is
    reached. Where the usage is unknown (the provider does not report it, or the program hung up early), the limits
    count an estimate. For cost it is the dearest call so far or a hundredth of the limit, whichever is larger. So a
    program cannot avoid its limits by hanging up. Failures of the model count as calls, not as tokens or cost.

    Attributes:
        account: the account.
        total: sums over all calls; `models`: by the model that answered.
        refused: number of refused requests.
        in_flight: requests being served.
        memory: responses that can be continued.
    """

    def __init__(self, account: Account) -> None:
        self.account = account
        self.total, self.models = Tally(), dict[str, Tally]()
        self.refused = self.in_flight = 0
        self.memory = Memory()
        self._started, self._tokens, self._cost, self._dearest = 0, 0, 0.0, 0.0

    @contextmanager
    def slot(self) -> Generator[None]:
        """Hold one of the account's slots while a request is read and answered.

        Raises:
            Problem: if all are taken.
        """
        most = self.account.limits.concurrent
        if self.in_flight >= most:
            self.refused += 1
            message = f"{most} requests are being answered, as many as may be; ask again when one has ended"
            raise Problem("busy", message, retry=True, retry_after_s=1)
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1

    def begin(self) -> None:
        """Start a call; `settle` ends it.

        Raises:
            Problem: if a limit is reached.
        """
        limits = self.account.limits
        for what, used, most in (
            ("tokens", self._tokens, limits.tokens),
            ("US dollars", self._cost, limits.cost_usd),
            ("calls", self._started, limits.calls),
        ):
            if most is not None and used >= most:
                raise Problem(
                    "budget", f"the budget of {most} {what} is spent ({used:.10g}); finish with what you have"
                )
        self._started += 1

    def settle(self, record: CallRecord) -> None:
        """Record a call that has ended."""
        self.total.add(record)
        self.models.setdefault(record.model, Tally()).add(record)
        if record.outcome == "failed":
            return
        self._tokens += record.guessed_tokens if record.usage.tokens is None else record.usage.tokens
        cost = record.usage.cost_usd
        self._dearest = max(self._dearest, cost or 0.0)
        self._cost += (
            max(self._dearest, (self.account.limits.cost_usd or 0.0) * _UNPRICED_SHARE) if cost is None else cost
        )

    @property
    def charged(self) -> dict[str, float]:
        """Amounts counted by the limits: `tokens`, `cost_usd`, `calls`."""
        return {"tokens": self._tokens, "cost_usd": self._cost, "calls": self._started}

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "run": self.account.run,
            **self.total.to_json(),
            "refused": self.refused,
            "in_flight": self.in_flight,
            "charged": self.charged,
            "models": {name: tally.to_json() for name, tally in sorted(self.models.items())},
        }
