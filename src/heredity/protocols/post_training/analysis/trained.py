"""A run of post-training as comparisons of a suite see it: what it gained, and whether anything was graded at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heredity.analysis.samples import Clusters
from heredity.protocols.post_training.results import Scores, TrainingRunResults
from heredity.results.base import MissingBounds
from heredity.results.run import RunResults, Verdict


@dataclass(frozen=True)
class Trained:
    """A run's results, and what of them is post-training's own."""

    run: RunResults
    part: TrainingRunResults

    @property
    def taskset(self) -> str:
        """What it was trained for."""
        return str(self.run.taskset)

    @property
    def improvement(self) -> float | None:
        """The best graded score less the base model's, 0 of copies of it; None where nothing was graded, or without baseline."""
        graded, best = self.part.baseline.graded, self.part.best
        if graded is None or graded.mean is None or self.ungraded:
            return None
        score = best.score.mean if best and best.score else None
        return 0.0 if score is None else score - graded.mean

    @property
    def ungraded(self) -> bool:
        """Whether nothing was graded, not even a copy of the base model: then nothing is known of it."""
        return self.part.best is None and not self.part.process.copies

    @property
    def better(self) -> bool:
        """Whether its best graded score is above the base model's beyond noise."""
        best = self.part.best
        return best is not None and best.gain is not None and best.gain.verdict == Verdict.BETTER

    @property
    def graded_gaps(self) -> list[float]:
        """Gains of its best checkpoint by item of the graded view, 0 of copies; none where nothing was graded."""
        best, graded = self.part.best, self.part.baseline.graded
        if best is None:
            return [0.0] * (graded.n if graded and not self.ungraded else 0)
        return _gaps(best.scores, best.baseline_scores)

    @property
    def heldout_gaps(self) -> list[float]:
        """Gains of what it ended with by item of the held-out slice."""
        heldout, reference = self.run.heldout, self.run.reference
        return _gaps(heldout.scores if heldout else [], reference.heldout_scores if reference else [])

    @property
    def missing(self) -> tuple[MissingBounds | None, MissingBounds | None]:
        """What scores that are missing might make of its gains: on the graded view, and held out."""
        best, heldout = self.part.best, self.part.heldout
        gains = (best and best.gain, heldout and heldout.gain)
        graded, hidden = (gain.if_missing if gain else None for gain in gains)
        return graded, hidden

    @property
    def clusters(self) -> tuple[Clusters | None, Clusters | None]:
        """What items were drawn with, on the graded view and held out; None where all are by themselves."""
        best, heldout = self.part.best, self.run.heldout
        return best.clusters if best else None, heldout.clusters if heldout else None


Groups = Mapping[tuple[str, str], Sequence[Trained]]
"""Runs by agent and task."""


def _gaps(after: Scores, before: Scores) -> list[float]:
    return [float("nan") if a is None or b is None else a - b for a, b in zip(after, before, strict=False)]
