from __future__ import annotations

import pytest
from tests.protocols.harness_evolution.analysis.journals import HarnessJournal, Told

from heredity.protocols.harness_evolution.protocol import journal_metrics
from heredity.protocols.harness_evolution.results import CollapsedView, Gate, GateReason, HarnessRunResults

REASON = "middleware/guard.py: after_model gave None, and a Reply was expected"


def metrics(journal: HarnessJournal) -> HarnessRunResults:
    run_metrics = journal_metrics(journal.lines, journal.load)
    assert run_metrics is not None
    return run_metrics


def test_only_runs_with_a_schedule_have_them() -> None:
    journal = HarnessJournal(Told())
    assert journal.results().part is not None
    others = [line for line in journal.lines if line["kind"] != "schedule.planned"]
    assert journal_metrics(others, journal.load) is None


def test_snapshots_are_named_by_their_roles_and_gains_are_between_the_first_and_the_last() -> None:
    run_metrics = metrics(HarnessJournal(Told()))
    assert [s.name for s in run_metrics.snapshots] == ["A_0", "E_1", "E_2", "E_3", "A_T"]
    final = [row for row in run_metrics.transfer if row.of == "final"]
    assert [(row.metric, row.before, row.after, row.tasks) for row in final] == [
        ("IDG", "A_0", "A_T", 16), ("OODG", "A_0", "A_T", 10), ("FR", "A_0", "A_T", 20),
    ]  # fmt: skip


def test_the_gain_on_id_is_the_runs_gain() -> None:
    journal = HarnessJournal(Told())
    whole = journal.results()
    (row,) = [r for r in whole.part.transfer if (r.metric, r.of) == ("IDG", "final")]
    assert row.micro.difference == pytest.approx(whole.gain.difference)
    assert row.micro.ci == pytest.approx(whole.gain.ci)


def test_points_say_what_the_update_before_them_changed() -> None:
    journal = HarnessJournal(Told(broken=(3,)))
    points = metrics(journal).points
    assert points[0].changed is None
    assert [c.file for c in points[1].changed] == ["prompt.md"]
    assert points[2].changed == (), "nothing was committed on the second batch"
    assert [(c.file, c.status) for c in points[3].changed] == [
        ("agent.py", "changed"), ("middleware/guard.py", "added"), ("prompt.md", "changed"),
    ]  # fmt: skip
    del journal.candidates[points[3].candidate]
    assert [p.changed is None for p in metrics(journal).points] == [True, False, False, True, True]


def test_the_gate_tells_what_it_refused_and_why() -> None:
    gate = metrics(HarnessJournal(Told(gate=True, refusals={1: REASON, 3: REASON}))).gate
    reasons = (GateReason(reason=REASON, count=2, batches=(1, 3)),)
    assert gate == Gate(on=True, canaries=2, proposed=5, refused=2, reasons=reasons)
    assert metrics(HarnessJournal(Told())).gate.on is False


def test_a_harness_that_stops_working_is_a_collapse_and_one_that_solves_less_is_not() -> None:
    run_metrics = metrics(HarnessJournal(Told(skill=(0.8, 0.9, 0.9, 0.5, 0.8), broken=(2,))))
    (collapse,) = run_metrics.collapses
    assert (collapse.snapshot, collapse.train_batch_index) == ("E_2", 2)
    assert {view.view for view in collapse.views} == {"update_validation", "id", "ood", "replay"}
    solved = round(16 * run_metrics.views["id"].snapshots["A_0"].execution_success.micro)
    assert CollapsedView(view="id", lost=solved) in collapse.views
    assert collapse.every
    assert collapse.recovered
    assert collapse.reason == "hook_error: after_model gave None"
    last = metrics(HarnessJournal(Told(skill=(0.8, 0.8), broken=(1,)))).collapses
    assert [(c.snapshot, c.recovered) for c in last] == [("A_T", False)]


def test_a_harness_that_never_changes_does_not_collapse_on_the_few_tasks_it_was_trained_on() -> None:
    for seed in range(20):
        assert metrics(HarnessJournal(Told("static", seed, (0.1, None, None)))).collapses == ()


def test_what_is_judged_once_is_paid_once() -> None:
    run_metrics = metrics(HarnessJournal(Told(skill=(0.3, None, None, None))))
    assert run_metrics.costs.views["id"].tokens.rows == 16
    assert run_metrics.views["id"].snapshots["A_T"].costs.tokens.rows == 16
    both = metrics(HarnessJournal(Told(skill=(0.3, 0.4, None, None))))
    assert both.costs.views["id"].tokens.total == 16 * 1050 + 16 * 1150


def test_other_execution_models_have_results_of_their_own() -> None:
    journal = HarnessJournal(Told(models=("other/model",)))
    run_metrics = metrics(journal)
    assert run_metrics.cross_model.keys() == {"other/model"}
    row = run_metrics.cross_model["other/model"]["id"]
    scored = {
        data["candidate"]: data["scores"]
        for kind, data in journal.events
        if kind == "snapshot.assessed" and (data["view"], data["model"]) == ("id", "other/model")
    }
    before, after = (scored[run_metrics.points[position].candidate] for position in (0, -1))
    assert pytest.approx(sum(before) / 16) == row.A_0
    assert row.difference == pytest.approx((sum(after) - sum(before)) / 16)
    assert row.tasks == 16


def test_scores_to_compare_runs_by_are_those_of_the_roles() -> None:
    run_metrics = metrics(HarnessJournal(Told()))
    paired = run_metrics.paired["update_validation"]
    assert paired.snapshots["base"] == "A_0"
    assert paired.snapshots["final"] == "A_T"
    best = paired.snapshots["best_validation"]
    assert best == run_metrics.best_validation.snapshot
    level = run_metrics.views["update_validation"].snapshots
    for role, name in paired.snapshots.items():
        assert sum(paired.scores[role]) / 12 == pytest.approx(level[name].perf.micro)


def test_the_plan_tells_runs_with_the_same_batches() -> None:
    one, other = (metrics(HarnessJournal(Told(name))).plan for name in ("ace", "ahe"))
    gated = metrics(HarnessJournal(Told(gate=True))).plan
    longer = metrics(HarnessJournal(Told(batch_size=6))).plan
    assert one.digest == other.digest == gated.digest != longer.digest
    assert (one.batches, one.train_tasks, one.sources) == (4, 20, ("quiz", "shell-tasks"))


def test_an_unfinished_run_has_what_is_known() -> None:
    run_metrics = metrics(HarnessJournal(Told(finished=False)))
    assert run_metrics.points == run_metrics.collapses == ()
    assert run_metrics.paired == run_metrics.cross_model == {}
    assert run_metrics.plan.batches == 4
