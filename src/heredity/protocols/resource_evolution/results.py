"""Results of resource evolution over a suite: improvements of each method under each model (Autogenesis, table 1)."""

from __future__ import annotations

from heredity.results.base import Interval, Result, Unknown
from heredity.results.suite import Claim, Unit


class Improvement(Result):
    """One method under one model on one taskset, against its start.

    Attributes:
        evolver: its label in the suite.
        method: its name without the conditions.
        model: the execution model; None without one.
        before, after: held-out means of the start and of the last commit; `ci` is of `after`, over `ci_unit`.
        percent: improvement in per cent of `before`; None where that is 0 or less.
        difference: `after` minus `before`, paired by case.
        evolvers: the claim about the method: new runs on new tasks.
        candidates: the claim about these candidates on new tasks. Both None if nothing is ranked.
    """

    evolver: str
    method: str
    model: str | None
    taskset: str
    before: float
    after: float
    ci: Interval | None
    ci_unit: Unit | None
    ci_unknown: Unknown | None
    percent: float | None
    difference: float
    evolvers: Claim | None
    candidates: Claim | None
    runs: int


class ResourceSuite(Result):
    """The part of resource evolution in a suite's results: improvements by model, method and taskset."""

    improvements: list[Improvement]
