from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from tests.agents.fakes import make_terms, trajectory

from heredity.agents.feedback import Receipt, summarise, trajectory_lines, write_submission
from heredity.engine.trajectory import Failure
from heredity.methods import Feedback, Outcome

RECEIPT = Receipt(first_episode=7, remaining=20, completed_at=1_790_000_000.5, seconds=1.5)

SUMMARY_FIELDS = [
    "schema_version",
    "submit_index",
    "env",
    "status",
    "n_episodes",
    "first_global_episode",
    "env_instances",
    "remaining_budget",
    "submit_started_at",
    "submit_completed_at",
    "wall_time_seconds",
    "returns",
    "mean_return",
    "std_return",
    "min_return",
    "max_return",
    "episode_lengths",
    "mean_episode_length",
    "timeouts",
    "errors",
    "reward_components_mean",
    "reward_components_per_episode",
]


def feedback(*outcomes: Outcome, status: str = "ok", failure: Failure | None = None) -> Feedback:
    return Feedback(3, "d" * 64, status, outcomes, failure)


def written(tmp_path: Path, given: Feedback, **terms: object) -> Path:
    kept = [o.trajectory for o in given.outcomes]
    summary = summarise(given, RECEIPT, make_terms(**terms), kept)
    write_submission(tmp_path, given, summary, kept, terms=make_terms(**terms))
    return tmp_path


def rows(folder: Path) -> list[dict]:
    return [json.loads(line, parse_constant=refuse) for line in (folder / "trajectory.jsonl").read_text().splitlines()]


def refuse(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def test_a_summary_has_every_field_and_the_statistics_of_its_scores() -> None:
    outcomes = [Outcome(4, 1.0, 5), Outcome(4, 3.0, 7), Outcome(2, -100.0, 1, "act_error", Failure("act_error", "no"))]
    summary = summarise(feedback(*outcomes), RECEIPT, make_terms(), [None] * 3)
    assert set(SUMMARY_FIELDS) <= set(summary)
    assert (summary["submit_index"], summary["n_episodes"], summary["first_global_episode"]) == (2, 3, 7)
    assert (summary["env"], summary["remaining_budget"], summary["env_instances"]) == ("Hill-v0", 20, [4, 4, 2])
    assert summary["returns"] == [1.0, 3.0, -100.0]
    assert math.isclose(summary["mean_return"], -32.0)
    assert math.isclose(summary["std_return"], float(np.std([1.0, 3.0, -100.0])))
    assert (summary["min_return"], summary["max_return"], summary["mean_episode_length"]) == (-100.0, 3.0, 13 / 3)
    assert (summary["errors"], summary["timeouts"]) == ([2], [])
    assert summary["submit_started_at"] == "2026-09-21T14:13:19.000Z"
    assert summary["submit_completed_at"] == "2026-09-21T14:13:20.500Z"


def test_a_missing_attempt_is_null_and_leaves_the_mean_alone() -> None:
    summary = summarise(
        feedback(Outcome(0, 2.0, 5), Outcome(1, math.nan, 0, "missing")), RECEIPT, make_terms(), [None] * 2
    )
    assert (summary["returns"], summary["mean_return"]) == ([2.0, None], 2.0)


def test_a_timeout_is_listed_as_one() -> None:
    outcome = Outcome(0, -100.0, 3, "rollout_timeout", Failure("rollout_timeout", "slow"))
    summary = summarise(feedback(Outcome(1, 0.0, 5), outcome), RECEIPT, make_terms(), [None] * 2)
    assert (summary["timeouts"], summary["errors"]) == ([1], [])


def test_a_failed_submission_has_errors_and_no_statistics(tmp_path: Path) -> None:
    failure = Failure("import_error", "invalid syntax", 'File "policy.py", line 2')
    folder = written(
        tmp_path, feedback(Outcome(0, -100.0, 0, "import_error", failure), status="import_error", failure=failure)
    )
    summary = json.loads((folder / "summary.json").read_text())
    assert [summary[k] for k in ("returns", "mean_return", "episode_lengths", "errors")] == [None] * 4
    assert summary["n_episodes"] == 1
    error = json.loads((folder / "errors.txt").read_text())
    assert (error["category"], error["message"], error["traceback"]) == (
        "import_error",
        failure.message,
        failure.traceback,
    )


def test_episodes_are_counted_over_the_run(tmp_path: Path) -> None:
    crash = Failure("act_error", "ValueError: no", "policy.py line 3", 2)
    good, bad = trajectory(0, 1.0), trajectory(1, 0.0, steps=2, failure=crash)
    folder = written(
        tmp_path, feedback(Outcome(0, 1.0, 5, trajectory=good), Outcome(1, -100.0, 2, "act_error", crash, bad))
    )
    assert sorted(p.name for p in (folder / "episodes").iterdir()) == ["ep_007", "ep_008"]
    first, second = folder / "episodes" / "ep_007", folder / "episodes" / "ep_008"
    assert rows(first)[4] == {
        "t": 4,
        "obs": [8.0, 9.0],
        "action": 1,
        "reward": 0.2,
        "terminated": True,
        "truncated": False,
        "info": {},
    }
    assert [len(rows(first)), len(rows(second))] == [5, 2]
    assert (first / "stdout.txt").read_text() == "hello\n"
    assert (first / "stderr.txt").read_text() == ""
    assert not (first / "error.txt").exists()
    error = json.loads((second / "error.txt").read_text())
    assert (error["category"], error["step_index"], error["traceback"]) == ("act_error", 2, "policy.py line 3")


def test_rows_equal_those_of_the_trajectory() -> None:
    record = trajectory(
        0, 1.0, **{"info/x": np.arange(5.0), "info/rare": [None, 1, None, {"a": np.float32(2)}, (1, 2)]}
    )
    assert [json.loads(line) for line in trajectory_lines(record, external=False)] == list(record.rows())


def test_numbers_that_json_lacks_are_texts() -> None:
    record = trajectory(0, 1.0, reward=np.array([np.nan, np.inf, -np.inf, 0.0, 1.0]), **{"info/a": [{1: np.nan}] * 5})
    steps = [json.loads(line, parse_constant=refuse) for line in trajectory_lines(record, external=False)]
    assert [r["reward"] for r in steps] == ["NaN", "Inf", "-Inf", 0.0, 1.0]
    assert steps[0]["info"] == {"a": {"1": "NaN"}}


def test_large_observations_go_into_a_file_beside(tmp_path: Path) -> None:
    pictures = np.random.default_rng(0).integers(0, 255, (6, 8, 8, 3), dtype=np.uint8)
    record = trajectory(0, 1.0, obs=pictures)
    folder = written(tmp_path, feedback(Outcome(0, 1.0, 5, trajectory=record)), public={"obs_storage": "external"})
    episode = folder / "episodes" / "ep_007"
    assert [r["obs"] for r in rows(episode)] == [None] * 5
    assert np.array_equal(np.load(episode / "observations.npy", mmap_mode="r"), pictures[:5])


def test_observations_above_a_megabyte_are_compressed(tmp_path: Path) -> None:
    pictures = np.zeros((6, 512, 512), dtype=np.uint8)
    record = trajectory(0, 1.0, obs=pictures)
    folder = written(tmp_path, feedback(Outcome(0, 1.0, 5, trajectory=record)), public={"obs_storage": "external"})
    file = folder / "episodes" / "ep_007" / "observations.npz"
    assert np.array_equal(np.load(file)["observations"], pictures[:5])
    assert file.stat().st_size < 100_000


def test_named_observations_become_one_array_each(tmp_path: Path) -> None:
    named = [{"image": np.full((4, 4), t, dtype=np.uint8), "speed": float(t)} for t in range(6)]
    record = trajectory(0, 1.0, obs=named)
    folder = written(tmp_path, feedback(Outcome(0, 1.0, 5, trajectory=record)), public={"obs_storage": "external"})
    arrays = np.load(folder / "episodes" / "ep_007" / "observations.npz")
    assert arrays["image"].shape == (5, 4, 4)
    assert arrays["speed"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_parts_of_the_reward_are_added_up() -> None:
    records = [
        trajectory(0, 1.0, **{"info/run": np.full(5, 0.5)}),
        trajectory(0, 1.0, **{"info/run": [1.0, None, 1, 1, 1]}),
        None,
    ]
    outcomes = [Outcome(0, 1.0, 5), Outcome(1, 1.0, 5), Outcome(2, math.nan, 0, "missing")]
    summary = summarise(feedback(*outcomes), RECEIPT, make_terms(public={"reward_components": ["run"]}), records)
    assert summary["reward_components_per_episode"] == {"run": [2.5, 4.0, None]}
    assert summary["reward_components_mean"] == {"run": 3.25}
