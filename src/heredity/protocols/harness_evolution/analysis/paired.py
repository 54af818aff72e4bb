"""Gains between two snapshots: paired by task, with what is within noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heredity.analysis.bounds import GAP, Interval, bounded, share
from heredity.analysis.statistics import (
    CONFIDENCE,
    Comparison,
    Estimate,
    case_mean,
    holm,
    minimum_detectable_effect,
    sign_flip_p,
    verdict,
)
from heredity.analysis.student import student_quantile
from heredity.protocols.harness_evolution.analysis.results import Floats, Ints

MANY = 256
"""Beyond so many tasks, resampling gives what the normal and Student's t distributions give, and costs memory."""

AGGREGATES = ("macro", "micro")


@dataclass(frozen=True, slots=True)
class Gain:
    """How much better one snapshot does than another on the tasks that both attempted.

    Attributes:
        before: the snapshot that is compared with.
        after: the one whose gain it is.
        tasks: paired tasks.
        unpaired: tasks that only one of the two attempted.
        macro: over domains, each with the same weight; None if nothing is paired.
        micro: over tasks; None if nothing is paired.
    """

    before: str
    after: str
    tasks: int
    unpaired: int
    macro: Comparison | None
    micro: Comparison | None


def gain(before: tuple[str, Floats], after: tuple[str, Floats], domain: Ints) -> Gain:
    """Compare two snapshots by task.

    Args:
        before: a snapshot's name and its scores, shape (tasks,), NaN where missing.
        after: the same of the other.
        domain: of each task.
    """
    difference = after[1] - before[1]
    paired, bounds = ~np.isnan(difference), GAP if share(before[1], after[1]) else None
    return Gain(
        before=before[0],
        after=after[0],
        tasks=int(paired.sum()),
        unpaired=int((np.isnan(before[1]) != np.isnan(after[1])).sum()),
        macro=_compare(by_domain(difference, domain), bounds),
        micro=_compare([difference[paired]], bounds),
    )


def by_domain(values: Floats, domain: Ints) -> list[Floats]:
    """Return the known values of each domain that has any."""
    known = ~np.isnan(values)
    return [values[known & (domain == each)] for each in np.unique(domain[known])]


def estimate(strata: Sequence[Floats], bounds: Interval | None = None) -> Estimate | None:
    """Estimate the mean over domains of the means over tasks, for new tasks of the same domains.

    As `statistics.case_mean`, without its resampling where there are many tasks. A domain of one task among others does not
    show how its tasks vary: then error and interval are unknown.

    Args:
        strata: the known values of each domain.
        bounds: what values can only lie between; None if that is not known.

    Returns:
        The estimate, or None without values.
    """
    known = [s for s in strata if s.size]
    if not known:
        return None
    if len(known) > 1 and min(s.size for s in known) == 1:
        return Estimate(float(np.mean([s.mean() for s in known])))
    if len(known) > 1 or known[0].size <= MANY:
        return case_mean(known, bounds=bounds)
    values = known[0]
    mean, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(values.size)
    half = student_quantile((1.0 + CONFIDENCE) / 2, values.size - 1.0) * error
    interval = bounded((mean - half, mean + half), [values], bounds, (1.0 - CONFIDENCE) / 2)
    return Estimate(mean, error, values.size - 1.0, interval)


def _compare(strata: Sequence[Floats], bounds: Interval | None) -> Comparison | None:
    known = [s for s in strata if s.size]
    found = estimate(known, bounds)
    if found is None:
        return None
    values = np.concatenate(known)
    weights = np.concatenate([np.full(s.size, 1.0 / (s.size * len(known))) for s in known])
    return Comparison(
        difference=found.mean,
        interval=found.interval,
        p=sign_flip_p(values, weights) if values.size <= MANY else _normal_p(values * weights),
        mde=None if found.error is None else minimum_detectable_effect(found.error, found.freedom),
        unit="case",
        runs=1,
        cases=values.size,
    )


def _normal_p(weighted: Floats) -> float:
    """Return the p-value of the two-sided sign-flip test in the normal limit of its distribution."""
    spread = math.sqrt(float((weighted**2).sum()))
    return math.erfc(abs(float(weighted.sum())) / spread / math.sqrt(2.0)) if spread else 1.0


def gains_to_json(gains: Sequence[Gain]) -> list[dict[str, Any]]:
    """Return gains as JSON values with verdicts; p-values are Holm-corrected over the gains given together."""
    rows: list[dict[str, Any]] = [
        {
            "before": each.before,
            "after": each.after,
            "tasks": each.tasks,
            "unpaired": each.unpaired,
            "one_task": 1.0 / each.tasks if each.tasks else None,
        }
        for each in gains
    ]
    for name in AGGREGATES:
        compared: list[Comparison | None] = [getattr(each, name) for each in gains]
        corrected = holm([None if c is None else c.p for c in compared])
        for row, comparison, p in zip(rows, compared, corrected, strict=True):
            row[name] = None if comparison is None else _to_json(comparison, p)
    return rows


def _to_json(comparison: Comparison, p: float | None) -> Mapping[str, Any]:
    return {
        "difference": comparison.difference,
        "ci": None if comparison.interval is None else list(comparison.interval),
        "p": comparison.p,
        "p_holm": p,
        "mde": comparison.mde,
        "verdict": verdict(comparison.difference, comparison.interval, comparison.mde, p),
    }
