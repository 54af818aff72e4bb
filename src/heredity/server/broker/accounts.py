"""Who may use a broker, for how much, and what was used."""

from __future__ import annotations

import re
import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from heredity.errors import ConfigError
from heredity.gateway import Usage
from heredity.server.broker.problems import Problem
from heredity.server.broker.responses import Memory

Outcome = Literal["answered", "failed", "abandoned"]

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,128}")
_UNPRICED_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Limits:
    """What an account may use; None is no limit.

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
        run: whose calls these are.
        models: which names may be asked for, and the model that answers to each; the name `"*"` stands for every other.
            None allows all models of the broker by their own names.
        limits: what may be used.
        token: the secret that opens the account: 16 to 128 letters, digits, `-` and `_`.
    """

    run: str
    models: Mapping[str, str] | None = None
    limits: Limits = Limits()
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
        """Return the name of the model that answers when `asked` is asked for; None if it may not be."""
        if self.models is None:
            return asked
        return self.models.get(asked, self.models.get("*"))


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call that reached a model, for a run's journal.

    Attributes:
        run: the account's run.
        endpoint: `"chat.completions"`, `"responses"` or `"messages"`.
        asked: the model's name as the program gave it.
        model: the model that answered, or was to answer.
        digest: of the request.
        outcome: `"answered"`, `"failed"` (by the model or the host), `"abandoned"` (the program hung up first).
        usage: what it used; None where that is unknown.
        guessed_tokens: an estimate, for the limits, of what was used where it is unknown.
        seconds: wall time from the request to the answer's end.
        streamed: whether the answer went out in pieces.
        finish: why the reply ended; `""` without one.
        error: what it failed with, for the host's eyes; `""` otherwise.
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
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        values = {name: getattr(self, name) for name in self.__slots__ if name not in ("usage", "guessed_tokens")}
        return {**values, "seconds": round(self.seconds, 6), "usage": self.usage.to_json()}


@dataclass(slots=True)
class Tally:
    """Sums over calls. The sums are of what is known; `unknown` counts the calls that are missing in each.

    Attributes:
        calls: calls that reached a model; `failed` and `abandoned` of them had no answer.
        known: sums of what is known.
        unknown: by field of `Usage`: the calls of which it is not known.
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
    """What one account has used, and whether it may go on.

    What a call used is known when it ends, so that calls in flight may overshoot a limit together; no call starts once
    it is reached. Where the provider does not say what an answer used, or the program hung up before the end, the
    limits count an estimate, and of a cost the dearest call so far or a hundredth of the limit, whichever is more,
    so that a program cannot avoid its limits by never listening to the end. Failures of the model count as calls, not
    as tokens or cost.

    Attributes:
        account: whose it is.
        total: sums over all calls; `models`: by the model that answered.
        refused: requests that were turned away.
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
        """Hold one of the account's places, while a request is read and answered.

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
        """Begin a call; it is settled when it ends.

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
        """Enter a call that has ended."""
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
        """What the limits count: `tokens`, `cost_usd`, `calls`."""
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
