"""Results of post-training, until they are typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ConfigDict

from heredity.analysis.contract import CommonMetrics
from heredity.analysis.evidence import RunEvidence, SuiteEvidence
from heredity.protocols.post_training.analysis import posttraining_metrics, posttraining_study
from heredity.results.base import Result
from heredity.results.run import RunResults


class Untyped(Result):
    """Whatever the analysis gives."""

    model_config = ConfigDict(extra="allow")


@dataclass(frozen=True)
class PostTrainingMetrics(CommonMetrics):
    """Results of post-training."""

    reference: str = "base model"
    keeps_reference: bool = True

    def of_run(self, evidence: RunEvidence) -> Result | None:
        """Return the part of a run."""
        found = posttraining_metrics(evidence.events, evidence.load_blob)
        return None if found is None else Untyped(**found)

    def of_suite(self, evidence: SuiteEvidence) -> Result | None:
        """Return the part of a suite."""
        found = posttraining_study([_dumped(run) for run in evidence.runs], evidence.labels)
        return None if found is None else Untyped(**found)

    def settings(self, run: RunResults) -> dict[str, Any]:
        """Return what the run's mode allowed."""
        mode = run.part.model_dump()["mode"] if run.part else None
        return {"mode": "free" if mode == "multi-task" else mode} if mode else {}


def _dumped(run: RunResults) -> dict[str, Any]:
    dumped = run.model_dump(mode="json")
    return dumped | {"posttraining": dumped["part"]}


METRICS = PostTrainingMetrics()
