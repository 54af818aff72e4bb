"""The yield: each phase among those that passed the phases before, intervals where anything is compared, where repairs went."""

from __future__ import annotations

import pytest

from heredity.analysis.samples import wilson
from heredity.kinds.world.gates.build import ALL
from heredity.protocols.world_generation.judge import GatesExecuted
from heredity.protocols.world_generation.metrics import (
    BuildRow,
    FindingRow,
    GateRow,
    GenerationRun,
    _faults,
    _gates,
    _repairs,
    _yield,
)


def finding(gate: str, kind: str) -> FindingRow:
    return FindingRow(gate=gate, kind=kind, message="seen", count=1)


def built(*found: list[tuple[str, str]]) -> list[BuildRow]:
    rows = [[finding(*one) for one in findings] for findings in found]
    return [
        BuildRow(index=n, candidate="", status="ok", passed=6 - len(row), gates=6, findings=row, changed=[])
        for n, row in enumerate(rows, 1)
    ]


def part(failed: dict[str, str], builds: list[BuildRow] | None = None, cost: float | None = 2.0) -> GenerationRun:
    gates = [
        GateRow(gate=gate, passed=gate not in failed, findings=[finding(gate, failed[gate])] if gate in failed else [])
        for gate in ALL
    ]
    builds = builds or []
    return GenerationRun(
        world="maze", theme="a maze", source="given", reviewed="", builds=builds, repairs=_repairs(builds), stages=[],
        gates=gates, admitted=not failed, first_failed=next(iter(failed), ""), tokens=1, cost_usd=cost,
    )  # fmt: skip


def test_phases_count_among_those_that_passed_the_ones_before() -> None:
    parts = [part({})] * 6 + [part({"execution": "crash", "levels": "duplicate"}), part({"levels": "duplicate"})]
    parts += [part({"reliability": "no difference"}), part({"leak": "written out", "reward": "farmable"})]
    row = _yield("all", parts, ranked=True)
    assert [(s.hits, s.of) for s in (row.execution, row.levels, row.reliability, row.novel, row.overall)] == [
        (9, 10), (8, 9), (6, 8), (6, 6), (6, 10),
    ]  # fmt: skip
    assert row.overall.interval == wilson(6, 10)
    assert row.cost_usd == 2.0
    assert _yield("all", parts, ranked=False).overall.interval is None


def test_a_cost_that_is_unknown_of_one_is_unknown_of_all() -> None:
    assert _yield("all", [part({}), part({}, cost=None)], ranked=True).cost_usd is None


def test_a_run_without_gates_passes_nothing() -> None:
    nothing = part({}).model_copy(update={"gates": [], "admitted": False})
    row = _yield("all", [nothing], ranked=True)
    assert (row.execution.hits, row.levels.of, row.levels.interval, row.overall.hits) == (0, 0, None, 0)


def test_a_world_whose_build_was_ended_from_one_seed_passes_no_phase_for_what_another_seed_gave() -> None:
    reports = [{"gate": gate, "passed": True, "findings": [], "figures": {}} for gate in ALL]
    fields = {"candidate": "", "task": "", "certificate": None, "levels": None}
    ended = GatesExecuted(**fields, passed=False, status="rollout_timeout", reports=[])
    ok = GatesExecuted(**fields, passed=True, status="ok", reports=reports)
    rows = _gates([ok, ended])
    assert [(row.gate, row.passed) for row in rows] == [(gate, gate != ALL[0]) for gate in ALL]
    assert rows[0].kinds == ["rollout_timeout"]
    judged = part({}).model_copy(update={"gates": rows, "admitted": False})
    assert _yield("all", [judged], ranked=True).execution.hits == 0


@pytest.mark.parametrize(
    ("found", "mended"),
    [
        ([[("format", "a")], []], [True]),
        ([[("format", "a")], [("format", "b")]], [True, False]),
        ([[("format", "a")], [("build", "rules")]], [False, False]),
        ([[("build", "rules")], [("leak", "c")]], [True, False]),
        ([], []),
    ],
)
def test_a_fault_is_mended_where_the_last_build_lacks_it_and_is_a_world(
    found: list[list[tuple[str, str]]], mended: list[bool]
) -> None:
    assert [row.mended for row in _repairs(built(*found))] == mended


def test_faults_are_counted_by_what_became_of_them() -> None:
    mended = part({}, built([("leak", "c")], [("leak", "c")], []))
    kept = part({"leak": "c"}, built([("leak", "c")]))
    hidden = part({"reliability": "no difference"}, built([]))
    rows = {(row.gate, row.kind): row for row in _faults([mended, kept, hidden])}
    leak, order = rows["leak", "c"], rows["reliability", "no difference"]
    assert (leak.worlds, leak.builds, leak.mended, leak.at_the_end) == (2, 3, 1, 1)
    assert (order.worlds, order.builds, order.mended, order.at_the_end) == (1, 0, 0, 1)
