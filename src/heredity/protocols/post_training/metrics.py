"""Results of post-training: gains over the base model, on the graded view and beside it, and how an agent came to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heredity.analysis.contract import CommonMetrics
from heredity.analysis.evidence import RunEvidence, SuiteEvidence
from heredity.protocols.post_training.analysis import posttraining_metrics, posttraining_study
from heredity.protocols.post_training.results import TrainingRunResults, TrainingSuiteResults
from heredity.results.base import Result
from heredity.results.run import RunResults


@dataclass(frozen=True)
class TrainingMetrics(CommonMetrics):
    """What post-training adds; a run in which nothing was graded leaves the base model."""

    run_part: type[Result] | None = TrainingRunResults
    suite_part: type[Result] | None = TrainingSuiteResults
    reference: str = "base model"
    keeps_reference: bool = True

    def of_run(self, evidence: RunEvidence) -> TrainingRunResults:
        """Return what is known of a run's training, however far it has come."""
        return posttraining_metrics(evidence.events, evidence.load_blob)

    def of_suite(self, evidence: SuiteEvidence) -> TrainingSuiteResults | None:
        """Return how the runs of a suite compare."""
        return posttraining_study(evidence.runs, evidence.labels)

    def settings(self, run: RunResults) -> Mapping[str, Any]:
        """Return the mode, which tells runs of one agent apart.

        Multi-task mode allows what free mode does; that there were several tasks is said by the taskset.
        """
        part = run.part
        if not isinstance(part, TrainingRunResults):
            return {}
        return {"mode": "free" if part.mode == "multi-task" else part.mode}


METRICS = TrainingMetrics()
