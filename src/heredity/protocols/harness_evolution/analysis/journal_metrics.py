"""What `metrics.json` of a run of harness evolution says beside what every run's does, from its journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from heredity.analysis.changes import changes
from heredity.errors import RecordError
from heredity.protocols.harness_evolution.analysis.costs import cost_metrics
from heredity.protocols.harness_evolution.analysis.grids import Grid, macro_perf
from heredity.protocols.harness_evolution.analysis.metrics import Judgement, harness_metrics, judgement, snapshot_gain
from heredity.protocols.harness_evolution.analysis.paired import gains_to_json
from heredity.protocols.harness_evolution.analysis.records import RunResults
from heredity.protocols.harness_evolution.analysis.results import Floats, Snapshot, code_results
from heredity.protocols.harness_evolution.analysis.rows import TaskRows
from heredity.resources import Candidate

REFUSED = "contract gate: "
"""What the reason of a decision begins with that the contract gate turned down."""

_SETTINGS = ("seed", "batch_size", "epochs", "updates", "persistence", "assess", "gate")
Json = Mapping[str, Any]
LoadCandidate = Callable[[str], Candidate]


def journal_metrics(events: Sequence[Json], load: LoadCandidate) -> dict[str, Any] | None:
    """Return the metrics of a run's task results with its plan, its points, its gate and its other execution models.

    Args:
        events: the journal's lines as mappings, in order.
        load: digest of a candidate to the candidate; a `RecordError` or `KeyError` means that it is gone.

    Returns:
        JSON values only, no NaN, as in `docs/harness-metrics.md`; None for a run without a schedule.
    """
    plan = next((event["data"] for event in events if event["kind"] == "schedule.planned"), None)
    if plan is None:
        return None
    results = RunResults(events)
    rows = results.rows()
    judged = judgement(code_results(rows))
    costs = cost_metrics(code_results(results.spent()))
    del costs["snapshots"]
    return {
        **harness_metrics(rows),
        "costs": costs,
        "plan": _plan(plan, events),
        "points": _points(events, load),
        "gate": _gate(plan, events),
        "collapses": [{**each, "reason": _reason(each["snapshot"], events)} for each in collapses(judged.tables)],
        "paired": {t.view: _paired(t, judged) for t in judged.tables if t.base is not None},
        "cross_model": {model: _under(results.rows(model)) for model in results.models},
    }


def _plan(plan: Json, events: Sequence[Json]) -> dict[str, Any]:
    """Return the settings of a schedule; `digest` says which runs were given the same tasks in the same batches."""
    started = next((event["data"] for event in events if event["kind"] == "run.started"), {})
    tasks = [plan["tasks"][handle] for batch in plan["batches"] for handle in batch["tasks"]]
    labels = [(task.get("domain"), task.get("source_benchmark")) for task in tasks]
    return {
        "digest": plan["digest"],
        **{name: plan.get(name) for name in _SETTINGS},
        "batches": len(plan["batches"]),
        "train_tasks": len({task["id"] for task in tasks}),
        "domains": sorted({domain for domain, _ in labels if domain}),
        "sources": sorted({source or domain for domain, source in labels if source or domain}),
        "execution": started.get("execution"),
    }


def _points(events: Sequence[Json], load: LoadCandidate) -> list[dict[str, Any]]:
    """Return the evaluation points; `changed` lists the files in which each differs from the one before."""
    points = next((e["data"]["points"] for e in reversed(events) if e["kind"] == "snapshots.frozen"), ())
    found: list[dict[str, Any]] = [{**point, "changed": None} for point in points]
    for before, after in pairwise(found):
        after["changed"] = _changed(before["candidate"], after["candidate"], load)
    return found


def _changed(before: str, after: str, load: LoadCandidate) -> list[dict[str, Any]] | None:
    if before == after:
        return []
    try:
        found = changes(load(before), load(after))
    except (RecordError, KeyError):
        return None
    return [{name: value for name, value in change.items() if name != "diff"} for change in found]


def _gate(plan: Json, events: Sequence[Json]) -> dict[str, Any]:
    """Return how many candidates were put to the contract gate, how many it refused, and why."""
    batch = 0
    reasons: dict[str, list[int]] = {}
    for event in events:
        data = event["data"]
        if event["kind"] == "batch.started":
            batch = data["number"]
        elif event["kind"] == "candidate.decided" and not data["accepted"] and data["reason"].startswith(REFUSED):
            reasons.setdefault(data["reason"].removeprefix(REFUSED), []).append(batch)
    canaries = plan.get("canaries") or 0
    return {
        "on": bool(plan.get("gate")),
        "canaries": canaries if isinstance(canaries, int) else len(canaries),
        "proposed": len({event["data"]["candidate"] for event in events if event["kind"] == "candidate.probed"}),
        "refused": sum(map(len, reasons.values())),
        "reasons": [{"reason": why, "count": len(where), "batches": where} for why, where in reasons.items()],
    }


def collapses(tables: Sequence[Grid]) -> list[dict[str, Any]]:
    """Return the snapshots at which execution success falls to 0 on a view: nothing that was solved before is solved.

    SEAGym (section 5.2 and appendix C.4) tells such a collapse, in which the harness no longer works, from forgetting.
    Snapshots are compared with the base on the tasks that both attempted.

    Returns:
        For each: `snapshot`, `train_batch_index`, `views` (those that fell, each with the number of tasks `lost`), `every`
        (no view is left on which it could have fallen and did not), and `recovered` (at the end of training, something is
        solved again on each of these views).
    """
    lost: dict[Snapshot, dict[str, int]] = {}
    able: Counter[Snapshot] = Counter()
    alive: dict[str, bool] = {}
    for table in tables:
        clean = table.solved & ~table.errored
        alive[table.view] = bool(clean[:, table.chain()[-1:]].any())
        for i, snapshot in enumerate(table.snapshots):
            attempted = ~np.isnan(table.score[:, i])
            before = 0 if table.base is None else int((clean[:, table.base] & attempted).sum())
            able[snapshot] += before > 0
            if before and not clean[:, i].any():
                lost.setdefault(snapshot, {})[table.view] = before
    return [
        {
            "snapshot": snapshot.name,
            "train_batch_index": snapshot.batch,
            "views": [{"view": view, "lost": count} for view, count in lost[snapshot].items()],
            "every": len(lost[snapshot]) == able[snapshot],
            "recovered": all(alive[view] for view in lost[snapshot]),
        }
        for snapshot in sorted(lost, key=lambda s: s.order)
    ]


def _reason(snapshot: str, events: Sequence[Json]) -> str | None:
    """Return the error that most attempts of a snapshot end with, over its views; None if most end without."""
    frozen = next((e["data"]["points"] for e in reversed(events) if e["kind"] == "snapshots.frozen"), ())
    candidates = {point["candidate"] for point in frozen if snapshot in (point["role"], point["name"])}
    judged = [e["data"] for e in events if e["kind"] == "snapshot.assessed" and not e["data"]["model"]]
    errors = Counter(error for data in judged if data["candidate"] in candidates for error in data["errors"])
    most, number = errors.most_common(1)[0] if errors else (None, 0)
    return most if 2 * number > errors.total() else None


def _paired(table: Grid, judged: Judgement) -> dict[str, Any]:
    """Return the scores by task that runs are compared by, of the base, the final snapshot and the best on validation."""
    roles = {role: index for role, index in judged.roles(table).items() if index is not None}
    return {
        "kind": table.kind,
        "tasks": list(table.tasks),
        "snapshots": {role: table.snapshots[index].name for role, index in roles.items()},
        "scores": {role: _listed(table.score[:, index]) for role, index in roles.items()},
    }


def _listed(scores: Floats) -> list[float | None]:
    return [None if np.isnan(score) else score for score in scores.tolist()]


def _under(rows: TaskRows) -> dict[str, Any]:
    """Return what the first and the last harness of a run are worth under another execution model, by view."""
    found: dict[str, Any] = {}
    for table in judgement(code_results(rows)).tables:
        base, final = table.base, table.final(None)
        if base is None or final is None:
            continue
        (row,) = gains_to_json([snapshot_gain(table, base, final)])
        compared = row["micro"] or {}
        found[table.view] = {
            "A_0": _micro(table, base),
            "A_T": _micro(table, final),
            "tasks": row["tasks"],
            "macro": {"A_0": macro_perf(table, base), "A_T": macro_perf(table, final)},
            **{name: compared.get(name) for name in ("difference", "ci", "p", "mde", "verdict")},
        }
    return found


def _micro(table: Grid, index: int) -> float | None:
    score = table.score[:, index]
    known = score[~np.isnan(score)]
    return float(known.mean()) if known.size else None
