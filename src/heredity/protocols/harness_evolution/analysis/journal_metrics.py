"""What results of a run of harness evolution say beside what every run's do, from its journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from heredity.analysis.changes import changes
from heredity.errors import RecordError
from heredity.protocols.harness_evolution.analysis.coded import Floats, Snapshot, code_results
from heredity.protocols.harness_evolution.analysis.costs import cost_metrics
from heredity.protocols.harness_evolution.analysis.grids import Grid, macro_perf, micro_perf
from heredity.protocols.harness_evolution.analysis.metrics import Judgement, harness_metrics, judgement
from heredity.protocols.harness_evolution.analysis.paired import gains
from heredity.protocols.harness_evolution.analysis.records import JournalRows
from heredity.protocols.harness_evolution.analysis.rows import TaskRows
from heredity.protocols.harness_evolution.events import SNAPSHOT_ASSESSED, SNAPSHOTS_FROZEN
from heredity.protocols.harness_evolution.results import (
    BeforeAfter,
    Collapse,
    CollapsedView,
    FileChange,
    Gate,
    GateReason,
    HarnessRunResults,
    Paired,
    Plan,
    Point,
    UnderModel,
)
from heredity.records.events import BATCH_STARTED, CANDIDATE_DECIDED, CANDIDATE_PROBED, RUN_STARTED, SCHEDULE_PLANNED
from heredity.resources import Candidate
from heredity.results.coverage import COVERAGE

REFUSED = "contract gate: "
"""What the reason of a decision begins with that the contract gate turned down."""

_SETTINGS = ("seed", "batch_size", "epochs", "updates", "persistence", "assess", "gate")
Json = Mapping[str, Any]
LoadCandidate = Callable[[str], Candidate]


def journal_metrics(events: Sequence[Json], load: LoadCandidate) -> HarnessRunResults | None:
    """Return the metrics of a run's task results with its plan, its points, its gate and its other execution models.

    Args:
        events: the journal's lines as mappings, in order.
        load: digest of a candidate to the candidate; a `RecordError` or `KeyError` means that it is gone.

    Returns:
        The results (`docs/harness-metrics.md`); None for a run without a schedule.
    """
    plan = next((event["data"] for event in events if event["kind"] == SCHEDULE_PLANNED.name), None)
    if plan is None:
        return None
    recorded = JournalRows(events)
    rows = recorded.rows()
    least = started_of(events).get("coverage", COVERAGE)
    judged = judgement(code_results(rows), least=least)
    costs, _ = cost_metrics(code_results(recorded.spent()))
    return HarnessRunResults(
        **dict(harness_metrics(rows, least=least).model_copy(update={"costs": costs})),
        plan=_plan(plan, events),
        points=_points(events, load),
        gate=_gate(plan, events),
        collapses=tuple(
            fallen.model_copy(update={"reason": _reason(fallen.snapshot, events)})
            for fallen in collapses(judged.tables)
        ),
        paired={t.view: _paired(t, judged) for t in judged.tables if t.base is not None},
        cross_model={model: _under(recorded.rows(model), least) for model in recorded.models},
    )


def _plan(plan: Json, events: Sequence[Json]) -> Plan:
    tasks = [plan["tasks"][task_index] for batch in plan["batches"] for task_index in batch["tasks"]]
    labels = [(task.get("domain"), task.get("source_benchmark")) for task in tasks]
    return Plan(
        digest=plan["digest"],
        **{name: plan.get(name) for name in _SETTINGS},
        batches=len(plan["batches"]),
        train_tasks=len({task["id"] for task in tasks}),
        domains=tuple(sorted({domain for domain, _ in labels if domain})),
        sources=tuple(sorted({source or domain for domain, source in labels if source or domain})),
        execution=started_of(events).get("execution"),
    )


def started_of(events: Sequence[Json]) -> Json:
    """Return the data of `run.started`; empty without it."""
    return next((event["data"] for event in events if event["kind"] == RUN_STARTED.name), {})


def _frozen(events: Sequence[Json]) -> Sequence[Json]:
    return next((e["data"]["points"] for e in reversed(events) if e["kind"] == SNAPSHOTS_FROZEN.name), ())


def _points(events: Sequence[Json], load: LoadCandidate) -> tuple[Point, ...]:
    points = _frozen(events)
    changed = [_changed(before["candidate"], after["candidate"], load) for before, after in pairwise(points)]
    return tuple(Point(**point, changed=files) for point, files in zip(points, [None, *changed], strict=False))


def _changed(before: str, after: str, load: LoadCandidate) -> tuple[FileChange, ...] | None:
    if before == after:
        return ()
    try:
        files = changes(load(before), load(after))
    except (RecordError, KeyError):
        return None
    return tuple(FileChange(**file.model_dump(exclude={"diff"})) for file in files)


def _gate(plan: Json, events: Sequence[Json]) -> Gate:
    """Return how many candidates were put to the contract gate, how many it refused, and why."""
    batch = 0
    reasons: dict[str, list[int]] = {}
    for event in events:
        data = event["data"]
        if event["kind"] == BATCH_STARTED.name:
            batch = data["number"]
        elif event["kind"] == CANDIDATE_DECIDED.name and not data["accepted"] and data["reason"].startswith(REFUSED):
            reasons.setdefault(data["reason"].removeprefix(REFUSED), []).append(batch)
    canaries = plan.get("canaries") or 0
    return Gate(
        on=bool(plan.get("gate")),
        canaries=canaries if isinstance(canaries, int) else len(canaries),
        proposed=len({event["data"]["candidate"] for event in events if event["kind"] == CANDIDATE_PROBED.name}),
        refused=sum(map(len, reasons.values())),
        reasons=tuple(
            GateReason(reason=reason, count=len(batches), batches=tuple(batches)) for reason, batches in reasons.items()
        ),
    )


def collapses(tables: Sequence[Grid]) -> list[Collapse]:
    """Return the snapshots at which execution success falls to 0 on a view: nothing that was solved before is solved.

    SEAGym (section 5.2 and appendix C.4) tells such a collapse, in which the harness no longer works, from forgetting.
    Snapshots are compared with the base on the tasks that both attempted.

    Returns:
        For each, `views` (those that fell), `every` (no view is left on which it could have fallen and did not), and
        `recovered` (at the end of training, something is solved again on each of these views); `reason` is not known here.
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
        Collapse(
            snapshot=snapshot.name,
            train_batch_index=snapshot.batch,
            views=tuple(CollapsedView(view=view, lost=count) for view, count in lost[snapshot].items()),
            every=len(lost[snapshot]) == able[snapshot],
            recovered=all(alive[view] for view in lost[snapshot]),
            reason=None,
        )
        for snapshot in sorted(lost, key=lambda s: s.order)
    ]


def _reason(snapshot: str, events: Sequence[Json]) -> str | None:
    """Return the error that most rollouts of a snapshot end with, over its views; None if most end without."""
    candidates = {point["candidate"] for point in _frozen(events) if snapshot in (point["role"], point["name"])}
    judged = [e["data"] for e in events if e["kind"] == SNAPSHOT_ASSESSED.name and not e["data"]["model"]]
    errors = Counter(error for data in judged if data["candidate"] in candidates for error in data["errors"])
    most, number = errors.most_common(1)[0] if errors else (None, 0)
    return most if 2 * number > errors.total() else None


def _paired(table: Grid, judged: Judgement) -> Paired:
    roles = judged.roles(table)
    return Paired(
        kind=table.kind,
        tasks=table.tasks,
        snapshots={role: table.snapshots[index].name for role, index in roles.items()},
        scores={role: _listed(table.score[:, index]) for role, index in roles.items()},
        clusters=table.clusters if any(c is not None for c in table.clusters) else None,
        unasked={
            role: tuple(
                task for task, untrained in zip(table.tasks, table.untrained[:, index], strict=True) if untrained
            )
            for role, index in roles.items()
            if table.untrained[:, index].any()
        },
    )


def _listed(scores: Floats) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(score) else score for score in scores.tolist())


def _under(rows: TaskRows, least: float) -> dict[str, UnderModel]:
    """Return what the first and the last harness of a run are worth under another execution model, by view."""
    views: dict[str, UnderModel] = {}
    for table in judgement(code_results(rows), least=least).tables:
        base, final = table.base, table.final(None)
        if base is None or final is None:
            continue
        (gain,) = gains([table.pair(base, final)], least)
        micro = gain.micro
        views[table.view] = UnderModel(
            A_0=micro_perf(table, base),
            A_T=micro_perf(table, final),
            tasks=gain.tasks,
            macro=BeforeAfter(A_0=macro_perf(table, base), A_T=macro_perf(table, final)),
            difference=micro and micro.difference,
            ci=micro and micro.ci,
            p=micro and micro.p,
            mde=micro and micro.mde,
            verdict=micro and micro.verdict,
            because=micro and micro.because,
        )
    return views
