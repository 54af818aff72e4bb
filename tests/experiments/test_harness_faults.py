"""Faults that a system for evolving harnesses is known to have, one test for each; see also `test_evaluation.py`."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from tests.offering import Offer

from heredity._core.errors import ConfigError, RunLockedError
from heredity._core.ids import generator
from heredity.configuration.config import Config
from heredity.experiments.config import suite_file
from heredity.experiments.sealed import sealed_folder
from heredity.methods import Decision, EvolverContext, Feedback, SessionContract, Trial
from heredity.methods.registry import MethodOptions
from heredity.protocols.harness_evolution.analysis import inspect_split, read_split, read_task_index
from heredity.protocols.harness_evolution.evaluation import Wanted, evaluate
from heredity.protocols.harness_evolution.results import harness_of
from heredity.records.lock import RunLock

from .harness_runs import assessed, config, events, facts, ran, seal
from .sample import SOURCE, command, heredity, isolated

pytest.importorskip("reasoning_gym")
needs_sandbox = pytest.mark.skipif(not isolated(), reason="programs cannot be confined on this machine")

KINDS = (b"batch.started", b"submission.completed", b"candidate.decided", b"snapshots.frozen", b"snapshot.assessed")


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of one run that nothing disturbed; tests that change it copy it."""
    folder = tmp_path_factory.mktemp("calm") / "runs" / "h"
    assert not ran(folder, config()).failures
    return folder


def run_of(suite: Path) -> Path:
    (run,) = (suite / "runs").iterdir()
    return run


def moved(suite: Path, to: Path) -> Path:
    shutil.copytree(suite.parents[1], to)
    return to / "runs" / suite.name


def cut(run: Path, kept: int) -> None:
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (run / "journal.jsonl").write_bytes(b"".join(lines[:kept]) + lines[kept][: len(lines[kept]) // 2])


def written(folder: Path, chosen: Config) -> Path:
    path = folder / "h.toml"
    path.write_text(tomli_w.dumps(chosen.model_dump(exclude_none=True)))
    return path


class _Own:
    """A method of a test: follows the schedule, and does what the test wants besides."""

    name = "own"
    scheduled = True
    options_model = MethodOptions

    def __init__(self) -> None:
        self.seen: list[Feedback] = []

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        await session.commit(Decision(context.initial.digest, "", True, "first"), context.initial)
        async for batch in session.batches():
            self.seen += await session.submit([Trial(context.initial, batch.tasks)], f"b/{batch.number}")
            await self.besides(session, context)

    async def besides(self, session: SessionContract, context: EvolverContext) -> None:
        """Do nothing more."""


def own_method(offer: Offer, method: type[_Own]) -> dict[str, Any]:
    offer("heredity.methods", "own", method)
    return {"method": "own"}


# --- resuming, in this folder and in another one


@needs_sandbox
def test_a_suite_that_was_moved_goes_on_with_the_same_first_snapshot(calm: Path, tmp_path: Path) -> None:
    suite = moved(calm, tmp_path / "elsewhere")
    lines = (run_of(suite) / "journal.jsonl").read_bytes().splitlines()
    cut(run_of(suite), next(i for i, line in enumerate(lines) if b'"kind":"session.closed"' in line))
    assert not ran(suite).failures
    assert facts(run_of(suite)) == facts(run_of(calm))
    (frozen,) = events(run_of(suite), "snapshots.frozen")
    first = events(run_of(suite), "candidate.decided")[0]["candidate"]
    assert (frozen["points"][0]["role"], frozen["points"][0]["candidate"]) == ("A_0", first)
    assert frozen["points"][-1]["candidate"] != first


@needs_sandbox
def test_a_suite_that_was_moved_without_its_hidden_cases_does_not_go_on_with_others(calm: Path, tmp_path: Path) -> None:
    suite = moved(calm, tmp_path / "elsewhere")
    shutil.rmtree(sealed_folder(suite))
    seal(suite, entropy=2)
    (why,) = ran(suite).failures.values()
    assert "commitment" in why
    assert assessed(run_of(suite)) == assessed(run_of(calm))


@needs_sandbox
async def test_evaluating_into_a_new_folder_scores_the_first_snapshot_and_not_the_trained_one(
    calm: Path, tmp_path: Path
) -> None:
    await evaluate(tmp_path / "e", [calm], Wanted(snapshots=("A_0",), views=("id",)))
    ((key, scores),) = assessed(tmp_path / "e" / "runs" / run_of(calm).name).items()
    assert key == ("id", events(run_of(calm), "candidate.decided")[0]["candidate"])
    final = events(run_of(calm), "snapshots.frozen")[0]["points"][-1]["candidate"]
    assert scores == assessed(run_of(calm))[key] != assessed(run_of(calm))["id", final]


@needs_sandbox
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.decode())
@pytest.mark.fast(2)
def test_a_resumed_run_has_no_row_and_no_token_twice(kind: bytes, calm: Path, tmp_path: Path) -> None:
    suite = moved(calm, tmp_path / "cut")
    lines = (run_of(suite) / "journal.jsonl").read_bytes().splitlines()
    places = [i for i, line in enumerate(lines) if b'"kind":"' + kind + b'"' in line]
    cut(run_of(suite), places[len(places) // 2])
    assert not ran(suite).failures
    resumed = facts(run_of(suite))
    assert resumed == facts(run_of(calm))
    assert (resumed["rows"]["duplicates"], resumed["rows"]["duplicate_tokens"]) == (0, 0.0)


@pytest.mark.slow
@needs_sandbox
def test_a_suite_killed_at_random_instants_ends_as_one_that_was_not(calm: Path, tmp_path: Path) -> None:
    suite, draws = tmp_path / "killed" / "runs" / "h", generator(0, "harness-kills")
    seal(suite)
    path, dealt, limit = written(tmp_path, config()), 0, 1.5
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "TMPDIR": str(tmp_path)}
    while True:
        with subprocess.Popen(
            command("run", path, "--out", suite, "--json"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        ) as process:
            try:
                process.wait(draws.uniform(0.0, limit))
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                dealt, limit = dealt + 1, limit * 1.05
                continue
        assert process.returncode == 0
        break
    assert dealt
    assert facts(run_of(suite)) == facts(run_of(calm))


# --- what is judged, and on what


@needs_sandbox
def test_replay_holds_trained_tasks_and_forgetting_is_measured_on_it(
    tmp_path: Path, offer: Offer, monkeypatch: Any
) -> None:
    class Stopping(_Own):
        async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
            await session.commit(Decision(context.initial.digest, "", True, "first"), context.initial)
            async for batch in session.batches():
                await session.submit([Trial(context.initial, batch.tasks)], f"b/{batch.number}")
                return

    chosen = config(evolver=own_method(offer, Stopping), views={"replay": 6})
    result = ran(tmp_path / "runs" / "h", chosen)
    (begun,) = events(run_of(tmp_path / "runs" / "h"), "batch.started")
    (replay,) = (e for e in events(run_of(tmp_path / "runs" / "h"), "snapshot.assessed") if e["view"] == "replay")
    assert {task["id"] for task in replay["tasks"]} == {f"train/{task_index}" for task_index in begun["tasks"]}
    harness = harness_of(result.runs[0])
    assert all(level.untrained == 0 for level in harness.views["replay"].snapshots.values())
    rates = [row for row in harness.transfer if row.metric == "FR"]
    assert rates
    assert {row.view for row in rates} == {"replay"}
    assert all(row.tasks == len(begun["tasks"]) and row.forgetting.macro == 0.0 for row in rates)


@needs_sandbox
def test_snapshots_are_never_pooled(calm: Path) -> None:
    harness = json.loads((run_of(calm) / "metrics.json").read_bytes())["part"]
    assert [s["name"] for s in harness["snapshots"]] == ["A_0", "E_1", "A_T"]
    for view, own in harness["views"].items():
        for snapshot in harness["snapshots"]:
            level = own["snapshots"].get(snapshot["name"])
            (candidate,) = snapshot["checkpoints"]
            scores = assessed(run_of(calm)).get((view, candidate))
            assert (level is None) == (scores is None)
            if level is not None:
                assert level["perf"]["micro"] == pytest.approx(sum(scores) / len(scores))
                assert level["attempted"] == len(scores)


# --- what reaches a method


@needs_sandbox
def test_evidence_is_whole_and_holds_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offer: Offer) -> None:
    kept: list[_Own] = []

    class Reading(_Own):
        def __init__(self) -> None:
            super().__init__()
            kept.append(self)

    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HEREDITY_TOKEN"):
        monkeypatch.setenv(name, "sk-not-for-anyone")
    folder = tmp_path / "runs" / "h"
    ran(folder, config(evolver=own_method(offer, Reading)))
    outcomes = [outcome for method in kept for feedback in method.seen for outcome in feedback.outcomes]
    assert len(outcomes) == 6
    for outcome in outcomes:
        trajectory = outcome.trajectory
        assert trajectory is not None
        said = [message["content"] for message in trajectory.columns["messages"]]
        question = str(trajectory.columns["info/question"][-1])
        assert any(question in text for text in said)
        assert outcome.score == 1.0 or trajectory.columns["info/reason"][-1]
        assert "redacted" not in repr(trajectory.columns).lower()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if b"sk-not-for-anyone" in path.read_bytes()]
    hidden = {
        task["id"] for e in events(run_of(folder), "snapshot.assessed") for task in e["tasks"] if e["view"] == "id"
    }
    assert hidden
    evidence = "".join(map(repr, kept[0].seen))
    assert not [task for task in hidden if repr(task) in evidence]
    assert all(view not in evidence for view in ("update_validation", "heldout", "replay"))


# --- what goes wrong is said


@needs_sandbox
def test_updates_that_fail_change_the_exit_code_and_are_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "failing.toml").write_text('[[rule]]\nreply = {error = "request"}\n')
    gateway = {"optimisation": f"scripted/{tmp_path / 'failing.toml'}", "attempts": 1}
    suite = tmp_path / "runs" / "h"
    seal(suite)
    done = heredity("run", written(tmp_path, config(gateway=gateway)), "--out", suite)
    assert done.returncode == 1
    message = "2 of 2 updates could not be made (batches 1, 2): every call of the model failed: request 2 times"
    assert message in " ".join(done.stderr.split())
    metrics = json.loads((run_of(suite) / "metrics.json").read_bytes())
    assert metrics["model_usage"]["failed_calls"] == metrics["model_usage"]["method"]["calls"] == 2
    assert "2 calls of the method failed" in (run_of(suite) / "report.html").read_text()


@needs_sandbox
def test_updates_of_which_some_fail_and_none_has_a_usable_reply_are_named(tmp_path: Path) -> None:
    (tmp_path / "tired.toml").write_text(
        '[[rule]]\nwhen = {any = "\\"round\\": 2"}\nreply = {error = "context"}\n[[rule]]\nreply = "nothing"\n'
    )
    gateway = {"optimisation": f"scripted/{tmp_path / 'tired.toml'}", "attempts": 1}
    result = ran(tmp_path / "runs" / "h", config(gateway=gateway))
    (why,) = result.evolver_failures.values()
    assert why.startswith(f"2 of 2 replies of {gateway['optimisation']} could not be used: expected a JSON object")
    assert result.runs[0].model_usage.failed_calls == 1


@needs_sandbox
def test_a_method_that_raises_is_named_and_what_it_had_committed_is_judged(
    tmp_path: Path, offer: Offer, monkeypatch: Any
) -> None:
    class Raising(_Own):
        async def besides(self, session: SessionContract, context: EvolverContext) -> None:
            raise ZeroDivisionError("no such luck")

    result = ran(tmp_path / "runs" / "h", config(evolver=own_method(offer, Raising)))
    assert list(result.evolver_failures.values()) == ["ZeroDivisionError: no such luck"]
    assert result.runs[0].status == "failed"
    assert "A_0" in harness_of(result.runs[0]).views["id"].snapshots


@needs_sandbox
def test_a_method_that_ignores_the_schedule_gets_no_feedback_and_is_named(
    tmp_path: Path, offer: Offer, monkeypatch: Any
) -> None:
    class Straying(_Own):
        async def besides(self, session: SessionContract, context: EvolverContext) -> None:
            await session.submit([Trial(context.initial, range(context.train_tasks))], "all of them")

    folder = tmp_path / "runs" / "h"
    result = ran(folder, config(evolver=own_method(offer, Straying)))
    (why,) = result.evolver_failures.values()
    assert "is not in batch 1" in why
    (refused,) = events(run_of(folder), "submission.rejected")
    assert refused["key"] == "all of them"
    (admitted,) = events(run_of(folder), "submission.admitted")
    assert admitted["tasks"] == events(run_of(folder), "batch.started")[0]["tasks"]


def test_a_method_that_follows_no_schedule_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "h"
    with pytest.raises(ConfigError, match=r"'adaptive' does not support schedules; methods that do: .*ace"):
        ran(folder, config(evolver={"method": "adaptive"}))
    assert not (folder / "runs").exists()


@needs_sandbox
def test_a_second_process_leaves_a_suite_alone(calm: Path, tmp_path: Path) -> None:
    suite = moved(calm, tmp_path / "used")
    before = (run_of(suite) / "journal.jsonl").read_bytes()
    lock = RunLock.acquire(suite / "lock")
    with pytest.raises(RunLockedError):
        ran(suite)
    lock.release()
    lock = RunLock.acquire(run_of(suite) / "lock")
    (why,) = ran(suite).failures.values()
    assert "in use by process" in why
    lock.release()
    assert (run_of(suite) / "journal.jsonl").read_bytes() == before


@pytest.mark.slow
@needs_sandbox
def test_a_disk_that_fills_up_while_snapshots_are_judged_loses_nothing(calm: Path, tmp_path: Path) -> None:
    """Files may not grow beyond the first judgements, as on a full disk; without the limit the run ends as if nothing had been."""
    suite = tmp_path / "full" / "runs" / "h"
    seal(suite)
    lines = (run_of(calm) / "journal.jsonl").read_bytes().splitlines(keepends=True)
    judged = [i for i, line in enumerate(lines) if b'"kind":"snapshot.assessed"' in line]
    size = sum(map(len, lines[: judged[len(judged) // 2]])) + 200
    path = written(tmp_path, config())

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    full = heredity("run", path, "--out", suite, "--json", preexec_fn=limit)
    assert full.returncode in (1, 2)
    assert "Traceback" not in full.stderr
    assert "File too large" in full.stderr
    assert f"heredity resume {suite}" in full.stderr
    assert not events(run_of(suite), "run.finished")
    assert not ran(suite).failures
    assert facts(run_of(suite)) == facts(run_of(calm))


# --- scale


def test_inspecting_a_split_takes_steps_in_proportion_to_its_tasks(tmp_path: Path) -> None:
    steps = {count: _steps(lambda count=count: _inspected(tmp_path, count)) for count in (1000, 2000)}
    assert steps[2000] < 2.2 * steps[1000]


def _inspected(folder: Path, count: int) -> None:
    names = [f"task-{i}" for i in range(count)]
    about = {"source": {"type": "harbor"}, "attributes": {"domain": "code"}, "scoring": {}}
    index, split = folder / "index.json", folder / "split.json"
    index.write_text(json.dumps({"version": "1", "tasks": [{"task_id": name, **about} for name in names]}))
    splits = {"train": names[: count // 2], "val": names[count // 2 : -1], "test": names[-1:]}
    split.write_text(json.dumps({"split_id": "s", "split_version": "v1", "seed": 0, "splits": splits}))
    assert inspect_split(read_task_index(index), read_split(split)).tasks["test"] == 1


def _steps(work: Callable[[], None]) -> int:
    """Return how many lines of Python a piece of work runs: a measure of time that no other process disturbs."""
    count = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def test_the_suite_of_the_guide_has_every_view_and_a_baseline() -> None:
    path = suite_file("harness-offline")
    suite = tomllib.loads(path.read_text())
    assert {"update_validation", "id", "ood", "replay"} <= suite["views"].keys()
    assert suite["run"]["protocol"] == "harness-evolution"
