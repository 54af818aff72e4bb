"""What harness evolution has to say on pages: gains in plain words, snapshots, replay, the gate, cost (SEAGym)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from heredity.protocols.harness_evolution.results import HarnessSuiteResults, harness_of
from heredity.protocols.harness_evolution.run_sections import run_sections
from heredity.protocols.harness_evolution.suite_sections import suite_sections
from heredity.protocols.resource_evolution.report import WORDS as COMMITTED
from heredity.protocols.resource_evolution.report import CommitReport
from heredity.results import text
from heredity.results.page import Section
from heredity.results.report import tones
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.results.words import Words

WORDS = replace(
    COMMITTED,
    score="score",
    product="harness",
    products="harnesses",
    foot="Snapshots are judged apart and never pooled. What the evolver saw are its train batches; no view was fed back.",
)


@dataclass(frozen=True)
class HarnessReport(CommitReport):
    """The report of harness evolution: snapshots and gains, then commits."""

    words: Words = WORDS

    def run(self, run: RunResults) -> list[Section]:
        """Return the sections of a run's page."""
        harness = harness_of(run)
        return [*(run_sections(harness) if harness else ()), *super().run(run)]

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return the sections of a suite's page."""
        own: list[Section] = []
        if isinstance(suite.part, HarnessSuiteResults):
            interval_name = f"{text.percent(suite.confidence)} interval"
            own = suite_sections(suite.part, runs, tones(suite, runs), interval_name)
        return [*own, *super().suite(suite, runs)]


REPORT = HarnessReport()
