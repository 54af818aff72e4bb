from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.protocols.harness_evolution.analysis.journals import VIEWS, HarnessJournal, Told

from heredity.protocols.harness_evolution.analysis import harness_metrics
from heredity.protocols.harness_evolution.annotation import JournalRows, rows_of_run


def listed(journal: HarnessJournal, **of: str) -> list[dict[str, Any]]:
    return [row for row in rows_of_run(journal.lines).frame.to_dicts() if all(row[k] == v for k, v in of.items())]


def test_every_attempt_is_a_row_of_its_kind() -> None:
    journal = HarnessJournal(Told(gate=True))
    kinds = Counter((row["mode"], row["view_name"]) for row in listed(journal))
    points = 5
    assert kinds["train", "train"] == 20
    assert kinds["canary", "canary"] == 3 * 2
    assert kinds["update", "agent_update"] == 4
    assert {view: kinds["judged", view] for view in VIEWS} == {view: count * points for view, count in VIEWS.items()}


def test_train_rows_say_their_batch_and_which_harness_was_attempted() -> None:
    rows = listed(HarnessJournal(Told()), mode="train")
    assert Counter((row["train_batch_index"], row["global_update_index"]) for row in rows) == {
        (1, 0): 5, (2, 1): 5, (3, 1): 5, (4, 2): 5,
    }  # fmt: skip
    assert {row["domain"] for row in rows} == {"code", "data", "system"}
    assert {row["source"] for row in rows} == {"shell-tasks", "quiz"}


def test_attempts_of_one_task_in_a_group_are_kept_apart() -> None:
    journal = HarnessJournal(Told(finished=False, skill=(0.5, 0.5)))
    (completed,) = [data for kind, data in journal.events if kind == "submission.completed"]
    completed["outcomes"] = completed["outcomes"] * 3
    completed["costs"] = completed["costs"] * 3
    completed["rollout_seconds"] = completed["rollout_seconds"] * 3
    rows = listed(journal, mode="train")
    assert sorted({row["update_repeat_index"] for row in rows}) == [0, 1, 2]
    run_metrics = harness_metrics(rows_of_run(journal.lines))
    assert run_metrics.rows.duplicates == 0
    assert run_metrics.curves.train.tasks[0] == 15


def test_points_of_one_candidate_have_rows_of_their_own_that_are_paid_once() -> None:
    journal = HarnessJournal(Told(skill=(0.3, None, None)))
    results = JournalRows(journal.lines)
    rows, spent = results.rows().frame.to_dicts(), results.spent().frame.to_dicts()
    names = [row["baseline_role"] or row["evaluation_point_id"] for row in rows if row["view_name"] == "id"]
    assert Counter(names) == {"A_0": 16, "E_1": 16, "A_T": 16}
    assert sum(row["view_name"] == "id" for row in spent) == 16
    scores = {(r["task_id"], r["score"]) for r in rows if r["view_name"] == "id"}
    assert len(scores) == 16, "one judgement, whatever the point"


def test_replay_rows_are_of_tasks_that_were_trained_by_then() -> None:
    rows = listed(HarnessJournal(Told()), view_name="replay")
    counts = Counter(row["baseline_role"] or row["evaluation_point_id"] for row in rows)
    assert counts == {"A_0": 20, "E_1": 5, "E_2": 10, "E_3": 15, "A_T": 20}
    spent = JournalRows(HarnessJournal(Told()).lines).spent().frame
    assert sum(row["view_name"] == "replay" for row in spent.to_dicts()) == 4 * 20, "rollouts are paid, counted or not"


def test_costs_are_those_of_each_attempt_and_missing_where_only_the_sum_is_known() -> None:
    priced = listed(HarnessJournal(Told()), mode="train")
    assert [(r["tokens"], r["tool_calls"], r["wall_time"], r["cost_usd"]) for r in priced[:1]] == [
        (1050.0, 3.0, 2.0, 0.002)
    ]
    untold = listed(HarnessJournal(Told(costs=False)), mode="train")
    assert {(r["tokens"], r["tool_calls"], r["wall_time"], r["cost_usd"]) for r in untold} == {(None,) * 4}


def test_costs_do_not_depend_on_which_run_of_a_suite_made_a_shared_judgement() -> None:
    own, other = HarnessJournal(Told()), HarnessJournal(Told())
    judged = [data for kind, data in other.events if kind == "snapshot.assessed" and data["view"] == "id"]
    judged[0]["recalled"] = True
    spent = [JournalRows(journal.lines).spent().frame.to_dicts() for journal in (own, other)]
    assert spent[0] == spent[1]
    assert sum(row["tokens"] for row in spent[0] if row["view_name"] == "id") > 0.0


def test_a_call_of_unknown_usage_leaves_the_update_unknown_and_no_call_costs_nothing() -> None:
    journal = HarnessJournal(Told())
    calls = [data for kind, data in journal.events if kind == "model.called"]
    calls[1]["usage"] = None
    journal.events = [(kind, data) for kind, data in journal.events if data is not calls[2]]
    assert [row["tokens"] for row in listed(journal, mode="update")] == [980.0, None, 0.0, 980.0]
    journal.events[0][1]["evolver"] = {"name": "codex", "kind": "agent"}
    assert [row["tokens"] for row in listed(journal, mode="update")] == [None] * 4


def test_other_execution_models_are_apart() -> None:
    journal = HarnessJournal(Told(models=("other/model",)))
    results = JournalRows(journal.lines)
    assert results.models == ["other/model"]
    assert results.rows().frame.height == JournalRows(HarnessJournal(Told()).lines).rows().frame.height
    other = results.rows("other/model").frame.to_dicts()
    assert Counter((r["view_name"], r["baseline_role"]) for r in other) == {
        ("id", "A_0"): 16, ("id", "A_T"): 16, ("ood", "A_0"): 10, ("ood", "A_T"): 10,
    }  # fmt: skip
    assert "id under other/model" in set(results.spent().frame["view_name"].cast(str))


def test_missing_scores_and_scores_that_are_no_numbers_are_missing() -> None:
    journal = HarnessJournal(Told())
    judged = next(data for kind, data in journal.events if kind == "snapshot.assessed" and data["view"] == "id")
    judged["scores"][:2] = [None, float("nan")]
    rows = [r for r in listed(journal, view_name="id") if r["agent_checkpoint_id"] == judged["candidate"]]
    assert [r["score"] for r in rows[:2]] == [None, None]


@pytest.mark.parametrize("events", [[], [{"kind": "heartbeat", "data": {"clock_s": 1.0}}]])
def test_a_journal_without_a_schedule_has_no_rows(events: list[dict[str, Any]]) -> None:
    assert rows_of_run(events).frame.height == 0


def test_an_unfinished_run_has_its_training() -> None:
    run_metrics = harness_metrics(rows_of_run(HarnessJournal(Told(finished=False)).lines))
    assert run_metrics.train_batches == 4
    assert run_metrics.views == {}
    assert run_metrics.transfer == ()
