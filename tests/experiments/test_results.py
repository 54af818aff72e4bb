from __future__ import annotations

from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, DamagedRecordError, RecordError
from heredity.experiments import results
from heredity.experiments.results import is_run, is_suite, rebuild, rebuild_suite
from heredity.experiments.suite import open_suite

from .sample import config, isolated, run

DERIVED = ("metrics.json", "report.md", "report.html")

pytestmark = pytest.mark.skipif(not isolated(), reason="policies cannot be confined on this machine")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "runs" / "one"
    run(folder, config(run={"seeds": 2}, suite={"baselines": False}))
    return folder


def derived(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.name in DERIVED}


def test_everything_derived_is_made_again_byte_for_byte(finished: Path) -> None:
    before = derived(finished)
    assert len(before) == 3 * 3
    for name in before:
        (finished / name).unlink()
    rebuilt = rebuild(finished)
    assert derived(finished) == before
    assert rebuilt.metrics.finished == len(rebuilt.runs) == 2
    rebuild(finished)
    assert derived(finished) == before


def test_one_run_is_rebuilt_alone(finished: Path) -> None:
    folder = finished / "runs" / "CartPole-v1--best-of-n--s1"
    before = derived(folder)
    (folder / "metrics.json").unlink()
    assert rebuild(folder).metrics.seed == 1
    assert derived(folder) == before


def test_a_damaged_run_is_left_out_of_its_suite_and_refused_alone(finished: Path, tmp_path: Path) -> None:
    import shutil

    suite = tmp_path / "damaged"
    shutil.copytree(finished, suite)
    journal = suite / "runs" / "CartPole-v1--best-of-n--s0" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"kind":"run.started"', b'"kind":"run.startex"'))
    rebuilt = rebuild(suite)
    assert list(rebuilt.unreadable) == ["CartPole-v1--best-of-n--s0"]
    assert [run_results.seed for run_results in rebuilt.runs] == [1]
    with pytest.raises(DamagedRecordError, match="is damaged in line 1"):
        rebuild(journal.parent)


def test_a_run_that_was_killed_before_its_first_line_is_left_out(finished: Path, tmp_path: Path) -> None:
    import shutil

    suite = tmp_path / "young"
    shutil.copytree(finished, suite)
    (suite / "runs" / "CartPole-v1--best-of-n--s0" / "journal.jsonl").write_bytes(b"")
    rebuilt = rebuild(suite)
    assert rebuilt.unreadable == {}
    assert [run_results.seed for run_results in rebuilt.runs] == [1]


def test_a_suite_that_has_just_begun_has_an_empty_report(tmp_path: Path) -> None:
    open_suite(tmp_path / "one", config())
    (tmp_path / "one" / "runs").mkdir()
    metrics = rebuild_suite(tmp_path / "one").metrics
    assert (metrics.runs, metrics.finished) == (1, 0)
    assert (tmp_path / "one" / "report.html").is_file()


def test_a_report_that_cannot_be_written_is_an_error(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> Path:
        raise RecordError(f"{path} could not be written: No space left on device")

    monkeypatch.setattr(results, "write_atomic", full)
    with pytest.raises(RecordError, match="No space left"):
        rebuild(finished)
    assert rebuild_suite(finished, write=False).metrics.finished == 2


def test_other_folders_are_refused(tmp_path: Path) -> None:
    assert not is_run(tmp_path)
    assert not is_suite(tmp_path)
    with pytest.raises(ConfigError, match="holds neither a run nor a suite"):
        rebuild(tmp_path)


def test_the_report_of_a_project_says_which_suite_to_give_and_writes_nothing(tmp_path: Path) -> None:
    suite = tmp_path / "runs" / "demo-1"
    (suite / "runs").mkdir(parents=True)
    (suite / "suite.toml").write_text("")
    with pytest.raises(ConfigError, match=f"heredity report {suite}"):
        rebuild(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
