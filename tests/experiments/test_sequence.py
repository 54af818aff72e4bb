"""Suites that are run seed after seed until two entries are told apart."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.offering import Offer

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.analysis.anytime import LEAST_SEEDS
from heredity.configuration.config import Cell, Config
from heredity.experiments import suite as module
from heredity.experiments.config import cells
from heredity.experiments.progress import RunProgress
from heredity.experiments.results import compare_folders, rebuild_suite
from heredity.experiments.sequence import NAME, begin, pair_of, read_sequence, seeds_of
from heredity.experiments.suite import blocks, compared_cells, open_suite, run_suite
from heredity.experiments.verification.verify import verify
from heredity.methods import EvolverContext, SessionContract, Trial
from heredity.methods.registry import MethodOptions
from heredity.records import read_journal
from heredity.resources import Candidate, SourceTree
from heredity.results.run import HeldOut, RunResults, RunStatus, Verdict
from heredity.results.suite import Stop

from .sample import config, isolated, run

needs_sandbox = pytest.mark.skipif(not isolated(), reason="policies cannot be confined on this machine")

POLICY = """
class Policy:
    def __init__(self, obs_space, action_space, env_meta): ...
    def reset(self, episode_index): ...
    def act(self, obs): return {action}
"""


class Submitting:
    """A method that submits one program; its seeds are alike."""

    options_model = MethodOptions
    action = "0"

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        program = Candidate.program(SourceTree({"policy.py": POLICY.format(action=self.action)}))
        await session.submit([Trial(program, (0,))], key="only")


class Balancing(Submitting):
    name = "balancing"
    action = "int(3 * obs[2] + obs[3] > 0)"


class Falling(Submitting):
    name = "falling"


def two(seeds: int = 12, **sections: dict[str, object]) -> Config:
    own = {"matrix": {"evolver.method": ["balancing", "falling", "random"]}, "suite": {"baselines": False}}
    chosen = {**own, "engine": {"workers": 1, "parallel_runs": 1}, "budget": {"episodes": 1}, **sections}
    return config(**{"run": {"seeds": seeds}, **chosen})


@needs_sandbox
def test_a_suite_ends_when_its_question_is_decided_also_if_it_was_interrupted(tmp_path: Path, offer: Offer) -> None:
    for method in (Balancing, Falling):
        offer("heredity.methods", method.name, method)
    folder, chosen = tmp_path / "runs" / "one", two()
    begin(folder, chosen, "bal vs fall decided")

    async def cut() -> None:
        task = asyncio.current_task()

        class Watching:
            def changed(self, progress: RunProgress) -> None:
                if task is not None and progress.id.endswith("balancing--s2") and progress.state == "done":
                    task.cancel()

        await run_suite(folder, open_suite(folder, chosen), Watching())

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cut())
    before = {p: p.read_bytes() for p in (folder / "runs").glob("*/journal.jsonl") if b"run.finished" in p.read_bytes()}
    looked = (folder / NAME).read_bytes()
    result = run(folder)
    assert result.failures == {}
    assert all(path.read_bytes() == content for path, content in before.items()), "nothing is run twice"
    assert (folder / NAME).read_bytes().startswith(looked), "nothing is looked at twice"
    sequence = result.metrics.sequential
    assert sequence is not None
    assert (sequence.a, sequence.b, sequence.stopped) == ("balancing", "falling", Stop.DECIDED)
    assert [look.seed for look in sequence.looks] == list(range(LEAST_SEEDS))
    assert [look.pairs for look in sequence.looks] == list(range(1, LEAST_SEEDS + 1))
    assert len(result.runs) == 2 * LEAST_SEEDS, "only the two that are compared, and no seed beyond the decision"
    row = next(r for r in result.metrics.comparisons.tasksets if {r.a, r.b} == {"balancing", "falling"})
    assert row.evolvers.verdict is (Verdict.BETTER if row.a == "balancing" else Verdict.WORSE)
    assert row.evolvers.always_valid
    assert row.evolvers.p == sequence.looks[-1].p
    others = [r for r in result.metrics.comparisons.tasksets if r is not row]
    assert all(r.evolvers.p is None and r.evolvers.verdict is Verdict.CANNOT_TELL for r in others)
    assert all(r.candidates.p is None and r.candidates.ci is None for r in result.metrics.comparisons.tasksets)
    failed = {check.name: check.reason for check in verify(folder).checks if check.status == "failed"}
    assert failed == {}, "a third party finds the runs that the rule asks for, and their figures"
    page = (folder / "report.md").read_text()
    assert f"Decided after {LEAST_SEEDS} seeds, of at most 12: balancing is better than falling" in page
    assert "every stopping time" in page
    journals = {p: p.read_bytes() for p in folder.rglob("*.jsonl")}
    assert run(folder).metrics == result.metrics, "a decided suite is not run any further"
    assert {p: p.read_bytes() for p in folder.rglob("*.jsonl")} == journals
    fixed = tmp_path / "runs" / "two"
    shutil.copytree(folder, fixed)
    (fixed / NAME).unlink()
    notes = compare_folders([folder, fixed]).notes
    assert any("every stopping time" in note for note in notes)


class Fakes:
    """Runs that have been judged, by their ids: the difference of the two entries is drawn anew for each seed."""

    def __init__(self, runs: list[Cell], gap: float) -> None:
        self.cells, self.gap, self.finished = {c.id: c for c in runs}, gap, set[str]()

    def read(self, folder: Path) -> SimpleNamespace:
        cell = self.cells[folder.name]
        rng = generator(cell.seed, "fake", cell.label)
        mean = rng.normal() + (self.gap if cell.label == "balancing" else 0.0)
        scores = (mean + 0.1 * rng.normal(size=6)).tolist()
        heldout = HeldOut(scores=scores, mean=float(np.mean(scores)), ci=None, n=6, failures=0, missing=0)
        run = RunResults.model_construct(
            run_id=cell.id, taskset=cell.taskset, seed=cell.seed, heldout=heldout, reference=None, family="", group="",
            protocol="policy-evolution", status=RunStatus.FINISHED,
        )  # fmt: skip
        return SimpleNamespace(metrics=run)


def played(folder: Path, fakes: Fakes, monkeypatch: pytest.MonkeyPatch, *, only: int = 10**6) -> list[list[str]]:
    """Go through the blocks of a suite; runs are finished as they are yielded, up to so many."""
    monkeypatch.setattr(module, "is_run", lambda path: path.name in fakes.finished)
    monkeypatch.setattr(module, "read_run", fakes.read)
    made: list[list[str]] = []
    for block in blocks(folder, list(fakes.cells.values())):
        made.append([cell.id for cell in block])
        fakes.finished |= {cell.id for cell in block[: max(0, only - len(fakes.finished))]}
    return made


def fake_suite(folder: Path, gap: float, offer: Offer, seeds: int = 12) -> Fakes:
    for method in (Balancing, Falling):
        offer("heredity.methods", method.name, method)
    chosen = two(seeds)
    begin(folder, chosen, "balancing vs falling decided")
    return Fakes(compared_cells(folder, cells(chosen)), gap)


def test_at_the_most_seeds_it_is_said_that_nothing_is_decided(
    tmp_path: Path, offer: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes = fake_suite(tmp_path, 0.0, offer)
    assert len(played(tmp_path, fakes, monkeypatch)) == 12
    sequence = read_sequence(tmp_path)
    assert sequence is not None
    assert (sequence.stopped, len(sequence.looks)) == (Stop.MOST_SEEDS, 12)
    assert played(tmp_path, fakes, monkeypatch) == []


def test_a_seed_that_could_not_be_finished_ends_the_sequence_until_it_is_resumed(
    tmp_path: Path, offer: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes = fake_suite(tmp_path, 9.0, offer)
    made = played(tmp_path, fakes, monkeypatch, only=5)
    assert [len(block) for block in made] == [2, 2, 2]
    sequence = read_sequence(tmp_path)
    assert sequence is not None
    assert [look["seed"] for look in sequence.looks] == [0, 1]
    again = played(tmp_path, fakes, monkeypatch)
    assert again[0] == [made[2][1]], "only what is missing"
    ended = read_sequence(tmp_path)
    assert ended is not None
    assert ended.stopped == Stop.DECIDED
    assert len(again) == LEAST_SEEDS - 2


def test_a_suite_killed_between_a_seed_and_its_look_looks_and_runs_nothing_again(
    tmp_path: Path, offer: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes = fake_suite(tmp_path, 9.0, offer)
    played(tmp_path, fakes, monkeypatch, only=8)
    whole = (tmp_path / NAME).read_bytes()
    events = read_journal(tmp_path / NAME)
    lines = whole.splitlines(keepends=True)
    (tmp_path / NAME).write_bytes(b"".join(lines[:-1]) + lines[-1][:20])  # torn in its last look
    fakes.finished = {c for c in fakes.cells if fakes.cells[c].seed < 4}
    made = played(tmp_path, fakes, monkeypatch, only=8)
    assert [fakes.cells[block[0]].seed for block in made] == [4]
    assert [e.data for e in read_journal(tmp_path / NAME)] == [e.data for e in events]


def test_a_rule_is_that_of_its_folder(tmp_path: Path, offer: Offer) -> None:
    fake_suite(tmp_path / "one", 1.0, offer)
    begin(tmp_path / "one", two(), "balancing vs falling")
    with pytest.raises(ConfigError, match="holds a suite with the rule balancing vs falling, at most 12 seeds"):
        begin(tmp_path / "one", two(), "balancing vs random")
    open_suite(tmp_path / "two", two())
    with pytest.raises(ConfigError, match="was not started with --until"):
        begin(tmp_path / "two", two(), "balancing vs falling")


def test_seeds_are_counted_or_listed() -> None:
    assert seeds_of(3, None) == list(range(32))
    assert seeds_of(3, 10) == list(range(10))
    assert seeds_of([30, *range(10)], 9) == list(range(9))
    assert seeds_of([30, *range(10)], None) == [*range(10), 30]
    with pytest.raises(ConfigError, match=f"--most-seeds {LEAST_SEEDS} or more"):
        seeds_of(3, LEAST_SEEDS - 1)
    with pytest.raises(ConfigError, match=r"run\.seeds lists 10"):
        seeds_of(list(range(10)), 11)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("gepa", 'write "A vs B"'),
        ("gepa vs best", "'best' matches 'best-of-n', 'best-of-all'; give"),
        (
            "gepa vs nobody",
            "'nobody' matches no entry; give a name that matches one of 'gepa', 'best-of-n', 'best-of-all'",
        ),
        ("gepa vs gep", "names gepa twice"),
    ],
)
def test_a_question_that_names_no_two_entries_is_refused_with_the_choices(question: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        pair_of(question, ["gepa", "best-of-n", "best-of-all"])
    assert message in str(error.value)


def test_names_are_labels_or_parts_that_fit_one() -> None:
    labels = ["gepa", "gepa-rounds=3", "best-of-n"]
    assert pair_of("gepa vs best", labels) == ("gepa", "best-of-n")
    assert pair_of("rounds=3 VS. gepa decided", labels) == ("gepa-rounds=3", "gepa")


def test_a_suite_that_has_not_begun_says_so(tmp_path: Path, offer: Offer) -> None:
    fake_suite(tmp_path, 1.0, offer)
    (tmp_path / "runs").mkdir()
    sequence = rebuild_suite(tmp_path, write=False).metrics.sequential
    assert sequence is not None
    assert (sequence.looks, sequence.stopped) == ([], None)
    assert (sequence.a, sequence.b, sequence.most_seeds) == ("balancing", "falling", 12)
