"""From records to metrics and reports; everything here can be deleted and made again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heredity.analysis.run_metrics import run_metrics
from heredity.analysis.suite_metrics import suite_metrics
from heredity.errors import ConfigError, RecordError
from heredity.experiments.lineage import write_lineage
from heredity.records import BlobStore, read_journal
from heredity.records.run_folder import write_atomic
from heredity.reports import write_reports
from heredity.resources import Candidate

METRICS = "metrics.json"


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run's journal comes to.

    Attributes:
        folder: the run's folder.
        metrics: its metrics.json.
        started: the data of its `run.started`; empty if it ended before that was written.
    """

    folder: Path
    metrics: dict[str, Any]
    started: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What was computed from a folder.

    Attributes:
        metrics: its metrics.json.
        runs: of a suite, the metrics.json of its runs.
        unreadable: of a suite, the name of each run whose records are damaged, to the reason.
    """

    metrics: dict[str, Any]
    runs: list[dict[str, Any]]
    unreadable: dict[str, str]


def is_run(folder: Path) -> bool:
    """Return whether a folder holds a run."""
    return (folder / "journal.jsonl").is_file()


def is_suite(folder: Path) -> bool:
    """Return whether a folder holds a suite."""
    return (folder / "runs").is_dir()


def run_folders(folder: Path) -> list[Path]:
    """Return the runs of a suite that have been started, in the order of their names."""
    return sorted(path for path in (folder / "runs").iterdir() if is_run(path)) if is_suite(folder) else []


def read_run(folder: Path) -> RunResult:
    """Compute a run's metrics from its journal, writing nothing.

    Raises:
        DamagedRecordError: if the journal is damaged.
        RecordError: if it cannot be read.
    """
    events = read_journal(folder / "journal.jsonl")
    blobs = BlobStore(folder / "blobs")
    where = {e.data["digest"]: e.data["blob"] for e in events if e.kind == "candidate"}

    def load(digest: str) -> Candidate:
        return Candidate.from_bytes(blobs.get(where[digest]))

    started = next((e.data for e in events if e.kind == "run.started"), {})
    return RunResult(folder, run_metrics([event.to_json() for event in events], load, blobs.get), started)


def read_runs(folder: Path) -> tuple[list[RunResult], dict[str, str]]:
    """Read the runs of a suite; return them, and the name of each whose records are damaged with the reason.

    A run that was killed before its first line was written is left out: nothing is known of it.
    """
    found: list[RunResult] = []
    unreadable: dict[str, str] = {}
    for path in run_folders(folder):
        try:
            result = read_run(path)
        except RecordError as error:
            unreadable[path.name] = str(error)
            continue
        if result.started:
            found.append(result)
    return found, unreadable


def rebuild_run(folder: Path) -> dict[str, Any]:
    """Compute a run's metrics from its journal and write metrics.json, report.md, report.html and its lineage.

    Raises:
        DamagedRecordError: if the journal is damaged.
        RecordError: if a file cannot be read or written.
    """
    metrics = read_run(folder).metrics
    write_derived(folder, metrics)
    write_lineage(folder)
    return metrics


def rebuild_suite(folder: Path, *, write: bool = True) -> Rebuilt:
    """Compute a suite's metrics from its runs' journals and write its metrics.json, report.md and report.html.

    Args:
        folder: the suite's folder.
        write: False computes them only.

    Raises:
        RecordError: if a file cannot be written.
    """
    found, unreadable = read_runs(folder)
    runs = [result.metrics for result in found]
    metrics = suite_metrics(runs)
    if write:
        write_derived(folder, metrics, runs)
    return Rebuilt(metrics, runs, unreadable)


def rebuild(folder: Path) -> Rebuilt:
    """Rebuild everything derived of a run or a suite, runs included.

    Raises:
        ConfigError: if the folder holds neither.
        DamagedRecordError: if it holds a run whose journal is damaged.
        RecordError: if a file cannot be read or written.
    """
    if is_suite(folder):
        found, _ = read_runs(folder)
        for result in found:
            write_derived(result.folder, result.metrics)
            write_lineage(result.folder)
        return rebuild_suite(folder)
    if is_run(folder):
        return Rebuilt(rebuild_run(folder), [], {})
    raise ConfigError(f"{folder} holds neither a run nor a suite; give a folder below runs/")


def write_derived(folder: Path, metrics: dict[str, Any], runs: Sequence[dict[str, Any]] | None = None) -> None:
    """Write metrics.json, report.md and report.html.

    Args:
        folder: where to.
        metrics: of a run or a suite.
        runs: of a suite, the metrics of its runs.

    Raises:
        RecordError: if a file cannot be written.
    """
    write_atomic(folder / METRICS, json.dumps(metrics, indent=1, allow_nan=False).encode() + b"\n")
    write_reports(folder, metrics, runs)
