"""Costs of runs: sums, means and multiples, in which an unknown part stays unknown."""

from __future__ import annotations

from collections.abc import Iterable

from heredity.analysis.usage import TokenUsage
from heredity.results.run import RunResults
from heredity.results.suite import Amount

FREE = Amount(rollouts=0.0, seconds=0.0, tokens=0.0, cost_usd=0.0)


def run_amount(run: RunResults) -> Amount:
    """Return the cost of a run: of its evolver, and of all model calls on record."""
    own = TokenUsage.of(run.tokens)
    usage = run.model_usage
    parts = [] if usage is None else [usage.rollouts, usage.method, usage.judging]
    agent = run.evolver.kind == "agent" or run.tokens is not None
    tokens = [sum_known([part.input_tokens, part.output_tokens]) for part in parts]
    cost = [part.cost_usd for part in parts]
    return Amount(
        rollouts=float(run.budget.used),
        seconds=run.budget.wall_seconds,
        tokens=sum_known([*tokens, *([None if own.tokens is None else float(own.tokens)] if agent else [])]),
        cost_usd=sum_known([*cost, *([own.cost_usd] if agent else [])]),
    )


def total(amounts: Iterable[Amount]) -> Amount:
    """Return the sum; a part unknown in any is unknown in the sum."""
    listed = list(amounts)
    return Amount(**{name: sum_known(getattr(a, name) for a in listed) for name in Amount.model_fields})


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


def sum_known(values: Iterable[float | None]) -> float | None:
    """Return the sum; None if a value is None."""
    listed = list(values)
    return None if None in listed else float(sum(v for v in listed if v is not None))
