"""Winners are files that work without the records they come from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from heredity.cli.main import app
from heredity.experiments import best
from heredity.experiments.results import rebuild
from heredity.kinds.checkpoint.models.checkpoint import Checkpoint, candidate_of
from heredity.protocols.post_training.server.workspace import selected_weights
from heredity.records import Event
from heredity.resources import SourceTree
from heredity.results.run import RunResults

from .sample import config, isolated, run

pytestmark = pytest.mark.skipif(not isolated(), reason="policies cannot be confined on this machine")

QUESTIONS = "".join(f"{n} plus {4 - n}?,4\n" for n in range(12))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("best") / "runs" / "two"
    tasksets = ["gymnasium/CartPole-v1", "gymnasium/Pendulum-v1"]
    run(folder, config(run={"seeds": 2, "tasksets": tasksets}, suite={"baselines": False}))
    return folder


def metrics(folder: Path) -> RunResults:
    return RunResults.model_validate_json((folder / "metrics.json").read_bytes())


def test_a_run_has_the_candidate_it_ended_with_as_files(finished: Path) -> None:
    for folder in sorted((finished / "runs").iterdir()):
        tree = SourceTree.from_folder(folder / "best")
        assert "policy.py" in tree
        selected = metrics(folder).selected
        assert selected is not None
        assert _digest(tree) == selected.candidate


def _digest(tree: SourceTree) -> str:
    from heredity.resources import Candidate

    return Candidate.program(tree).digest


def test_a_suite_has_the_winner_of_each_taskset_chosen_by_validation(finished: Path) -> None:
    assert sorted(p.name for p in (finished / "best").iterdir()) == ["CartPole-v1", "Pendulum-v1"]
    for name in ("CartPole-v1", "Pendulum-v1"):
        runs = [metrics(folder) for folder in sorted((finished / "runs").glob(f"{name}--*"))]
        chosen = max(runs, key=lambda r: r.selected.validation_mean if r.selected else -1e9)  # type: ignore[arg-type, return-value]
        assert chosen.selected is not None
        assert _digest(SourceTree.from_folder(finished / "best" / name)) == chosen.selected.candidate


def test_the_winner_plays_outside_of_its_run(finished: Path, tmp_path: Path) -> None:
    policy = shutil.copytree(finished / "best" / "CartPole-v1", tmp_path / "taken along")
    arguments = ["env", "play", "CartPole-v1", "--policy", str(policy), "--video", str(tmp_path / "v.gif"), "--json"]
    played = CliRunner().invoke(app, [*arguments, "--steps", "20"])
    assert played.exit_code == 0, played.output
    assert json.loads(played.stdout)["steps"] > 0


def test_best_is_made_again_and_what_was_edited_in_it_is_replaced(finished: Path, tmp_path: Path) -> None:
    suite = shutil.copytree(finished, tmp_path / "runs" / "two")
    before = SourceTree.from_folder(suite / "best")
    shutil.rmtree(suite / "best")
    (suite / "runs" / "CartPole-v1--best-of-n--s0" / "best" / "policy.py").write_text("edited")
    assert rebuild(suite).winners[0].folder == suite / "best" / "CartPole-v1"
    assert SourceTree.from_folder(suite / "best") == before
    assert not list(suite.rglob(".best.*"))


def test_a_winner_whose_blob_is_gone_is_left_out_and_the_report_is_written(finished: Path, tmp_path: Path) -> None:
    suite = shutil.copytree(finished, tmp_path / "runs" / "two")
    for folder in (suite / "runs").glob("CartPole-v1--*"):
        shutil.rmtree(folder / "blobs")
        (folder / "blobs").mkdir()
    rebuilt = rebuild(suite)
    assert [winner.taskset for winner in rebuilt.winners] == ["gymnasium/Pendulum-v1"]
    assert not list((suite / "runs").glob("CartPole-v1--*/best"))
    assert (suite / "best" / "policy.py").is_file()


def test_a_checkpoint_is_a_folder_of_its_files_and_takes_its_place_on_the_disk_once(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(finished / "runs" / "CartPole-v1--best-of-n--s0", tmp_path / "run")
    checkpoint = Checkpoint("d" * 64, 3, 1, "LlamaForCausalLM", {}, {"tensors": {}})
    selected = candidate_of(checkpoint)
    kept_line = {"digest": checkpoint.digest, "candidate": selected.digest, "bytes": 7}
    events = [
        Event(0, 0.0, "judging.selected", {"submit_id": 0, "candidate": selected.digest, "reason": ""}),
        Event(1, 0.0, "checkpoint.kept", kept_line),
    ]
    monkeypatch.setattr(best, "_LINKED", 4)
    monkeypatch.setattr(best._Candidates, "load", lambda self, digest: selected)
    protocol = SimpleNamespace(best=lambda folder, _: selected_weights(folder, events))
    monkeypatch.setattr(best, "PROTOCOLS", SimpleNamespace(load=lambda name: protocol))
    best.write_best(folder, metrics(folder))
    assert not (folder / "best").exists(), "weights that were not kept are no winner"
    kept = folder / "models" / checkpoint.digest
    kept.mkdir(parents=True)
    (kept / "config.json").write_text("{}")
    (kept / "model.safetensors").write_bytes(b"weights")
    best.write_best(folder, metrics(folder))
    assert sorted(path.name for path in (folder / "best").iterdir()) == ["config.json", "model.safetensors"]
    assert (folder / "best" / "model.safetensors").samefile(kept / "model.safetensors")
    assert not (folder / "best" / "config.json").samefile(kept / "config.json")


def test_of_prompts_the_terminal_says_where_they_are_and_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\n" + QUESTIONS)
    suite = """
[run]
protocol = "resource-evolution"
tasksets = ["questions/file:q.csv"]
[evolver]
method = "reflection"
options = {batch = 4, rounds = 2, candidates = 1, confirm = 2}
[budget]
rollouts = 40
train_cases = 6
[views]
heldout = 4
[gateway]
execution = "scripted/answers.toml"
optimisation = "scripted/edits.toml"
[suite]
baselines = false
"""
    (tmp_path / "suite.toml").write_text(suite)
    (tmp_path / "answers.toml").write_text(
        '[[rule]]\nwhen = {system = "DOUBLE"}\nreply = "Answer: 4"\n[[rule]]\nwhen = {any = "(?s)."}\nreply = "no"\n'
    )
    edit = {
        "edits": [{"variable": "prompt/system:prompt.md", "value": "DOUBLE the number.\nThen stop.\n"}],
        "why": "told",
        "expects": "more",
    }
    edit |= {"hypotheses": [{"cause": "wrong", "variables": [], "tasks": []}]}
    edit |= {"selections": [{"variable": "prompt/system:prompt.md", "change": "double", "hypothesis": 0}]}
    (tmp_path / "edits.toml").write_text(f"[[rule]]\nwhen = {{any = \"(?s).\"}}\nreply = '''{json.dumps(edit)}'''\n")
    ended = CliRunner().invoke(app, ["run", "suite.toml", "--out", "out", "-q"])
    assert "best: out/best (reflection, seed 0" in ended.output, ended.output
    assert "  prompt/system/prompt.md:\n    DOUBLE the number.\n    Then stop.\n" in ended.output
    assert (tmp_path / "out/best/prompt/system/prompt.md").read_text() == "DOUBLE the number.\nThen stop.\n"
    again = CliRunner().invoke(
        app, ["run", "suite.toml", "evolver.initial=out/best", "run.seeds=1", "--out", "again", "-q"]
    )
    assert again.exit_code == 0, again.output
