"""Every metric of one run of harness evolution, from its task results (SEAGym, section 3.5 and appendices D.2 and F).

The same rows give the same values to the last digit. Sums are taken in the order of the rows, on one thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from heredity.errors import UnknownNameError
from heredity.protocols.harness_evolution.analysis.costs import cost_metrics
from heredity.protocols.harness_evolution.analysis.curves import snapshot_curves, train_curve
from heredity.protocols.harness_evolution.analysis.grids import Grid, grids, levels, macro_perf, train_batches
from heredity.protocols.harness_evolution.analysis.paired import AGGREGATES, Gain, gain, gains_to_json
from heredity.protocols.harness_evolution.analysis.replay import replay_metrics
from heredity.protocols.harness_evolution.analysis.results import Results, Snapshot, code_results, view_kind
from heredity.protocols.harness_evolution.analysis.rows import TaskRows

SCHEMA_VERSION = 1
_RANKS = ("base", "point", "final", "best")
MEASURES = {"id": "IDG", "ood": "OODG", "replay": "FR"}
"""What a view of a kind measures: gain in and out of distribution, and the forgetting rate."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """How the snapshots of a run were judged.

    Attributes:
        tables: one for each view.
        batches: the number of the last train batch; None if the rows hold no training.
        best: the view of update-validation, the snapshot that is best on it, and its macro Perf there; None without one.
    """

    tables: Sequence[Grid]
    batches: int | None
    best: tuple[str, Snapshot, float] | None

    def roles(self, table: Grid) -> dict[str, int | None]:
        """Return where the base, the final snapshot and the best on validation are among the snapshots of a view."""
        best = None if self.best is None else table.named(self.best[1], self.batches)
        return {"base": table.base, "final": table.final(self.batches), "best_validation": best}


def judgement(results: Results, kinds: Mapping[str, str] | None = None) -> Judgement:
    """Return how the snapshots of a run were judged.

    Args:
        results: the run's results.
        kinds: as for `harness_metrics`.

    Raises:
        UnknownNameError: if `kinds` names a view that there is not.
    """
    tables = grids(results, _kinds(results, kinds or {}))
    return Judgement(tables, train_batches(results), _best_validation(tables))


def harness_metrics(
    rows: TaskRows, run_id: str | None = None, kinds: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Compute the metrics of a run.

    Args:
        rows: its task results.
        run_id: which run, if the rows are of several.
        kinds: what views are for (`"validation"`, `"id"`, `"ood"`, `"replay"`, `"other"`), where their names do not say.

    Returns:
        JSON values only, no NaN; the fields are in `docs/harness-metrics.md`.

    Raises:
        ConfigError: if there are several runs and none is named.
        UnknownNameError: if there is no such run or view.
    """
    results = code_results(rows, run_id)
    judged = judgement(results, kinds)
    tables, batches, best = judged.tables, judged.batches, judged.best
    costs = cost_metrics(results)
    by_snapshot = costs.pop("snapshots")
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": results.run_id,
        "rows": _row_counts(rows, results),
        "train_batches": batches,
        "snapshots": [_snapshot_to_json(s) for s in results.snapshots],
        "views": {t.view: _view(t, by_snapshot[t.view]) for t in tables},
        "uvg": {t.view: _update_validation(t) for t in tables if t.kind == "validation"},
        "best_validation": best and {"view": best[0], "snapshot": best[1].name, "selection_perf": best[2]},
        "transfer": _transfer(judged),
        "replay": {t.view: replay_metrics(t) for t in tables if t.kind == "replay"},
        "costs": costs,
        "curves": {"train": train_curve(results), "snapshots": snapshot_curves(tables)},
    }


def _kinds(results: Results, given: Mapping[str, str]) -> dict[str, str]:
    for name in given:
        if name not in results.views:
            raise UnknownNameError("view", name, results.views)
    return {name: given.get(name, view_kind(name)) for name in results.views}


def _row_counts(rows: TaskRows, results: Results) -> dict[str, Any]:
    return {
        "read": results.read,
        "counted": len(results.kind),
        "duplicates": results.duplicates.rows,
        "conflicting": results.duplicates.conflicting,
        "duplicate_tokens": results.duplicates.tokens,
        "without_snapshot": results.unnamed,
        "damaged": [{"line": d.line, "reason": d.reason} for d in rows.damaged],
    }


def _snapshot_to_json(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "name": snapshot.name,
        "kind": _RANKS[snapshot.rank],
        "train_batch_index": snapshot.batch,
        "checkpoints": list(snapshot.checkpoints),
    }


def _view(table: Grid, costs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": table.kind,
        "tasks": len(table.tasks),
        "one_task": 1.0 / len(table.tasks),
        "snapshots": {name: {**level, "costs": costs[name]} for name, level in levels(table).items()},
    }


def _update_validation(table: Grid) -> dict[str, Any]:
    """Return UVG at each evaluation point, against the one before (equation 6) and against the base (equation 7)."""
    chain, base = table.chain(), table.base
    later = [] if base is None else [i for i in chain if i != base]
    return {
        "prev": gains_to_json([snapshot_gain(table, before, after) for before, after in pairwise(chain)]),
        "base": gains_to_json([snapshot_gain(table, base, after) for after in later if base is not None]),
    }


def snapshot_gain(table: Grid, before: int, after: int) -> Gain:
    """Compare two snapshots of a view by task."""
    return gain(table.column(before), table.column(after), table.domain)


def _best_validation(tables: Sequence[Grid]) -> tuple[str, Snapshot, float] | None:
    """Return the snapshot with the highest macro Perf on update-validation, the earliest of equals."""
    for table in tables:
        scored = [(macro_perf(table, i), i) for i in table.chain()] if table.kind == "validation" else []
        known = [(perf, -i) for perf, i in scored if perf is not None]
        if known:
            perf, place = max(known)
            return table.view, table.snapshots[-place], perf
    return None


def _transfer(judged: Judgement) -> list[dict[str, Any]]:
    """Return IDG, OODG and FR (equations 8 to 10) of the final snapshot and of the one best on validation."""
    asked: list[tuple[Grid, str, Gain]] = []
    for table in (t for t in judged.tables if t.kind in MEASURES):
        roles = judged.roles(table)
        base = roles.pop("base")
        for role, index in roles.items():
            if base is not None and index is not None:
                asked.append((table, role, snapshot_gain(table, base, index)))
    rows = gains_to_json([gained for _, _, gained in asked])
    return [
        {"view": table.view, "metric": MEASURES[table.kind], "of": role, **row, **_forgetting(table, row)}
        for (table, role, _), row in zip(asked, rows, strict=True)
    ]


def _forgetting(table: Grid, row: Mapping[str, Any]) -> dict[str, Any]:
    if table.kind != "replay":
        return {}
    return {"forgetting": {n: None if row[n] is None else max(0.0, -row[n]["difference"]) for n in AGGREGATES}}
