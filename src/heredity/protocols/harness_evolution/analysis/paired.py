"""Gains between two snapshots: paired by task, with what is within noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
from heredity.protocols.harness_evolution.analysis.coded import Floats, Ints
from heredity.protocols.harness_evolution.task_results import Difference, Gain
from heredity.results.run import Verdict
from heredity.results.suite import Unit

MANY = 256
"""Beyond so many tasks, resampling gives what the normal and Student's t distributions give, and costs memory."""

Pair = tuple[tuple[str, Floats], tuple[str, Floats], Ints]
"""Two snapshots of a view, each with its name and its scores, shape (tasks,), NaN where missing; and the domain of each task."""


def gains(pairs: Sequence[Pair]) -> tuple[Gain, ...]:
    """Compare the second snapshot of each pair with the first, by task; p-values are Holm-corrected over the pairs.

    `macro` weighs domains alike, `micro` tasks; either is None where nothing is paired.
    """
    bounds = [GAP if share(before, after) else None for (_, before), (_, after), _ in pairs]
    gaps = [after - before for (_, before), (_, after), _ in pairs]
    domains = [by_domain(gap, domain) for gap, (*_, domain) in zip(gaps, pairs, strict=True)]
    macro = _differences([_compare(*stratum) for stratum in zip(domains, bounds, strict=True)])
    micro = _differences([_compare([gap[~np.isnan(gap)]], b) for gap, b in zip(gaps, bounds, strict=True)])
    return tuple(_gain(*compared) for compared in zip(pairs, macro, micro, strict=True))


def _gain(pair: Pair, macro: Difference | None, micro: Difference | None) -> Gain:
    (before, first), (after, second), _ = pair
    tasks = int((~np.isnan(second - first)).sum())
    return Gain(
        before=before,
        after=after,
        tasks=tasks,
        unpaired=int((np.isnan(first) != np.isnan(second)).sum()),
        one_task=1.0 / tasks if tasks else None,
        macro=macro,
        micro=micro,
    )


def _differences(compared: Sequence[Comparison | None]) -> list[Difference | None]:
    corrected = holm([None if c is None else c.p for c in compared])
    return [
        None
        if c is None
        else Difference(
            difference=c.difference,
            ci=c.interval,
            p=c.p,
            p_holm=p,
            mde=c.mde,
            verdict=Verdict(verdict(c.difference, c.interval, c.mde, p)),
        )
        for c, p in zip(compared, corrected, strict=True)
    ]


def by_domain(values: Floats, domain: Ints) -> list[Floats]:
    """Return the known values of each domain that has any."""
    present = ~np.isnan(values)
    return [values[present & (domain == code)] for code in np.unique(domain[present])]


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
    groups = [s for s in strata if s.size]
    if not groups:
        return None
    if len(groups) > 1 and min(s.size for s in groups) == 1:
        return Estimate(float(np.mean([s.mean() for s in groups])))
    if len(groups) > 1 or groups[0].size <= MANY:
        return case_mean(groups, bounds=bounds)
    values = groups[0]
    mean, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(values.size)
    half = student_quantile((1.0 + CONFIDENCE) / 2, values.size - 1.0) * error
    interval = bounded((mean - half, mean + half), [values], bounds, (1.0 - CONFIDENCE) / 2)
    return Estimate(mean, error, values.size - 1.0, interval)


def _compare(strata: Sequence[Floats], bounds: Interval | None) -> Comparison | None:
    groups = [s for s in strata if s.size]
    estimated = estimate(groups, bounds)
    if estimated is None:
        return None
    values = np.concatenate(groups)
    weights = np.concatenate([np.full(s.size, 1.0 / (s.size * len(groups))) for s in groups])
    return Comparison(
        difference=estimated.mean,
        interval=estimated.interval,
        p=sign_flip_p(values, weights) if values.size <= MANY else _normal_p(values * weights),
        mde=None if estimated.error is None else minimum_detectable_effect(estimated.error, estimated.freedom),
        unit=Unit.CASE,
        runs=1,
        cases=values.size,
    )


def _normal_p(weighted: Floats) -> float:
    """Return the p-value of the two-sided sign-flip test in the normal limit of its distribution."""
    spread = math.sqrt(float((weighted**2).sum()))
    return math.erfc(abs(float(weighted.sum())) / spread / math.sqrt(2.0)) if spread else 1.0
