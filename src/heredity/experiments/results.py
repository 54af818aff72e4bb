"""From records to metrics and reports; everything here can be deleted and made again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from heredity.analysis.contract import CommonMetrics, Metrics
from heredity.analysis.evidence import RunEvidence
from heredity.analysis.run_results import run_results
from heredity.analysis.suite_results import suite_results
from heredity.errors import ConfigError, HeredityError, RecordError
from heredity.experiments.best import Winner, write_best, write_suite_best
from heredity.experiments.config import cells, read_toml, resolve
from heredity.experiments.lineage import write_lineage
from heredity.experiments.sequence import read_sequence, sequential_results
from heredity.experiments.sources import sources_of
from heredity.experiments.verification.cards import write_card
from heredity.protocols.registry import PROTOCOLS
from heredity.records import BlobStore, read_journal
from heredity.records.events import RUN_STARTED
from heredity.records.run_folder import is_run, is_suite, write_atomic
from heredity.reports import write_reports
from heredity.resources import Candidate
from heredity.results.report import PlainReport, Report
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

METRICS = "metrics.json"

_FEW = 3
"""How many suites of a project an error names."""

R = TypeVar("R", RunResults, SuiteResults)


def metrics_of(protocol: str | None) -> Metrics:
    """Return what a protocol says about results; one without figures of its own, or none at all, says the common things."""
    return (PROTOCOLS.load(protocol).metrics if protocol else None) or CommonMetrics()


def report_of(protocol: str | None) -> Report:
    """Return what a protocol has to say on pages; one without a report, or none at all, has nothing of its own to say."""
    return (PROTOCOLS.load(protocol).report if protocol else None) or PlainReport()


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run's journal comes to.

    Attributes:
        folder: the run's folder.
        metrics: its results, as in metrics.json.
        started: the data of its `run.started`; empty if it ended before that was written.
    """

    folder: Path
    metrics: RunResults
    started: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rebuilt(Generic[R]):
    """What was computed from a folder.

    Attributes:
        metrics: its results, as in metrics.json.
        runs: of a suite, the results of its runs.
        unreadable: of a suite, the name of each run whose records are damaged, to the reason.
        winners: of a suite that was written, the winner on each taskset.
    """

    metrics: R
    runs: list[RunResults]
    unreadable: dict[str, str]
    winners: Sequence[Winner] = ()


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

    started = next((e.data for e in events if e.kind == RUN_STARTED.name), {})
    evidence = RunEvidence([event.to_json() for event in events], load, blobs.get)
    return RunResult(folder, run_results(evidence, metrics_of(started.get("protocol"))), started)


def read_runs(folder: Path) -> tuple[list[RunResult], dict[str, str]]:
    """Read the runs of a suite; return them, and the name of each whose records are damaged with the reason.

    A run that was killed before its first line was written is left out: nothing is known of it.
    """
    results: list[RunResult] = []
    unreadable: dict[str, str] = {}
    for path in run_folders(folder):
        try:
            result = read_run(path)
        except RecordError as error:
            unreadable[path.name] = str(error)
            continue
        if result.started:
            results.append(result)
    return results, unreadable


def rebuild_run(folder: Path) -> RunResults:
    """Compute a run's metrics from its journal and write metrics.json, report.md, report.html and its lineage.

    Raises:
        DamagedRecordError: if the journal is damaged.
        RecordError: if a file cannot be read or written.
    """
    metrics = read_run(folder).metrics
    write_derived(folder, metrics)
    return metrics


def rebuild_suite(folder: Path, *, write: bool = True) -> Rebuilt[SuiteResults]:
    """Compute a suite's metrics from its runs' journals and write its metrics.json, report.md and report.html.

    Args:
        folder: the suite's folder.
        write: False computes them only.

    Raises:
        RecordError: if a file cannot be written.
    """
    results, unreadable = read_runs(folder)
    runs = [result.metrics for result in results]
    metrics = results_of_suite(folder, runs)
    winners = write_derived(folder, metrics, runs) if write else ()
    return Rebuilt(metrics, runs, unreadable, winners)


def results_of_suite(folder: Path, runs: Sequence[RunResults]) -> SuiteResults:
    """Return what the runs of a suite come to, by the rule of its sequence if it is run seed after seed."""
    sequence = read_sequence(folder)
    name = next((run.suite_id for run in runs if run.suite_id), folder.absolute().name)
    metrics = suite_results(runs, metrics_of, name, sequential=sequence is not None)
    if sequence is None:
        metrics = metrics.model_copy(update={"runs": max(len(runs), _planned(folder))})
    labels = {str(s.run_id): cell.evolver for t in metrics.tasksets for cell in t.cells for s in cell.seeds}
    return metrics.model_copy(update={"sequential": sequential_results(folder, labels)})


def _planned(folder: Path) -> int:
    """Return how many runs a suite's configuration makes; 0 where it has none that can be read here."""
    with suppress(HeredityError):
        return len(cells(resolve(read_toml(folder / "suite.toml"))))
    return 0


def rebuild(folder: Path) -> Rebuilt[RunResults] | Rebuilt[SuiteResults]:
    """Rebuild everything derived of a run or a suite, runs included.

    Raises:
        ConfigError: if the folder holds neither.
        DamagedRecordError: if it holds a run whose journal is damaged.
        RecordError: if a file cannot be read or written.
    """
    if is_suite(folder):
        results, _ = read_runs(folder)
        for result in results:
            write_derived(result.folder, result.metrics)
        return rebuild_suite(folder)
    if is_run(folder):
        return Rebuilt(rebuild_run(folder), [], {})
    raise ConfigError(f"{folder} holds neither a run nor a suite; {_instead(folder)}")


def _instead(folder: Path) -> str:
    """Say which folder to give instead: the latest suites of a project."""
    runs = folder / "runs"
    suites = [path for path in runs.iterdir() if is_suite(path)] if runs.is_dir() else []
    latest = sorted(suites, key=lambda path: path.stat().st_mtime, reverse=True)[:_FEW]
    named = " or ".join(f"heredity report {path}" for path in latest)
    return f"for its latest suites: {named}" if named else "give a folder below runs/"


def write_derived(
    folder: Path, metrics: RunResults | SuiteResults, runs: Sequence[RunResults] | None = None
) -> Sequence[Winner]:
    """Write metrics.json, the card of what is claimed, report.md and report.html, `best/`, and the lineage of a run.

    Args:
        folder: where to.
        metrics: results of a run or a suite.
        runs: of a suite, the results of its runs.

    Returns:
        The winner on each taskset of a suite.

    Raises:
        RecordError: if a file cannot be written.
    """
    write_atomic(
        folder / METRICS, json.dumps(metrics.model_dump(mode="json"), indent=1, allow_nan=False).encode() + b"\n"
    )
    if is_run(folder) or is_suite(folder):
        write_card(folder, metrics, list(runs or ()))
    sources = sources_of(folder) if isinstance(metrics, RunResults) else None
    write_reports(folder, metrics, list(runs or ()), report_of(metrics.protocol), sources)
    if isinstance(metrics, SuiteResults):
        return write_suite_best(folder, metrics, list(runs or ())) if is_suite(folder) else ()
    if is_run(folder):
        write_best(folder, metrics)
        write_lineage(folder)
    return ()
