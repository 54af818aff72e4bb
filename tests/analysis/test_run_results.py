from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.analysis_journals import JournalBuilder, controller, program

from heredity._core.errors import DamagedRecordError
from heredity._core.ids import canonical_json
from heredity.analysis.contract import RunEvidence
from heredity.analysis.run_results import run_results
from heredity.protocols.policy_evolution.protocol import METRICS
from heredity.results.base import MissingBounds, Unknown
from heredity.results.run import RunResults

FAILURE = {
    "category": "act_error",
    "message": "ZeroDivisionError: division by zero",
    "traceback": "…",
    "step_index": 17,
}


def metrics_of(builder: JournalBuilder) -> RunResults:
    return run_results(RunEvidence(builder.events, builder.store.__getitem__), METRICS)


@pytest.fixture
def run() -> JournalBuilder:
    builder = JournalBuilder()
    builder.submit(controller(1.0), (-300.0, -280.0), note="start")
    builder.submit(controller(2.0), (-200.0, -150.0), note="raise the gain")
    builder.submit(
        program("class Policy:\n    def act(self, obs):\n        return 0\n"), (-500.0, -500.0), note="start over"
    )
    builder.submit(controller(2.0), (-210.0, -150.0), note="back")
    builder.submit(controller(2.0), (-205.0, -150.0), note="again")
    builder.judge({1: -290.0, 2: -180.0, 3: -500.0, 4: -180.0, 5: -170.0}, [-175.0] * 31 + [None], [-499.0] * 32)
    return builder


def test_a_finished_run_reports_its_identity_budget_and_scores(run):
    metrics = metrics_of(run)
    assert (metrics.taskset, metrics.seed, metrics.status) == ("gymnasium/Acrobot-v1", 0, "finished")
    assert metrics.evolver.name == "parametric"
    assert (metrics.budget.used, metrics.budget.submissions, metrics.budget.episodes) == (10, 5, 128)
    assert metrics.selected.model_dump() == {"index": 5, "candidate": run.submissions[4], "validation_mean": -170.0}
    assert metrics.reference.heldout_mean == -499.0


def test_a_missing_heldout_score_is_counted_and_left_out_of_the_mean(run):
    heldout = metrics_of(run).heldout
    assert (heldout.mean, heldout.n, heldout.missing, heldout.failures) == (-175.0, 31, 1, 0)
    assert (heldout.ci, heldout.ci_unknown) == (None, Unknown.ALIKE)
    assert heldout.if_missing == MissingBounds(low=-175.0, high=-175.0, declared=False)
    assert heldout.scores[-1] is None


def test_edits_are_classified_and_hit_only_when_they_raise_the_best(run):
    edits = [row.edit for row in metrics_of(run).submissions]
    assert [e.kind for e in edits] == ["initial", "parametric", "synthesis", "rollback", "retest"]
    assert [e.hit for e in edits] == [False, True, False, False, True]
    assert (edits[1].lines_added, edits[1].lines_removed) == (1, 1)


def test_best_so_far_holds_its_steps_over_budget_consumed(run):
    metrics = metrics_of(run)
    assert metrics.best_so_far == [(2, -290.0), (4, -180.0), (10, -170.0)]
    assert [row.best_so_far for row in metrics.submissions] == [-290.0, -180.0, -180.0, -180.0, -170.0]


def test_diagnostics_count_improvements_drops_rollbacks_and_invalid_steps(run):
    diagnostics = metrics_of(run).diagnostics
    assert (diagnostics.improvements, diagnostics.first_improvement) == (2, 4)
    assert (diagnostics.score_drops, diagnostics.rollbacks, diagnostics.retests) == (1, 1, 1)
    assert diagnostics.edits.model_dump() == {"synthesis": {"n": 1, "hits": 0}, "parametric": {"n": 1, "hits": 1}}
    assert diagnostics.invalid_transition_rate == pytest.approx(0.01)
    assert diagnostics.budget_per_submission == 2.0
    assert diagnostics.edit_size[0].model_dump() == {"lines": 2, "improved": True}
    assert len(diagnostics.edit_size) == 4


def test_phases_join_adjacent_edits_over_rollbacks_and_retests(run):
    assert [phase.model_dump() for phase in metrics_of(run).phases] == [
        {"kind": "synthesis", "start": 0, "stop": 2, "first": 1, "last": 1},
        {"kind": "parametric", "start": 2, "stop": 4, "first": 2, "last": 2},
        {"kind": "synthesis", "start": 4, "stop": 6, "first": 3, "last": 3},
    ]


def test_traces_tell_evidence_edit_and_outcome(run):
    traces = metrics_of(run).traces
    assert traces[0].evidence == "no feedback yet"
    assert traces[1].model_dump() == {
        "submission": 2,
        "evidence": "submission 1; train mean -290 over 2 episodes; worst task 0 with -300",
        "edit": "parametric, +1 -1 lines: raise the gain",
        "outcome": "train mean -175 (+115 on the same tasks); validation -180, a new best",
    }
    assert traces[2].outcome.endswith("validation -500, best stays -180")


def test_evidence_is_what_had_come_back_when_the_edit_was_admitted():
    builder = JournalBuilder()
    first = builder.admit(controller(1.0))
    second = builder.admit(controller(2.0))
    builder.complete(second, (-1.0, -1.0))
    builder.complete(first, (-2.0, -2.0))
    builder.submit(controller(3.0))
    evidence = [t.evidence for t in metrics_of(builder).traces]
    assert evidence[:2] == ["no feedback yet", "no feedback yet"]
    assert evidence[2].startswith("submission 2;"), "the latest by number, whichever ended last"


def test_a_failed_submission_costs_episodes_and_takes_no_part_in_edits():
    builder = JournalBuilder()
    builder.submit(controller(1.0))
    number = builder.admit(program("import nothing_like_this"), (0, 1, 2))
    builder.complete(number, [-500.0] * 3, status="act_error", failure=FAILURE)
    builder.submit(controller(3.0))
    metrics = metrics_of(builder)
    failed = metrics.submissions[1]
    assert (failed.status, failed.failures, failed.edit, failed.validation_mean) == (
        "act_error",
        3,
        None,
        None,
    )
    assert failed.failure.step_index == 17
    assert metrics.submissions[2].edit.kind == "parametric"
    assert metrics.submissions[2].budget_used == 7
    assert metrics.diagnostics.failed_submissions == 1
    assert "act_error at step 17: ZeroDivisionError" in metrics.traces[1].evidence
    assert "3 of 3 episodes failed" in metrics.traces[1].evidence


def test_missing_attempts_are_neither_failures_nor_zeros():
    builder = JournalBuilder()
    builder.submit(controller(1.0), (10.0, None, 20.0))
    row = metrics_of(builder).submissions[0]
    assert (row.train_mean, row.failures, row.missing) == (15.0, 0, 1)


def test_an_unfinished_run_gives_what_is_known_and_null_for_the_rest(run):
    cut = JournalBuilder()
    cut.events, cut.store = run.events[:6], run.store
    metrics = metrics_of(cut)
    assert metrics.status == "unfinished"
    assert (metrics.selected, metrics.heldout, metrics.reference, metrics.tokens) == (
        None,
        None,
        None,
        None,
    )
    last = metrics.submissions[-1]
    assert (last.status, last.edit, last.train_mean) == (None, None, None)
    assert metrics.submissions[0].edit.hit is None
    assert metrics.best_so_far == []


def test_every_beginning_of_a_journal_can_be_analysed(run):
    for length in range(len(run.events) + 1):
        cut = JournalBuilder()
        cut.events, cut.store = run.events[:length], run.store
        metrics_of(cut).model_dump_json()


def test_the_same_journal_gives_the_same_bytes(run):
    assert metrics_of(run).model_dump_json() == metrics_of(run).model_dump_json()


def test_a_run_without_a_selected_checkpoint_has_no_heldout_score():
    builder = JournalBuilder()
    number = builder.admit(program("def"), (0,))
    builder.complete(number, [-500.0], status="import_error", failure=FAILURE)
    builder.judge({}, [], [-499.0] * 4)
    metrics = metrics_of(builder)
    assert (metrics.selected, metrics.heldout, metrics.status) == (None, None, "finished")


def test_a_retested_candidate_takes_the_validation_score_of_its_candidate():
    builder = JournalBuilder()
    builder.submit(controller(1.0))
    builder.submit(controller(1.0))
    builder.score("validation", None, [-3.0] * 16, candidate=builder.submissions[0])
    assert [row.validation_mean for row in metrics_of(builder).submissions] == [-3.0, -3.0]


def test_a_candidate_that_cannot_be_read_leaves_its_edit_unknown():
    builder = JournalBuilder()
    builder.submit(controller(1.0))
    builder.submit(controller(2.0))
    gone = builder.submissions[0]

    def load(digest: str):
        if digest == gone:
            raise DamagedRecordError("the blob does not match its checksum")
        return builder.store[digest]

    metrics = run_results(RunEvidence(builder.events, load))
    assert metrics.submissions[0].edit is None
    assert metrics.submissions[1].edit.kind == "initial"
    assert metrics.diagnostics.unreadable_candidates == 1


def test_parents_and_notes_are_those_of_the_latest_registration():
    builder = JournalBuilder()
    builder.submit(controller(1.0), note="first", parents=["a"])
    builder.submit(controller(1.0), note="second", parents=["b"])
    rows = metrics_of(builder).submissions
    assert [(r.note, r.parents) for r in rows] == [("first", ["a"]), ("second", ["b"])]


def test_rejections_resumes_and_tokens_are_counted():
    builder = JournalBuilder()
    builder.add("submission.rejected", {"key": "x", "category": "budget", "message": "too many"})
    builder.add("run.resumed", {"attempt": 1, "reason": "killed"})
    builder.add(
        "agent.usage", {"source": "codex", "input_tokens": 10, "cache_tokens": 5, "output_tokens": 2, "cost_usd": None}
    )
    builder.add(
        "agent.usage", {"source": "codex", "input_tokens": 1, "cache_tokens": 0, "output_tokens": 1, "cost_usd": 0.5}
    )
    metrics = metrics_of(builder)
    assert (metrics.budget.rejected, metrics.budget.resumes) == (1, 1)
    assert metrics.tokens.model_dump() == {"input_tokens": 11, "cache_tokens": 5, "output_tokens": 3, "cost_usd": None}


def test_wall_time_runs_to_the_close_but_not_through_an_interruption():
    builder = JournalBuilder()
    builder.add("heartbeat", {"clock_s": 30.0})
    builder.add("session.closed", {"reason": "finished"}, seconds=5.0)
    assert metrics_of(builder).budget.wall_seconds == pytest.approx(35.0)
    paused = JournalBuilder()
    paused.add("heartbeat", {"clock_s": 30.0})
    paused.add("run.resumed", {"attempt": 1, "reason": "killed"}, seconds=1000.0)
    paused.add("session.closed", {"reason": "finished"}, seconds=5.0)
    assert metrics_of(paused).budget.wall_seconds == 30.0


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True) | st.none(), min_size=1, max_size=5))
def test_whatever_scores_a_journal_holds_the_metrics_are_json(scores):
    builder = JournalBuilder()
    builder.submit(controller(1.0), scores)
    builder.score("validation", 1, scores)
    metrics = metrics_of(builder)
    canonical_json(metrics.model_dump(mode="json"))
    finite = [s for s in scores if s is not None and math.isfinite(s)]
    assert (metrics.submissions[0].validation_mean is None) == (not finite)
