from __future__ import annotations

import json
import os
import re
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.experiments.exports.recorded import CANDIDATE, record

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.experiments.exports.contract import EXPORTERS
from heredity.experiments.exports.export import export_runs
from heredity.experiments.exports.tables import SCHEMAS
from heredity.experiments.imports.contract import compare_records
from heredity.experiments.results import read_run, rebuild_run

CLIENTS = Path(os.environ.get("HEREDITY_CLIENTS", "/nonexistent"))
"""Folder of environments, one for each tool: `inspect`, `every-eval-ever`, `harbor`, `mlflow`."""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return record(tmp_path / "sums--reflection--s0")


def members(log: Path) -> dict[str, Any]:
    with zipfile.ZipFile(log) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def test_a_run_becomes_logs_of_inspect_for_its_search_and_each_judged_candidate(run: Path, tmp_path: Path) -> None:
    out, written = export_runs(run, "inspect", tmp_path / "out")
    assert written.counts == {"samples": 20, "logs": 3}
    assert [Path(file).name for file in written.files] == [
        "heldout-cccccccccccc.eval",
        "heldout-initial.eval",
        "train.eval",
    ]
    held = members(out / written.files[0])
    assert held["header.json"]["status"] == "success"
    (score,) = held["header.json"]["results"]["scores"]
    assert score["metrics"]["mean"]["value"] == pytest.approx(5.5 / 7)
    assert (score["scored_samples"], score["unscored_samples"]) == (7, 1)
    assert held["samples/heldout/6_epoch_1.json"]["error"]["message"] == "missing: missing"
    train = members(out / written.files[2])
    sample = train["samples/train/0#2_epoch_1.json"]
    assert sample["scores"]["score"] == {"value": 0.25, "answer": "42"}
    assert sample["target"] == "42 and a dot"
    assert [m["role"] for m in sample["messages"]] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert [c["arguments"] for c in sample["messages"][2]["tool_calls"]] == [
        {"a": 6, "b": 7},
        {"arguments": "not JSON"},
    ]
    assert sample["messages"][1]["content"][1]["image"].startswith("data:image/png;base64,")
    assert sample["model_usage"]["acme/tiny"] == {
        "input_tokens": 20, "output_tokens": 5, "total_tokens": 35, "input_tokens_cache_read": 10, "total_cost": 0.01
    }  # fmt: skip
    assert sample["metadata"]["parents"] == ["a" * 64]
    assert "overloaded" in train["samples/train/1#1_epoch_1.json"]["error"]["message"]


def test_our_own_logs_can_be_compared(run: Path, tmp_path: Path) -> None:
    out, _ = export_runs(run, "inspect", tmp_path / "out")
    (pair,) = compare_records([out]).tasksets
    assert (pair.taskset, pair.samples, pair.missing) == ("questions/sums.heldout", 7, 1)
    assert abs(pair.difference) == pytest.approx(5.5 / 7)


def test_conversations_become_trajectories(run: Path, tmp_path: Path) -> None:
    out, written = export_runs(run, "atif", tmp_path / "out")
    assert written.counts == {"trajectories": 4}
    shown = json.loads((out / written.files[0]).read_text())
    assert [step["source"] for step in shown["steps"]] == ["system", "user", "agent", "agent"]
    assert [r["source_call_id"] for r in shown["steps"][2]["observation"]["results"]] == ["c1", "c2"]
    picture = shown["steps"][1]["message"][1]["source"]["path"]
    assert (out / written.files[0]).with_name(picture).read_bytes() == b"\x89PNG"
    assert shown["final_metrics"]["total_prompt_tokens"] == 30


def test_runs_without_conversations_are_refused_by_name(tmp_path: Path) -> None:
    run = record(tmp_path / "episodes", episodes=True)
    with pytest.raises(ConfigError, match="episodes has no conversations"):
        export_runs(run, "atif", tmp_path / "out")


def test_a_judged_run_becomes_a_record_with_samples(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="give --organisation"):
        export_runs(run, "eee", tmp_path / "refused")
    out, written = export_runs(run, "eee", tmp_path / "out", "My Lab")
    assert written.counts == {"records": 1, "samples": 7}
    assert written.notes == ["missing scores: a sample needs a score (sums--reflection--s0)"]
    samples, aggregate = written.files
    shown = json.loads((out / aggregate).read_text())
    assert aggregate.startswith("data/questions-sums/acme/tiny/")
    assert shown["detailed_evaluation_results"]["file_path"] == samples
    (result,) = shown["evaluation_results"]
    assert result["metric_config"]["lower_is_better"] is False
    assert result["score_details"]["score"] == pytest.approx(5.5 / 7)
    assert result["score_details"]["uncertainty"]["num_samples"] == 7


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_have_the_documented_columns(run: Path, tmp_path: Path, form: str) -> None:
    out, written = export_runs(run, form, tmp_path / "out")
    read = pl.read_csv if form == "csv" else pl.read_parquet
    tables = {name: read(out / f"{name}.{form}") for name in SCHEMAS}
    assert {name: table.height for name, table in tables.items()} == written.counts
    assert all(table.columns == list(SCHEMAS[name]) for name, table in tables.items())
    assert tables["rollouts"]["score"].to_list() == [1.0, 0.25, None, 0.0]
    assert tables["selections"]["candidate"].to_list() == [CANDIDATE]
    assert set(tables["usage"]["source"]) == {"method", "rollouts", "judging"}


def test_the_manual_names_every_column() -> None:
    lines = (Path(__file__).parents[3] / "docs" / "exports.md").read_text().splitlines()
    shared = next(line for line in lines if "Every table begins with" in line)
    for table, columns in SCHEMAS.items():
        (row,) = [line for line in lines if line.startswith(f"| `{table}` |")]
        named = re.findall(r"`(\w+)`", shared) + re.findall(r"`(\w+)`", row)[1:]
        assert named == list(columns), table


def test_large_tables_are_written_in_batches(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heredity.experiments.exports.tables._BATCH", 3)
    for form, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        out, written = export_runs(run, form, tmp_path / form)
        assert read(out / f"judged.{form}").height == written.counts["judged"] == 16
        assert sorted(path.name for path in out.iterdir()) == sorted(written.files)


@pytest.mark.parametrize("form", ["inspect", "csv"])
def test_nothing_hidden_leaves_a_run_that_has_not_finished(tmp_path: Path, form: str) -> None:
    run = record(tmp_path / "running", finished=False, opened=False)
    out, written = export_runs(run, form, tmp_path / "out")
    text = "".join(note + "\n" for note in written.notes)
    assert "has not finished" in text
    assert "not opened" in text
    if form == "inspect":
        assert [Path(file).name for file in written.files] == ["train.eval"]
        log = members(out / written.files[0])
        assert log["header.json"]["status"] == "started"
        assert "heldout/0#1" not in [row["id"] for row in log["summaries.json"]]
        assert [row["target"] for row in log["summaries.json"]] == ["", "", ""]
    else:
        assert pl.read_csv(out / "judged.csv").height == 0
        assert pl.read_csv(out / "rollouts.csv").height == 3


def test_a_destination_with_files_and_an_unknown_format_are_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not empty"):
        export_runs(run, "csv", run)
    with pytest.raises(UnknownNameError, match="inspect"):
        export_runs(run, "inspec", tmp_path / "out")
    with pytest.raises(ConfigError, match="neither a run nor a suite"):
        export_runs(tmp_path, "csv")


def test_all_formats_are_registered() -> None:
    assert EXPORTERS.own() == ("atif", "csv", "eee", "inspect", "mlflow", "parquet")
    assert all(EXPORTERS.load(name).summary for name in EXPORTERS.own())


def test_times_organisation_and_direction_are_in_metrics_and_card(tmp_path: Path) -> None:
    run = record(tmp_path / "run", organisation="My Lab")
    results = read_run(run).metrics
    assert results.times is not None
    assert results.times.ended is not None
    assert results.times.seconds is not None
    assert (results.organisation, results.higher_is_better) == ("My Lab", True)
    rebuild_run(run)
    card = json.loads((run / "card.json").read_text())
    assert (card["organisation"], card["higher_is_better"]) == ("My Lab", True)
    assert card["runs"][0]["times"] == results.times.model_dump()


_INSPECT = """
import sys
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_samples, read_eval_log_sample_summaries
for name in list_eval_logs(sys.argv[1]):
    log = read_eval_log(name)
    assert len(read_eval_log_sample_summaries(name)) == len(log.samples) == len(list(read_eval_log_samples(name)))
    assert log.status == "success" and log.results.scores[0].metrics["mean"].value >= 0
"""
_HARBOR = """
import pathlib, sys
from harbor.utils.trajectory_validator import TrajectoryValidator
for path in pathlib.Path(sys.argv[1]).rglob("*.json"):
    validator = TrajectoryValidator()
    assert validator.validate(path), validator.get_errors()
"""
_MLFLOW = """
import sys
from mlflow import MlflowClient
client = MlflowClient(tracking_uri=f"sqlite:///{sys.argv[1]}/mlflow.db")
(run,) = client.search_runs([e.experiment_id for e in client.search_experiments() if e.name == "small"])
assert run.info.status == "FINISHED" and run.data.params["options.batch"] == "4" and run.data.metrics["heldout_mean"] > 0.7
"""


def run_tool(tool: str, folder: Path, *arguments: str) -> None:
    """Run the Python of a tool's environment in a folder."""
    path = CLIENTS / tool / "bin" / "python"
    if not path.exists():
        pytest.skip(f"HEREDITY_CLIENTS has no environment of {tool}")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "MLFLOW_DISABLE_TELEMETRY": "true"}
    done = subprocess.run(
        [path, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "form", "program"), [("inspect", "inspect", _INSPECT), ("harbor", "atif", _HARBOR)])
def test_the_real_tools_read_exports(run: Path, tmp_path: Path, tool: str, form: str, program: str) -> None:
    out, _ = export_runs(run, form, tmp_path / "out")
    run_tool(tool, out, "-c", program, str(out))


@pytest.mark.slow
def test_every_eval_evers_validator_accepts_records(run: Path, tmp_path: Path) -> None:
    out, _ = export_runs(run, "eee", tmp_path / "out", "My Lab")
    run_tool("every-eval-ever", out, "-m", "every_eval_ever", "validate", "data/*/*/*/*.json*")


@pytest.mark.slow
def test_mlflow_reads_the_store(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("mlflow")
    out, written = export_runs(run, "mlflow", tmp_path / "out")
    assert written.counts["runs"] == 1
    run_tool("mlflow", out, "-c", _MLFLOW, str(out))
