from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.experiments.sample import isolated
from typer.testing import CliRunner

from heredity._core.errors import ConfigError, RecordError, UnknownNameError
from heredity.cli.trace import trace
from heredity.experiments.config import resolve
from heredity.experiments.suite import open_suite, run_suite
from heredity.records.span_log import NAME

pytest.importorskip("reasoning_gym")
pytestmark = pytest.mark.skipif(not isolated(), reason="programs cannot be confined on this machine")

app = typer.Typer()
app.command()(trace)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data: dict[str, Any] = {
        "run": {
            "protocol": "resource-evolution",
            "tasksets": ["questions/mix/reasoning-gym/gcd+reasoning-gym/lcm"],
            "name": "q",
        },
        "evolver": {"method": "reflection", "options": {"batch": 10, "candidates": 2, "rounds": 2, "confirm": 2}},
        "budget": {"rollouts": 90, "train_cases": 24},
        "views": {"heldout": 4},
        "gateway": {"execution": "offline/rule-follower", "optimisation": "offline/rule-inducer"},
        "suite": {"baselines": False},
    }
    folder = tmp_path_factory.mktemp("traces") / "runs" / "q"
    result = asyncio.run(run_suite(folder, open_suite(folder, resolve(data))))
    assert not result.failures
    assert result.notes == {}
    (run_folder,) = (folder / "runs").iterdir()
    return run_folder


def call(*words: str | Path) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception:
        raise done.exception
    return done.stdout


def call_json(*words: str | Path) -> Any:
    return json.loads(call(*words, "--json"))


def test_a_run_is_shown_with_its_totals_and_its_tree(run: Path) -> None:
    lines = call(run).splitlines()
    assert lines[0] == run.name
    kinds = {line.split()[0]: line.split()[1] for line in lines[2:9]}
    assert kinds["run"] == "1"
    assert int(kinds["rollout"]) > 20
    assert any(line.startswith("  round  ") and "number 1" in line for line in lines)
    assert any(line.startswith("    commit  ") and "accepted" in line for line in lines)
    assert any("more of 'rollout'" in line for line in lines)
    assert not any(line.startswith(" " * 6) for line in lines)
    assert max(len(line) for line in call(run, "--full").splitlines()) > 100


def test_judging_is_a_part_of_its_own(run: Path) -> None:
    spans = call_json(run)["spans"]
    (judge,) = [s for s in spans if s["name"] == "judge"]
    hidden = [s for s in spans if str(s["attributes"].get("task")).startswith("heldout/")]
    (references,) = [s for s in spans if s["name"] == "references"]
    parents = [s["parent_id"] for s in hidden]
    assert sorted(parents) == sorted([judge["span_id"]] * 4 + [references["span_id"]] * 4)
    (root,) = [s for s in spans if not s["parent_id"]]
    about = {key: root["attributes"][key] for key in ("run", "evolver", "seed", "status")}
    assert about == {"run": run.name, "evolver": "reflection", "seed": 0, "status": "finished"}


def test_spans_are_chosen_by_kind_and_by_how_long_they_took(run: Path) -> None:
    chosen = call_json(run, "--kind", "model,verify", "--slowest", "3")["spans"]
    assert len(chosen) == 3
    assert {s["kind"] for s in chosen} <= {"model", "verify"}
    assert [s["seconds"] for s in chosen] == sorted((s["seconds"] for s in chosen), reverse=True)
    assert len([line for line in call(run, "--kind", "commit").splitlines() if "commit" in line]) >= 2


def test_an_attempt_is_shown_with_what_was_said_in_it(run: Path) -> None:
    task = next(s["attributes"]["task"] for s in call_json(run)["spans"] if s["kind"] == "rollout")
    shown = call(run, "--rollout", task)
    assert "Answer the question." in shown
    assert "offline/rule-follower" in shown
    assert call(run, "--rollout", task, "--depth", "1").count("offline/rule-follower") == 0


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["--kind", "modle"], UnknownNameError, "did you mean model"),
        (["--rollout", "train/9999"], UnknownNameError, "unknown task"),
        (["--export", "sft"], ConfigError, "expected FORM:FILE"),
        (["--export", "csv:x"], ConfigError, "otlp-json, sft, rl, preference"),
        (["--min-score", "0.5"], ConfigError, "is for --export sft"),
    ],
)
def test_what_cannot_be_shown_is_refused(run: Path, words: list[str], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(run, *words)


def test_a_suite_of_one_run_will_do_and_other_folders_are_refused(run: Path, tmp_path: Path) -> None:
    assert call(run.parent.parent, "--json") == call(run, "--json")
    with pytest.raises(ConfigError, match="does not hold a run"):
        call(tmp_path)
    (tmp_path / "runs").mkdir()
    for name in ("a", "b"):
        (tmp_path / "runs" / name).mkdir()
        (tmp_path / "runs" / name / "journal.jsonl").touch()
    with pytest.raises(ConfigError, match="a suite of 2 runs"):
        call(tmp_path)
    with pytest.raises(RecordError, match="a run with a trace"):
        call(tmp_path / "runs" / "a")


def test_a_run_is_exported_as_training_data_and_to_opentelemetry(run: Path, tmp_path: Path) -> None:
    for form, keys in (
        ("sft", {"messages", "score", "task", "candidate", "model"}),
        ("rl", {"prompt", "completion", "reward", "task", "candidate", "model"}),
        ("preference", {"chosen", "rejected", "chosen_score", "rejected_score", "same_prompt"}),
    ):
        said = call(run, "--export", f"{form}:{tmp_path / form}")
        rows = [json.loads(line) for line in (tmp_path / form).read_text().splitlines()]
        assert said.startswith(f"{len(rows)} rows from ")
        assert rows
        assert keys <= rows[0].keys()
        assert all(row["task"].startswith("train/") for row in rows)
    call(run, "--export", f"otlp-json:{tmp_path / 'spans.json'}")
    (resource,) = json.loads((tmp_path / "spans.json").read_text())["resourceSpans"]
    assert len(resource["scopeSpans"][0]["spans"]) == len(call_json(run)["spans"])
    call(run, "--export", f"sft:{tmp_path / 'all'}", "--min-score", "-1")
    assert len((tmp_path / "all").read_text()) > len((tmp_path / "sft").read_text())


def test_errors_are_red_in_a_terminal_and_texts_cannot_control_it(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = {
        "name": "tool",
        "kind": "tool",
        "trace_id": "t",
        "span_id": "s",
        "parent_id": "",
        "start_ns": 0,
        "end_ns": 5,
    }
    attributes = {"tool": "x\u001b[2J", "error": "timeout", "message": "[bold]slow[/bold]", "value": "\u001b[31m"}
    (tmp_path / "journal.jsonl").touch()
    (tmp_path / NAME).write_text(json.dumps({**line, "attributes": attributes, "error": ""}) + "\nbroken\n")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    shown = call(tmp_path, "--full")
    assert "\x1b[1;31m" in shown
    assert "[bold]slow[/bold]" in shown
    assert "\x1b[2J" not in shown
    assert "\x1b[31m" not in shown


def test_a_run_goes_on_when_its_trace_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heredity.experiments.suite.SPANS", "none/spans.jsonl")
    data = {
        "run": {"tasksets": ["gymnasium/CartPole-v1"], "name": "p"},
        "evolver": {"method": "random"},
        "budget": {"episodes": 2},
        "views": {"validation": 1, "heldout": 1},
        "suite": {"baselines": False},
    }
    folder = tmp_path / "runs" / "p"
    result = asyncio.run(run_suite(folder, open_suite(folder, resolve(data))))
    assert not result.failures
    (note,) = result.notes.values()
    assert note.startswith("the trace is incomplete")
