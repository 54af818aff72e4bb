"""All metrics of one harness-evolution run, from its task results (SEAGym, section 3.5 and appendices D.2 and F).

The same rows give the same values to the last digit: sums are taken in the order of the rows, on one thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from heredity._core.errors import UnknownNameError
from heredity.analysis.run_record import mean
from heredity.protocols.harness_evolution.analysis.coded import (
    TRAIN,
    Bools,
    CodedRows,
    Ints,
    Snapshot,
    code_results,
    view_kind,
)
from heredity.protocols.harness_evolution.analysis.grids import (
    Grid,
    cost_metrics,
    grids,
    levels,
    macro_perf,
    replay_metrics,
    train_batches,
)
from heredity.protocols.harness_evolution.analysis.paired import Pair, gains
from heredity.protocols.harness_evolution.analysis.rows import TaskRows
from heredity.protocols.harness_evolution.results import (
    BeforeAfter,
    HarnessRunResults,
    ModelCell,
    ModelRow,
    Role,
    UnderModel,
)
from heredity.protocols.harness_evolution.task_results import (
    ALL,
    BestValidation,
    Costs,
    Curves,
    Forgetting,
    Gain,
    Of,
    RowCounts,
    SnapshotCurves,
    SnapshotRow,
    TaskMetrics,
    TrainCurve,
    Transfer,
    UpdateValidation,
    ViewLevels,
)
from heredity.results.base import COVERAGE, covers


def model_rows(label: str, harnesses: Sequence[HarnessRunResults], *, ranked: bool) -> list[ModelRow]:
    """Return a row per view with a cell per model, the model they evolved under first; means over runs.

    Args:
        label: the method.
        harnesses: results of its runs.
        ranked: True to report the interval of a single run.
    """
    evolved = harnesses[0].plan.execution or "own model"
    under: dict[str, dict[str, list[UnderModel]]] = {}
    for harness in harnesses:
        for model, views in harness.cross_model.items():
            for view, row in views.items():
                under.setdefault(view, {}).setdefault(model, []).append(row)
    rows: list[ModelRow] = []
    for view, others in under.items():
        home = [level for harness in harnesses if (level := _at_home(harness, view))]
        cells = [_cell(evolved, home, [_rise(level) for level in home], ranked)]
        cells += [_cell(model, levels, [row.difference for row in levels], ranked) for model, levels in others.items()]
        rows.append(ModelRow(evolver=label, evolved=evolved, view=view, cells=tuple(cells)))
    return rows


def _at_home(harness: HarnessRunResults, view: str) -> BeforeAfter | None:
    if view not in harness.views or view not in harness.paired:
        return None
    snapshots, chosen = harness.views[view].snapshots, harness.paired[view].snapshots
    if "base" not in chosen or "final" not in chosen:
        return None
    return BeforeAfter(A_0=snapshots[chosen["base"]].perf.micro, A_T=snapshots[chosen["final"]].perf.micro)


def _rise(level: BeforeAfter) -> float | None:
    return None if level.A_0 is None or level.A_T is None else level.A_T - level.A_0


def _cell(model: str, levels: Sequence[BeforeAfter], gained: Sequence[float | None], ranked: bool) -> ModelCell:
    # With several runs, the interval of one would be too narrow.
    only = levels[0] if ranked and len(levels) == 1 else None
    return ModelCell(
        model=model,
        runs=len(levels),
        A_0=mean(level.A_0 for level in levels),
        A_T=mean(level.A_T for level in levels),
        difference=mean(gained),
        ci=only.ci if isinstance(only, UnderModel) else None,
    )


_RATES = ("perf", "sr", "execution_success")


def train_curve(results: CodedRows) -> TrainCurve:
    """Return the curve of training by source group, then batch, then update; rates are micro means.

    Rollouts of one batch before different updates belong to different harnesses and stay separate.
    """
    rows = np.flatnonzero((results.kind == TRAIN) & ~np.isnan(results.score))
    batch = results.steps["train_batch_index"][rows].astype(np.int64)
    update = results.steps["global_update_index"][rows]
    updates = int(update.max(initial=-1)) + 2
    points, point = np.unique((batch + 1) * updates + update + 1, return_inverse=True)
    source = results.source[rows]
    solved, errored = results.solved[rows], results.errored[rows]
    measures: list[NDArray[Any]] = [results.score[rows], solved, solved & ~errored, errored]
    columns: dict[str, list[Any]] = {name: [] for name in TrainCurve.model_fields}
    groups = [(ALL, np.ones(len(rows), dtype=bool)), *((n, source == i) for i, n in enumerate(results.sources))]
    for name, member in groups:
        count = np.bincount(point[member], minlength=len(points))
        sums = [np.bincount(point[member], weights=m[member], minlength=len(points)) for m in measures]
        there = np.flatnonzero(count)
        columns["source"] += [name] * len(there)
        columns["train_batch_index"] += _none_if_negative(points[there] // updates - 1)
        columns["global_update_index"] += _none_if_negative(points[there] % updates - 1)
        columns["tasks"] += count[there].tolist()
        for measure, total in zip(_RATES, sums[:-1], strict=True):
            columns[measure] += (total[there] / count[there]).tolist()
        columns["errors"] += sums[-1][there].astype(int).tolist()
    return TrainCurve.model_validate(columns)


def _none_if_negative(values: Ints) -> list[int | None]:
    return [None if v < 0 else v for v in values.tolist()]


def snapshot_curves(grids: Sequence[Grid]) -> SnapshotCurves:
    """Return the curves of all views, by view, source group, then snapshot."""
    rows: list[tuple[Any, ...]] = []
    for grid in grids:
        members = [(ALL, np.ones(len(grid.tasks), dtype=bool))]
        members += [(name, grid.source == i) for i, name in enumerate(grid.sources)]
        for source, member in members:
            rows += _curve(grid, source, member)
    names = tuple(SnapshotCurves.model_fields)
    return SnapshotCurves.model_validate({name: [row[i] for row in rows] for i, name in enumerate(names)})


def _curve(grid: Grid, source: str, member: Bools) -> list[tuple[Any, ...]]:
    score = grid.score[member]
    present = ~np.isnan(score)
    count = present.sum(axis=0)
    total, solved = np.where(present, score, 0.0).sum(axis=0), grid.solved[member].sum(axis=0)
    errors = grid.errored[member].sum(axis=0)
    return [
        (grid.view, source, s.name, s.batch, int(n), float(total[i] / n), float(solved[i] / n), int(errors[i]))
        for i, (s, n) in enumerate(zip(grid.snapshots, count, strict=True))
        if n
    ]


SCHEMA_VERSION = 1
_RANKS: tuple[Literal["base", "point", "final", "best"], ...] = ("base", "point", "final", "best")
MEASURES = {"id": "IDG", "ood": "OODG", "replay": "FR"}
"""Measure of each kind of view: gain in and out of distribution, and the forgetting rate."""
ROLES: tuple[Of, ...] = ("final", "best_validation")
"""The snapshots whose gains over the first one are reported."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judged snapshots of a run.

    Attributes:
        tables: one table per view.
        batches: the number of the last train batch (None if the rows hold no training).
        best: the update-validation view, the best snapshot on it, and its macro Perf there; None without one.
    """

    tables: Sequence[Grid]
    batches: int | None
    best: tuple[str, Snapshot, float] | None

    def roles(self, table: Grid) -> dict[Role, int]:
        """Return the indices of the base, the final snapshot and the best on validation in a view, where present."""
        best = None if self.best is None else table.index_of_best(self.best[1], self.batches)
        places: dict[Role, int | None] = {
            "base": table.base,
            "final": table.final(self.batches),
            "best_validation": best,
        }
        return {role: index for role, index in places.items() if index is not None}


def judgement(results: CodedRows, kinds: Mapping[str, str] | None = None, least: float = COVERAGE) -> Judgement:
    """Return the judged snapshots of a run.

    Args:
        results: the run's results.
        kinds: as in `harness_metrics`.
        least: as in `harness_metrics`.

    Raises:
        UnknownNameError: if `kinds` names a view that does not exist.
    """
    tables = grids(results, _kinds(results, kinds or {}))
    return Judgement(tables, train_batches(results), _best_validation(tables, least))


def harness_metrics(
    rows: TaskRows, run_id: str | None = None, kinds: Mapping[str, str] | None = None, least: float = COVERAGE
) -> TaskMetrics:
    """Compute the metrics of a run.

    Args:
        rows: its task results.
        run_id: the run, if the rows belong to several.
        kinds: kinds of views (`"validation"`, `"id"`, `"ood"`, `"replay"`, `"other"`), where their names do not show it.
        least: the share of a view's scores required to select the best snapshot or to call one better.

    Raises:
        ConfigError: if there are several runs and `run_id` is omitted.
        UnknownNameError: if the run or a view does not exist.
    """
    results = code_results(rows, run_id)
    judged = judgement(results, kinds, least)
    tables, best = judged.tables, judged.best
    costs, by_snapshot = cost_metrics(results)
    return TaskMetrics(
        schema_version=SCHEMA_VERSION,
        run_id=results.run_id,
        rows=_row_counts(rows, results),
        train_batches=judged.batches,
        snapshots=tuple(map(_snapshot_row, results.snapshots)),
        views={t.view: _view(t, by_snapshot[t.view]) for t in tables},
        uvg={t.view: _update_validation(t, least) for t in tables if t.kind == "validation"},
        best_validation=best and BestValidation(view=best[0], snapshot=best[1].name, selection_perf=best[2]),
        transfer=_transfer(judged, least),
        replay={t.view: replay_metrics(t) for t in tables if t.kind == "replay"},
        costs=costs,
        curves=Curves(train=train_curve(results), snapshots=snapshot_curves(tables)),
    )


def _kinds(results: CodedRows, given: Mapping[str, str]) -> dict[str, str]:
    for name in given:
        if name not in results.views:
            raise UnknownNameError("view", name, results.views)
    return {name: given.get(name, view_kind(name)) for name in results.views}


def _row_counts(rows: TaskRows, results: CodedRows) -> RowCounts:
    return RowCounts(
        read=results.read,
        counted=len(results.kind),
        duplicates=results.duplicates.rows,
        conflicting=results.duplicates.conflicting,
        duplicate_tokens=results.duplicates.tokens,
        without_snapshot=results.unnamed,
        damaged=rows.damaged,
    )


def _snapshot_row(snapshot: Snapshot) -> SnapshotRow:
    return SnapshotRow(
        name=snapshot.name,
        kind=_RANKS[snapshot.rank],
        train_batch_index=snapshot.batch,
        checkpoints=snapshot.checkpoints,
    )


def _view(table: Grid, costs: Mapping[str, Costs]) -> ViewLevels:
    tasks = len(table.tasks)
    return ViewLevels(kind=table.kind, tasks=tasks, one_task=1.0 / tasks, snapshots=levels(table, costs))


def _update_validation(table: Grid, least: float) -> UpdateValidation:
    """Return UVG at each evaluation point, against the previous one (equation 6) and against the base (equation 7)."""
    chain, base = table.chain(), table.base
    later = [] if base is None else [i for i in chain if i != base]
    return UpdateValidation(
        prev=gains([table.pair(before, after) for before, after in pairwise(chain)], least),
        base=gains([table.pair(base, after) for after in later if base is not None], least),
    )


def _best_validation(tables: Sequence[Grid], least: float) -> tuple[str, Snapshot, float] | None:
    """Return the snapshot with the highest macro Perf on update-validation and enough scores, the earliest among equals."""
    for table in tables:
        judged = table.chain() if table.kind == "validation" else []
        covered_views = [i for i in judged if covers(table.score[:, i].tolist(), least)]
        scored = [(macro_perf(table, i), i) for i in covered_views]
        ranked = [(perf, -i) for perf, i in scored if perf is not None]
        if ranked:
            perf, index = max(ranked)
            return table.view, table.snapshots[-index], perf
    return None


def _transfer(judged: Judgement, least: float) -> tuple[Transfer, ...]:
    """Return IDG, OODG and FR (equations 8 to 10) of the final snapshot and of the one best on validation."""
    asked: list[tuple[Grid, Of]] = []
    pairs: list[Pair] = []
    for table in (t for t in judged.tables if t.kind in MEASURES):
        roles = judged.roles(table)
        for role in ROLES:
            if "base" in roles and role in roles:
                asked.append((table, role))
                pairs.append(table.pair(roles["base"], roles[role]))
    compared = zip(asked, gains(pairs, least), strict=True)
    return tuple(_transferred(table, role, gain) for (table, role), gain in compared)


def _transferred(table: Grid, role: Of, gain: Gain) -> Transfer:
    macro, micro = (None if gap is None else max(0.0, -gap.difference) for gap in (gain.macro, gain.micro))
    forgetting = Forgetting(macro=macro, micro=micro) if table.kind == "replay" else None
    return Transfer(**dict(gain), view=table.view, metric=MEASURES[table.kind], of=role, forgetting=forgetting)
