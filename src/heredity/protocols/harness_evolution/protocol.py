"""Harness evolution (SEAGym): a harness is updated on batches of tasks, and its frozen snapshots are judged on every view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from heredity._core.errors import RecordError
from heredity._core.ids import canonical_json
from heredity.analysis.claims import Both, claims, compare
from heredity.analysis.contract import CommonMetrics, RunEvidence, SuiteEvidence
from heredity.analysis.run_results import changes
from heredity.analysis.samples import GAP, Clusters, Interval, mean_bounds, share
from heredity.analysis.suite_table import coverage_of
from heredity.configuration.sections import ModelLimitsSection, OpenBudgetSection
from heredity.protocols.contract import Protocol
from heredity.protocols.harness_evolution.analysis.coded import Floats, Snapshot, code_results
from heredity.protocols.harness_evolution.analysis.grids import Grid, cost_metrics, macro_perf, micro_perf
from heredity.protocols.harness_evolution.analysis.metrics import (
    MEASURES,
    ROLES,
    Judgement,
    harness_metrics,
    judgement,
    model_rows,
)
from heredity.protocols.harness_evolution.analysis.paired import (
    common_tasks,
    gains,
    gains_table,
    over_runs,
    paired_gains,
    task_clusters,
)
from heredity.protocols.harness_evolution.analysis.rows import TaskRows
from heredity.protocols.harness_evolution.annotation import JournalRows
from heredity.protocols.harness_evolution.judge import HarnessSetting, selected
from heredity.protocols.harness_evolution.results import (
    BeforeAfter,
    Collapse,
    Collapsed,
    CollapsedView,
    FileChange,
    Gate,
    GateCounts,
    GateEffect,
    GateReason,
    HarnessRunResults,
    HarnessSuiteResults,
    Measured,
    Method,
    MethodComparison,
    Paired,
    Plan,
    Point,
    RunGain,
    Spent,
    SpentPart,
    Sweep,
    SweepEntry,
    UnderModel,
    harness_of,
)
from heredity.protocols.harness_evolution.run_sections import run_sections
from heredity.protocols.harness_evolution.suite_sections import suite_sections
from heredity.protocols.harness_evolution.task_results import Cost, Costs, Of
from heredity.protocols.harness_evolution.terms import (
    EVENTS,
    NAME,
    SNAPSHOT_ASSESSED,
    SNAPSHOTS_FROZEN,
    HarnessRunSection,
    HarnessSolverSection,
    HarnessViewsSection,
    ScheduleSection,
    TransferSection,
)
from heredity.protocols.shared.commit_report import WORDS as COMMITTED
from heredity.protocols.shared.commit_report import CommitReport
from heredity.records.events import BATCH_STARTED, CANDIDATE_DECIDED, CANDIDATE_PROBED, RUN_STARTED, SCHEDULE_PLANNED
from heredity.resources import Candidate
from heredity.results import text
from heredity.results.base import COVERAGE, MissingBounds, Result
from heredity.results.page import Section
from heredity.results.report import Words, tones
from heredity.results.run import RunResults
from heredity.results.suite import Claim, SuiteResults

SWEPT = ("batch_size", "epochs", "updates", "persistence", "sources")
"""Schedule settings whose effect a suite shows when they vary between otherwise identical runs."""

_MEASURES = {"validation": "UVG", **MEASURES}


@dataclass(frozen=True, slots=True)
class _Member:
    """A run of the suite, with its part of the results."""

    run: RunResults
    harness: HarnessRunResults

    @property
    def plan(self) -> Plan:
        return self.harness.plan


Members = Sequence[_Member]


@dataclass(frozen=True, slots=True)
class _Measure:
    """A compared quantity: a measure on one view, of one snapshot against the first."""

    name: str
    view: str
    of: Of


@dataclass(frozen=True, slots=True)
class _Gap:
    """Two compared entries, before their p-value is corrected."""

    entries: tuple[str, str]
    compared: Both
    pairs: int
    tasks: int
    unpaired: int


def harness_study(
    runs: Sequence[RunResults], labels: Sequence[str], *, ranked: bool = True
) -> HarnessSuiteResults | None:
    """Compare the runs of a suite.

    Args:
        runs: their results; runs may be unfinished.
        labels: the evolver of each, told apart by its options and settings.
        ranked: True to test gains and compare methods (otherwise gains are shown as they are).

    Returns:
        The comparison (`docs/harness-metrics.md`); None if no run has a schedule.
    """
    own: dict[str, list[_Member]] = {}
    for run, label in zip(runs, labels, strict=True):
        harness = harness_of(run)
        if harness is not None:
            own.setdefault(label, []).append(_Member(run, harness))
    if not own:
        return None
    alike = [(a, b) for a, b in combinations(own, 2) if own[a][0].plan.settings == own[b][0].plan.settings]
    return HarnessSuiteResults(
        methods=tuple(_methods(own, ranked)),
        comparisons=tuple(_compared(alike, own)) if ranked else (),
        gate=tuple(_gates(own, ranked)),
        sweeps=tuple(_sweeps([member for members in own.values() for member in members], ranked)),
        cross_model=tuple(
            row
            for label, members in own.items()
            for row in model_rows(label, [m.harness for m in members], ranked=ranked)
        ),
    )


def _measures(members: Members) -> list[_Measure]:
    views = {view: table.kind for member in members for view, table in member.harness.paired.items()}
    kinds = list(_MEASURES)
    ordered = sorted((v for v in views if views[v] in _MEASURES), key=lambda v: (kinds.index(views[v]), v))
    return [_Measure(_MEASURES[views[view]], view, of) for view in ordered for of in ROLES]


def _gains(member: _Member, measure: _Measure) -> dict[str, float]:
    return paired_gains(member.harness.paired.get(measure.view), measure.of)


def _methods(own: Mapping[str, Members], ranked: bool) -> list[Method]:
    """Return each entry with its gains; tests are Holm-corrected for each measure over the entries."""
    measured: dict[str, list[Measured]] = {label: [] for label in own}
    for measure in _measures([member for members in own.values() for member in members]):
        rows = {label: _scored(measure, members) for label, members in own.items()}
        compared = {label: both for label in own if (both := _gained(measure, own[label], rows[label], len(own)))}
        claimed = claims(list(compared.values()))
        for (label, both), pair in zip(compared.items(), claimed, strict=True):
            measured[label].append(_measured(measure, rows[label], both, pair if ranked else (None, None)))
    return [_method(label, members, tuple(measured[label])) for label, members in own.items()]


def _method(label: str, members: Members, measures: tuple[Measured, ...]) -> Method:
    fallen = [member.harness.collapses for member in members]
    gates = [member.harness.gate for member in members]
    return Method(
        evolver=label,
        runs=len(members),
        settings=members[0].plan.settings,
        measures=measures,
        collapsed=Collapsed(
            runs=sum(bool(collapses) for collapses in fallen),
            snapshots=sum(map(len, fallen)),
            whole=sum(collapse.every for collapses in fallen for collapse in collapses),
            unrecovered=sum(any(not collapse.recovered for collapse in collapses) for collapses in fallen),
        ),
        gate=GateCounts(proposed=sum(gate.proposed for gate in gates), refused=sum(gate.refused for gate in gates)),
        spent=_spent(members),
    )


Scored = list[tuple[_Member, Mapping[str, float]]]
"""Runs with the gains of their tasks."""


def _scored(measure: _Measure, members: Members) -> Scored:
    return [(member, row) for member in members if (row := _gains(member, measure))]


def _gained(measure: _Measure, members: Members, scored: Scored, tests: int) -> Both | None:
    """Compare a later snapshot with the first one, which all seeds share."""
    strata = _by_taskset(scored)
    return compare(
        strata,
        tests,
        _bounds(measure, members),
        cases=over_runs(strata),
        clusters=_clusters(scored, measure),
        least=coverage_of(member.run for member in members),
        asked=sum(map(len, _tasks_asked(measure, members))),
    )


def _tasks_asked(measure: _Measure, members: Members) -> list[set[str]]:
    """Return the tasks of a view that each run was judged on; a run without any counts as the largest of the others."""
    asked = [common_tasks(member.harness.paired.get(measure.view), measure.of) for member in members]
    most = max(asked, key=len, default=set[str]())
    return [own or most for own in asked]


def _measured(
    measure: _Measure, scored: Scored, both: Both, claimed: tuple[Claim, Claim] | tuple[None, None]
) -> Measured:
    mean = both.candidates.difference
    return Measured(
        measure=measure.name,
        view=measure.view,
        of=measure.of,
        mean=mean,
        evolvers=claimed[0],
        candidates=claimed[1],
        forgetting=max(0.0, -mean) if measure.name == "FR" else None,
        tasks=sum(table.shape[1] for table in _by_taskset(scored)),
        runs=tuple(
            RunGain(run_id=member.run.run_id, seed=member.run.seed, gain=float(np.mean(list(row.values()))))
            for member, row in scored
        ),
        if_missing=mean_bounds(
            [float(np.mean(list(row.values()))) for _, row in scored],
            [_lacking(member, measure) for member, _ in scored],
        ),
    )


def _lacking(member: _Member, measure: _Measure) -> MissingBounds | None:
    """Return the bounds of a run's gain over all values of its missing scores."""
    harness, view = member.harness, measure.view
    if measure.name == "UVG":
        chosen = harness.paired[view].snapshots[measure.of]
        gains = [gain for gain in harness.uvg[view].base if gain.after == chosen]
    else:
        gains = [row for row in harness.transfer if (row.view, row.of) == (view, measure.of)]
    return gains[0].if_missing if gains else None


def _bounds(measure: _Measure, members: Members) -> Interval | None:
    """Return the bounds of gains on a view: -1 and 1 if all its scores are shares."""
    tables = (table for member in members if (table := member.harness.paired.get(measure.view)))
    return GAP if share(*(np.array(column, float) for table in tables for column in table.scores.values())) else None


def _by_taskset(scored: Sequence[tuple[_Member, Mapping[str, float]]]) -> list[Floats]:
    rows: dict[str, list[Mapping[str, float]]] = {}
    for member, row in scored:
        rows.setdefault(str(member.run.taskset), []).append(row)
    return [gains_table(own) for own in rows.values()]


def _clusters(scored: Scored, measure: _Measure) -> list[Clusters]:
    """Return the cluster of each task in the tables of `_by_taskset`."""
    drawn: dict[str, dict[str, str | None]] = {}
    for member, row in scored:
        clusters = dict.fromkeys(row) | task_clusters(member.harness.paired.get(measure.view))
        drawn.setdefault(str(member.run.taskset), {}).update({task: clusters[task] for task in row})
    return [list(own.values()) for own in drawn.values()]


def _spent(members: Members) -> Spent:
    """Return the mean cost of training and updates over runs; None if any run's cost is partly unknown."""
    costs = [member.harness.costs for member in members]
    return Spent(
        train=_spent_part([c.views.get("train") for c in costs]), update=_spent_part([c.update for c in costs])
    )


def _spent_part(costs: Sequence[Costs | None]) -> SpentPart:
    return SpentPart(
        tokens=_mean([c and c.tokens for c in costs]),
        wall_time=_mean([c and c.wall_time for c in costs]),
        cost_usd=_mean([c and c.cost_usd for c in costs]),
    )


def _mean(costs: Sequence[Cost | None]) -> float | None:
    totals = [total for cost in costs if cost and (total := cost.whole) is not None]
    return float(np.mean(totals)) if totals and len(totals) == len(costs) else None


def _compared(entries: Sequence[tuple[str, str]], own: Mapping[str, Members]) -> list[MethodComparison]:
    """Compare gains of two entries, by task; tests are Holm-corrected for each measure over the pairs of entries."""
    rows: list[MethodComparison] = []
    for measure in _measures([member for a, b in entries for member in (*own[a], *own[b])]):
        gaps = [gap for pair in entries if (gap := _difference(measure, pair, own, len(entries)))]
        claimed = claims([gap.compared for gap in gaps])
        rows += [_comparison(measure, gap, *pair) for gap, pair in zip(gaps, claimed, strict=True)]
    return rows


def _comparison(measure: _Measure, gap: _Gap, evolvers: Claim, candidates: Claim) -> MethodComparison:
    return MethodComparison(
        a=gap.entries[0],
        b=gap.entries[1],
        measure=measure.name,
        view=measure.view,
        of=measure.of,
        difference=gap.compared.candidates.difference,
        evolvers=evolvers,
        candidates=candidates,
        pairs=gap.pairs,
        tasks=gap.tasks,
        unpaired=gap.unpaired,
    )


def _difference(measure: _Measure, entries: tuple[str, str], own: Mapping[str, Members], tests: int) -> _Gap | None:
    left, right = ({_plan_of(member): member for member in own[label]} for label in entries)
    scored, first, second = _matched(measure, left, right)
    strata = _by_taskset(scored)
    # A difference between two gains spans twice the range of a gain.
    bounds = (2.0 * GAP[0], 2.0 * GAP[1]) if _bounds(measure, [*left.values(), *right.values()]) else None
    both = [plan for plan in left if plan in right]
    members = [*(left[plan] for plan in both), *(right[plan] for plan in both)]
    asked = _tasks_asked(measure, members)
    compared = compare(
        strata,
        tests,
        bounds,
        sides=list(zip(_by_taskset(first), _by_taskset(second), strict=True)),
        cases=over_runs(strata),
        clusters=_clusters(scored, measure),
        least=coverage_of(member.run for member in members),
        asked=sum(len(mine | theirs) for mine, theirs in zip(asked[: len(both)], asked[len(both) :], strict=True)),
    )
    if compared is None:
        return None
    tasks, unpaired = sum(table.shape[1] for table in strata), len(left) + len(right) - 2 * len(scored)
    return _Gap(entries, compared, len(scored), tasks, unpaired)


def _matched(
    measure: _Measure, left: Mapping[Any, _Member], right: Mapping[Any, _Member]
) -> tuple[Scored, Scored, Scored]:
    """Return the differences between the gains of runs with the same plan, and the gains of either side on the same tasks."""
    scored: Scored = []
    first: Scored = []
    second: Scored = []
    for plan, member in left.items():
        mine, theirs = _gains(member, measure), _gains(right[plan], measure) if plan in right else {}
        if common := [task for task in mine if task in theirs]:
            scored.append((member, {task: mine[task] - theirs[task] for task in common}))
            first.append((member, {task: mine[task] for task in common}))
            second.append((member, {task: theirs[task] for task in common}))
    return scored, first, second


def _plan_of(member: _Member) -> tuple[Any, ...]:
    """Return the properties that runs must share to be paired: the same tasks in the same batches."""
    return member.run.taskset, member.run.seed, member.plan.digest


def _family(member: _Member, name: str) -> bytes:
    """Return the key of a run that runs differing in one setting share."""
    rest = {key: value for key, value in _varied(member).items() if key != name}
    return canonical_json([_name(member, name), member.run.evolver.options, rest])


def _varied(member: _Member) -> dict[str, str | int]:
    return {**member.plan.settings, "sources": "+".join(member.plan.sources)}


def _gates(own: Mapping[str, Members], ranked: bool) -> list[GateEffect]:
    """Return the effect of the contract gate, for each entry that was run with and without it."""
    families: dict[bytes, dict[bool, str]] = {}
    for label, members in own.items():
        gate = members[0].plan.gate
        if gate is not None:
            families.setdefault(_family(members[0], "gate"), {})[gate] = label
    pairs = [(family[True], family[False]) for family in families.values() if len(family) == 2]
    rows = _compared(pairs, own) if ranked else []
    return [GateEffect(on=on, off=off, gains=tuple(r for r in rows if (r.a, r.b) == (on, off))) for on, off in pairs]


def _sweeps(members: Members, ranked: bool) -> list[Sweep]:
    """Return the varied settings, with the gains at each value; each run is judged on the views of its configuration."""
    sweeps: list[Sweep] = []
    for name in SWEPT:
        families: dict[bytes, dict[str | int, list[_Member]]] = {}
        for member in members:
            value = _varied(member).get(name)
            if value is not None:
                families.setdefault(_family(member, name), {}).setdefault(value, []).append(member)
        for family in families.values():
            if len(family) > 1:
                methods = _methods({str(value): own for value, own in family.items()}, ranked)
                entries = [SweepEntry(value=v, **dict(method)) for v, method in zip(family, methods, strict=True)]
                entries.sort(key=lambda entry: _sort_key(entry.value))
                first = next(iter(family.values()))[0]
                sweeps.append(Sweep(key=name, evolver=_name(first, name), entries=tuple(entries)))
    return sweeps


def _name(member: _Member, setting: str) -> str:
    """Return the name of a run's evolver without a setting added by its suite."""
    value = str(getattr(member.plan, setting)).lower()
    return str(member.run.evolver.name).replace(f"-{setting}={value}", "")


def _sort_key(value: str | int) -> tuple[int, str]:
    """Return the sort key of values: numbers, then sources, fewer first."""
    return (value, "") if isinstance(value, int) else (value.count("+"), value)


REFUSED = "contract gate: "
"""Prefix of the reason of a decision that the contract gate refused."""

_SETTINGS = ("seed", "batch_size", "epochs", "updates", "persistence", "assess", "gate")
Json = Mapping[str, Any]
LoadCandidate = Callable[[str], Candidate]


def journal_metrics(events: Sequence[Json], load: LoadCandidate) -> HarnessRunResults | None:
    """Return the metrics of a run's task results with its plan, its points, its gate and its other execution models.

    Args:
        events: the journal's lines as mappings, in order.
        load: digest of a candidate to the candidate; a `RecordError` or `KeyError` means that it is lost.

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
    """Return the number of candidates checked and refused by the contract gate, and the reasons."""
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
    """Return the snapshots at which execution success falls to 0 on a view: every task solved before fails.

    SEAGym (section 5.2 and appendix C.4) distinguishes such a collapse, in which the harness no longer works, from
    forgetting. Snapshots are compared with the base on the tasks for which both have a score.

    Returns:
        For each, `views` (the collapsed views), `every` (True if no view remains that could have collapsed and did not), and
        `recovered` (True if a task is solved again on each of these views at the end of training); `reason` is left out.
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
    """Return the most common final error of a snapshot's rollouts over its views; None if most end without one."""
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
    """Return the scores of the first and last harness under another execution model, by view."""
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


WORDS = replace(
    COMMITTED,
    score="score",
    product="harness",
    products="harnesses",
    foot="Snapshots are judged apart and never pooled. The evolver saw only its train batches; no view was fed back.",
)


@dataclass(frozen=True)
class HarnessReport(CommitReport):
    """The report of harness evolution: snapshots and gains, then commits."""

    words: Words = WORDS

    def run(self, run: RunResults) -> list[Section]:
        """Return the sections of a run's page."""
        harness = harness_of(run)
        return [*(run_sections(run, harness) if harness else ()), *super().run(run)]

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return the sections of a suite's page."""
        own: list[Section] = []
        if isinstance(suite.part, HarnessSuiteResults):
            interval_name = f"{text.percent(suite.confidence)} interval"
            own = suite_sections(suite.part, runs, tones(suite, runs), interval_name)
        return [*own, *super().suite(suite, runs)]


REPORT = HarnessReport()


@dataclass(frozen=True)
class HarnessMetrics(CommonMetrics):
    """The parts of harness evolution."""

    run_part: type[Result] | None = HarnessRunResults
    suite_part: type[Result] | None = HarnessSuiteResults

    def of_run(self, evidence: RunEvidence) -> HarnessRunResults | None:
        """Return the metrics of a run's journal; None for a run without a schedule."""
        return journal_metrics(evidence.events, evidence.load_candidate)

    def of_suite(self, evidence: SuiteEvidence) -> HarnessSuiteResults | None:
        """Compare the runs of a suite; None if none has a schedule."""
        return harness_study(evidence.runs, evidence.labels, ranked=evidence.ranked)

    def settings(self, run: RunResults) -> Mapping[str, Any]:
        """Return the schedule settings that tell runs of one method apart."""
        harness = harness_of(run)
        return {} if harness is None else harness.plan.settings


METRICS = HarnessMetrics()


PROTOCOL = Protocol(
    name=NAME,
    summary="frozen snapshots on update-validation, ID, OOD and replay, never pooled",
    setting=HarnessSetting(),
    sections={
        "run": HarnessRunSection,
        "budget": OpenBudgetSection,
        "limits": ModelLimitsSection,
        "solver": HarnessSolverSection,
        "views": HarnessViewsSection,
        "schedule": ScheduleSection,
        "transfer": TransferSection,
    },
    baselines=("static",),
    metrics=METRICS,
    report=REPORT,
    events=EVENTS,
    selection=selected,
)
