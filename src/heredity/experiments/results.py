"""From records to metrics and reports; everything here can be deleted and made again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heredity.analysis.run_metrics import run_metrics
from heredity.analysis.suite_metrics import suite_metrics
from heredity.errors import ConfigError
from heredity.records import BlobStore, read_journal
from heredity.records.run_folder import write_atomic
from heredity.reports import write_reports
from heredity.resources import Candidate

METRICS = "metrics.json"


def is_run(folder: Path) -> bool:
    """Return whether a folder holds a run."""
    return (folder / "journal.jsonl").is_file()


def is_suite(folder: Path) -> bool:
    """Return whether a folder holds a suite."""
    return (folder / "runs").is_dir()


def run_folders(folder: Path) -> list[Path]:
    """Return the runs of a suite that have been started, in the order of their names."""
    return sorted(path for path in (folder / "runs").iterdir() if is_run(path))


def rebuild_run(folder: Path) -> dict[str, Any]:
    """Compute a run's metrics from its journal and write metrics.json, report.md and report.html.

    Raises:
        DamagedRecordError: if the journal or a candidate is damaged.
        RecordError: if a file cannot be read or written.
    """
    metrics = read_run(folder)
    write_atomic(folder / METRICS, _encode(metrics))
    write_reports(folder, metrics)
    return metrics


def read_run(folder: Path) -> dict[str, Any]:
    """Compute a run's metrics from its journal, writing nothing."""
    events = read_journal(folder / "journal.jsonl")
    blobs = BlobStore(folder / "blobs")
    where = {e.data["digest"]: e.data["blob"] for e in events if e.kind == "candidate"}

    def load(digest: str) -> Candidate:
        return Candidate.from_bytes(blobs.get(where[digest]))

    return run_metrics([event.to_json() for event in events], load)


def rebuild_suite(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Compute a suite's metrics from its runs' journals and write its metrics.json, report.md and report.html."""
    runs = [read_run(path) for path in run_folders(folder)]
    metrics = suite_metrics(runs)
    write_atomic(folder / METRICS, _encode(metrics))
    write_reports(folder, metrics, runs)
    return metrics, runs


def rebuild(folder: Path) -> dict[str, Any]:
    """Rebuild everything derived of a run or a suite, runs included; return its metrics.

    Raises:
        ConfigError: if the folder holds neither.
    """
    if is_suite(folder):
        for path in run_folders(folder):
            rebuild_run(path)
        return rebuild_suite(folder)[0]
    if is_run(folder):
        return rebuild_run(folder)
    raise ConfigError(f"{folder} holds neither a run nor a suite; give a folder below runs/")


def gather(folders: Sequence[Path]) -> list[dict[str, Any]]:
    """Read the runs of several suites and runs, to be compared as one suite.

    Raises:
        ConfigError: if a folder holds neither a run nor a suite.
    """
    runs: list[dict[str, Any]] = []
    for folder in folders:
        if is_suite(folder):
            runs += [read_run(path) for path in run_folders(folder)]
        elif is_run(folder):
            runs.append(read_run(folder))
        else:
            raise ConfigError(f"{folder} holds neither a run nor a suite; give folders below runs/")
    return runs


def _encode(metrics: dict[str, Any]) -> bytes:
    return json.dumps(metrics, indent=1, allow_nan=False).encode() + b"\n"
