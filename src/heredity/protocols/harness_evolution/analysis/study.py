"""Runs of harness evolution side by side: methods, with and without the contract gate, settings that were swept, models.

Everything is about gains: what a task scores with a later snapshot minus what it scores with the first one. Gains are averaged
over tasks, then over runs. Runs are compared task by task, and only with runs that were given the same batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from heredity.analysis.bounds import GAP, Interval, mean_bounds, share
from heredity.analysis.claims import Both, claims, compare
from heredity.analysis.samples import Clusters
from heredity.analysis.suite_table import coverage_of
from heredity.ids import canonical_json
from heredity.protocols.harness_evolution.analysis.coded import Floats
from heredity.protocols.harness_evolution.analysis.metrics import MEASURES, ROLES
from heredity.protocols.harness_evolution.analysis.paired import (
    asked_of,
    clusters_of,
    gains_table,
    over_runs,
    paired_gains,
)
from heredity.protocols.harness_evolution.analysis.under_models import model_rows
from heredity.protocols.harness_evolution.results import (
    Collapsed,
    GateCounts,
    GateEffect,
    HarnessRunResults,
    HarnessSuiteResults,
    Measured,
    Method,
    MethodComparison,
    Plan,
    RunGain,
    Spent,
    SpentPart,
    Sweep,
    SweepEntry,
    harness_of,
)
from heredity.protocols.harness_evolution.task_results import Cost, Costs, Of
from heredity.results.base import MissingBounds
from heredity.results.run import RunResults
from heredity.results.suite import Claim

SWEPT = ("batch_size", "epochs", "updates", "persistence", "sources")
"""Settings of a schedule whose effect a suite shows where they differ between runs that are otherwise alike."""

_MEASURES = {"validation": "UVG", **MEASURES}


@dataclass(frozen=True, slots=True)
class _Member:
    """A run of the suite, and its part."""

    run: RunResults
    harness: HarnessRunResults

    @property
    def plan(self) -> Plan:
        return self.harness.plan


Members = Sequence[_Member]


@dataclass(frozen=True, slots=True)
class _Measure:
    """What is compared: a measure on one view, of one snapshot against the first."""

    name: str
    view: str
    of: Of


@dataclass(frozen=True, slots=True)
class _Gap:
    """Two entries compared, before their p-value is corrected."""

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
        runs: their results; unfinished ones may be among them.
        labels: the evolver of each, told apart by its options and settings.
        ranked: whether gains are tested and methods compared; else they are shown as they are.

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
    """Compare a later snapshot with the first one, which is the same for all seeds."""
    strata = _by_taskset(scored)
    return compare(
        strata,
        tests,
        _bounds(measure, members),
        marked=True,
        cases=over_runs(strata),
        clusters=_clusters(scored, measure),
        least=coverage_of(member.run for member in members),
        asked=sum(map(len, _asked(measure, members))),
    )


def _asked(measure: _Measure, members: Members) -> list[set[str]]:
    """Return the tasks of a view that each run was asked; of one that came to none, as many as the others' most."""
    asked = [asked_of(member.harness.paired.get(measure.view), measure.of) for member in members]
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
    """Return what the missing scores of a run might make of its gain."""
    harness, view = member.harness, measure.view
    if measure.name == "UVG":
        chosen = harness.paired[view].snapshots[measure.of]
        gains = [gain for gain in harness.uvg[view].base if gain.after == chosen]
    else:
        gains = [row for row in harness.transfer if (row.view, row.of) == (view, measure.of)]
    return gains[0].if_missing if gains else None


def _bounds(measure: _Measure, members: Members) -> Interval | None:
    """Return what gains on a view can only lie between: -1 and 1 where all its scores are shares."""
    tables = (table for member in members if (table := member.harness.paired.get(measure.view)))
    return GAP if share(*(np.array(column, float) for table in tables for column in table.scores.values())) else None


def _by_taskset(scored: Sequence[tuple[_Member, Mapping[str, float]]]) -> list[Floats]:
    rows: dict[str, list[Mapping[str, float]]] = {}
    for member, row in scored:
        rows.setdefault(str(member.run.taskset), []).append(row)
    return [gains_table(own) for own in rows.values()]


def _clusters(scored: Scored, measure: _Measure) -> list[Clusters]:
    """Return what each task of the tables of `_by_taskset` was drawn with."""
    drawn: dict[str, dict[str, str | None]] = {}
    for member, row in scored:
        clusters = dict.fromkeys(row) | clusters_of(member.harness.paired.get(measure.view))
        drawn.setdefault(str(member.run.taskset), {}).update({task: clusters[task] for task in row})
    return [list(own.values()) for own in drawn.values()]


def _spent(members: Members) -> Spent:
    """Return the mean over runs of what training and updates cost; None where a run does not know all of it."""
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
    scored: Scored = []
    for plan, member in left.items():
        if plan in right:
            mine, theirs = _gains(member, measure), _gains(right[plan], measure)
            gaps = {task: gain - theirs[task] for task, gain in mine.items() if task in theirs}
            scored += [(member, gaps)] if gaps else []
    strata = _by_taskset(scored)
    # A difference between two gains is twice as wide as a gain.
    bounds = (2.0 * GAP[0], 2.0 * GAP[1]) if _bounds(measure, [*left.values(), *right.values()]) else None
    both = [plan for plan in left if plan in right]
    members = [*(left[plan] for plan in both), *(right[plan] for plan in both)]
    asked = _asked(measure, members)
    compared = compare(
        strata,
        tests,
        bounds,
        cases=over_runs(strata),
        clusters=_clusters(scored, measure),
        least=coverage_of(member.run for member in members),
        asked=sum(len(mine | theirs) for mine, theirs in zip(asked[: len(both)], asked[len(both) :], strict=True)),
    )
    if compared is None:
        return None
    tasks, unpaired = sum(table.shape[1] for table in strata), len(left) + len(right) - 2 * len(scored)
    return _Gap(entries, compared, len(scored), tasks, unpaired)


def _plan_of(member: _Member) -> tuple[Any, ...]:
    """Return what runs must share to be paired: the same tasks in the same batches."""
    return member.run.taskset, member.run.seed, member.plan.digest


def _family(member: _Member, name: str) -> bytes:
    """Identify what a run has in common with those that differ in one setting alone."""
    rest = {key: value for key, value in _varied(member).items() if key != name}
    return canonical_json([_name(member, name), member.run.evolver.options, rest])


def _varied(member: _Member) -> dict[str, str | int]:
    return {**member.plan.settings, "sources": "+".join(member.plan.sources)}


def _gates(own: Mapping[str, Members], ranked: bool) -> list[GateEffect]:
    """Return what the contract gate changes, for each entry that was run with and without it."""
    families: dict[bytes, dict[bool, str]] = {}
    for label, members in own.items():
        gate = members[0].plan.gate
        if gate is not None:
            families.setdefault(_family(members[0], "gate"), {})[gate] = label
    pairs = [(family[True], family[False]) for family in families.values() if len(family) == 2]
    rows = _compared(pairs, own) if ranked else []
    return [GateEffect(on=on, off=off, gains=tuple(r for r in rows if (r.a, r.b) == (on, off))) for on, off in pairs]


def _sweeps(members: Members, ranked: bool) -> list[Sweep]:
    """Return the settings that were varied, with the gains at each value; each run is judged on its own views."""
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
    """Return the name of a run's evolver without a setting that its suite has put there."""
    value = str(getattr(member.plan, setting)).lower()
    return str(member.run.evolver.name).replace(f"-{setting}={value}", "")


def _sort_key(value: str | int) -> tuple[int, str]:
    """Return what values are sorted by: numbers, then sources, fewer first."""
    return (value, "") if isinstance(value, int) else (value.count("+"), value)
