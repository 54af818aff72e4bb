from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest
from tests.protocols.post_training.posttraining_journals import Act, PostTrainingJournal, Told, checkpoint

from heredity.analysis.contract import no_blob
from heredity.protocols.post_training.analysis import posttraining_metrics
from heredity.protocols.post_training.results import Iteration, Routes, TrainingRunResults
from heredity.records import BlobStore, read_journal


def metrics(scenario: Told) -> TrainingRunResults:
    journal = PostTrainingJournal(scenario)
    results = posttraining_metrics(journal.lines, journal.blob)
    assert TrainingRunResults.model_validate_json(results.model_dump_json()) == results
    return results


SFT, GRPO = Act(0.5, "torch_sft"), Act(0.75, "torch_grpo", note="a larger group")


def test_each_submission_is_an_iteration_with_the_revision_in_force() -> None:
    results = metrics(Told((SFT, Act(0.55), GRPO)))
    rows = results.iterations
    assert [(r.iteration, r.revision, r.train_type) for r in rows] == [
        (1, 1, "SFT-only"),
        (2, 1, "SFT-only"),
        (3, 2, "SFT+RL"),
    ]
    assert [r.changed for r in rows] == [["torch_sft.py"], [], ["torch_grpo.py"]]
    assert [r.at_s for r in rows] == [60.0, 123.0, 186.0]
    assert [r.duration_s for r in rows] == [63.0, 63.0, 63.0]
    assert (rows[2].tried, rows[2].note) == (
        "Groups of samples, each set off against its own mean.",
        "a larger group",
    )
    assert rows[0].tried == "Plain teacher forcing."
    assert rows[0].settings == {"epochs": 3, "lr": 2e-4}
    assert rows[0].timestamp.endswith("+00:00")


def test_improvements_are_paired_by_task_with_an_interval() -> None:
    results = metrics(Told((SFT, GRPO), tasks=150))
    best, base = results.best, results.baseline.graded
    gain = best.gain
    assert best.iteration == 2
    assert gain.difference == pytest.approx(best.score.mean - base.mean)
    assert gain.ci[0] < gain.difference < gain.ci[1]
    assert (gain.verdict, gain.pairs) == ("better", 150)
    assert results.iterations[1].improvement == pytest.approx(gain.difference)
    assert results.iterations[1].new_best


def test_the_heldout_slice_stands_beside_the_graded_view() -> None:
    heldout = metrics(Told((SFT, GRPO), tasks=150)).heldout
    assert heldout.gain.verdict == "better"
    assert heldout.gain.difference == pytest.approx(heldout.best.mean - heldout.baseline.mean)


def test_a_heldout_baseline_may_come_from_either_event() -> None:
    journal = PostTrainingJournal(Told())
    lines = [line for line in journal.lines if line["kind"] != "reference.scored"]
    scored = {"candidate": journal.base, "scores": [1.0] * 60, "view": "heldout"}
    results = posttraining_metrics([*lines, {"kind": "baseline.scored", "data": scored}], journal.blob)
    assert results.heldout.baseline.mean == 1.0


def test_process_metrics_count_what_was_asked_for() -> None:
    acts = (
        Act(refused="a link"),
        Act(0.3),
        Act(0.6),
        Act(crash="out of memory", skill=0.5),
        Act(0.0),
        Act(0.8),
        Act(0.7),
    )
    process = metrics(Told(acts, base=0.4)).process
    assert (process.requests, process.graded, process.refused, process.failed) == (7, 5, 1, 1)
    assert process.valid_rate == pytest.approx(5 / 7)
    assert process.zero_rate == pytest.approx(2 / 6)
    assert process.first_improvement_s == pytest.approx(60 * 3 + 3)
    assert (process.best_at, process.best_s) == (4, 60 * 6 + 3 * 4)
    assert process.monotonic_ratio == pytest.approx(2 / 4)
    assert process.improvements == 2
    assert process.ended_s == pytest.approx(60 * 7 + 3 * 6 + 10)
    assert process.time_used_ratio == pytest.approx(process.ended_s / 600)
    assert process.last_submit_gap_s == pytest.approx(13.0)


def test_what_never_happened_is_unknown_and_not_zero() -> None:
    results = metrics(Told((), finished=False))
    process = results.process
    assert [
        getattr(process, n) for n in ("valid_rate", "zero_rate", "first_improvement_s", "best_at", "last_submit_gap_s")
    ] == [None] * 5
    assert (results.best, results.heldout, results.noise, results.agent) == (None, None, None, None)
    assert (results.iterations, results.failures) == ([], [])


def test_a_refused_request_is_dated_by_the_clock_that_ran_on() -> None:
    rows = metrics(Told((Act(0.5, took=100.0), Act(refused="a pickle", took=50.0)))).iterations
    assert rows[1].at_s == pytest.approx(153.0)
    assert rows[1].failure_type == "refused: candidate"
    assert rows[1].problem == "a pickle"


def test_an_interruption_does_not_count_as_time() -> None:
    journal = PostTrainingJournal(Told((Act(0.5), Act(0.6, took=30.0))))
    lines = journal.lines
    admitted = [i for i, line in enumerate(lines) if line["kind"] == "submission.admitted"]
    for line in lines[admitted[1] - 1 :]:
        line["at"] += 86_400
    lines.insert(admitted[1] - 1, {"kind": "run.resumed", "at": lines[admitted[1]]["at"], "data": {"attempt": 1}})
    results = posttraining_metrics(lines, journal.blob)
    assert results.process.ended_s < 200
    assert results.iterations[1].at_s == pytest.approx(93.0)


def test_scaling_is_the_best_so_far_and_never_below_the_base() -> None:
    scaling = metrics(Told((Act(0.1), Act(0.7), Act(0.5)), tokens=True)).scaling
    for name in ("time", "submissions", "tokens"):
        values = [value for _, value in getattr(scaling, name)]
        assert values == sorted(values)
        assert values[0] == 0.0
    assert [at for at, _ in scaling.submissions] == [0.0, 1.0, 2.0, 3.0]
    assert [at for at, _ in scaling.tokens][1:] == [27_000.0, 54_000.0, 81_000.0, 81_000.0]
    assert metrics(Told((Act(0.1), Act(0.7)))).scaling.tokens == []


def test_a_broker_is_believed_before_the_agent() -> None:
    journal = PostTrainingJournal(Told(tokens=True))
    counted = {"input_tokens": 7, "cache_tokens": None, "output_tokens": 2, "cost_usd": None}
    extra = [{"kind": "agent.usage", "data": {"source": "broker", **counted}}] * 2
    results = posttraining_metrics([*journal.lines, *extra], journal.blob)
    assert (results.process.tokens, results.process.cost_usd) == (18, None)


def test_noise_is_the_spread_of_gradings_of_one_checkpoint() -> None:
    noise = metrics(Told((Act(0.6),), repeats=5)).noise
    (row,) = noise.submissions
    assert len(row.means) == 6
    assert noise.sd == pytest.approx(statistics.stdev(row.means))
    assert noise.difference > 2 * noise.sd
    assert 0 < noise.flips < 1


def test_a_grader_without_noise_has_none() -> None:
    journal = PostTrainingJournal(Told((Act(0.6),)))
    scores = [
        o["score"] for line in journal.lines if line["kind"] == "submission.completed" for o in line["data"]["outcomes"]
    ]
    again = {"kind": "grading.repeated", "data": {"submit_id": 1, "scores": scores}}
    results = posttraining_metrics([*journal.lines, again], journal.blob)
    assert (results.noise.sd, results.noise.flips) == (0.0, 0.0)


def test_a_copy_scores_what_the_base_scores_and_is_no_refusal() -> None:
    results = metrics(Told((Act("base"), Act(refused="a link"))))
    row = results.iterations[0]
    assert (row.score, row.improvement) == (results.baseline.graded.mean, 0.0)
    process = results.process
    assert (process.copies, process.refused, process.valid_rate) == (1, 1, 0.5)
    assert (process.zero_rate, results.best) == (None, None)


def test_a_copy_is_told_by_its_digest_whatever_the_code_says() -> None:
    results = metrics(Told((Act("base", "trl_grpo"),)))
    assert results.iterations[0].train_type == "copy"
    assert results.iterations[0].failure_type == "copy of the base model"
    assert results.routes == Routes(submissions={"copy": 1}, run="copy", coding_success=True)


def test_work_that_was_never_submitted_is_an_iteration() -> None:
    results = metrics(Told((SFT, Act(None, "torch_grpo")), exit_code=3))
    last = results.iterations[-1]
    assert (last.status, last.exit_code, last.train_type) == ("not submitted", 3, "SFT+RL")
    assert last.changed == ["torch_grpo.py"]
    assert last.failure_type == "the agent ended with exit code 3"


def test_code_that_is_gone_is_unknown() -> None:
    journal = PostTrainingJournal(Told((SFT,)))

    def gone(digest: str) -> bytes:
        raise KeyError(digest)

    for load in (no_blob, gone):
        results = posttraining_metrics(journal.lines, load)
        assert results.iterations[0].train_type is None
        assert results.revisions[0].route is None
        assert results.audit.verdict == "unknown"
        assert not any(f.kind == "early coding failure" for f in results.failures)


def test_every_revision_has_its_files_and_evidence() -> None:
    revisions = metrics(Told((SFT, GRPO))).revisions
    assert [r.route for r in revisions] == ["SFT-only", "SFT+RL"]
    assert set(revisions[1].files) == {"torch_sft.py", "torch_grpo.py"}
    assert {e.component for e in revisions[1].evidence} >= {"SFT", "GRPO"}


def test_several_tasks_of_one_run_are_told_apart() -> None:
    tasks = [
        {"name": "a", "task_indices": list(range(0, 60, 3)), "heldout": [0, 2]},
        {"name": "b", "task_indices": [i for i in range(60) if i % 3], "heldout": [1, 3]},
    ]
    results = metrics(Told((Act(0.9),), mode="multi-task", more={"tasks": tasks}))
    assert [(t.name, t.best.n) for t in results.tasks] == [("a", 20), ("b", 40)]
    assert [t.heldout.gain.pairs for t in results.tasks] == [2, 2]
    total = sum(t.gain.difference * t.gain.pairs for t in results.tasks) / 60
    assert total == pytest.approx(results.best.gain.difference)


def test_missing_scores_are_left_out() -> None:
    journal = PostTrainingJournal(Told((Act(1.0),), base=0.0))
    lines = journal.lines
    for line in lines:
        if line["kind"] == "submission.completed":
            line["data"]["outcomes"][0]["score"] = None
    results = posttraining_metrics(lines, journal.blob)
    assert (results.iterations[0].score, results.iterations[0].missing) == (1.0, 1)
    assert results.best.gain.pairs == 59
    # The base model, which answers nothing, has that item's score; the checkpoint may have had 0 or 1 there.
    bounds = results.best.gain.if_missing
    assert (bounds.low, bounds.high) == pytest.approx((59 / 60, 1.0))
    score = results.best.score.if_missing
    assert (score.low, score.high) == pytest.approx((59 / 60, 1.0))
    assert results.baseline.graded.if_missing is None


def test_a_folder_on_disk_gives_the_same_metrics(tmp_path: Path) -> None:
    journal = PostTrainingJournal(Told((SFT, GRPO), repeats=2, tokens=True))
    folder = journal.save(tmp_path / "run")
    events = [event.to_json() for event in read_journal(folder / "journal.jsonl")]
    assert posttraining_metrics(events, BlobStore(folder / "blobs").get) == posttraining_metrics(
        journal.lines, journal.blob
    )


def test_an_unfinished_journal_has_the_same_iterations_as_far_as_it_goes() -> None:
    journal = PostTrainingJournal(Told((SFT, Act(refused="no"), GRPO, Act(0.2)), tokens=True))

    # How far one is above the base is known at the end only, when the base's scores are put on record.
    def early(row: Iteration) -> dict[str, Any]:
        return row.model_dump(exclude={"improvement", "failure_type"})

    whole = [early(row) for row in metrics(journal.told).iterations]
    for end in range(1, len(journal.lines)):
        results = posttraining_metrics(journal.lines[:end], journal.blob)
        rows = [early(row) for row in results.iterations if row.status != "running"]
        assert rows == whole[: len(rows)]


def test_checkpoints_of_tests_differ() -> None:
    assert checkpoint("a").digest != checkpoint("b").digest


def without_code(scenario: Told, *revisions: int) -> TrainingRunResults:
    """Return the metrics of a run of which some code could not be kept."""
    journal = PostTrainingJournal(scenario)
    lines = journal.lines
    for line in lines:
        if line["kind"] == "code.revised" and line["data"]["revision"] in revisions:
            line["data"] |= {"blob": None, "files": [], "reason": "no room", "full": True}
    return posttraining_metrics(lines, journal.blob)


def test_code_that_was_not_kept_is_not_known_and_nothing_is_concluded_from_it() -> None:
    scenario = Told((Act(0.5, "torch_sft"), Act(0.9, "torch_grpo")), tasks=100)
    results = without_code(scenario, 2)
    last = results.revisions[-1]
    assert (last.blob, last.files, last.route, last.reason) == (None, None, None, "no room")
    assert [row.train_type for row in results.iterations] == ["SFT-only", None]
    assert (results.best.route, results.routes.run) == (None, None)
    assert results.routes.coding_success is True
    assert results.audit.verdict == "unknown"
    assert without_code(scenario).audit.verdict == "kept"


def test_code_that_was_not_kept_is_not_said_to_train_nothing() -> None:
    scenario = Told((Act(0.8, "merge_only"), Act(0.8, "torch_sft")), tasks=150)
    results = without_code(scenario, 2)
    assert results.routes.coding_success is None
    assert results.failures == []


def test_a_breach_in_code_that_is_known_stays_one() -> None:
    scenario = Told((Act(0.5, "torch_grpo"), Act(0.6, "torch_sft")), mode="sft-only")
    assert without_code(scenario, 2).audit.verdict == "broken"


def test_a_run_without_any_code_that_was_kept_can_be_read() -> None:
    results = without_code(Told((Act(0.5, "torch_sft"), Act(None, "torch_grpo"))), 1, 2)
    assert results.routes == Routes(submissions={}, run=None, coding_success=None)
    assert [row.status for row in results.iterations] == ["ok", "not submitted"]
    assert results.audit.verdict == "unknown"
