"""What harness evolution has among the results: its part of a run's and of a suite's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heredity.analysis.contract import CommonMetrics
from heredity.analysis.evidence import RunEvidence, SuiteEvidence
from heredity.protocols.harness_evolution.analysis.journal_metrics import journal_metrics
from heredity.protocols.harness_evolution.analysis.study import harness_study
from heredity.protocols.harness_evolution.results import HarnessRunResults, HarnessSuiteResults, harness_of
from heredity.results.base import Result
from heredity.results.run import RunResults


@dataclass(frozen=True)
class HarnessMetrics(CommonMetrics):
    """The parts of harness evolution."""

    run_part: type[Result] | None = HarnessRunResults
    suite_part: type[Result] | None = HarnessSuiteResults

    def of_run(self, evidence: RunEvidence) -> HarnessRunResults | None:
        """Return the figures of a run's journal; None for a run without a schedule."""
        return journal_metrics(evidence.events, evidence.load_candidate)

    def of_suite(self, evidence: SuiteEvidence) -> HarnessSuiteResults | None:
        """Compare the runs of a suite; None if none has a schedule."""
        return harness_study(evidence.runs, evidence.labels, ranked=evidence.ranked)

    def settings(self, run: RunResults) -> Mapping[str, Any]:
        """Return the settings of the schedule that tell runs of one method apart."""
        harness = harness_of(run)
        return {} if harness is None else harness.plan.settings


METRICS = HarnessMetrics()
