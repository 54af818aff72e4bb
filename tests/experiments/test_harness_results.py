from __future__ import annotations

from pathlib import Path

import pytest
from tests.protocols.harness_evolution.analysis.journals import HarnessJournal, Told

from heredity.experiments.results import rebuild, rebuild_run
from heredity.protocols.harness_evolution.results import harness_of

DERIVED = ("metrics.json", "report.md", "report.html")


def derived(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.name in DERIVED}


def test_what_is_derived_of_a_run_is_made_again_byte_for_byte(tmp_path: Path) -> None:
    design = Told(gate=True, broken=(2,), refusals={3: "agent.py: solve is missing"}, models=("other/model",))
    folder = HarnessJournal(design).save(tmp_path / "run")
    metrics = rebuild_run(folder)
    before = derived(folder)
    assert harness_of(metrics).points[1].changed, "harnesses are read from the blobs"
    for name in before:
        (folder / name).unlink()
    rebuild_run(folder)
    assert derived(folder) == before
    assert len(before) == 3


@pytest.mark.slow
def test_what_is_derived_of_a_suite_is_made_again_byte_for_byte(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    for design in (Told("ace"), Told("ahe", broken=(4,)), Told("ahe", gate=True), Told("ace", 1, finished=False)):
        journal = HarnessJournal(design)
        journal.save(folder / "runs" / journal.events[0][1]["run_id"])
    rebuilt = rebuild(folder)
    before = derived(folder)
    assert [m.evolver for m in rebuilt.metrics.part.methods] == ["ace", "ahe (gate=off)", "ahe (gate=on)"]
    for name in before:
        (folder / name).unlink()
    rebuild(folder)
    assert derived(folder) == before
    assert len(before) == 3 * 5


def test_no_interval_of_a_share_leaves_zero_to_one(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    for seed in (0, 1):
        journal = HarnessJournal(Told("ace", seed))
        journal.save(folder / "runs" / journal.events[0][1]["run_id"])
    rebuilt = rebuild(folder)
    low, high = zip(
        *(cell.ci for taskset in rebuilt.metrics.tasksets for cell in taskset.cells if cell.ci), strict=True
    )
    runs = [run.heldout for run in rebuilt.runs]
    assert runs
    assert all(set(run.scores) <= {0.0, 1.0} for run in runs)
    assert min(low) >= 0.0
    assert max(high) <= 1.0
    assert all(0.0 <= run.ci[0] <= run.mean <= run.ci[1] <= 1.0 for run in runs)
