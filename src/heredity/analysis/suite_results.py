"""The results of a suite, computed from those of its runs (`metrics.json`, see `docs/file-formats.md`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from statistics import NormalDist

import numpy as np

from heredity._core.ids import generator
from heredity.analysis.claims import LEVEL
from heredity.analysis.contract import CommonMetrics, MetricsOf, SuiteEvidence
from heredity.analysis.mechanisms import mechanisms_alone, unranked_because
from heredity.analysis.paired import Comparison, compare_paired, holm, verdict
from heredity.analysis.ranking import (
    Standing,
    competition_ranks,
    counted_points,
    group_means,
    mean_of_known,
    normalised_score,
    rank_scores,
    score_table,
    standings,
)
from heredity.analysis.run_record import mean
from heredity.analysis.run_results import times_between
from heredity.analysis.samples import (
    GAP,
    LEAST_RUNS,
    Clusters,
    Floats,
    Interval,
    cluster_codes,
    enough_runs,
    error_tail,
    hull,
    missing_bounds,
    scaled,
    wilson,
)
from heredity.analysis.statistics import (
    CONFIDENCE,
    RESAMPLES,
    case_mean,
    evolver_mean,
    interquartile_mean,
    interquartile_means,
    mean_interval,
    student_quantile,
)
from heredity.analysis.suite_comparisons import suite_comparisons
from heredity.analysis.suite_table import (
    Cell,
    Named,
    TasksetScores,
    coverage_of,
    differing_conditions,
    evolver_labels,
    is_reference,
    table_of,
    taskset_scores,
)
from heredity.analysis.usage import TokenUsage, total_usage
from heredity.results.base import SCHEMA_VERSION, Times, Unknown
from heredity.results.run import EditHits, Features, RunResults, RunStatus, SelectionRow
from heredity.results.suite import (
    AbsentRun,
    BudgetRow,
    CellResults,
    CellSeed,
    EditRate,
    EditsRow,
    Entry,
    FeaturesRow,
    FurtherResults,
    Problems,
    Profile,
    ProfilePoint,
    SuiteResults,
    TasksetResults,
    UnfinishedRun,
    Unit,
)

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


def taskset_results(
    taskset: TasksetScores, evolvers: Sequence[str], name: Named, further: list[FurtherResults]
) -> TasksetResults:
    """Return all cells of a taskset, best first.

    Args:
        taskset: its scores.
        evolvers: labels of all evolvers, including those without a score here.
        name: returns the name of an entry.
        further: additional comparisons of the best evolver.
    """
    means = taskset.means
    row = score_table({taskset.name: means}, list(means))[0]
    ranks, points = competition_ranks(row), rank_scores(row)
    cells = [
        _cell(taskset, entry, name, int(ranks[i]), None if np.isnan(points[i]) else float(points[i]))
        for i, entry in enumerate(means)
    ]
    failed = [_evolver_cell(taskset, entry, cell, name) for entry, cell in taskset.failed.items()]
    return TasksetResults(
        taskset=taskset.name,
        family=taskset.family,
        group=taskset.group,
        reference_mean=_only(taskset.reference_mean(entry) for entry in taskset.references),
        best_mean=max((cell.mean for cell in taskset.cells.values()), default=None),
        entries=len(means),
        cells=[*sorted(cells, key=lambda cell: cell.rank or 0), *failed],
        further=further,
        absent=[e for e in evolvers if e not in taskset.cells and e not in taskset.failed],
    )


def _only(means: Iterable[float | None]) -> float | None:
    listed = list(means)
    return listed[0] if len(listed) == 1 else None


def _cell(taskset: TasksetScores, entry: str, name: Named, rank: int, rank_score: float | None) -> CellResults:
    if entry in taskset.references:
        return _reference_cell(taskset, entry, name(entry), rank, rank_score)
    cell = taskset.cells[entry]
    placed = normalised_score(cell.mean, taskset.reference_mean(entry), taskset.best_mean(entry))
    return _evolver_cell(taskset, entry, cell, name).model_copy(
        update={"rank": rank, "rank_score": rank_score, "normalised": placed, "failed": False}
    )


def _evolver_cell(taskset: TasksetScores, entry: str, cell: Cell, name: Named) -> CellResults:
    """Return the cell of an evolver that failed, without a rank."""
    estimate, unit = evolver_mean([cell.scores], taskset.bounds, [taskset.clusters]) or (None, Unit.CASE)
    heldout = [scores for _, scores in cell.runs]
    return CellResults(
        evolver=name(entry),
        reference=False,
        against=name(cell.reference) if cell.reference in taskset.references else None,
        reference_mean=taskset.reference_mean(entry),
        mean=cell.mean,
        ci=None if estimate is None else estimate.interval,
        ci_unit=unit,
        ci_unknown=estimate and estimate.unknown,
        rank=None,
        rank_score=None,
        normalised=None,
        failed=True,
        seeds=[
            CellSeed(seed=run.seed, run_id=run.run_id, mean=mean)
            for (run, _), mean in zip(cell.runs, cell.run_means, strict=True)
        ],
        cases=sum(scores.n for scores in heldout),
        missing=sum(scores.missing for scores in heldout),
        failures=sum(scores.failures for scores in heldout),
        if_missing=missing_bounds(cell.scores, taskset.bounds),
        clusters=estimate and estimate.clusters,
    )


def _reference_cell(taskset: TasksetScores, entry: str, name: str, rank: int, rank_score: float | None) -> CellResults:
    scores = taskset.references[entry]
    missing = int(np.isnan(scores).sum())
    estimate = case_mean([scores], bounds=taskset.bounds, clusters=[taskset.clusters])
    return CellResults(
        evolver=name,
        reference=True,
        against=None,
        reference_mean=None,
        mean=taskset.means[entry],
        ci=estimate and estimate.interval,
        ci_unit=Unit.CASE,
        ci_unknown=estimate and estimate.unknown,
        rank=rank,
        rank_score=rank_score,
        normalised=None,
        seeds=[],
        cases=scores.size - missing,
        missing=missing,
        failures=0,
        if_missing=missing_bounds(scores, taskset.bounds),
        clusters=estimate and estimate.clusters,
    )


@dataclass(frozen=True, slots=True)
class _Compared:
    name: str
    best: str
    scores: Floats
    comparison: Comparison


def further_results(tasksets: Sequence[TasksetScores]) -> dict[str, list[FurtherResults]]:
    """Compare the best evolver of each taskset with each further reference of its runs.

    Returns:
        Taskset to one row per reference; tests are Holm-corrected over all of them.
    """
    compared = [(t, row) for t in tasksets for row in _of_best(t)]
    corrected = holm([row.comparison.p for _, row in compared])
    rows: dict[str, list[FurtherResults]] = {t.name: [] for t in tasksets}
    for (taskset, row), p in zip(compared, corrected, strict=True):
        rows[taskset.name].append(_results(taskset, row, p))
    return rows


def _of_best(taskset: TasksetScores) -> list[_Compared]:
    best = max(taskset.cells, key=lambda label: taskset.cells[label].mean, default=None)
    if best is None:
        return []
    cell = taskset.cells[best]
    names = dict.fromkeys(reference.name for run, _ in cell.runs for reference in run.further)
    return [row for name in names if (row := _compared(taskset, best, cell, name)) is not None]


def _compared(taskset: TasksetScores, best: str, cell: Cell, name: str) -> _Compared | None:
    rows = [
        (scores, reference.heldout_scores)
        for (run, _), scores in zip(cell.runs, cell.scores, strict=True)
        for reference in run.further
        if reference.name == name
    ]
    marks = table_of([listed for _, listed in rows])
    width = min(marks.shape[1], cell.scores.shape[1])
    unscored = np.full((len(cell.unscored), width), np.nan)
    gaps = np.vstack([np.array([scores[:width] for scores, _ in rows]) - marks[:, :width], unscored])
    bounds = GAP if taskset.bounds else None
    comparison = compare_paired([gaps], bounds=bounds, clusters=[taskset.clusters], least=taskset.coverage)
    return None if comparison is None else _Compared(name, best, marks[0], comparison)


def _results(taskset: TasksetScores, row: _Compared, p: float | None) -> FurtherResults:
    comparison = row.comparison
    return FurtherResults(
        name=row.name,
        mean=float(np.nanmean(row.scores)),
        ci=mean_interval(row.scores, bounds=taskset.bounds),
        best=row.best,
        difference=comparison.difference,
        difference_ci=comparison.interval,
        unit=comparison.unit,
        p_holm=p,
        verdict=verdict(comparison.difference, p, LEVEL, untold=comparison.untold),
        because=comparison.untold,
    )


Own = Mapping[str, Sequence[RunResults]]
"""Label of an evolver to its runs."""


def common_metrics(protocol: str | None) -> CommonMetrics:
    """Return no specific figures for any protocol."""
    return CommonMetrics()


def suite_results(
    runs: Sequence[RunResults],
    metrics_of: MetricsOf = common_metrics,
    suite_id: str | None = None,
    *,
    sequential: bool = False,
) -> SuiteResults:
    """Compute a suite's results.

    Args:
        runs: the results of its runs, including unfinished ones; missing ones are reported as absent.
        metrics_of: returns the metrics of a protocol by name.
        suite_id: name of the suite; None for the name in its runs.
        sequential: whether it was checked after every seed (see `suite_comparisons`).

    Returns:
        The results, byte for byte the same for the same runs in the same order.
    """
    labels = evolver_labels(runs, metrics_of)
    tasksets = taskset_scores(runs, labels, metrics_of)
    own = {label: [r for r, x in zip(runs, labels, strict=True) if x == label] for label in dict.fromkeys(labels)}
    protocol = next((run.protocol for run in runs if run.protocol), None)
    metrics = metrics_of(protocol)
    name = Named(metrics.reference)
    further = further_results(tasksets)
    table, order = _ranked(tasksets, own)
    scored = [entry for entry in order if table[entry].present]
    spread = suite_spread(tasksets, scored)
    because = unranked_because(runs)
    results = SuiteResults(
        schema_version=SCHEMA_VERSION,
        protocol=protocol,
        reference=metrics.reference,
        suite_id=suite_id or next((run.suite_id for run in runs if run.suite_id), None),
        runs=len(runs),
        finished=sum(run.status is RunStatus.FINISHED for run in runs),
        confidence=CONFIDENCE,
        conditions=differing_conditions(runs),
        coverage=coverage_of(runs),
        ranked=because is None,
        unranked_because=because,
        evolvers=list(own),
        leaderboard=_leaderboard(tasksets, table, order, own, name, spread),
        tasksets=[taskset_results(t, list(own), name, further[t.name]) for t in tasksets],
        comparisons=suite_comparisons(tasksets, order, name, sequential=sequential),
        edits=[_edits(group, label, several) for group, label, several in _by_group(own)],
        features=[_features(group, label, several) for group, label, several in _by_group(own)],
        selection=[row for label, several in own.items() for row in _selection(label, several)],
        budget=[_budget(label, several) for label, several in own.items()],
        problems=[_problems(label, several, runs) for label, several in own.items()],
        profiles=[p for e in scored if (p := _profile(e, normalised_runs(tasksets, e), spread)) is not None],
        times=_times(runs),
        organisation=common_organisation(run.organisation for run in runs),
        part=metrics.of_suite(SuiteEvidence(runs, labels, tasksets, because is None)),
    )
    return results if because is None else mechanisms_alone(results)


def _times(runs: Sequence[RunResults]) -> Times | None:
    known = [run.times for run in runs if run.times is not None]
    if not known:
        return None
    start = min(datetime.fromisoformat(times.started) for times in known)
    ends = [datetime.fromisoformat(times.ended) for times in known if times.ended is not None]
    return times_between(start.timestamp(), max(ends).timestamp() if len(ends) == len(runs) else None)


def common_organisation(names: Iterable[str | None]) -> str | None:
    """Return the organisation that all runs name; None if they differ."""
    distinct = set(names)
    return distinct.pop() if len(distinct) == 1 else None


def _ranked(tasksets: Sequence[TasksetScores], own: Own) -> tuple[dict[str, Standing], list[str]]:
    """Return the standings of all entries, and the entries, best first; entries without any score have no standing."""
    means = {t.name: t.means for t in tasksets}
    references = list(dict.fromkeys(entry for row in means.values() for entry in row if is_reference(entry)))
    entries = [*own, *references]
    scored = [entry for entry in entries if any(entry in row for row in means.values())]
    table = {entry: Standing(rank_score=None, absent=len(tasksets)) for entry in entries}
    table |= standings(means, scored, {t.name: t.family for t in tasksets})
    return table, sorted(entries, key=lambda entry: (not table[entry].present, *_descending(table[entry].rank_score)))


def _normalised_by_group(tasksets: Sequence[TasksetScores]) -> dict[str, dict[str, float | None]]:
    """Return group to evolver to mean normalised score, each under its conditions."""
    merged: dict[str, dict[str, float | None]] = {}
    groups = {t.name: t.group for t in tasksets}
    for reference in dict.fromkeys(cell.reference for t in tasksets for cell in t.cells.values()):
        rows = {t.name: {e: m for e, m in t.means.items() if t.reference_of(e) == reference} for t in tasksets}
        for group, row in group_means(rows, groups, reference).items():
            merged.setdefault(group, {}).update(row)
    return merged


def _descending(score: float | None) -> tuple[bool, float]:
    return score is None, -(score or 0.0)


def _leaderboard(
    tasksets: Sequence[TasksetScores],
    table: Mapping[str, Standing],
    order: Sequence[str],
    own: Own,
    name: Named,
    spread: Mapping[str, EntrySpread] | None,
) -> list[Entry]:
    groups = _normalised_by_group(tasksets)
    points = score_table({"": {e: table[e].rank_score for e in order}}, order)[0]
    ranks = competition_ranks(points)
    lines: list[Entry] = []
    for i, entry in enumerate(order):
        runs, standing = own.get(entry), table[entry]
        chance = spread.get(entry) if spread and standing.rank_score is not None else None
        lines.append(
            Entry(
                evolver=name(entry),
                kind=runs[0].evolver.kind if runs else "reference",
                reference=runs is None,
                rank=None if np.isnan(ranks[i]) else int(ranks[i]),
                rank_ci=chance and chance.rank,
                rank_score=standing.rank_score,
                rank_score_ci=chance and chance.rank_score,
                rank_score_at_best=standing.at_best,
                family_scores=dict(standing.family_scores),
                group_scores=_group_scores(groups, entry) if runs else {},
                wins=standing.wins,
                top2=standing.top2,
                tasksets=standing.present,
                absent=standing.absent,
                runs=len(runs or ()),
                iqm=_iqm(tasksets, entry) if runs and standing.present else None,
                iqm_ci=chance and chance.iqm,
                p_best=chance and chance.p_best,
                spread_unknown=None if chance or not standing.present else Unknown.FEW_RUNS,
                failed=sum(run.status is RunStatus.FAILED for run in runs or ()),
                exit_codes=sorted({run.starts[-1].code or 0 for run in runs or () if run.starts} - {0}),
                unspent=_unspent(runs or ()),
            )
        )
    return lines


def _iqm(tasksets: Sequence[TasksetScores], entry: str) -> float | None:
    return interquartile_mean(np.concatenate([*normalised_runs(tasksets, entry), []]))


def _profile(entry: str, strata: Sequence[Sequence[float]], spread: Mapping[str, EntrySpread] | None) -> Profile | None:
    """Return the share of an evolver's runs above each threshold; None for the reference and without normalised scores."""
    scores = np.concatenate([*strata, []])
    if is_reference(entry) or not scores.size:
        return None
    bands = (spread[entry].profile if spread else None) or [None] * len(THRESHOLDS)
    rows = zip(THRESHOLDS, profile(scores), bands, strict=True)
    return Profile(evolver=entry, points=[ProfilePoint(above=x, share=share, ci=band) for x, share, band in rows])


def _unspent(runs: Sequence[RunResults]) -> int | None:
    left = [None if run.budget.episodes is None else run.budget.episodes - run.budget.used for run in runs]
    return None if not left or None in left else sum(n or 0 for n in left)


def _group_scores(groups: Mapping[str, Mapping[str, float | None]], entry: str) -> dict[str, float | None]:
    return {group: row.get(entry) for group, row in groups.items()}


def _by_group(own: Own) -> Iterator[tuple[str, str, list[RunResults]]]:
    groups = sorted({run.group or "" for runs in own.values() for run in runs})
    for group, (label, runs) in product(groups, own.items()):
        members = [run for run in runs if (run.group or "") == group]
        if members:
            yield group, label, members


def _edits(group: str, evolver: str, runs: Sequence[RunResults]) -> EditsRow:
    diagnostics = [run.diagnostics for run in runs]
    return EditsRow(
        group=group,
        evolver=evolver,
        synthesis=_rate(d.edits.synthesis for d in diagnostics),
        parametric=_rate(d.edits.parametric for d in diagnostics),
        rollbacks=sum(d.rollbacks for d in diagnostics),
        retests=sum(d.retests for d in diagnostics),
    )


def _rate(counts: Iterable[EditHits]) -> EditRate:
    listed = list(counts)
    n, hits = sum(count.n for count in listed), sum(count.hits for count in listed)
    return EditRate(n=n, hits=hits, rate=hits / n if n else None)


def _features(group: str, evolver: str, runs: Sequence[RunResults]) -> FeaturesRow:
    chosen = [features for run in runs if (features := _selected_features(run)) is not None]
    return FeaturesRow(
        group=group,
        evolver=evolver,
        runs=len(chosen),
        functions=mean_of_known(f.functions for f in chosen),
        branches=mean_of_known(f.branches for f in chosen),
        loops=mean_of_known(f.loops for f in chosen),
        state=mean_of_known(f.state for f in chosen),
        lines=mean_of_known(f.lines for f in chosen),
    )


def _selected_features(run: RunResults) -> Features | None:
    if run.selected is None:
        return None
    return next((s.features for s in run.submissions if s.candidate == run.selected.candidate), None)


def _selection(evolver: str, runs: Sequence[RunResults]) -> Iterator[SelectionRow]:
    for taskset in dict.fromkeys(str(run.taskset) for run in runs):
        picked = [run.selection for run in runs if str(run.taskset) == taskset and run.selection is not None]
        if picked:
            yield SelectionRow(
                evolver=evolver,
                taskset=taskset,
                runs=len(picked),
                candidates=sum(s.candidates for s in picked) / len(picked),
                validation_mean=mean([s.validation_mean for s in picked]) or 0.0,
                corrected=mean(s.corrected for s in picked),
                heldout_mean=mean(s.heldout_mean for s in picked),
                gap=mean(s.gap for s in picked),
            )


def _budget(evolver: str, runs: Sequence[RunResults]) -> BudgetRow:
    budgets = [run.budget for run in runs]
    used, submissions = sum(b.used for b in budgets), sum(b.submissions for b in budgets)
    episodes, seconds = [b.episodes for b in budgets], [b.wall_seconds for b in budgets]
    tokens = total_usage(TokenUsage.of(run.tokens) for run in runs)
    return BudgetRow(
        evolver=evolver,
        runs=len(runs),
        episodes=None if None in episodes else sum(n or 0 for n in episodes),
        used=used,
        submissions=submissions,
        rejected=sum(b.rejected for b in budgets),
        episodes_per_submission=used / submissions if submissions else None,
        wall_seconds=None if None in seconds else sum(s or 0.0 for s in seconds),
        resumes=sum(b.resumes for b in budgets),
        input_tokens=tokens.input_tokens,
        cache_tokens=tokens.cache_tokens,
        output_tokens=tokens.output_tokens,
        cost_usd=tokens.cost_usd,
    )


def _problems(evolver: str, own: Sequence[RunResults], runs: Sequence[RunResults]) -> Problems:
    rows = [row for run in own for row in run.submissions]
    heldout = [run.heldout for run in own if run.heldout is not None]
    return Problems(
        evolver=evolver,
        failed_submissions=sum(row.status not in (None, "ok") for row in rows),
        failed_episodes=sum(row.failures for row in rows),
        missing_episodes=sum(row.missing for row in rows),
        heldout_failures=sum(scores.failures for scores in heldout),
        heldout_missing=sum(scores.missing for scores in heldout),
        unfinished=[
            UnfinishedRun(
                run_id=run.run_id,
                taskset=run.taskset,
                seed=run.seed,
                status=run.status,
                why=run.evolver_failure.message if run.evolver_failure else "",
            )
            for run in own
            if run.status is not RunStatus.FINISHED
        ],
        absent=_absent(runs, own),
    )


def _absent(runs: Sequence[RunResults], own: Sequence[RunResults]) -> list[AbsentRun]:
    """List the cells of the suite's grid of tasksets and seeds for which an evolver has no held-out score."""
    grid = product(dict.fromkeys(run.taskset for run in runs), dict.fromkeys(run.seed for run in runs))
    scored = {(r.taskset, r.seed) for r in own if r.heldout is not None and r.heldout.mean is not None}
    unfinished = {(r.taskset, r.seed) for r in own if r.status is RunStatus.UNFINISHED}
    return [AbsentRun(taskset=t, seed=s) for t, s in grid if (t, s) not in scored and (t, s) not in unfinished]
