from __future__ import annotations

import pytest
from tests.protocols.post_training.posttraining_journals import Act, PostTrainingJournal, Told

from heredity.protocols.post_training.analysis import posttraining_metrics
from heredity.protocols.post_training.analysis.failures import RULES
from heredity.protocols.post_training.results import Failure, FailureKind

ROLLOUT, REWARD, COLLAPSE, EARLY, UNGRADED, _ = FailureKind


def failures(scenario: Told) -> dict[str, Failure]:
    journal = PostTrainingJournal(scenario)
    metrics = posttraining_metrics(journal.lines, journal.blob)
    return {f.kind: f for f in metrics.failures}


GOOD = Act(0.8, "torch_sft")


def test_a_run_that_works_has_no_failure() -> None:
    assert failures(Told((GOOD, Act(0.85)), tasks=150)) == {}


@pytest.mark.parametrize(
    "acts",
    [
        (Act("base"),),
        (Act(refused="a pickle"),),
        (Act(crash="cannot be loaded", skill=0.5),),
    ],
    ids=["copy", "refused", "crashed"],
)
def test_a_run_without_a_trained_checkpoint_failed_early(acts: tuple[Act, ...]) -> None:
    by_kind = failures(Told(acts, exit_code=1))
    assert set(by_kind) == {EARLY}
    assert by_kind[EARLY].evidence[-1] == "the agent ended with exit code 1"
    assert by_kind[EARLY].rule == RULES[EARLY]


@pytest.mark.parametrize("acts", [(), (Act(None, "torch_sft"),)], ids=["no code", "code alone"])
def test_a_run_that_submits_nothing_is_no_coding_failure(acts: tuple[Act, ...]) -> None:
    by_kind = failures(Told(acts, exit_code=1))
    assert set(by_kind) == {UNGRADED}
    assert by_kind[UNGRADED].evidence[-1] == "the agent ended with exit code 1"


def test_code_that_never_trains_failed_early_whatever_it_scored() -> None:
    assert EARLY in failures(Told((Act(0.8, "merge_only"),), tasks=150))


def test_an_interactive_task_needs_an_environment_that_is_stepped_through() -> None:
    without = failures(Told((Act(0.4, "torch_sft"),), level="L3"))
    assert without[ROLLOUT].evidence == ["no revision steps through an environment"]
    assert ROLLOUT not in failures(Told((Act(0.4, "several_files"),), level="L3"))
    assert ROLLOUT not in failures(Told((Act(0.4, "torch_sft"),), level="L1"))
    assert ROLLOUT not in failures(Told((GOOD,), level="L3", tasks=150)), "it improved, however it went about it"


def test_zeros_on_an_interactive_task_are_rollouts_that_failed() -> None:
    by_kind = failures(Told((Act(0.0, "several_files"), Act(0.0)), level="L3"))
    assert by_kind[ROLLOUT].iterations == [1, 2]
    assert REWARD not in by_kind


def test_checkpoints_no_better_than_the_base_had_a_bad_signal() -> None:
    by_kind = failures(Told((Act(0.35, "torch_grpo"), Act(0.42)), tasks=100))
    assert set(by_kind) == {REWARD}
    assert "within noise" in by_kind[REWARD].evidence[0]


@pytest.mark.parametrize("end", [Act(0.2), Act(refused="weights that are not finite"), Act(crash="no", skill=0.5)])
def test_a_fall_that_is_not_made_good_is_a_collapse(end: Act) -> None:
    by_kind = failures(Told((GOOD, end), tasks=150))
    assert by_kind[COLLAPSE].iterations == [2]
    assert set(by_kind) == {COLLAPSE}


def test_a_fall_that_is_made_good_is_none() -> None:
    assert failures(Told((GOOD, Act(0.1), Act(refused="no"), Act(0.79)), tasks=150)) == {}


def test_a_run_that_goes_on_has_no_failure_yet() -> None:
    assert failures(Told((), finished=False)) == {}


def kinds(scenario: Told) -> list[str | None]:
    journal = PostTrainingJournal(scenario)
    metrics = posttraining_metrics(journal.lines, journal.blob)
    return [row.failure_type for row in metrics.iterations]


def test_each_iteration_says_what_is_wrong_with_it() -> None:
    acts = (GOOD, Act(0.5), Act(0.0), Act(0.1), Act("base"), Act(crash="x", skill=1.0), Act(refused="y"), Act(0.81))
    assert kinds(Told(acts, tasks=200)) == [
        None,
        "regression",
        "zero score",
        "below the base model",
        "copy of the base model",
        "failed: load_error",
        "refused: candidate",
        None,
    ]


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("memory_limit", "the agent was ended because it exceeded its memory limit"),
        ("disk_limit", "the agent was ended because its files exceeded the disk limit"),
        ("time_limit", "the agent ended with exit code 143"),
    ],
)
def test_an_agent_that_took_too_much_is_said_to_have_done_so(reason: str, words: str) -> None:
    journal = PostTrainingJournal(Told((), exit_code=143))
    lines = journal.lines
    for line in lines:
        if line["kind"] == "agent.ended":
            line["data"]["reason"] = reason
    metrics = posttraining_metrics(lines, journal.blob)
    assert metrics.failures[0].evidence[-1] == words
    assert metrics.iterations[-1].failure_type == words
