"""Comparison of several suites or runs as one; only results on the same hidden cases are compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heredity._core.errors import ConfigError
from heredity._core.ids import canonical_json
from heredity.analysis.suite_results import suite_results
from heredity.experiments.results import RunResult, is_run, is_suite, metrics_of, read_run, read_runs
from heredity.experiments.sequence import read_sequence
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
