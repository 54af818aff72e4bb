"""Costs of runs, from the journal: a seed of an evolver, and a held-out case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from heredity.analysis.run_record import RunRecord
from heredity.analysis.usage import TokenUsage, best_known
from heredity.results.planning import Amount

HELD_OUT = "heldout"
FREE = Amount(rollouts=0.0, seconds=0.0, tokens=0.0, cost_usd=0.0)


@dataclass(frozen=True, slots=True)
class RunCost:
    """The cost of one run.

    Attributes:
        seed: cost of evolving, and of judging on views other than the held-out one.
        case: cost of one held-out case.
    """

    seed: Amount
    case: Amount


def run_cost(record: RunRecord) -> RunCost:
    """Return the cost of a run."""
    scored = {(data["view"], data["candidate"]): data for data in record.scored.values()}
    heldout = [data for (view, _), data in scored.items() if view == HELD_OUT]
    others = [data for (view, _), data in scored.items() if view != HELD_OUT]
    calls = any(s.completion and s.completion.get("usage") for s in record.submissions.values()) or record.calls
    outside = (record.started.get("evolver") or {}).get("kind") == "agent"
    made = [s.completion.get("usage") for s in record.submissions.values() if s.completion] if calls else []
    evolving = [
        Amount(
            rollouts=float(sum(s.charge for s in record.submissions.values())),
            seconds=record.wall_seconds,
            tokens=0.0,
            cost_usd=0.0,
        ),
        *map(_used, (*made, *(call["usage"] for call in record.calls))),
        *((_of_agent(best_known(record.usage)),) if outside or record.usage else ()),
        *(_judged(data) for data in others),
    ]
    cases = sum(len(data["scores"]) for data in heldout)
    return RunCost(total(evolving), times(total(map(_judged, heldout)), 1.0 / cases) if cases else FREE)


def total(amounts: Iterable[Amount]) -> Amount:
    """Return the sum; a part unknown in any is unknown in the sum."""
    listed = list(amounts)
    return Amount(**{name: _sum(getattr(a, name) for a in listed) for name in Amount.model_fields})


def times(amount: Amount, factor: float) -> Amount:
    """Multiply an amount."""
    values = {name: getattr(amount, name) for name in Amount.model_fields}
    return Amount(**{name: None if value is None else value * factor for name, value in values.items()})


def mean(amounts: Iterable[Amount]) -> Amount:
    """Return the mean; unknown without amounts."""
    listed = list(amounts)
    if not listed:
        return Amount(rollouts=None, seconds=None, tokens=None, cost_usd=None)
    return times(total(listed), 1.0 / len(listed))


def _sum(values: Iterable[float | None]) -> float | None:
    listed = list(values)
    return None if None in listed else float(sum(v for v in listed if v is not None))


def _judged(data: Mapping[str, Any]) -> Amount:
    rollouts = Amount(rollouts=float(len(data["scores"])), seconds=data["seconds"], tokens=0.0, cost_usd=0.0)
    # Rollouts that call no model have no usage.
    return total([rollouts, _used(data["usage"])]) if "usage" in data else rollouts


def _used(usage: Mapping[str, Any] | None) -> Amount:
    counted = usage or {}
    tokens = _sum([counted.get("input_tokens"), counted.get("output_tokens")])
    return Amount(rollouts=0.0, seconds=0.0, tokens=tokens, cost_usd=counted.get("cost_usd"))


def _of_agent(usage: TokenUsage) -> Amount:
    tokens = None if usage.tokens is None else float(usage.tokens)
    return Amount(rollouts=0.0, seconds=0.0, tokens=tokens, cost_usd=usage.cost_usd)
