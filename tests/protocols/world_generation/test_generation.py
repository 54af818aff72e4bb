"""World generation as a run: worlds are admitted or not, shelved with certificates, resumed without paying twice."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.protocols.world_generation.making import HereRunner, QuickRunner, config, suite

from heredity._core.errors import ConfigError
from heredity.experiments.suite import open_suite, run_suite
from heredity.kinds.world.gates.build import ALL
from heredity.kinds.world.gates.contract import files_digest
from heredity.kinds.world.world import World
from heredity.protocols.world_generation.judge import WORLD_ADMITTED, shelve
from heredity.protocols.world_generation.metrics import GenerationRun, GenerationSuite
from heredity.records import BlobStore, read_journal
from heredity.records.events import MODEL_CALLED, SUBMISSION_ADMITTED
from heredity.resources import SourceTree

BUILDER = "heredity.kinds.world.building.BuildRunner"

KEYS = {"airlock_keys": "A technician on a space station needs keycards for locked doors to escape."}


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BUILDER, QuickRunner)


def part_of(result: Any) -> GenerationRun:
    (run,) = result.runs
    assert isinstance(run.part, GenerationRun)
    return run.part


def test_a_theme_becomes_an_admitted_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BUILDER, HereRunner)
    result = suite(tmp_path / "out", KEYS)
    assert {**result.failures, **result.evolver_failures} == {}
    part = part_of(result)
    assert (part.admitted, part.world, part.first_failed) == (True, "airlock_keys", "")
    assert [gate.gate for gate in part.gates] == list(ALL)
    folder = result.folder / "library" / "airlock_keys"
    made = World(folder)
    certificate = json.loads((folder / "certificate.json").read_text())
    assert (certificate["admitted"], certificate["digest"]) == (True, files_digest(made))
    assert made.play(made.level("test-01").data) == 1.0
    assert (folder / "design.md").exists()
    assert_nothing_hidden_was_told(result.folder, certificate["seed"])
    assert {row.file for row in part.stages} == {"theme.md", "design.md", "world.yaml"}
    assert "nothing is ranked" in (result.folder / "report.md").read_text()[:600]
    assert isinstance(result.metrics.part, GenerationSuite)
    (row,) = result.metrics.part.authors
    assert (row.overall.hits, row.overall.of, row.overall.interval) == (1, 1, None)


def assert_nothing_hidden_was_told(folder: Path, seed: int) -> None:
    (run,) = (folder / "runs").iterdir()
    blobs = BlobStore(run / "blobs")
    told = b"".join(blobs.get(data["blob"]) for data in MODEL_CALLED.all(read_journal(run / "journal.jsonl"))).decode()
    assert "6 of 6 gates passed" in told
    assert str(seed) not in told
    for hidden in ("reliability", "search-much", "nearest", "novelty"):
        assert hidden not in told


def test_what_a_hidden_gate_rejects_is_on_no_shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Rejecting(QuickRunner):
        async def run(self, jobs: Any, limits: Any) -> Any:
            async for position, trajectory in super().run(jobs, limits):
                if jobs[position].task.split == "train":
                    yield position, trajectory
                    continue
                columns, at = dict(trajectory.columns), ALL.index("novelty")
                columns["reward"] = [float(index != at) for index in range(len(ALL))]
                finding = {"kind": "near copy", "message": "it behaves like another", "count": 1, "trace": None}
                columns["info/findings"] = [[finding] if index == at else [] for index in range(len(ALL))]
                yield position, replace(trajectory, columns=columns, total_reward=0.0)

    monkeypatch.setattr(BUILDER, Rejecting)
    result = suite(tmp_path / "out", KEYS)
    part = part_of(result)
    assert (part.admitted, part.first_failed) == (False, "novelty")
    assert part.builds[-1].passed == part.builds[-1].gates, "nothing of it was shown"
    assert not (result.folder / "library").exists()
    assert isinstance(result.metrics.part, GenerationSuite)
    (fault,) = [row for row in result.metrics.part.faults if row.kind == "near copy"]
    assert (fault.worlds, fault.builds, fault.at_the_end) == (1, 0, 1)
    assert "near copy" in (result.folder / "report.md").read_text()


def test_an_author_that_knows_no_word_builds_nothing_and_the_run_ends(tmp_path: Path) -> None:
    part = part_of(suite(tmp_path / "out", {"longing": "Zeitgeist und Sehnsucht"}))
    assert (part.admitted, part.builds, part.first_failed) == (False, [], "build")


@pytest.mark.slow
def test_a_run_that_is_stopped_goes_on_and_pays_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theme = {"bazaar": "A caravan trader in a desert sells dates at prices that drift. Earn coins."}
    calm = suite(tmp_path / "calm" / "out", theme)
    author = "offline/world-author"

    folder, built = tmp_path / "stopped" / "out", asyncio.Event()

    class Noticed(QuickRunner):
        async def run(self, jobs: Any, limits: Any) -> Any:
            async for item in super().run(jobs, limits):
                yield item
                built.set()

    async def stopped() -> None:
        running = asyncio.create_task(run_suite(folder, open_suite(folder, config(folder, theme, author))))
        await built.wait()
        running.cancel()
        await running

    monkeypatch.setattr(BUILDER, Noticed)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stopped())
    monkeypatch.setattr(BUILDER, QuickRunner)
    resumed = suite(folder, theme, author)
    assert part_of(resumed).model_dump(exclude={"gates"}) == part_of(calm).model_dump(exclude={"gates"})
    (run,) = (folder / "runs").iterdir()
    events = list(read_journal(run / "journal.jsonl"))
    calls = [(data["request"], data["place"]) for data in MODEL_CALLED.all(events)]
    assert len(calls) == len(set(calls)), "no call was made twice"
    keys = [data["key"] for data in SUBMISSION_ADMITTED.all(events)]
    assert len(keys) == len(set(keys)), "no build was charged twice"
    assert len(list(WORLD_ADMITTED.all(events))) == 1


def test_a_budget_of_tokens_ends_a_run_which_is_judged(tmp_path: Path) -> None:
    part = part_of(suite(tmp_path / "out", KEYS, budget={"tokens": 60}))
    assert (part.admitted, part.builds) == (False, [])
    assert part.tokens is not None
    assert part.tokens >= 60


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ({"gateway": {}}, "set gateway.optimisation"),
        ({"budget": {"train_cases": 3}}, "budget.train_cases is 3"),
        ({"budget": {"builds": 0}}, "budget"),
        ({"evolver": {"method": "world-author", "options": {"reviev": True}}}, "review"),
        ({"run": {"protocol": "world-generation", "tasksets": ["gymnasium/CartPole-v1"]}}, "runs on themes"),
    ],
)
def test_what_cannot_run_is_refused_before_it_begins(tmp_path: Path, sections: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        suite(tmp_path / "out", KEYS, **sections)


def test_a_shelf_keeps_a_world_and_gives_its_place_to_what_a_changed_theme_became(tmp_path: Path) -> None:
    folder = tmp_path / "world"
    for text, changed in (("old", True), ("old", False), ("new", True)):
        if folder.exists():
            (folder / "mark").touch()
        shelve(folder, SourceTree({"world.yaml": text.encode()}), b"{}", text.encode())
        assert (folder / "mark").exists() != changed
        assert (folder / "world.yaml").read_text() == (folder / "certificate.json").read_text() == text


@pytest.mark.slow
def test_several_authors_have_shelves_of_their_own(tmp_path: Path) -> None:
    authors = {"gateway.optimisation": ["offline/world-author", "offline/world-author-careless"]}
    result = suite(tmp_path / "out", KEYS, matrix=authors)
    assert len(list((result.folder / "library").glob("*/airlock_keys/certificate.json"))) == 2
    assert isinstance(result.metrics.part, GenerationSuite)
    assert [row.overall.of for row in result.metrics.part.authors] == [1, 1, 2]
