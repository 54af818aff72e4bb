"""Snapshots of a run judged again: the same tasks, the same scores, the run untouched."""

from __future__ import annotations

import asyncio
import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError, DamagedRecordError, RecordError, RunLockedError, UnknownNameError
from heredity.experiments.results import rebuild
from heredity.protocols.harness_evolution import evaluation as judged_again
from heredity.protocols.harness_evolution.evaluation import Evaluated, Wanted, evaluate, read_snapshots
from heredity.protocols.harness_evolution.results import harness_of
from heredity.records.lock import RunLock
from heredity.tasks.registry import taskset

from .harness_runs import assessed, config, contents, events, ran, seal
from .sample import heredity, isolated

pytest.importorskip("reasoning_gym")
pytestmark = pytest.mark.skipif(not isolated(), reason="programs cannot be confined on this machine")

MUTE = '[[rule]]\nreply = "I do not know."\n'


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished suite of one run; tests that change it copy it, with its hidden cases."""
    folder = tmp_path_factory.mktemp("evolved") / "runs" / "h"
    assert not ran(folder, config()).failures
    return folder


@pytest.fixture
def own(suite: Path, tmp_path: Path) -> Path:
    """A copy of the suite, with its hidden cases beside it, to be changed."""
    shutil.copytree(suite.parents[1], tmp_path / "own")
    return tmp_path / "own" / "runs" / "h"


def run_of(suite: Path) -> Path:
    (run,) = (suite / "runs").iterdir()
    return run


def judged(folder: Path, *sources: Path, notify: Any = len, **wanted: Any) -> Evaluated:
    return asyncio.run(evaluate(folder, sources, Wanted(**wanted), notify))


def cut(run: Path, before: bytes) -> None:
    """Cut a journal before the first line that holds some bytes, as a kill would have left it."""
    path = run / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: next(i for i, line in enumerate(lines) if before in line)]))


def test_a_run_judged_again_has_the_same_scores_and_is_not_changed(suite: Path, tmp_path: Path) -> None:
    before = contents(suite.parents[1])
    evaluation = judged(tmp_path / "e", suite)
    assert contents(suite.parents[1]) == before
    run, again = run_of(suite), tmp_path / "e" / "runs" / run_of(suite).name
    assert assessed(again) == {key: scores for key, scores in assessed(run).items() if key in assessed(again)}
    assert {view for view, _ in assessed(again)} == {"update_validation", "id", "ood", "replay"}
    (own,) = events(run, "snapshots.frozen")
    (frozen,) = events(again, "snapshots.frozen")
    assert [p["role"] for p in frozen["points"]] == ["A_0", "A_T"]
    assert [p for p in own["points"] if p["role"]] == frozen["points"]
    (planned,) = events(again, "evaluation.planned")
    (began,) = events(run, "run.started")
    assert planned["run"] == began["run_id"]
    assert planned["config_digest"] == began["config_digest"]
    assert planned["commitment"] == events(again, "cases.judged")[0]["commitment"] == began["commitment"]
    assert not events(again, "batch.started")
    assert not events(again, "submission.admitted")
    (metrics,) = evaluation.runs
    assert harness_of(metrics).views["id"].snapshots["A_T"].perf.micro == 1.0
    assert rebuild(tmp_path / "e").metrics == evaluation.metrics


def test_a_snapshot_that_does_not_exist_is_an_error_and_nothing_is_scored(suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "e"
    for name in ("E_9", "A_1", "0123456789ab", "checkpoint-3"):
        with pytest.raises(ConfigError, match=r"no snapshot '.*'; it has E_0 \(A_0, .*E_2 \(A_T, best"):
            judged(out, suite, snapshots=("A_0", name))
    done = heredity("evaluate", suite, "--snapshot", "E_9", "--out", out)
    assert done.returncode == 2
    assert "it has E_0 (A_0" in done.stderr
    assert not done.stdout
    assert not out.exists()


def test_names_and_digests_stand_for_the_same_snapshots(suite: Path) -> None:
    snapshots = read_snapshots(run_of(suite))
    last = snapshots.points[-1]
    for name in ("A_T", "E_2", "best", last.candidate, last.candidate[:8]):
        assert snapshots.select([name]) == [last]
    assert [p.batch for p in snapshots.select(["A_T", "A_0", "E_0"])] == [0, 2]


def test_a_snapshot_between_those_that_were_judged_can_be_judged_later(tmp_path: Path) -> None:
    suite = tmp_path / "runs" / "h"
    ran(suite, config(schedule={"assess": 0}, views={"replay": 0}))
    judged(tmp_path / "e", suite, snapshots=("E_1",), views=("id",))
    ((view, _),) = assessed(tmp_path / "e" / "runs" / run_of(suite).name)
    assert view == "id"
    assert ("id", events(run_of(suite), "batch.started")[1]["candidate"]) not in assessed(run_of(suite))


def test_a_damaged_snapshot_is_reported_before_anything_is_attempted(own: Path, tmp_path: Path) -> None:
    snapshots = read_snapshots(run_of(own))
    blob = snapshots.blobs[snapshots.points[-1].candidate]
    (run_of(own) / "blobs" / blob[:2] / blob).write_bytes(b"something else")
    with pytest.raises(DamagedRecordError, match="does not match its digest"):
        judged(tmp_path / "e", own)
    assert not (tmp_path / "e").exists()


def test_another_version_of_the_taskset_is_refused(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Newer:
        def __init__(self, name: str) -> None:
            self._own = taskset(name)
            self.info = dataclasses.replace(self._own.info, version="newer")
            self.draw = self._own.draw

    monkeypatch.setattr(judged_again, "taskset", Newer)
    with pytest.raises(ConfigError, match=r"but newer is installed"):
        judged(tmp_path / "e", suite)
    assert not (tmp_path / "e").exists()


def test_without_the_sealed_cases_of_the_run_nothing_is_judged(own: Path, tmp_path: Path) -> None:
    hidden_cases = own.parents[1] / "sealed" / "h"
    other = tmp_path / "other" / "runs" / "h"
    seal(other, entropy=2)
    shutil.copy(tmp_path / "other" / "sealed" / "h" / "cases.json", hidden_cases / "cases.json")
    with pytest.raises(ConfigError, match=r"the hidden cases differ from those .* was judged on"):
        judged(tmp_path / "e", own)
    shutil.rmtree(hidden_cases)
    with pytest.raises(RecordError, match="expected a suite's hidden cases"):
        judged(tmp_path / "e", own)
    assert not (tmp_path / "e").exists()
    assert not hidden_cases.exists()


def test_an_interrupted_evaluation_goes_on_where_it_stopped(suite: Path, tmp_path: Path) -> None:
    out, wanted = tmp_path / "e", {"views": ("id", "replay")}
    judged(out, suite, **wanted)
    journal = out / "runs" / run_of(suite).name / "journal.jsonl"
    whole, lines = assessed(journal.parent), journal.read_bytes().splitlines(keepends=True)
    for kept in (1, 4, 6, 8, len(lines) - 1):
        journal.write_bytes(b"".join(lines[:kept]) + b'{"torn')
        messages: list[str] = []
        judged(out, suite, notify=messages.append, **wanted)
        assert assessed(journal.parent) == whole
        again = events(journal.parent, "snapshot.assessed")
        assert len(again) == len(whole)
        for kind in ("run.started", "evaluation.planned", "snapshots.frozen", "cases.judged", "run.finished"):
            assert len(events(journal.parent, kind)) == 1
    with pytest.raises(ConfigError, match="holds another evaluation"):
        judged(out, suite, views=("id",))


def test_an_interrupted_run_has_the_snapshots_that_are_frozen_for_good(own: Path, tmp_path: Path) -> None:
    run = run_of(own)
    cut(run, b'"kind":"session.closed"')
    snapshots = read_snapshots(run)
    assert [p.batch for p in snapshots.points] == [0, 1]
    assert snapshots.best is None
    with pytest.raises(ConfigError, match="no snapshot 'A_T'; it has"):
        snapshots.select(["A_T"])
    with pytest.raises(ConfigError, match="update-validation is not judged yet"):
        snapshots.select(["best"])
    before = contents(run)
    judged(tmp_path / "e", run, views=("replay",))
    assert contents(run) == before
    (frozen,) = events(tmp_path / "e" / "runs" / run.name, "snapshots.frozen")
    assert [(p["name"], p["role"]) for p in frozen["points"]] == [("E_0", "A_0"), ("E_1", None)]
    assert (
        len(
            {task["id"] for e in events(tmp_path / "e" / "runs" / run.name, "snapshot.assessed") for task in e["tasks"]}
        )
        == 4
    )


def test_a_run_in_which_nothing_was_committed_has_nothing_to_judge(own: Path, tmp_path: Path) -> None:
    cut(run_of(own), b'"kind":"candidate.decided"')
    with pytest.raises(ConfigError, match="has no commit"):
        judged(tmp_path / "e", own)


def test_models_are_crossed_with_what_harnesses_evolved_under(tmp_path: Path) -> None:
    mute = tmp_path / "mute.toml"
    mute.write_text(MUTE)
    follower, silent = "offline/rule-follower", f"scripted/{mute}"
    chosen = config(
        matrix={"gateway.execution": [follower, silent]},
        views={"validation": 2, "heldout": 6, "ood": 0, "replay": 0},
        run={"ood": []},
    )
    ran(tmp_path / "runs" / "h", chosen)
    evaluation = judged(tmp_path / "e", tmp_path / "runs" / "h", views=("id",), models=(follower, silent))
    cells = {(row.evolved, cell.model): cell for row in evaluation.matrix for cell in row.cells}
    assert len(cells) == 4
    assert cells[follower, follower].difference > 0.5
    assert cells[follower, silent].difference == 0.0
    assert cells[silent, silent].difference == 0.0
    assert {(cell.evolvers, cell.candidates) for cell in cells.values()} == {(None, None)}, "stand-ins are not tested"
    names = {run.evolver.name for run in evaluation.runs}
    assert any(name.endswith(f"evolved under {follower}") for name in names)


def test_repeats_are_attempts_of_their_own(suite: Path, tmp_path: Path) -> None:
    evaluation = judged(tmp_path / "e", suite, views=("id",), repeats=2)
    assert [run.evolver.name for run in evaluation.runs] == ["refine", "refine (repeat 2)"]
    seeds = [e["blob"] for run in (tmp_path / "e" / "runs").iterdir() for e in events(run, "snapshot.assessed")]
    assert len(set(seeds)) == len(seeds)
    (row,) = evaluation.matrix
    assert row.cells[0].runs == 1


def test_another_taskset_may_be_what_is_out_of_distribution(suite: Path, tmp_path: Path) -> None:
    other = "questions/reasoning-gym/simple_equations"
    judged(tmp_path / "e", suite, views=("ood",), ood=(other,), snapshots=("A_0",))
    (event,) = events(tmp_path / "e" / "runs" / run_of(suite).name, "snapshot.assessed")
    assert (event["view"], event["taskset"]) == ("ood", other)
    assert len(event["scores"]) == 5


def test_what_cannot_be_asked_is_refused(suite: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="set twice"):
        Wanted(settings=("gateway.execution=a/b", "gateway.execution=c/d"))
    with pytest.raises(ConfigError, match=r"cannot set .views\.heldout"):
        Wanted(settings=("views.heldout=99",))
    with pytest.raises(ConfigError, match="pass all models with --model"):
        Wanted(settings=("gateway.execution=a/b",), models=("c/d",))
    with pytest.raises(UnknownNameError, match="unknown view 'heldout'"):
        judged(tmp_path / "e", suite, views=("heldout",))
    with pytest.raises(UnknownNameError, match="unknown model"):
        judged(tmp_path / "e", suite, models=("nowhere/model",))
    with pytest.raises(ConfigError, match="must not change"):
        judged(suite / "again", suite)
    with pytest.raises(ConfigError, match="neither a run nor a suite"):
        judged(tmp_path / "e", tmp_path)
    assert not (tmp_path / "e").exists()


def test_two_processes_do_not_write_one_evaluation(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    lock = RunLock.acquire(tmp_path / "e" / "lock")
    with pytest.raises(RunLockedError):
        judged(tmp_path / "e", suite)
    lock.release()
