"""A protocol's part of pages: its words and its sections; the rest of a page is general.

class Report(PlainReport):
    def run(self, run: RunResults) -> list[Section]:
        return [Section("rounds", "Rounds", (Text(f"{run.budget.submissions} rounds."),))]

REPORT = Report(Words(score="accuracy", rollout="question"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from heredity.results import text
from heredity.results.charts import Tone, tones_of
from heredity.results.page import Section
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults


@dataclass(frozen=True, slots=True)
class Words:
    """Terms on pages; every protocol has its terms.

    Attributes:
        score: the measure; higher is better.
        rollout: one unit of the budget.
        taskset: readers' word for a taskset.
        product: the thing selected and scored; `products` are several.
        chosen: how it became the result: `selected` or `committed`.
        case: one hidden case that it is scored on.
        subject: the thing whose failures count as scores.
        faulty: what may break a rollout, apart from host and provider, without being the failure source.
        reference: the baseline of every run.
        mark: the baseline in pictures, in one word.
        reference_id: the baseline in results.
        foot: how to read scores, in one or two sentences.
    """

    score: str = "return"
    rollout: str = "episode"
    taskset: str = "environment"
    product: str = "policy"
    products: str = "policies"
    chosen: str = "selected"
    case: str = "hidden case"
    subject: str = "program"
    faulty: str = "the environment"
    reference: str = "random policy"
    mark: str = "random"
    reference_id: str = "random"
    foot: str = "The held-out score is the result. Validation only selects, and train scores are what the evolver saw."

    @property
    def rollouts(self) -> str:
        """Plural of `rollout`."""
        return f"{self.rollout}s"

    @property
    def tasksets(self) -> str:
        """Plural of `taskset`."""
        return f"{self.taskset}s"

    def against(self, reference: str | None) -> Words:
        """Return the words for results that name another reference.

        Args:
            reference: its name or description; None for the protocol's reference.
        """
        if not reference or reference in (self.reference_id, self.reference):
            return self
        return replace(self, reference=reference, mark=reference, reference_id=reference)


POLICIES = Words()
"""Terms for programs that act in environments."""


class Report(Protocol):
    """A protocol's part of the pages of its runs and suites."""

    @property
    def words(self) -> Words:
        """The protocol's terms."""
        ...

    def run(self, run: RunResults) -> list[Section]:
        """Return the sections of a run's page; the run may be unfinished."""
        ...

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return the sections of a suite's page.

        Args:
            suite: the suite's results.
            runs: results of its runs, in the suite's order, each under the evolver's name that the suite compares;
                may be empty.
        """
        ...


@dataclass(frozen=True)
class PlainReport:
    """Report of a protocol without sections."""

    words: Words = POLICIES

    def run(self, run: RunResults) -> list[Section]:
        """Return no sections."""
        return []

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return no sections."""
        return []


@dataclass(frozen=True, slots=True)
class Source:
    """Content of a candidate: its text files by path, and the name of its blob."""

    files: Mapping[str, str]
    blob: str = ""


Sources = Callable[[str], Source | None]
"""Digest of a candidate to its content; None if its record is missing."""


def tones(suite: SuiteResults, runs: Iterable[RunResults] = ()) -> dict[str, Tone]:
    """Assign each evolver its colour, in the leaderboard's order; references and other names have None (`.get`)."""
    ranked = [entry.evolver for entry in suite.leaderboard if not entry.reference]
    others = sorted({run.evolver.name or "" for run in runs} - set(ranked))
    return tones_of([*ranked, *others]) | {e.evolver: None for e in suite.leaderboard if e.reference}


def taskset_names(suite: SuiteResults, runs: Iterable[RunResults] = ()) -> dict[str, str]:
    """Return a short name for each taskset of a suite."""
    return text.task_names([*(t.taskset for t in suite.tasksets), *(run.taskset or "" for run in runs)])


def by_taskset(runs: Sequence[RunResults]) -> dict[str, list[RunResults]]:
    """Group runs by taskset, in order of appearance."""
    groups: dict[str, list[RunResults]] = {}
    for run in runs:
        groups.setdefault(run.taskset or "unknown taskset", []).append(run)
    return groups


def budget_of(runs: Sequence[RunResults]) -> float:
    """Return the largest budget of the runs in rollouts: at least their usage, and at least 1."""
    return float(max([1, *(run.budget.episodes or 0 for run in runs), *(run.budget.used for run in runs)]))
