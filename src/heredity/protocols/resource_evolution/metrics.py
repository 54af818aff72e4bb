"""Results of resource evolution: scores on held-out tasks, beside those of the candidate that a run began with."""

from __future__ import annotations

from dataclasses import dataclass

from heredity.analysis.contract import CommonMetrics
from heredity.analysis.evidence import SuiteEvidence
from heredity.protocols.resource_evolution.improvements import improvements
from heredity.protocols.resource_evolution.results import ResourceSuite
from heredity.results.base import Result


@dataclass(frozen=True)
class ResourceMetrics(CommonMetrics):
    """What resource evolution adds: improvements by model, method and taskset."""

    suite_part: type[Result] | None = ResourceSuite

    def of_suite(self, evidence: SuiteEvidence) -> ResourceSuite:
        """Return what each method improved under each model."""
        return ResourceSuite(improvements=improvements(evidence.tasksets, evidence.runs, ranked=evidence.ranked))


METRICS = ResourceMetrics()
