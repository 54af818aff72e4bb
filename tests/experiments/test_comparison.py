from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError
from heredity.experiments.results import compare_folders
from heredity.experiments.sealed import adopt_cases
from heredity.results.suite import SuiteResults

from .sample import config, isolated, run

pytestmark = pytest.mark.skipif(not isolated(), reason="policies cannot be confined on this machine")


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`a` and `b` share their cases, `c` has its own; `b` has another method, `d` the same one as `a` with fewer episodes."""
    root = tmp_path_factory.mktemp("comparison") / "runs"
    run(root / "a", config())
    for name, sections in {"b": {"evolver": {"method": "sequential"}}, "d": {"budget": {"episodes": 3}}}.items():
        adopt_cases(root / name, root / "a")
        run(root / name, config(**sections))
    run(root / "c", config(evolver={"method": "sequential"}))
    return root


def tasksets(results: SuiteResults) -> list[str]:
    return [row.taskset for row in results.tasksets]


def test_suites_with_the_same_cases_are_one(suites: Path) -> None:
    comparison = compare_folders([suites / "a", suites / "b"])
    assert comparison.notes == []
    assert comparison.metrics.suite_id == "a and b"
    assert tasksets(comparison.metrics) == ["gymnasium/CartPole-v1"]
    pairs = [(row.a, row.b, row.cases) for row in comparison.metrics.comparisons.tasksets]
    assert any({one, other} == {"best-of-n", "sequential"} and cases == 3 for one, other, cases in pairs)


def test_suites_with_cases_of_their_own_are_refused(suites: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing can be paired.*--cases"):
        compare_folders([suites / "a", suites / "c"])


def test_a_taskset_with_several_sets_of_cases_is_kept_apart(suites: Path) -> None:
    comparison = compare_folders([suites / "a", suites / "c", suites / "b"])
    assert tasksets(comparison.metrics) == ["gymnasium/CartPole-v1 (cases of a)", "gymnasium/CartPole-v1 (cases of c)"]
    assert any("kept apart" in note for note in comparison.notes)
    apart = [row for row in comparison.metrics.comparisons.tasksets if row.taskset.endswith("(cases of c)")]
    assert {row.a for row in apart} | {row.b for row in apart} == {"sequential", "random policy"}


def test_the_same_evolver_and_seed_twice_is_told_apart(suites: Path) -> None:
    comparison = compare_folders([suites / "a", suites / "d"])
    assert set(comparison.metrics.evolvers) == {"best-of-n (a)", "best-of-n (d)"}
    assert [run.evolver.name for run in comparison.runs] == ["best-of-n (a)", "best-of-n (d)"]
    assert any("suite's name is added" in note for note in comparison.notes)


def test_single_runs_can_be_compared(suites: Path) -> None:
    one, other = (next((suites / name / "runs").iterdir()) for name in ("a", "b"))
    assert set(compare_folders([one, other]).metrics.evolvers) == {"best-of-n", "sequential"}


def test_damaged_runs_of_a_suite_are_left_out_and_named(suites: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(suites / "b", copied)
    journal = next((copied / "runs").iterdir()) / "journal.jsonl"
    journal.write_bytes(b"x" + journal.read_bytes()[1:])
    comparison = compare_folders([suites / "a", suites / "b", copied])
    assert any("left out" in note and "copied" in note for note in comparison.notes)
    assert len(comparison.runs) == 2


def test_two_different_folders_are_needed(suites: Path, tmp_path: Path) -> None:
    for folders in (
        [suites / "a"],
        [suites / "a", suites / "a" / ".." / "a"],
        [suites / "a", suites / "b", suites / "b"],
    ):
        with pytest.raises(ConfigError, match="two or more different folders"):
            compare_folders(folders)
    with pytest.raises(ConfigError, match="neither a run nor a suite"):
        compare_folders([suites / "a", tmp_path])
