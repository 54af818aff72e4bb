"""Metrics and reports, computed from records; everything here can be deleted and rebuilt."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from heredity._core.errors import ConfigError, HeredityError, RecordError
from heredity._core.ids import canonical_json
from heredity.analysis.contract import CommonMetrics, Metrics, RunEvidence
from heredity.analysis.planning import Pilot, RunCost, run_cost
from heredity.analysis.run_record import read_run as read_record
from heredity.analysis.run_results import run_results
from heredity.analysis.suite_results import suite_results
from heredity.analysis.suite_table import evolver_labels, taskset_scores
from heredity.experiments.best import Winner, write_best, write_suite_best
from heredity.experiments.config import cells, read_toml, resolve
from heredity.experiments.sequence import read_sequence, sequential_results
from heredity.experiments.transparency.statements import logs_of
from heredity.experiments.verification.cards import write_card
from heredity.pages.report import write_reports
from heredity.protocols.registry import PROTOCOLS
from heredity.records import BlobStore, Event, read_journal
from heredity.records.events import CANDIDATE_DECIDED, JUDGING_SELECTED, RUN_STARTED
from heredity.records.journal import read_chain
from heredity.records.run_folder import is_run, is_suite, write_atomic
from heredity.resources import Candidate, Store, Version
from heredity.resources.assembly import record_candidate
from heredity.results.report import PlainReport, Report, Source, Sources
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of several suites or runs.

    Attributes:
        metrics: results, as of a suite.
        runs: results of the runs, named as in `metrics`.
        notes: tasksets kept apart, evolvers renamed, runs left out: facts that a reader needs.
    """

    metrics: SuiteResults
    runs: list[RunResults]
    notes: list[str]


Identity = tuple[str, tuple[str, str], str, bytes, int | None]
"""Taskset with its conditions, evolver with its options, seed."""


@dataclass(frozen=True, slots=True)
class _Member:
    source: str
    run: RunResult

    @property
    def taskset(self) -> str:
        return str(self.run.started["taskset"])

    @property
    def conditions(self) -> tuple[str, str]:
        """Cases and simulator: two runs of a taskset share both exactly if their values are equal."""
        return str(self.run.started["commitment"]), str(self.run.started["taskset_version"])

    @property
    def name(self) -> str:
        return str(self.run.metrics.evolver.name)

    @property
    def identity(self) -> Identity:
        options = canonical_json(self.run.metrics.evolver.options)
        return self.taskset, self.conditions, self.name, options, self.run.metrics.seed

    def renamed(self, taskset: str, name: str) -> _Member:
        evolver = self.run.metrics.evolver.model_copy(update={"name": name})
        metrics = self.run.metrics.model_copy(update={"taskset": taskset, "evolver": evolver})
        return dataclasses.replace(self, run=dataclasses.replace(self.run, metrics=metrics))


def compare_folders(folders: Sequence[Path]) -> Comparison:
    """Compare the runs of several suites as those of one.

    Scores are paired only if the sealed commitment and the version of the taskset are the same. A taskset judged on
    several
    sets of cases becomes one entry for each set.

    Args:
        folders: two or more suites or runs.

    Raises:
        ConfigError: if a folder holds neither a run nor a suite, is given twice, or nothing can be paired.
        DamagedRecordError: if a run given by its folder is damaged.
    """
    if len({folder.resolve() for folder in folders}) < max(2, len(folders)):
        raise ConfigError("give two or more different folders to compare")
    names = _source_names(folders)
    notes: list[str] = []
    members = [member for folder in folders for member in _read(folder, names[folder], notes)]
    if not _paired(members):
        raise ConfigError(
            "nothing can be paired: these runs were judged on different hidden cases or versions of tasksets; "
            "run one of the suites again with --cases and the other's folder"
        )
    renamed = _rename(members, notes)
    runs = [member.run.metrics for member in renamed]
    stopped = [names[folder] for folder in folders if read_sequence(folder) is not None]
    notes += [
        f"{name} was run until decided: only results valid at every stopping time are reported" for name in stopped
    ]
    metrics = suite_results(runs, metrics_of, suite_id=" and ".join(names.values()), sequential=bool(stopped))
    return Comparison(metrics, runs, notes)


def _source_names(folders: Sequence[Path]) -> dict[Path, str]:
    short = [folder.resolve().name for folder in folders]
    return {f: name if short.count(name) == 1 else str(f) for f, name in zip(folders, short, strict=True)}


def _read(folder: Path, source: str, notes: list[str]) -> list[_Member]:
    if is_suite(folder):
        runs, unreadable = read_runs(folder)
        notes += [f"{source}, {name} left out: {why}" for name, why in unreadable.items()]
        return [_Member(source, run) for run in runs]
    if is_run(folder):
        run = read_run(folder)
        return [_Member(source, run)] if run.started else []
    raise ConfigError(f"{folder} holds neither a run nor a suite; give folders below runs/")


def _paired(members: Sequence[_Member]) -> bool:
    sources: dict[tuple[str, tuple[str, str]], set[str]] = {}
    for member in members:
        sources.setdefault((member.taskset, member.conditions), set()).add(member.source)
    return any(len(origins) > 1 for origins in sources.values())


def _rename(members: Sequence[_Member], notes: list[str]) -> list[_Member]:
    """Rename tasksets that were judged on different cases, and evolvers that would be confused with each other."""
    first: dict[str, dict[tuple[str, str], str]] = {}
    for member in members:
        first.setdefault(member.taskset, {}).setdefault(member.conditions, member.source)
    for taskset, owners in first.items():
        if len(owners) > 1:
            notes.append(
                f"{taskset} was judged on {len(owners)} sets of hidden cases or versions, which are kept apart"
            )
    clashing = _clashing(members)
    if clashing:
        notes.append(
            f"{', '.join(sorted(clashing))}: in several suites with the same seed, so the suite's name is added"
        )
    renamed: list[_Member] = []
    for member in members:
        owners = first[member.taskset]
        apart = f"{member.taskset} (cases of {owners[member.conditions]})" if len(owners) > 1 else member.taskset
        name = f"{member.name} ({member.source})" if member.name in clashing else member.name
        renamed.append(member.renamed(apart, name))
    return renamed


def _clashing(members: Sequence[_Member]) -> set[str]:
    seen: dict[Identity, int] = {}
    for member in members:
        seen[member.identity] = seen.get(member.identity, 0) + 1
    return {identity[2] for identity, count in seen.items() if count > 1}


def read_pilot(folder: Path) -> Pilot:
    """Read the runs of a suite.

    Raises:
        ConfigError: if the folder does not hold a suite, or none of its runs was judged.
    """
    results = read_runs(folder)[0] if is_suite(folder) else []
    runs = [result.metrics for result in results]
    labels = evolver_labels(runs, metrics_of)
    tasksets = [t for t in taskset_scores(runs, labels, metrics_of) if t.cells]
    if not tasksets:
        raise ConfigError(
            f"{folder} does not hold a suite with judged runs; give a suite's folder, such as runs/demo-20260101-120000"
        )
    costs: dict[tuple[str, str], list[RunCost]] = {}
    for result, label in zip(results, labels, strict=True):
        if result.metrics.heldout is not None:
            record = read_record(event.to_json() for event in read_journal(result.folder / "journal.jsonl"))
            costs.setdefault((str(result.metrics.taskset), label), []).append(run_cost(record))
    return Pilot(tasksets, costs)


LINEAGE = "resources.sqlite"


def write_lineage(folder: Path) -> Path:
    """Write a run's lineage and return its path; a candidate whose blob is damaged or missing is left out.

    Raises:
        DamagedRecordError: if the journal is damaged.
        RecordError: if a file cannot be read or written.
    """
    events = read_journal(folder / "journal.jsonl")
    path, partial = folder / LINEAGE, folder / (LINEAGE + ".partial")
    for old in folder.glob(partial.name + "*"):
        old.unlink()
    # Of the record's time, so that the same journal gives the same rows.
    ended = datetime.fromtimestamp(events[-1].at if events else 0, UTC)
    with Store(partial, now=lambda: ended) as store, store.transaction():
        made = _record(store, BlobStore(folder / "blobs"), events)
        for digest in _accepted(events):
            for version in made.get(digest, {}).values():
                store.move(version.type, version.name, version.number)
    partial.replace(path)
    return path


def _record(store: Store, blobs: BlobStore, events: list[Event]) -> dict[str, dict[str, Version]]:
    made: dict[str, dict[str, Version]] = {}
    for event in events:
        data = event.data
        if event.kind != "candidate" or data["digest"] in made:
            continue
        try:
            candidate = Candidate.from_bytes(blobs.get(data["blob"]))
        except RecordError:
            continue
        parents = [made[parent] for parent in data["parents"] if parent in made]
        created = datetime.fromtimestamp(event.at, UTC).isoformat(timespec="microseconds")
        made[data["digest"]] = record_candidate(store, candidate, parents, data["note"], created)
    return made


def _accepted(events: list[Event]) -> list[str]:
    """Return the digests of committed candidates in order; of a run without commits, that of the selected one."""
    committed = [e.data["candidate"] for e in events if e.kind == CANDIDATE_DECIDED.name and e.data["accepted"]]
    selected = [e.data["candidate"] for e in events if e.kind == JUDGING_SELECTED.name and e.data["candidate"]]
    return committed or selected


MOST_BYTES = 200_000
"""Maximum size in bytes of a file that is read as text; larger files are data."""


def sources_of(folder: Path) -> Sources:
    """Return a lookup of a run's candidates that reads the journal on first use."""
    blobs = BlobStore(folder / "blobs")

    @functools.cache
    def names() -> Mapping[str, str]:
        events = read_journal(folder / "journal.jsonl")
        return {event.data["digest"]: event.data["blob"] for event in events if event.kind == "candidate"}

    def load(digest: str) -> Source | None:
        try:
            blob = names()[digest]
            candidate = Candidate.from_bytes(blobs.get(blob))
        except (KeyError, RecordError):
            return None
        several = len(candidate.parts) > 1
        files = {
            f"{part}/{path}" if several else path: content.decode()
            for part, tree in candidate.parts.items()
            for path, content in tree.items()
            if len(content) <= MOST_BYTES and _is_text(content)
        }
        return Source(files, blob)

    return load


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return b"\x00" not in content


METRICS = "metrics.json"

_FEW = 3
"""Number of suites of a project that an error names."""

R = TypeVar("R", RunResults, SuiteResults)


def metrics_of(protocol: str | None) -> Metrics:
    """Return a protocol's metrics; a protocol without any, or None, has the common ones."""
    return (PROTOCOLS.load(protocol).metrics if protocol else None) or CommonMetrics()


def report_of(protocol: str | None) -> Report:
    """Return a protocol's report; a protocol without one, or None, adds nothing."""
    return (PROTOCOLS.load(protocol).report if protocol else None) or PlainReport()


@dataclass(frozen=True, slots=True)
class RunResult:
    """Results of a run's journal.

    Attributes:
        folder: the run's folder.
        metrics: its results, as in metrics.json.
        started: data of its `run.started`; empty if it ended before that was written.
    """

    folder: Path
    metrics: RunResults
    started: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rebuilt(Generic[R]):
    """Results computed from a folder.

    Attributes:
        metrics: results, as in metrics.json.
        runs: for a suite, the results of its runs.
        unreadable: for a suite, name of each run with damaged records, to the reason.
        winners: for a suite that was written, the winner on each taskset.
    """

    metrics: R
    runs: list[RunResults]
    unreadable: dict[str, str]
    winners: Sequence[Winner] = ()


def run_folders(folder: Path) -> list[Path]:
    """Return the started runs of a suite, sorted by name."""
    return sorted(path for path in (folder / "runs").iterdir() if is_run(path)) if is_suite(folder) else []


def read_run(folder: Path) -> RunResult:
    """Compute a run's metrics from its journal without writing anything.

    Raises:
        DamagedRecordError: if the journal is damaged.
        RecordError: if it cannot be read.
    """
    chain = read_chain(folder / "journal.jsonl")
    events, blobs = chain.events, BlobStore(folder / "blobs")
    where = {e.data["digest"]: e.data["blob"] for e in events if e.kind == "candidate"}

    def load(digest: str) -> Candidate:
        return Candidate.from_bytes(blobs.get(where[digest]))

    started = next((e.data for e in events if e.kind == RUN_STARTED.name), {})
    evidence = RunEvidence([event.to_json() for event in events], load, blobs.get)
    metrics = run_results(evidence, metrics_of(started.get("protocol")))
    return RunResult(folder, metrics.model_copy(update={"logs": logs_of(folder, chain)}), started)


def read_runs(folder: Path) -> tuple[list[RunResult], dict[str, str]]:
    """Read the runs of a suite; return them, and the name of each run with damaged records with the reason.

    A run killed before its first line was written is left out, as it left no record.
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
    """Return the results of a suite's runs, by the rule of its sequence if seeds are added one after another."""
    sequence = read_sequence(folder)
    name = next((run.suite_id for run in runs if run.suite_id), folder.absolute().name)
    metrics = suite_results(runs, metrics_of, name, sequential=sequence is not None)
    if sequence is None:
        metrics = metrics.model_copy(update={"runs": max(len(runs), _planned(folder))})
    labels = {str(s.run_id): cell.evolver for t in metrics.tasksets for cell in t.cells for s in cell.seeds}
    return metrics.model_copy(update={"sequential": sequential_results(folder, labels)})


def _planned(folder: Path) -> int:
    """Return the number of runs in a suite's configuration; 0 if it has none that can be read here."""
    with suppress(HeredityError):
        return len(cells(resolve(read_toml(folder / "suite.toml"))))
    return 0


def rebuild(folder: Path) -> Rebuilt[RunResults] | Rebuilt[SuiteResults]:
    """Rebuild all derived files of a run, or of a suite and its runs.

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
    """Suggest a folder to give instead: the latest suites of a project."""
    runs = folder / "runs"
    suites = [path for path in runs.iterdir() if is_suite(path)] if runs.is_dir() else []
    latest = sorted(suites, key=lambda path: path.stat().st_mtime, reverse=True)[:_FEW]
    named = " or ".join(f"heredity report {path}" for path in latest)
    return f"for its latest suites: {named}" if named else "give a folder below runs/"


def write_derived(
    folder: Path, metrics: RunResults | SuiteResults, runs: Sequence[RunResults] | None = None
) -> Sequence[Winner]:
    """Write metrics.json, the card of claims, report.md and report.html, `best/`, and the lineage of a run.

    Args:
        folder: folder to write to.
        metrics: results of a run or a suite.
        runs: for a suite, the results of its runs.

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
