"""Improvements over the base model with intervals, and the noise of grading."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from heredity.analysis.paired import compare_paired, verdict
from heredity.analysis.run_record import mean
from heredity.analysis.samples import GAP, SHARE, Clusters, Floats, missing_bounds, missing_gap
from heredity.analysis.statistics import case_mean, student_quantile
from heredity.protocols.post_training.analysis.record import GRADED, HELDOUT, PostTraining, Scores, Step
from heredity.protocols.post_training.results import Gain, HeldoutGain, Noise, RepeatedGrading, ScoreSummary
from heredity.results.base import COVERAGE, covered


def paired(after: Scores, before: Scores, clusters: Clusters | None = None, coverage: float = COVERAGE) -> Gain | None:
    """Compare scores by task: a positive difference favours `after`; None if nothing is paired.

    Args:
        after: scores of a checkpoint.
        before: scores of the base model on the same tasks.
        clusters: the cluster of each task (`samples.clustered`).
        coverage: the share of the checkpoint's tasks that need scores of both for a verdict.
    """
    width = min(len(after), len(before))
    table = np.array([after[:width], before[:width]], dtype=np.float64)
    comparison = compare_paired([table[:1] - table[1:]], bounds=GAP, clusters=[clusters])
    if comparison is None:
        return None
    enough = covered(comparison.cases, len(after), coverage)
    untold = replace(comparison, covered=enough).untold
    return Gain(
        difference=comparison.difference,
        ci=comparison.interval,
        p=comparison.p,
        mde=comparison.mde,
        pairs=comparison.cases,
        verdict=verdict(comparison.difference, comparison.p, untold=untold),
        if_missing=missing_gap(*_columns(after, before)),
        clusters=comparison.clusters,
        because=untold,
    )


def _columns(after: Scores, before: Scores) -> tuple[Floats, Floats]:
    """Return scores of the same items as arrays, NaN where missing."""
    rows = [[math.nan if score is None else score for score in pair] for pair in zip(after, before, strict=False)]
    later, earlier = np.array(rows, dtype=np.float64).reshape(-1, 2).T
    return later, earlier


def clearly_worse(after: Scores, before: Scores) -> bool:
    """Return True if Student's 95% interval of the paired difference lies below zero; fast enough for every submission of a run."""
    gaps = np.array([a - b for a, b in zip(after, before, strict=False) if a is not None and b is not None])
    if gaps.size < 2:
        return False
    half = student_quantile(0.975, gaps.size - 1) * float(gaps.std(ddof=1)) / math.sqrt(gaps.size)
    return float(gaps.mean()) + half < 0.0


def described(scores: Scores, clusters: Clusters | None = None) -> ScoreSummary | None:
    """Return mean, interval and number of scores; None without any. Clusters as in `paired`."""
    if not scores:
        return None
    present = [score for score in scores if score is not None]
    table = np.array(scores, dtype=np.float64)
    estimate = case_mean([table], bounds=SHARE, clusters=[clusters])
    return ScoreSummary(
        mean=mean(present),
        ci=estimate and estimate.interval,
        n=len(present),
        missing=len(scores) - len(present),
        if_missing=missing_bounds(table, SHARE),
        clusters=estimate and estimate.clusters,
    )


def best_step(record: PostTraining) -> Step | None:
    """Return the submission with the highest graded score, the earliest among equals."""
    return max((s for s in record.steps if s.score is not None), key=lambda s: s.score or 0.0, default=None)


def against_base(record: PostTraining, step: Step | None) -> Gain | None:
    """Compare a submission with the base model on the graded view, by task."""
    if step is None:
        return None
    clusters = record.clusters_of(GRADED, step.tasks)
    return paired(step.scores, base_scores(record, step), clusters, record.coverage)


def base_scores(record: PostTraining, step: Step) -> list[float | None]:
    """Return the base model's scores on a submission's tasks, in its order; None if unknown."""
    base = dict(enumerate(record.baseline(GRADED)))
    return [base.get(task_index) for task_index in step.tasks]


def heldout(record: PostTraining) -> HeldoutGain | None:
    """Return the scores of the base and the selected checkpoint on the held-out slice; None before judging."""
    after, before = record.judged.get(record.chosen, ()), record.baseline(HELDOUT) or record.judged.get(record.base, ())
    clusters = record.clusters.get(HELDOUT)
    if not after and not before:
        return None
    return HeldoutGain(
        baseline=described(before, clusters),
        best=described(after, clusters),
        gain=paired(after, before, clusters, record.coverage),
        candidate=record.chosen or None,
        submit_id=(record.selected or {}).get("submit_id"),
    )


def noise(record: PostTraining) -> Noise | None:
    """Return the variation between repeated gradings of one checkpoint (Agent² RL-Bench, section 3.3); None without repeats."""
    firsts: dict[int | None, Scores] = {step.submission: step.scores for step in record.steps if step.submission}
    firsts[None] = record.baseline(GRADED)
    squares, freedom, flips, rows = 0.0, 0, list[bool](), list[RepeatedGrading]()
    for submission, repeated in record.repeats.items():
        gradings = [scores for scores in (firsts.get(submission, ()), *repeated) if scores]
        means = [m for m in map(mean, gradings) if m is not None]
        rows.append(RepeatedGrading(submit_id=submission, means=means))
        if len(means) > 1:
            squares += float(np.var(means)) * len(means)
            freedom += len(means) - 1
            flips += [len(set(column)) > 1 for column in zip(*gradings, strict=False)]
    if not freedom:
        return None
    sd = math.sqrt(squares / freedom)
    return Noise(
        sd=sd,
        difference=student_quantile(0.975, freedom) * math.sqrt(2.0) * sd,
        flips=sum(flips) / len(flips) if flips else None,
        repeats=freedom,
        submissions=rows,
    )
