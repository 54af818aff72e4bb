"""Results of post-training: gains over the base model, on the graded view and beside it, and how an agent came to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heredity.analysis.contract import CommonMetrics
from heredity.analysis.evidence import RunEvidence, SuiteEvidence
from heredity.protocols.post_training.analysis import posttraining_metrics, posttraining_study
from heredity.protocols.post_training.analysis.record import BASE_MODEL
from heredity.protocols.post_training.results import TrainingRunResults
from heredity.protocols.post_training.suite_results import TrainingSuiteResults
from heredity.records.events import SUBMISSION_REJECTED
from heredity.results.base import Result
from heredity.results.run import RunResults


@dataclass(frozen=True)
class TrainingMetrics(CommonMetrics):
    """What post-training adds."""

    run_part: type[Result] | None = TrainingRunResults
    suite_part: type[Result] | None = TrainingSuiteResults
    reference: str = "base model"

    def keeps_reference(self, evidence: RunEvidence) -> bool:
        """Return whether the run submitted the base model; where nothing was graded at all, nothing is known of it."""
        return any(data["category"] == BASE_MODEL for data in SUBMISSION_REJECTED.all(evidence.events))

    def of_run(self, evidence: RunEvidence) -> TrainingRunResults:
        """Return what is known of a run's training, however far it has come."""
        return posttraining_metrics(evidence.events, evidence.load_blob)

    def of_suite(self, evidence: SuiteEvidence) -> TrainingSuiteResults | None:
        """Return how the runs of a suite compare."""
        return posttraining_study(evidence.runs, evidence.labels, ranked=evidence.ranked)

    def settings(self, run: RunResults) -> Mapping[str, Any]:
        """Return the mode, which tells runs of one agent apart.

        Multi-task mode allows what free mode does; that there were several tasks is said by the taskset.
        """
        part = run.part
        if not isinstance(part, TrainingRunResults):
            return {}
        return {"mode": "free" if part.mode == "multi-task" else part.mode}


METRICS = TrainingMetrics()
