"""A post-training run in a suite's comparisons: its gains, and whether anything was graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heredity.analysis.samples import Clusters
from heredity.protocols.post_training.results import Scores, TrainingRunResults
from heredity.results.base import MissingBounds
from heredity.results.run import RunResults, Verdict


@dataclass(frozen=True)
class Trained:
    """A run's results, with its post-training part."""

    run: RunResults
    part: TrainingRunResults

    @property
    def taskset(self) -> str:
        """Name of its task."""
        return str(self.run.taskset)

    @property
    def improvement(self) -> float | None:
        """Best graded score minus the base model's, 0 for copies of it; None if nothing was graded or there is no baseline."""
        graded, best = self.part.baseline.graded, self.part.best
        if graded is None or graded.mean is None or self.ungraded:
            return None
        score = best.score.mean if best and best.score else None
        return 0.0 if score is None else score - graded.mean

    @property
    def ungraded(self) -> bool:
        """True if nothing was graded, not even a copy of the base model; its outcome is then unknown."""
        return self.part.best is None and not self.part.process.copies

    @property
    def better(self) -> bool:
        """True if its best graded score is above the base model's beyond noise."""
        best = self.part.best
        return best is not None and best.gain is not None and best.gain.verdict == Verdict.BETTER

    @property
    def graded_gaps(self) -> list[float]:
        """Gains of its best checkpoint by item of the graded view, 0 for copies; empty if nothing was graded."""
        best, graded = self.part.best, self.part.baseline.graded
        if best is None:
            return [0.0] * (graded.n if graded and not self.ungraded else 0)
        return _gaps(best.scores, best.baseline_scores)

    @property
    def heldout_gaps(self) -> list[float]:
        """Gains of its final checkpoint by item of the held-out slice."""
        heldout, reference = self.run.heldout, self.run.reference
        return _gaps(heldout.scores if heldout else [], reference.heldout_scores if reference else [])

    @property
    def missing(self) -> tuple[MissingBounds | None, MissingBounds | None]:
        """Bounds of its gains over missing scores: on the graded view, and held-out."""
        best, heldout = self.part.best, self.part.heldout
        gains = (best and best.gain, heldout and heldout.gain)
        graded, hidden = (gain.if_missing if gain else None for gain in gains)
        return graded, hidden

    @property
    def clusters(self) -> tuple[Clusters | None, Clusters | None]:
        """Clusters of items on the graded view and held-out; None if no item is clustered."""
        best, heldout = self.part.best, self.run.heldout
        return best.clusters if best else None, heldout.clusters if heldout else None


Groups = Mapping[tuple[str, str], Sequence[Trained]]
"""Runs by agent and task."""


def _gaps(after: Scores, before: Scores) -> list[float]:
    return [float("nan") if a is None or b is None else a - b for a, b in zip(after, before, strict=False)]
