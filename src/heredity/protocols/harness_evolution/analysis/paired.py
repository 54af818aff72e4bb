"""Gains between two snapshots, paired by task, with the noise level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heredity.analysis.paired import Comparison, compare_cases, holm, verdict
from heredity.analysis.samples import GAP, Clusters, Interval, missing_gap, share
from heredity.analysis.statistics import Estimate, case_mean
from heredity.protocols.harness_evolution.analysis.coded import Bools, Floats, Ints
from heredity.protocols.harness_evolution.results import Paired
from heredity.protocols.harness_evolution.task_results import Difference, Gain, Of
from heredity.results.base import COVERAGE, covered

Labels = tuple[Ints, Clusters]
"""The domain and the cluster of each task."""

Pair = tuple[tuple[str, Floats], tuple[str, Floats], Labels, Bools]
"""Two snapshots of a view, each with its name and its scores, shape (tasks,), NaN where missing; the labels of the tasks; and the
tasks asked of both.
"""


def gains(pairs: Sequence[Pair], least: float = COVERAGE) -> tuple[Gain, ...]:
    """Compare the second snapshot of each pair with the first, by task; p-values are Holm-corrected over the pairs.

    `macro` weighs domains equally, `micro` tasks; either is None if no task is paired. A pair has no verdict if fewer than the
    share `least` of the tasks asked of both have both scores.
    """
    bounds = [GAP if share(before, after) else None for (_, before), (_, after), *_ in pairs]
    gaps = [after - before for (_, before), (_, after), *_ in pairs]
    domains = [parts_of(gap, labels) for gap, (_, _, labels, _) in zip(gaps, pairs, strict=True)]
    enough = [
        covered(int((~np.isnan(gap)).sum()), int(asked.sum()), least)
        for gap, (*_, asked) in zip(gaps, pairs, strict=True)
    ]
    macro = _differences([_compare(*parts, b) for parts, b in zip(domains, bounds, strict=True)], enough)
    whole = [([gap], [labels[1]]) for gap, (_, _, labels, _) in zip(gaps, pairs, strict=True)]
    micro = _differences([_compare(*parts, b) for parts, b in zip(whole, bounds, strict=True)], enough)
    return tuple(_gain(*compared) for compared in zip(pairs, macro, micro, strict=True))


def _gain(pair: Pair, macro: Difference | None, micro: Difference | None) -> Gain:
    (before, first), (after, second), _, asked = pair
    bounded = share(first, second)
    tasks = int((~np.isnan(second - first)).sum())
    return Gain(
        before=before,
        after=after,
        tasks=tasks,
        unpaired=int((np.isnan(first) != np.isnan(second)).sum()),
        one_task=1.0 / tasks if tasks else None,
        macro=macro,
        micro=micro,
        if_missing=missing_gap(second[asked], first[asked]) if bounded else None,
    )


def _differences(compared: Sequence[Comparison | None], decided: Sequence[bool]) -> list[Difference | None]:
    corrected = holm([None if c is None else c.p for c in compared])
    with_coverage = [
        None if c is None else replace(c, covered=enough) for c, enough in zip(compared, decided, strict=True)
    ]
    return [None if c is None else _difference(c, p) for c, p in zip(with_coverage, corrected, strict=True)]


def _difference(compared: Comparison, p_holm: float | None) -> Difference:
    return Difference(
        difference=compared.difference,
        ci=compared.interval,
        p=compared.p,
        p_holm=p_holm,
        mde=compared.mde,
        verdict=verdict(compared.difference, p_holm, untold=compared.untold),
        clusters=compared.clusters,
        because=compared.untold,
    )


def by_domain(values: Floats, domain: Ints) -> list[Floats]:
    """Return the known values of each domain that has any."""
    present = ~np.isnan(values)
    return [values[present & (domain == code)] for code in np.unique(domain[present])]


def parts_of(values: Floats, labels: Labels) -> tuple[list[Floats], list[Clusters]]:
    """Return the known values of each domain that has any, and their clusters."""
    domain, clusters = labels
    present = ~np.isnan(values)
    codes = np.unique(domain[present])
    own = [[clusters[i] for i in np.flatnonzero(present & (domain == code)).tolist()] for code in codes]
    return by_domain(values, domain), list(own)


def estimate(
    strata: Sequence[Floats], bounds: Interval | None = None, clusters: Sequence[Clusters] | None = None
) -> Estimate | None:
    """Estimate the mean over domains of the means over tasks, for new tasks of the same domains.

    As `statistics.case_mean`, but if one of several domains has a single task, the variation of its tasks is unknown, and so
    are error and interval.

    Args:
        strata: the known values of each domain.
        bounds: the possible range of values (None if unknown).
        clusters: the cluster of each value (`samples.clustered`); None if no task is clustered.

    Returns:
        The estimate, or None without values.
    """
    estimate = case_mean(strata, bounds=bounds, clusters=clusters)
    return replace(estimate, error=None, interval=None) if estimate is not None and _single(strata) else estimate


def _compare(strata: Sequence[Floats], clusters: Sequence[Clusters], bounds: Interval | None) -> Comparison | None:
    compared = compare_cases(strata, bounds=bounds, clusters=clusters)
    if compared is not None and _single(strata):
        return replace(compared, interval=None, p=None, mde=None)
    return compared


def _single(strata: Sequence[Floats]) -> bool:
    """Return True if one of several domains has a single task."""
    sizes = [s.size for s in strata if s.size]
    return len(sizes) > 1 and min(sizes) == 1


def paired_gains(table: Paired | None, of: Of) -> dict[str, float]:
    """Return the gain on each task of a view for which both the base and another snapshot have a score."""
    if table is None or "base" not in table.scores or of not in table.scores:
        return {}
    rows = zip(table.tasks, table.scores["base"], table.scores[of], strict=True)
    return {task: y - x for task, x, y in rows if x is not None and y is not None}


def common_tasks(table: Paired | None, of: Of) -> set[str]:
    """Return the tasks of a view asked of both the base and another snapshot, scored or not."""
    if table is None or "base" not in table.scores or of not in table.scores:
        return set()
    return set(table.tasks) - {task for role in ("base", of) for task in table.unasked.get(role, ())}


def task_clusters(table: Paired | None) -> dict[str, str]:
    """Return the clusters of a view's tasks; unclustered tasks are left out."""
    pairs = zip(table.tasks, table.clusters or (), strict=False) if table else ()
    return {task: cluster for task, cluster in pairs if cluster is not None}


def over_runs(strata: Sequence[Floats]) -> list[Floats]:
    """Return the mean gain on each task, shape (1, tasks); if runs had different tasks, all tasks count equally."""
    return [np.nanmean(table, axis=0, keepdims=True) for table in strata]


def gains_table(rows: Sequence[Mapping[Any, float]]) -> Floats:
    """Return gains as an array of shape (runs, tasks), NaN where a run has none."""
    tasks = {task: i for i, task in enumerate(dict.fromkeys(task for row in rows for task in row))}
    table = np.full((len(rows), len(tasks)), np.nan)
    for i, row in enumerate(rows):
        table[i, [tasks[task] for task in row]] = list(row.values())
    return table
