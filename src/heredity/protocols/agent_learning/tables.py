"""Entries by environment, by kind of environment, and what choosing among methods could reach (AutoEnv, tables 5 and A9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from heredity.analysis.bounds import Interval
from heredity.analysis.run_record import mean
from heredity.analysis.statistics import evolver_mean
from heredity.analysis.suite_table import TasksetScores
from heredity.analysis.worlds import GROUPS
from heredity.protocols.agent_learning.results import EntryKind, GroupMean, LearningTable, TableRow
from heredity.protocols.agent_learning.space import CONTROLLER
from heredity.results.run import RunResults

SELECT = "select"
"""The option of a method that says how it selects parents, such as `best` or `pareto`."""


def learning_table(
    tasksets: Sequence[TasksetScores],
    runs: Sequence[RunResults],
    labels: Sequence[str],
    name: Callable[[str], str] = str,
    *,
    ranked: bool = True,
) -> LearningTable | None:
    """Return means of every entry that has a score on all tasksets.

    Args:
        tasksets: what every entry scored.
        runs: of the suite.
        labels: the evolver of each.
        name: what an entry is called.
        ranked: whether means have intervals and bounds are told; else they are shown as they are.

    Returns:
        The table; None without such an entry.
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
    """Return the places of the tasksets of each group that they are labelled with, those of AutoEnv first in its order."""
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
    """Return what the best method of each taskset reaches: of those of each way to select, where there are several, and of all."""
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
        overall=_plain(best),
        groups={name: _plain([best[i] for i in of]) for name, of in groups.items()},
        cost_usd=None,
    )


def _plain(means: Sequence[float]) -> GroupMean:
    mean_of_best = sum(means) / len(means)
    return GroupMean(mean=mean_of_best, ci=None, ci_unit=None, ci_unknown=None, tasksets=len(means))


def _cost(runs: Iterable[RunResults], tasksets: Sequence[TasksetScores]) -> float | None:
    """Return the mean over tasksets of what learning cost a run there: rollouts and the method; None where some is unknown."""
    costs: dict[str, list[float | None]] = {taskset.name: [] for taskset in tasksets}
    for run in runs:
        parts = (run.model_usage.rollouts.cost_usd, run.model_usage.method.cost_usd) if run.model_usage else (None,)
        costs_known = [part for part in parts if part is not None]
        costs.setdefault(str(run.taskset), []).append(sum(costs_known) if len(costs_known) == len(parts) else None)
    if any(not listed or None in listed for listed in costs.values()):
        return None
    return mean(mean(listed) for listed in costs.values())
