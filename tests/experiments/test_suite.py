from __future__ import annotations

import asyncio
import json
import shutil
import stat
from pathlib import Path

import pytest
from tests.offering import Offer

from heredity._core.errors import ConfigError, MissingExtraError, RecordError, RunLockedError, UnknownNameError
from heredity.agents.launchers import available
from heredity.configuration.config import Config
from heredity.experiments.engine import package_versions
from heredity.experiments.progress import RunProgress
from heredity.experiments.sealed import adopt_cases, sealed_folder
from heredity.experiments.suite import new_suite_folder, open_suite, run_suite, with_jobs
from heredity.methods import EvolverContext, SessionContract
from heredity.methods.registry import MethodOptions
from heredity.records import read_journal
from heredity.records.lock import RunLock
from heredity.results.base import read
from heredity.results.suite import SuiteResults

from .sample import config, facts, isolated, run

needs_sandbox = pytest.mark.skipif(not isolated(), reason="policies cannot be confined on this machine")
needs_bubblewrap = pytest.mark.skipif(available() is not None, reason=f"agents cannot be confined: {available()}")

AGENT = """
import subprocess, pathlib
pathlib.Path("system/policy.py").write_text('''
class Policy:
    def __init__(self, obs_space, action_space, env_meta): ...
    def reset(self, episode_index): ...
    def act(self, obs): return int(3 * obs[2] + obs[3] > 0)
''')
subprocess.run(["submit", "program", "--episodes", "0:2"], check=True)
"""


class Watching:
    """Remembers the states that runs went through, and may cancel the suite at the first end of a run."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.cancel: asyncio.Task[object] | None = None

    def changed(self, run: RunProgress) -> None:
        self.seen.append((run.id, run.state))
        if self.cancel is not None and run.state == "done":
            self.cancel.cancel()


def three_runs(**sections: dict[str, object]) -> Config:
    suite = {"suite": {"baselines": False}, "engine": {"workers": 1, "parallel_runs": 1}}
    return config(**{"run": {"seeds": 3}, **suite, **sections})


class Failing:
    """A method that submits its start and then raises."""

    name = "failing"
    options_model = MethodOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        from heredity.methods import Trial

        await session.submit([Trial(context.initial, (0, 1))], key="first")
        raise KeyError("the method's own mistake")


@needs_sandbox
def test_a_suite_runs_every_cell_and_compares_them(tmp_path: Path) -> None:
    chosen = config(
        run={"tasksets": ["gymnasium/CartPole-v1", "gymnasium/Pendulum-v1"]},
        suite={"baselines": ["random"]},
        budget={"episodes": 4},
    )
    result = run(tmp_path / "runs" / "one", chosen)
    assert (result.failures, result.evolver_failures) == ({}, {})
    assert result.metrics.finished == len(result.runs) == 4
    assert {row.evolver for row in result.metrics.leaderboard} == {"best-of-n", "random", "random policy"}
    written = read(json.loads((result.folder / "metrics.json").read_bytes()), SuiteResults)
    assert written.model_dump() == result.metrics.model_dump()
    for run_results in result.runs:
        folder = result.folder / "runs" / run_results.run_id
        assert {p.name for p in folder.iterdir()} >= {"run.toml", "journal.jsonl", "report.html", "report.md"}
        assert run_results.budget.used == (1 if run_results.evolver.name == "random" else 4)
        assert len(run_results.heldout.scores) == len(run_results.reference.heldout_scores) == 3
    commitments = {
        e.data["commitment"]
        for run_results in result.runs
        for e in read_journal(result.folder / "runs" / run_results.run_id / "journal.jsonl")
        if e.kind == "run.started"
    }
    assert len(commitments) == 2, "one set of cases for each taskset"


@pytest.mark.slow
@needs_sandbox
def test_a_suite_that_was_cancelled_ends_as_one_that_was_not(tmp_path: Path) -> None:
    chosen = three_runs(evolver={"method": "parametric"}, budget={"episodes": 12})
    calm = tmp_path / "calm" / "runs" / "one"
    run(calm, chosen)
    folder = tmp_path / "cut" / "runs" / "one"
    shutil.copytree(tmp_path / "calm" / "sealed", tmp_path / "cut" / "sealed")
    watching = Watching()

    async def cut() -> None:
        watching.cancel = asyncio.current_task()
        await run_suite(folder, open_suite(folder, chosen), watching)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cut())
    assert ("CartPole-v1--parametric--s2", "done") not in watching.seen
    result = run(folder)
    assert result.failures == {}
    assert facts(folder) == facts(calm)
    assert sum(run_results.budget.resumes for run_results in result.runs) <= 1


@needs_sandbox
@pytest.mark.parametrize("method", ["parametric", "structural", "best-of-n", "sequential", "static"])
def test_methods_share_out_what_one_submission_cannot_hold(tmp_path: Path, method: str) -> None:
    options = {"batch": 9} if method == "static" else {"candidates": 2}
    budget = {"episodes": 21, "min_per_submit": 2, "max_per_submit": 4}
    result = run(tmp_path / "runs" / "one", config(evolver={"method": method, "options": options}, budget=budget))
    assert (result.failures, result.evolver_failures) == ({}, {})
    journal = read_journal(next((result.folder / "runs").iterdir()) / "journal.jsonl")
    charges = [event.data["charge"] for event in journal if event.kind == "submission.admitted"]
    assert set(charges) <= {2, 3, 4}
    assert sum(charges) >= 9


@needs_sandbox
def test_a_finished_suite_is_not_run_again(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    first = run(folder, config())
    journal = folder / "runs" / "CartPole-v1--best-of-n--s0" / "journal.jsonl"
    before = journal.read_bytes()
    assert run(folder).metrics == first.metrics
    assert journal.read_bytes() == before


@needs_sandbox
def test_a_damaged_run_is_reported_and_the_others_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    run(folder, three_runs())
    journal = folder / "runs" / "CartPole-v1--best-of-n--s1" / "journal.jsonl"
    data = bytearray(journal.read_bytes())
    data[len(data) // 2] ^= 1
    journal.write_bytes(data)
    shutil.rmtree(folder / "runs" / "CartPole-v1--best-of-n--s2")
    result = run(folder)
    assert list(result.failures) == ["CartPole-v1--best-of-n--s1"]
    assert "is damaged in line" in result.failures["CartPole-v1--best-of-n--s1"]
    assert [run_results.seed for run_results in result.runs] == [0, 2]
    assert result.metrics.finished == 2
    assert journal.read_bytes() == data, "a damaged journal is left as it is"


@needs_sandbox
def test_an_evolver_that_raises_is_named_and_what_it_submitted_is_judged(tmp_path: Path, offer: Offer) -> None:
    offer("heredity.methods", "failing", Failing)
    watching, chosen = Watching(), config(evolver={"method": "failing"})
    folder = tmp_path / "runs" / "one"
    result = asyncio.run(run_suite(folder, open_suite(folder, chosen), watching))
    assert result.evolver_failures == {"CartPole-v1--failing--s0": 'KeyError: "the method\'s own mistake"'}
    assert result.failures == {}
    assert result.runs[0].status == "failed"
    assert result.runs[0].heldout.mean is not None
    assert watching.seen[-1] == ("CartPole-v1--failing--s0", "failed")


@needs_sandbox
@needs_bubblewrap
def test_an_agent_is_run_by_its_command(tmp_path: Path) -> None:
    script = tmp_path / "tools" / "work.py"
    script.parent.mkdir()
    script.write_text(AGENT)
    evolver = {"method": None, "agent": f"python3 {script}", "read_only": [str(script.parent)], "end_grace_s": 5.0}
    result = run(tmp_path / "runs" / "one", config(evolver=evolver))
    assert (result.failures, result.evolver_failures) == ({}, {})
    (run_results,) = result.runs
    assert (run_results.evolver.name, run_results.evolver.kind) == ("work", "agent")
    assert run_results.budget.used == 2
    assert run_results.heldout.mean > 100
    workspace = result.folder / "runs" / run_results.run_id / "workspace"
    assert (workspace / "feedback" / "submit_000" / "summary.json").is_file()


def test_what_is_unknown_is_said_before_anything_is_run(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    wrong = config(run={"tasksets": ["gymnasium/CartPole-v1", "gymnasium/CartPol-v1"]})
    with pytest.raises(UnknownNameError, match="did you mean"):
        run(folder, wrong)
    assert not (folder / "runs").exists()


def test_a_missing_extra_is_said_before_anything_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from heredity.kinds.policy.environments import registry

    monkeypatch.setattr(registry, "installed", lambda spec: False)
    with pytest.raises(MissingExtraError, match=r"pip install 'heredity\[box2d\]'"):
        run(tmp_path / "runs" / "one", config(run={"tasksets": ["gymnasium/LunarLander-v3"]}))


def test_a_suite_in_use_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    open_suite(folder, config())
    lock = RunLock.acquire(folder / "lock")
    try:
        with pytest.raises(RunLockedError, match="is in use by process"):
            run(folder)
    finally:
        lock.release()


def test_a_suite_is_continued_with_the_same_configuration_only(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    first = open_suite(folder, config())
    assert open_suite(folder) == first
    with pytest.raises(ConfigError, match=r"budget\.episodes is 6 there and 7 here"):
        open_suite(folder, config(budget={"episodes": 7}))
    faster = config(engine={"workers": 2, "parallel_runs": 1})
    assert open_suite(folder, faster).engine.workers == 2
    assert with_jobs(first, 9).engine.parallel_runs == 9


def test_a_suite_without_a_name_can_be_opened_again(tmp_path: Path) -> None:
    nameless = config(run={"name": ""})
    open_suite(tmp_path / "one", nameless)
    assert open_suite(tmp_path / "one", nameless) == nameless


def test_a_folder_that_is_no_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"has no suite\.toml, so it does not hold a suite"):
        open_suite(tmp_path)


def test_a_half_written_suite_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text("[run]\ntasksets = [")
    with pytest.raises(ConfigError, match=r"suite\.toml is not valid TOML"):
        open_suite(tmp_path)


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot be created: Not a directory"):
        open_suite(tmp_path / "file" / "one", config())


def test_hidden_cases_are_outside_every_run(tmp_path: Path) -> None:
    assert sealed_folder(tmp_path / "runs" / "one") == tmp_path.resolve() / "sealed" / "one"
    assert sealed_folder(tmp_path / "one") == tmp_path.resolve() / "sealed" / "one"


def test_the_cases_of_another_suite_are_taken_over_once(tmp_path: Path) -> None:
    from heredity.session.cases import HiddenCases

    one, two, three = (tmp_path / "runs" / name for name in ("one", "two", "three"))
    secret = HiddenCases.create(sealed_folder(one))
    adopt_cases(two, one)
    adopt_cases(two, one)
    assert HiddenCases.create(sealed_folder(two)) == secret
    file = sealed_folder(two) / "cases.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    HiddenCases.create(sealed_folder(three))
    with pytest.raises(ConfigError, match="already has other hidden cases"):
        adopt_cases(three, one)
    with pytest.raises(RecordError, match="expected a suite's hidden cases"):
        adopt_cases(tmp_path / "runs" / "four", tmp_path / "runs" / "five")


def test_new_suites_have_folders_of_their_own(tmp_path: Path) -> None:
    first = new_suite_folder(tmp_path, config(run={"name": "a/b c"}))
    assert first.name.startswith("a-b-c-")
    first.mkdir()
    assert new_suite_folder(tmp_path, config(run={"name": "a/b c"})) != first


def test_versions_of_installed_packages_are_recorded() -> None:
    versions = package_versions(("numpy", "no-such-package"))
    assert set(versions) == {"python", "numpy"}
