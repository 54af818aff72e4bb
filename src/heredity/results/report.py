"""What a protocol has to say on pages: its words and its sections; everything else of a page is general.

class Report(PlainReport):
    def run(self, run: RunResults) -> list[Section]:
        return [Section("rounds", "Rounds", (Text(f"{run.budget.submissions} rounds."),))]

REPORT = Report(Words(score="accuracy", rollout="question"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from heredity.results import text
from heredity.results.charts import Tone, tones_of
from heredity.results.page import Section
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.results.words import POLICIES, Words


class Report(Protocol):
    """A protocol's share of the pages of its runs and suites."""

    @property
    def words(self) -> Words:
        """What things are called."""
        ...

    def run(self, run: RunResults) -> list[Section]:
        """Return the sections of a run's page; the run may be unfinished."""
        ...

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return the sections of a suite's page.

        Args:
            suite: the suite's results.
            runs: those of its runs, in the suite's order, each under the evolver's name that the suite compares; may be empty.
        """
        ...


@dataclass(frozen=True)
class PlainReport:
    """The report of a protocol that has nothing of its own to say."""

    words: Words = POLICIES

    def run(self, run: RunResults) -> list[Section]:
        """Return no sections."""
        return []

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return no sections."""
        return []


@dataclass(frozen=True, slots=True)
class Source:
    """What a candidate consists of: its text files by path, and the name of the blob that holds it."""

    files: Mapping[str, str]
    blob: str = ""


Sources = Callable[[str], Source | None]
"""Digest of a candidate to what it consists of; None if its record is gone."""


def tones(suite: SuiteResults, runs: Iterable[RunResults] = ()) -> dict[str, Tone]:
    """Give each evolver its colour, in the leaderboard's order; references have None, as has whatever is not in it (`.get`)."""
    ranked = [entry.evolver for entry in suite.leaderboard if not entry.reference]
    others = sorted({run.evolver.name or "" for run in runs} - set(ranked))
    return tones_of([*ranked, *others]) | {e.evolver: None for e in suite.leaderboard if e.reference}


def taskset_names(suite: SuiteResults, runs: Iterable[RunResults] = ()) -> dict[str, str]:
    """Return a short name for each taskset of a suite."""
    return text.task_names([*(t.taskset for t in suite.tasksets), *(run.taskset or "" for run in runs)])


def by_taskset(runs: Sequence[RunResults]) -> dict[str, list[RunResults]]:
    """Put runs together by taskset, in order of appearance."""
    groups: dict[str, list[RunResults]] = {}
    for run in runs:
        groups.setdefault(run.taskset or "unknown taskset", []).append(run)
    return groups


def budget_of(runs: Sequence[RunResults]) -> float:
    """Return the largest budget of the runs in attempts, at least what they used, at least 1."""
    return float(max([1, *(run.budget.episodes or 0 for run in runs), *(run.budget.used for run in runs)]))
