"""Uncertainty of a suite's standings: ranks, normalised scores and profiles under resampling.

Each draw resamples held-out cases (jointly for all entries of a taskset), the runs of every evolver and, with six
tasksets or more, tasksets; fewer are kept fixed. The normalisation, by the means of the reference and the best evolver,
is computed in each draw, since both are random. Unseen runs cannot be drawn, such as the one in twenty that fails.
Normalised scores lie between 0 and 1, so the possible effect of unseen runs is added (`_unseen_middle`, and Wilson's
interval of shares).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from heredity._core.ids import generator
from heredity.analysis.bounds import Floats, Interval, hull, wilson
from heredity.analysis.ranking import counted_points, normalised_score
from heredity.analysis.samples import LEAST_RUNS, Clusters, cluster_codes, enough_runs, error_tail, scaled
from heredity.analysis.statistics import CONFIDENCE, RESAMPLES, interquartile_means
from heredity.analysis.student import student_quantile
from heredity.analysis.suite_table import TasksetScores, is_reference

THRESHOLDS = tuple(i / 20 for i in range(21))
"""Normalised scores at which profiles are computed."""

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class EntrySpread:
    """Uncertainty of one entry: intervals of its standing, and how often it leads."""

    rank: Interval
    rank_score: Interval
    p_best: float
    iqm: Interval | None
    profile: Sequence[Interval]


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Draws of one taskset: means of entries, shape (draws, entries), NaN without a score; runs of each, (draws, runs)."""

    means: Floats
    runs: Sequence[Floats]


def suite_spread(
    tasksets: Sequence[TasksetScores], entries: Sequence[str], draws: int = RESAMPLES
) -> dict[str, EntrySpread] | None:
    """Resample a suite.

    Args:
        tasksets: the suite's scores.
        entries: entries on the leaderboard.
        draws: number of resamples.

    Returns:
        Entry to its spread; None if some evolver has too few runs to compare evolvers, or there is nothing to compare.
    """
    counts = {e: [len(t.cells[e].scores) for t in tasksets if e in t.cells] for e in entries if not is_reference(e)}
    if len(entries) < 2 or not counts or not all(c and enough_runs(c) for c in counts.values()):
        return None
    rng = generator(0, "analysis", "suite")
    drawn = [_draw_taskset(t, entries, draws, rng) for t in tasksets if t.cells]
    scores = np.stack([counted_points(d.means) for d in drawn], axis=1)
    scores = _resample_tasksets(scores, rng).mean(axis=1)
    ranks = 1.0 + (scores[:, None, :] > scores[:, :, None] + 1e-12).sum(axis=2)
    leads = (ranks == 1.0) / (ranks == 1.0).sum(axis=1, keepdims=True)
    scored = [t for t in tasksets if t.cells]
    normalised = [n for t, d in zip(scored, drawn, strict=True) if (n := _normalised(t, d, entries)) is not None]
    spreads: dict[str, EntrySpread] = {}
    for i, entry in enumerate(entries):
        levels = _levels(counts.get(entry) or [t.references[entry].size for t in tasksets if entry in t.references])
        seen = np.concatenate([*normalised_runs(tasksets, entry), []])
        placed = seen.size and normalised and not is_reference(entry)
        pooled = _pooled([n[i] for n in normalised], rng) if placed else None
        spreads[entry] = EntrySpread(
            rank=_between(ranks[:, i], levels),
            rank_score=_between(scores[:, i], levels),
            p_best=float(leads[:, i].mean()),
            iqm=None if pooled is None else hull(_between(interquartile_means(pooled), levels), _unseen_middle(seen)),
            profile=[] if pooled is None else _profile_bands(pooled, seen, levels),
        )
    return spreads


def normalised_runs(tasksets: Sequence[TasksetScores], entry: str) -> list[list[float]]:
    """Return the normalised scores of an entry's runs on each taskset; without runs, 0 for as many as others have."""
    return [_on_taskset(taskset, entry) for taskset in tasksets]


def _on_taskset(taskset: TasksetScores, entry: str) -> list[float]:
    cell = taskset.cells.get(entry)
    if cell is None:
        others = [len(other.scores) for e, other in taskset.cells.items() if taskset.reference_mean(e) is not None]
        return [0.0] * max(others, default=0)
    mark, best = taskset.reference_mean(entry), taskset.best_mean(entry)
    scores = (normalised_score(m, mark, best) for m in cell.run_means)
    return [score for score in scores if score is not None]


def _unseen_middle(seen: Floats) -> Interval:
    """Return the range of the interquartile mean, given that unseen runs may have any normalised score.

    With n runs seen, at least a share `0.025 ** (1 / n)` of all runs resembles them (`bounds.unseen`). The others may
    score 0 or 1. The best evolver, whose mean is the unit, may drop to the reference as often, which shrinks the unit
    accordingly.
    """
    share = error_tail(CONFIDENCE) ** (1.0 / seen.size)
    low = _weighted_middle(np.append(seen, 0.0), share)
    return low, _weighted_middle(np.append(np.minimum(seen / share, 1.0), 1.0), share)


def _weighted_middle(values: Floats, share: float) -> float:
    """Return the mean of the middle half of weighted values; all but the last share a given weight."""
    weights = np.append(np.full(values.size - 1, share / (values.size - 1)), 1.0 - share)
    order = np.argsort(values)
    ends = np.cumsum(weights[order])
    middle = np.clip(ends, 0.25, 0.75) - np.clip(ends - weights[order], 0.25, 0.75)
    return float((values[order] * middle).sum() / middle.sum())


def _profile_bands(pooled: Floats, seen: Floats, levels: tuple[float, float]) -> list[Interval]:
    drawn = [_between(np.nanmean(_above(pooled, x), axis=1), levels) for x in THRESHOLDS]
    counted = [wilson(int((seen > x).sum()), seen.size) for x in THRESHOLDS]
    return [hull(band, share) for band, share in zip(drawn, counted, strict=True)]


def profile(scores: Floats) -> list[float]:
    """Return the share of known scores above each of `THRESHOLDS`."""
    return [float(np.nanmean(_above(scores, x))) for x in THRESHOLDS]


def _above(scores: Floats, threshold: float) -> Floats:
    return np.where(np.isnan(scores), np.nan, scores > threshold)


def _draw_taskset(taskset: TasksetScores, entries: Sequence[str], draws: int, rng: np.random.Generator) -> _Drawn:
    tables = [_table(taskset, entry) for entry in entries]
    tables, _ = scaled(tables)
    width = max(t.shape[1] for t in tables)
    weights = _case_weights(taskset.clusters, width, draws, rng)
    runs = [
        _runs(table, weights[:, : table.shape[1]], is_reference(entry), rng)
        for table, entry in zip(tables, entries, strict=True)
    ]
    means = np.stack([r.mean(axis=1) if r.size else np.full(draws, np.nan) for r in runs], axis=1)
    return _Drawn(means, runs)


def _case_weights(clusters: Clusters | None, cases: int, draws: int, rng: np.random.Generator) -> Floats:
    """Return the number of times each case is drawn, shape (draws, cases); clusters are drawn whole."""
    codes = cluster_codes(clusters, cases)
    count = int(codes.max(initial=0)) + 1
    return rng.multinomial(count, np.full(count, 1.0 / count), draws)[:, codes].astype(np.float64)


def _table(taskset: TasksetScores, entry: str) -> Floats:
    if is_reference(entry):
        return taskset.references[entry][None, :] if entry in taskset.references else np.empty((0, 1))
    cell = taskset.cells.get(entry)
    return np.empty((0, 1)) if cell is None else cell.scores


def _runs(table: Floats, weights: Floats, fixed: bool, rng: np.random.Generator) -> Floats:
    """Return means of resampled runs over cases with these weights, shape (draws, runs)."""
    if not len(table):
        return np.empty((len(weights), 0))
    present = ~np.isnan(table)
    sums, counts = weights @ np.where(present, table, 0.0).T, weights @ present.T.astype(np.float64)
    # A run whose few known cases are not drawn keeps its mean.
    means = np.divide(sums, counts, out=np.tile(np.nanmean(table, axis=1), (len(weights), 1)), where=counts > 0.0)
    if fixed:
        return means
    return np.take_along_axis(means, rng.integers(0, len(table), means.shape), axis=1)


def _normalised(taskset: TasksetScores, drawn: _Drawn, entries: Sequence[str]) -> list[Floats] | None:
    """Return runs on the scale from the reference (0) to the best evolver of their draw (1), under the entry's conditions.

    As in `normalised_runs`: None if no entry can be placed, nothing for an entry with an unknown reference, and for an
    entry without a score, 0 for as many runs as others have.
    """
    placed = [_placed(taskset, drawn, entries, i) for i in range(len(entries))]
    most = max((p.shape[1] for p in placed if p is not None), default=0)
    if not most:
        return None
    return [np.zeros((len(drawn.means), most)) if p is None else p for p in placed]


def _placed(taskset: TasksetScores, drawn: _Drawn, entries: Sequence[str], at: int) -> Floats | None:
    mark, nothing = taskset.reference_of(entries[at]), np.empty((len(drawn.means), 0))
    if is_reference(entries[at]):
        return nothing
    if entries[at] not in taskset.cells:
        return None
    if mark not in entries:
        return nothing
    reference = drawn.means[:, entries.index(mark)]
    alike = [i for i, e in enumerate(entries) if not is_reference(e) and taskset.reference_of(e) == mark]
    others = drawn.means[:, alike]
    if np.isnan(reference).any() or not others.size or np.isnan(others).all():
        return nothing
    span = (np.nanmax(others, axis=1) - reference)[:, None]
    gains = drawn.runs[at] - reference[:, None]
    return np.clip(np.where(span > 0.0, gains / np.where(span > 0.0, span, 1.0), 0.0), 0.0, 1.0)


def _pooled(runs: Sequence[Floats], rng: np.random.Generator) -> Floats:
    """Return the runs of all tasksets that have any, shape (draws, runs); NaN pads tasksets with fewer."""
    runs = [r for r in runs if r.shape[1]]
    most = max(r.shape[1] for r in runs)
    padded = [np.pad(r, ((0, 0), (0, most - r.shape[1])), constant_values=np.nan) for r in runs]
    return _resample_tasksets(np.stack(padded, axis=1), rng).reshape(len(runs[0]), -1)


def _resample_tasksets(values: Floats, rng: np.random.Generator) -> Floats:
    """Resample tasksets in values of shape (draws, tasksets, any) if there are enough of them."""
    draws, tasksets, _ = values.shape
    if tasksets < LEAST_RUNS:
        return values
    return np.take_along_axis(values, rng.integers(0, tasksets, (draws, tasksets, 1)), axis=1)


def _levels(counts: Sequence[int]) -> tuple[float, float]:
    """Return interval percentiles for a number of runs per taskset, widened because resamples of few runs vary too little.

    If tasksets are drawn, their number counts instead. Hesterberg 2015, "What teachers should know about the
    bootstrap".
    """
    drawn = len(counts) >= LEAST_RUNS
    n, freedom = (len(counts), len(counts) - 1) if drawn else (max(min(counts), 2), max(sum(counts) - len(counts), 1))
    z = student_quantile(1.0 - error_tail(CONFIDENCE), freedom) * math.sqrt(n / (n - 1))
    return _NORMAL.cdf(-z), _NORMAL.cdf(z)


def _between(values: Floats, levels: tuple[float, float]) -> Interval:
    low, high = np.quantile(values, levels)
    return float(low), float(high)
