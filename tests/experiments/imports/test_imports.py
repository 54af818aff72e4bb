from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError, MissingExtraError, UnknownNameError
from heredity.cli.main import app
from heredity.experiments.imports import inspect_logs
from heredity.experiments.imports.contract import Choice, compare_records
from heredity.results.base import Unknown
from heredity.results.evaluations import EvaluatedPair
from heredity.results.run import Verdict

LOGS = Path(__file__).parent / "logs"
"""Written by Inspect 0.3.285: two models on 24 samples twice, and a cancelled evaluation with errors."""

WEAK, STRONG, BROKEN = LOGS / "weak.eval", LOGS / "strong.eval", LOGS / "errors.json"


@pytest.fixture(autouse=True)
def _zstandard() -> None:
    pytest.importorskip("backports.zstd")


def rewritten(folder: Path, name: str, model: str, scores: list[Any], **changes: Any) -> Path:
    """Write a log with these scores, one for each sample; None has no score."""
    log = json.loads(BROKEN.read_text())
    log |= {"status": "success", "error": None, **changes}
    log["eval"] |= {"model": model, "dataset": {"samples": len(scores), "sample_ids": list(range(len(scores)))}}
    log["samples"] = [
        {
            "id": i,
            "epoch": 1,
            "scores": {} if value is None else {"grade": {"value": value}},
            "metadata": {"document": i // 3},
        }
        for i, value in enumerate(scores)
    ]
    path = folder / f"{name}.json"
    path.write_text(json.dumps(log))
    return path


def only(paths: list[Path], **choice: Any) -> EvaluatedPair:
    (pair,) = compare_records(paths, Choice(**choice)).tasksets
    return pair


def test_models_are_compared_by_sample_with_their_epochs_as_repeats() -> None:
    comparison = compare_records([WEAK, STRONG])
    (pair,) = comparison.tasksets
    assert (pair.a, pair.b, pair.samples, pair.missing, pair.unpaired) == ("mockllm/weak", "mockllm/strong", 24, 0, 0)
    assert pair.claim.verdict is Verdict.WORSE
    assert pair.claim.ci is not None
    assert pair.claim.ci[0] <= pair.difference <= pair.claim.ci[1] < 0
    assert [(e.entry, e.epochs, e.samples) for e in comparison.entries] == [
        ("mockllm/strong", 2, 24),
        ("mockllm/weak", 2, 24),
    ]
    assert any("choose with --scorer" in note for note in comparison.notes)


def test_lower_is_better_on_request() -> None:
    comparison = compare_records([WEAK, STRONG], higher_is_better=False)
    assert comparison.tasksets[0].claim.verdict is Verdict.BETTER
    assert comparison.entries[0].entry == "mockllm/weak"


def test_another_scorer_can_be_chosen() -> None:
    assert only([WEAK, STRONG], scorer="length").claim.verdict is Verdict.WITHIN_NOISE
    with pytest.raises(UnknownNameError, match="length"):
        compare_records([WEAK, STRONG], Choice(scorer="lenght"))


def test_errors_and_cancelled_samples_are_missing_and_never_zero() -> None:
    comparison = compare_records([STRONG, BROKEN])
    (pair,) = comparison.tasksets
    assert (pair.samples, pair.missing) == (12, 12)
    assert (pair.claim.verdict, pair.claim.because) == (Verdict.CANNOT_TELL, Unknown.UNSCORED)
    assert "errors.json: its status is cancelled" in comparison.notes
    broken = next(entry for entry in comparison.entries if entry.entry == "mockllm/broken")
    assert (broken.samples, broken.missing, broken.statuses) == (12, 12, {"cancelled": 1})


@pytest.mark.parametrize(
    ("value", "number"),
    [("C", 1), ("I", 0), ("P", 0.5), ("N", 0), (True, 1), ("yes", 1), ("False", 0), ("0.25", 0.25), (3, 3), (None, None),
     ("good", None), ([1, 2], None), (float("nan"), None)],
)  # fmt: skip
def test_values_are_read_by_inspects_rule(tmp_path: Path, value: Any, number: float | None) -> None:
    log = rewritten(tmp_path, "a", "m/a", [value] * 8)
    (evaluation,) = inspect_logs.read(log, Choice())
    assert list(evaluation.scores.values()) == [[number]] * 8
    assert any("no number" in note for note in evaluation.notes) == (value in ("good", [1, 2]))


def test_parts_of_a_value_are_scorers(tmp_path: Path) -> None:
    log = rewritten(tmp_path, "a", "m/a", [{"style": 1, "truth": 0}] * 8)
    assert inspect_logs.read(log, Choice())[0].scorer == "grade.style"
    assert inspect_logs.read(log, Choice(scorer="grade.truth"))[0].scores["0"] == [0.0]


def test_logs_of_version_1_have_a_single_score(tmp_path: Path) -> None:
    path = rewritten(tmp_path, "a", "m/a", ["C"] * 8, version=1)
    log = json.loads(path.read_text())
    for sample in log["samples"]:
        sample["score"] = sample.pop("scores")["grade"]
    path.write_text(json.dumps(log))
    (evaluation,) = inspect_logs.read(path, Choice())
    assert (evaluation.scorer, evaluation.scores["0"]) == ("score", [1.0])


def test_samples_of_a_cluster_are_drawn_together(tmp_path: Path) -> None:
    rng = random.Random(1)
    a = rewritten(tmp_path, "a", "m/a", [float(rng.random() < 0.8) for _ in range(36)])
    b = rewritten(tmp_path, "b", "m/b", [float(rng.random() < 0.4) for _ in range(36)])
    assert only([a, b]).claim.clusters is None
    assert only([a, b], cluster="document").claim.clusters == 12
    with pytest.raises(ConfigError, match="--cluster"):
        compare_records([a, b], Choice(cluster="page"))


def test_solvers_and_settings_tell_entries_apart_and_repeats_are_merged(tmp_path: Path) -> None:
    one = rewritten(tmp_path, "one", "m/a", [1, 0] * 10)
    again = rewritten(tmp_path, "again", "m/a", [1, 1] * 10)
    other = rewritten(tmp_path, "other", "m/a", [0, 0] * 10, plan={"steps": [{"solver": "chain_of_thought"}]})
    comparison = compare_records([one, again, other])
    (pair,) = comparison.tasksets
    assert "solver=chain_of_thought" in pair.b
    merged = next(entry for entry in comparison.entries if entry.entry == pair.a)
    assert (merged.logs, merged.epochs, merged.mean) == (2, 2, 0.75)


def test_few_samples_decide_nothing(tmp_path: Path) -> None:
    logs = [rewritten(tmp_path, name, f"m/{name}", [value] * 5) for name, value in (("a", 1), ("b", 0))]
    assert only(logs).claim.verdict is Verdict.CANNOT_TELL


def test_the_same_scores_are_not_told_apart(tmp_path: Path) -> None:
    false = 0
    for i in range(20):
        rng = random.Random(i)
        drawn = {side: [float(rng.random() < 0.5) for _ in range(40)] for side in "ab"}
        logs = [rewritten(tmp_path, f"{i}-{side}", f"m/{side}", scores) for side, scores in drawn.items()]
        false += only(logs).claim.verdict in (Verdict.BETTER, Verdict.WORSE)
    assert false <= 3


def test_damaged_files_are_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "torn.eval").write_bytes(WEAK.read_bytes()[:900])
    (tmp_path / "empty.eval").write_bytes(b"")
    with zipfile.ZipFile(tmp_path / "foreign.eval", "w") as archive:
        archive.writestr("a", "b")
    later = rewritten(tmp_path, "later", "m/a", [1] * 8, version=9)
    comparison = compare_records([WEAK, STRONG, tmp_path, later])
    assert comparison.logs == 2
    assert sum("left out" in note for note in comparison.notes) == 4


def test_an_interrupted_log_is_read_from_its_journal(tmp_path: Path) -> None:
    from backports.zstd import zipfile as extended

    path = tmp_path / "interrupted.eval"
    with extended.ZipFile(WEAK) as archive, zipfile.ZipFile(path, "w") as torn:
        header = json.loads(archive.read("header.json"))
        torn.writestr("_journal/start.json", json.dumps({key: header[key] for key in ("version", "eval", "plan")}))
        torn.writestr("_journal/summaries/1.json", json.dumps(json.loads(archive.read("summaries.json"))[:10]))
    (evaluation,) = inspect_logs.read(path, Choice())
    assert evaluation.status == "started"
    assert sum(len(scores) for scores in evaluation.scores.values()) == 10


def test_without_zstandard_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_logs, "_zipfile", lambda: zipfile)
    with pytest.raises(MissingExtraError, match=r"heredity\[inspect\]"):
        compare_records([WEAK, STRONG])


def test_records_of_seagym_are_compared_by_task(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = []
    for run, share in (("ace", 0.9), ("static", 0.3)):
        rng = random.Random(run)
        for point, role in (("ep0", "A_0"), ("ep4", "A_T")):
            for task in range(40):
                solved = rng.random() < (share if role == "A_T" else 0.3)
                rows.append(
                    {
                        "run_id": run, "evaluation_point_id": point, "baseline_role": role, "agent_checkpoint_id": point,
                        "task_id": f"t{task}", "view_name": "id_test", "mode": "frozen_eval", "score": float(solved),
                        "success": solved,
                        "train_batch_index": 0 if role == "A_0" else 4, "attributes": {"domain": "shell"},
                    }
                )  # fmt: skip
    (tmp_path / "task_results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    comparison = compare_records([tmp_path])
    found = {(pair.a, pair.b): pair for pair in comparison.tasksets}
    pair = found["ace", "static"]
    assert (pair.taskset, pair.samples, pair.claim.verdict) == ("id_test", 40, Verdict.BETTER)
    assert found["ace", "A_0 of ace"].claim.verdict is Verdict.BETTER


def test_the_command_prints_json_and_writes_a_page(tmp_path: Path) -> None:
    run = CliRunner().invoke(app, ["compare", str(WEAK), str(STRONG), "--out", str(tmp_path / "out"), "--json"])
    assert run.exit_code == 0, run.output
    shown = json.loads(run.stdout)
    assert shown == json.loads((tmp_path / "out" / "comparison.json").read_text())
    page = (tmp_path / "out" / "report.html").read_text()
    assert "mockllm/weak is worse than mockllm/strong" in page
    human = CliRunner().invoke(app, ["compare", str(LOGS)])
    assert "mockllm/strong" in human.stdout


def test_paths_that_hold_nothing_known_and_options_for_logs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no records that can be compared"):
        compare_records([tmp_path])
    with pytest.raises(ConfigError, match="nothing can be paired"):
        compare_records([WEAK])
