"""Agent learning (AutoEnv): a method learns on levels of a world, and its agent is judged on unseen levels.

A run is one of resource evolution; the suite answers a different question: which method learns where.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heredity.analysis.claims import claims, compare
from heredity.analysis.contract import CommonMetrics, SuiteEvidence
from heredity.analysis.run_record import mean
from heredity.analysis.samples import GAP, Floats, Interval
from heredity.analysis.statistics import evolver_mean
from heredity.analysis.suite_comparisons import by_seed, paired_gaps, paired_scores
from heredity.analysis.suite_table import Named, TasksetScores, coverage_of
from heredity.analysis.worlds import GROUPS
from heredity.configuration.sections import ModelLimitsSection
from heredity.protocols.agent_learning.results import (
    REPORT,
    BestFixed,
    BoardRow,
    BoundOfSubsets,
    Controller,
    EntryKind,
    GainsByTasksets,
    GroupMean,
    LearningSpace,
    LearningSuite,
    LearningTable,
    PickedMethod,
    SkinComparison,
    TableRow,
    UpperBound,
)
from heredity.protocols.contract import Protocol
from heredity.protocols.shared.commits import CommitSetting, CommitViewsSection, selected
from heredity.results.base import Result
from heredity.results.run import RunResults, Verdict
from heredity.results.suite import Claim

_MOST_SUBSETS = 5000
LEAST_WAY = 0.01
"""Minimum distance between the best fixed method and the bound for reporting a share; below it, shares are noise."""
CONTROLLER = "adaptive"
"""Label prefix of evolvers that choose among methods; they are compared with the bound and not part of it."""


def learning_space(tasksets: Sequence[TasksetScores]) -> LearningSpace | None:
    """Compute upper bounds and both curves from held-out means.

    Args:
        tasksets: the scores of every evolver; a method counts if it has a score on all of them.

    Returns:
        `controllers` have their shares of the way from the best fixed method to the upper bound; `by_methods`,
        for M = 1, 2, …, the upper bound over all subsets of M methods; `by_tasksets`, for each method and the bound the mean
        gain over the k tasksets where it gains most, k = 1, 2, …. None with fewer than two methods.
    """
    means = {t.name: {name: cell.mean for name, cell in t.cells.items()} for t in tasksets}
    everywhere = [e for e in next(iter(means.values()), {}) if all(e in row for row in means.values())]
    methods = [e for e in everywhere if not e.startswith(CONTROLLER)]
    if len(methods) < 2:
        return None
    marks = {m: [t.reference_mean(m) for t in tasksets] for m in everywhere}
    columns = {m: [row[m] for row in means.values()] for m in everywhere}
    picked = {name: max(methods, key=row.__getitem__) for name, row in means.items()}
    of_picked = [t.reference_mean(picked[t.name]) for t in tasksets]
    upper_bound = [means[name][method] for name, method in picked.items()]
    fixed = max(methods, key=lambda m: math.fsum(columns[m]))
    best, top = _space_mean(columns[fixed]), _space_mean(upper_bound)
    gains = {**{m: _gains(columns[m], marks[m]) for m in methods}, "upper bound": _gains(upper_bound, of_picked)}
    return LearningSpace(
        methods=methods,
        upper_bound=UpperBound(
            mean=top,
            gain=_space_mean(gains["upper bound"]) if gains["upper bound"] else None,
            picked=[_picked(taskset, method, means[taskset], methods) for taskset, method in picked.items()],
        ),
        best_fixed=BestFixed(method=fixed, mean=best, gap=top - best),
        controllers=[
            _controller(e, _space_mean(columns[e]), best, top) for e in everywhere if e.startswith(CONTROLLER)
        ],
        by_methods=[_subsets(columns, methods, size) for size in range(1, len(methods) + 1)],
        by_tasksets=[GainsByTasksets(evolver=name, gains=_top(listed)) for name, listed in gains.items() if listed],
    )


def _picked(taskset: str, method: str, means: Mapping[str, float], methods: Sequence[str]) -> PickedMethod:
    tied = [other for other in methods if other != method and means[other] == means[method]]
    return PickedMethod(taskset=taskset, method=method, mean=means[method], tied=tied)


def _controller(evolver: str, mean: float, best: float, top: float) -> Controller:
    on_the_way = best <= mean <= top and top - best >= LEAST_WAY
    covered = (mean - best) / (top - best) if on_the_way else None
    return Controller(evolver=evolver, mean=mean, gap=top - mean, covered=covered)


def _subsets(columns: Mapping[str, Sequence[float]], methods: Sequence[str], size: int) -> BoundOfSubsets:
    chosen = itertools.islice(itertools.combinations(methods, size), _MOST_SUBSETS)
    bounds = [_space_mean([max(row) for row in zip(*(columns[m] for m in subset), strict=True)]) for subset in chosen]
    return BoundOfSubsets(
        methods=size, subsets=len(bounds), mean=_space_mean(bounds), low=min(bounds), high=max(bounds)
    )


def _gains(scores: Sequence[float], reference: Sequence[float | None]) -> list[float]:
    """Return gains over the start; None if any is unknown."""
    gains = [score - before for score, before in zip(scores, reference, strict=True) if before is not None]
    return gains if len(gains) == len(scores) else []


def _top(gains: Sequence[float]) -> list[float]:
    """Return the mean of the k greatest gains for k = 1, 2, …."""
    ordered = sorted(gains, reverse=True)
    return [_space_mean(ordered[: k + 1]) for k in range(len(ordered))]


def _space_mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


SELECT = "select"
"""The method option for selecting parents, such as `best` or `pareto`."""


def learning_table(
    tasksets: Sequence[TasksetScores],
    runs: Sequence[RunResults],
    labels: Sequence[str],
    name: Callable[[str], str] = str,
    *,
    ranked: bool = True,
) -> LearningTable | None:
    """Return the means of all entries with a score on every taskset.

    Args:
        tasksets: the scores of every entry.
        runs: the runs of the suite.
        labels: the evolver of each.
        name: returns the name of an entry.
        ranked: True to compute intervals and bounds (otherwise means are shown as they are).

    Returns:
        The table; None if the suite lacks the entry.
    """
    own: dict[str, list[RunResults]] = {}
    for run, label in zip(runs, labels, strict=True):
        own.setdefault(label, []).append(run)
    groups = _groups(tasksets)
    everywhere = [e for e in own if all(e in taskset.cells for taskset in tasksets)]
    starts = [e for e in tasksets[0].references if all(e in t.references for t in tasksets)] if tasksets else []
    rows = [_row(e, EntryKind.START, None, tasksets, groups, ranked=ranked) for e in starts]
    rows = [row.model_copy(update={"entry": name(row.entry)}) for row in rows]
    kinds = {e: EntryKind.CONTROLLER if e.startswith(CONTROLLER) else EntryKind.METHOD for e in everywhere}
    select = {e: str(own[e][0].evolver.options.get(SELECT) or "") or None for e in everywhere}
    for entry in sorted(everywhere, key=lambda e: kinds[e] is EntryKind.CONTROLLER):
        row = _row(entry, kinds[entry], select[entry], tasksets, groups, ranked=ranked)
        rows.append(row.model_copy(update={"cost_usd": _cost(own[entry], tasksets)}))
    if not everywhere:
        return None
    methods = {e: select[e] for e in everywhere if kinds[e] is EntryKind.METHOD}
    return LearningTable(
        tasksets=[taskset.name for taskset in tasksets],
        groups=list(groups),
        rows=[*rows, *(_bounds(methods, tasksets, groups) if ranked else [])],
    )


def _groups(tasksets: Sequence[TasksetScores]) -> dict[str, list[int]]:
    """Return the positions of the tasksets in each labelled group, AutoEnv's groups first in its order."""
    groups: dict[str, list[int]] = {}
    for i, taskset in enumerate(tasksets):
        for label in taskset.labels.values():
            groups.setdefault(label, []).append(i)
    return {
        name: groups[name] for name in [*(g for g in GROUPS if g in groups), *(g for g in groups if g not in GROUPS)]
    }


def _row(
    entry: str,
    kind: EntryKind,
    select: str | None,
    tasksets: Sequence[TasksetScores],
    groups: Mapping[str, Sequence[int]],
    *,
    ranked: bool,
) -> TableRow:
    means = {taskset.name: taskset.means[entry] for taskset in tasksets}
    return TableRow(
        entry=entry,
        kind=kind,
        select=select,
        means=means,
        overall=_mean_of(entry, tasksets, ranked=ranked),
        groups={name: _mean_of(entry, [tasksets[i] for i in of], ranked=ranked) for name, of in groups.items()},
        cost_usd=None,
    )


def _mean_of(entry: str, tasksets: Sequence[TasksetScores], *, ranked: bool) -> GroupMean:
    scores = [taskset.scores_of(entry) for taskset in tasksets]
    bounded: Interval | None = tasksets[0].bounds if all(taskset.bounds for taskset in tasksets) else None
    estimate = evolver_mean(scores, bounded) if ranked else None
    return GroupMean(
        mean=sum(taskset.means[entry] for taskset in tasksets) / len(tasksets),
        ci=estimate[0].interval if estimate else None,
        ci_unit=estimate[1] if estimate else None,
        ci_unknown=estimate[0].unknown if estimate else None,
        tasksets=len(tasksets),
    )


def _bounds(
    methods: Mapping[str, str | None], tasksets: Sequence[TasksetScores], groups: Mapping[str, Sequence[int]]
) -> list[TableRow]:
    """Return the upper bound of the best method of each taskset: per way to select, if there are several, and over all."""
    ways = list(dict.fromkeys(way for way in methods.values() if way))
    chosen = {way: [e for e, own in methods.items() if own == way] for way in ways} if len(ways) > 1 else {}
    return [_bound(way, own, tasksets, groups) for way, own in {**chosen, None: list(methods)}.items() if len(own) > 1]


def _bound(
    way: str | None, methods: Sequence[str], tasksets: Sequence[TasksetScores], groups: Mapping[str, Sequence[int]]
) -> TableRow:
    best = [max(taskset.cells[e].mean for e in methods) for taskset in tasksets]
    return TableRow(
        entry=f"upper bound ({way or 'all'})",
        kind=EntryKind.BOUND,
        select=way,
        means=dict(zip((taskset.name for taskset in tasksets), best, strict=True)),
        overall=_tables_plain(best),
        groups={name: _tables_plain([best[i] for i in of]) for name, of in groups.items()},
        cost_usd=None,
    )


def _tables_plain(means: Sequence[float]) -> GroupMean:
    mean_of_best = sum(means) / len(means)
    return GroupMean(mean=mean_of_best, ci=None, ci_unit=None, ci_unknown=None, tasksets=len(means))


def _cost(runs: Iterable[RunResults], tasksets: Sequence[TasksetScores]) -> float | None:
    """Return the mean learning cost of a run over tasksets: rollouts and the method; None if any part is unknown."""
    costs: dict[str, list[float | None]] = {taskset.name: [] for taskset in tasksets}
    for run in runs:
        parts = (run.model_usage.rollouts.cost_usd, run.model_usage.method.cost_usd) if run.model_usage else (None,)
        costs_known = [part for part in parts if part is not None]
        costs.setdefault(str(run.taskset), []).append(sum(costs_known) if len(costs_known) == len(parts) else None)
    if any(not listed or None in listed for listed in costs.values()):
        return None
    return mean(mean(listed) for listed in costs.values())


def learning_board(tasksets: Sequence[TasksetScores]) -> list[BoardRow]:
    """Return each evolver, best mean first; those that failed or lack a taskset come last (without a mean).

    Scores of worlds lie between 0 and their upper bound, so they share a scale. Dividing by the best gain (which may be
    close to zero) would amplify noise.
    """
    if not tasksets:
        return []
    evolvers = list(dict.fromkeys(evolver for t in tasksets for evolver in (*t.cells, *t.failed)))
    counts = {evolver: sum(evolver in taskset.cells for taskset in tasksets) for evolver in evolvers}
    whole = [evolver for evolver in evolvers if counts[evolver] == len(tasksets)]
    means = {evolver: _mean([taskset.cells[evolver].mean for taskset in tasksets]) for evolver in whole}
    whole.sort(key=lambda evolver: -means[evolver])
    starts = {evolver: _start(tasksets, evolver) for evolver in whole}
    gained = _claims(tasksets, {e: [_gaps(t, e) for t in tasksets] for e in whole})
    behind = _claims(
        tasksets,
        {e: [paired_gaps(t, whole[0], e) for t in tasksets] for e in whole[1:]},
        {e: [paired_scores(t, whole[0], e) for t in tasksets] for e in whole[1:]},
    )
    rows = [
        BoardRow(
            evolver=evolver,
            tasksets=counts[evolver],
            mean=means[evolver],
            gain=None if (start := starts[evolver]) is None else means[evolver] - start,
            evolvers=gained[evolver][0],
            candidates=gained[evolver][1],
            tied=means[evolver] == means[whole[0]] or _level(behind.get(evolver)),
        )
        for evolver in whole
    ]
    return rows + [_uncompared(evolver, counts[evolver]) for evolver in evolvers if evolver not in means]


def _start(tasksets: Sequence[TasksetScores], evolver: str) -> float | None:
    """Return the mean score of an evolver's start, under the evolver's conditions; None if any is unknown."""
    references = [taskset.reference_mean(evolver) for taskset in tasksets]
    return None if None in references else _mean([mean for mean in references if mean is not None])


def _gaps(taskset: TasksetScores, evolver: str) -> Floats:
    """Return the gain of an evolver over its start, shape (seeds, cases); all NaN if the start is unknown for these cases."""
    scores, start = taskset.cells[evolver].asked, taskset.references.get(taskset.reference_of(evolver))
    return scores - start if start is not None and start.size == scores.shape[1] else np.full_like(scores, np.nan)


def _uncompared(evolver: str, tasksets: int) -> BoardRow:
    return BoardRow(
        evolver=evolver, tasksets=tasksets, mean=None, gain=None, evolvers=None, candidates=None, tied=False
    )


def _claims(
    tasksets: Sequence[TasksetScores],
    strata: Mapping[str, Sequence[Floats]],
    sides: Mapping[str, Sequence[tuple[Floats, Floats]]] | None = None,
) -> dict[str, tuple[Claim | None, Claim | None]]:
    bounds = GAP if all(taskset.bounds for taskset in tasksets) else None
    clusters = [taskset.clusters for taskset in tasksets]
    least = coverage_of(tasksets)
    both = {
        e: compare(own, len(strata), bounds, sides=None if sides is None else sides[e], clusters=clusters, least=least)
        for e, own in strata.items()
    }
    claimed = iter(claims([compared for compared in both.values() if compared is not None]))
    return {evolver: (None, None) if compared is None else next(claimed) for evolver, compared in both.items()}


def _level(pair: tuple[Claim | None, Claim | None] | None) -> bool:
    """Return True for evolvers from which the first is not shown to differ, over new runs."""
    return pair is not None and (pair[0] is None or pair[0].verdict != Verdict.BETTER)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


_INVERSE = "skin=inverse"


def skin_comparisons(
    tasksets: Sequence[TasksetScores], name: Callable[[str], str] = str, *, ranked: bool = True
) -> list[SkinComparison]:
    """Compare each entry on a taskset and on its counterpart with an inverse skin.

    Args:
        tasksets: the scores of every entry; both skins have the same levels (in the same order).
        name: returns the name of an entry.
        ranked: True to test differences; otherwise they are shown as they are.

    Returns:
        One row per pair of tasksets and entry; the verdict `"worse"` means that the inversion hurts. Empty if no taskset
        has an inverse.
    """
    by_name = {t.name: t for t in tasksets}
    rows: list[SkinComparison] = []
    for inverse in tasksets:
        plain = by_name.get(_plain(inverse.name))
        if plain is None or plain is inverse:
            continue
        entries = [
            *(e for e in plain.cells if e in inverse.cells),
            *(e for e in plain.references if e in inverse.references),
        ]
        rows += [row for e in entries if (row := _compared(plain, inverse, e, name(e), ranked)) is not None]
    return rows


def _compared(
    plain: TasksetScores, inverse: TasksetScores, entry: str, evolver: str, ranked: bool
) -> SkinComparison | None:
    before, after = plain.scores_of(entry), inverse.scores_of(entry)
    width, straight, turned = min(before.shape[1], after.shape[1]), by_seed(plain, entry), by_seed(inverse, entry)
    rows = [(turned[seed][:width], scores[:width]) for seed, scores in straight.items() if seed in turned]
    gaps = np.array([after - before for after, before in rows])
    if not gaps.size:
        return None
    bounds = GAP if plain.bounds else None
    sides = [(np.array([after for after, _ in rows]), np.array([before for _, before in rows]))]
    both = compare([gaps], bounds=bounds, sides=sides, clusters=[plain.clusters], least=plain.coverage)
    if both is None:
        return None
    evolvers, candidates = claims([both])[0] if ranked else (None, None)
    return SkinComparison(
        taskset=plain.name,
        evolver=evolver,
        plain=float(np.nanmean(before)),
        inverse=float(np.nanmean(after)),
        difference=both.candidates.difference,
        evolvers=evolvers,
        candidates=candidates,
        cases=both.candidates.cases,
    )


def _plain(name: str) -> str:
    """Return the name of a taskset without the option that inverts its skin."""
    base, _, query = name.partition("?")
    options = [option for option in query.split("&") if option and option != _INVERSE]
    return f"{base}?{'&'.join(options)}" if options else base


@dataclass(frozen=True)
class LearningMetrics(CommonMetrics):
    """Results of agent learning."""

    suite_part: type[Result] | None = LearningSuite

    def of_suite(self, evidence: SuiteEvidence) -> LearningSuite:
        """Return the learning results: gains, the bound over all methods, and the cost of inverted skins."""
        table = learning_table(
            evidence.tasksets, evidence.runs, evidence.labels, Named(self.reference), ranked=evidence.ranked
        )
        return LearningSuite(
            table=table,
            board=learning_board(evidence.tasksets) if evidence.ranked else [],
            learning=learning_space(evidence.tasksets) if evidence.ranked else None,
            skins=skin_comparisons(evidence.tasksets, Named(self.reference), ranked=evidence.ranked),
        )


METRICS = LearningMetrics()


PROTOCOL = Protocol(
    name="agent-learning",
    summary="learning of a method in each of many worlds, judged on unseen levels",
    setting=CommitSetting(),
    sections={"limits": ModelLimitsSection, "views": CommitViewsSection},
    baselines=("best-of-n-edits", "sequential-edits"),
    metrics=METRICS,
    report=REPORT,
    selection=selected,
)
