"""What a protocol has to say on pages: its words and its sections; everything else of a page is general.

class Report(PlainReport):
def run(self, run: RunResults) -> list[Section]:
return [Section("rounds", "Rounds", (Text(f"{run.budget.submissions} rounds."),))]

REPORT = Report(Words(score="accuracy", attempt="question"))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from heredity.results.page import Section
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.results.words import Words


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

    words: Words = Words()

    def run(self, run: RunResults) -> list[Section]:
        """Return no sections."""
        return []

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return no sections."""
        return []
