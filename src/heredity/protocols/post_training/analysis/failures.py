"""Improvements over the base model, and failure classes of runs, each with its rule and evidence (Agent² RL-Bench, table 13).

The paper assigns classes by reading workspaces. Here each of the six (one for runs without a submission) is a fixed rule
on the record, so that results are reproducible. A run may have several; one that ends above the base model beyond noise
has at most a collapse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from heredity.analysis.paired import compare_paired, verdict
from heredity.analysis.run_record import mean
from heredity.analysis.samples import GAP, SHARE, Clusters, Floats, missing_bounds, missing_gap
from heredity.analysis.statistics import case_mean, student_quantile
from heredity.protocols.post_training.analysis.record import GRADED, HELDOUT, PostTraining, Scores, Step
from heredity.protocols.post_training.analysis.routes import Code
from heredity.protocols.post_training.results import (
    Failure,
    FailureKind,
    Gain,
    HeldoutGain,
    Noise,
    RepeatedGrading,
    ScoreSummary,
)
from heredity.results.base import COVERAGE, covered
from heredity.results.run import Verdict
from heredity.results.text import plural


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


RULES: Mapping[FailureKind, str] = {
    FailureKind.ROLLOUT: (
        "an interactive task and code that trains, but steps through no environment; or all scores are zero"
    ),
    FailureKind.REWARD: "trained checkpoints were graded above zero, but none is better than the base model beyond noise",
    FailureKind.COLLAPSE: (
        "after a score, checkpoints were refused, failed, or scored worse beyond noise, and no later one recovered"
    ),
    FailureKind.EARLY: "only copies of the base model were graded, or no revision has code that trains",
    FailureKind.UNGRADED: "no checkpoint was submitted before the run ended, so the training result is unknown",
    FailureKind.SHORTCUT: "an agent improves a static task beyond noise by code that trains, but no interactive one that it tried",
}
"""The rule of each class; a shortcut needs several runs."""

LIMITS: Mapping[str, str] = {
    "memory_limit": "the agent was ended because it exceeded its memory limit",
    "disk_limit": "the agent was ended because its files exceeded the disk limit",
}
"""Reasons of `agent.ended` caused by the agent, in words."""


def run_failures(record: PostTraining, codes: Mapping[int, Code]) -> list[Failure]:
    """Return the failures of one run, with evidence in sentences and iterations from 1; empty for an unfinished run."""
    if not record.closed:
        return []
    if not record.steps:
        evidence = [f"no request to grade a checkpoint in {record.clock_s:.0f} s", *filter(None, [exit_words(record)])]
        return [_failure(FailureKind.UNGRADED, evidence)]
    failures = [_early(record, codes), _rollout(record, codes), _reward(record), _collapse(record)]
    return [failure for failure in failures if failure]


def _failure(kind: FailureKind, evidence: list[str], iterations: Sequence[int] = ()) -> Failure:
    return Failure(kind=kind, rule=RULES[kind], evidence=evidence, iterations=list(iterations))


def _trained(record: PostTraining) -> list[Step]:
    return [s for s in record.steps if s.score is not None and not record.is_copy(s)]


def _trains(codes: Mapping[int, Code]) -> bool:
    return any(code.trains for code in codes.values())


def _early(record: PostTraining, codes: Mapping[int, Code]) -> Failure | None:
    graded = _trained(record)
    evidence: list[str] = []
    if not graded:
        copies = sum(map(record.is_copy, record.steps))
        refused = len(record.steps) - copies
        evidence.append(
            f"no trained checkpoint was graded: the unchanged base model was submitted {plural(copies, 'time')}, and "
            f"{plural(refused, 'request')} refused or failed"
        )
    idle = len(codes) == len(record.revisions) and not _trains(codes)
    if codes and idle:
        evidence.append(f"none of {len(codes)} code revisions trains")
    if not record.revisions:
        evidence.append("no code was written")
    evidence += [words] if (words := exit_words(record)) else []
    return _failure(FailureKind.EARLY, evidence) if not graded or (codes and idle) else None


def exit_words(record: PostTraining) -> str:
    """Return how the agent ended abnormally; `""` otherwise."""
    ended = record.ended or {}
    limit = LIMITS.get(str(ended.get("reason")), "")
    code = ended.get("code")
    return limit or (f"the agent ended with exit code {code}" if code else "")


def _rollout(record: PostTraining, codes: Mapping[int, Code]) -> Failure | None:
    if not record.interactive or not _trains(codes):
        return None
    graded = _trained(record)
    if graded and all(step.score == 0.0 for step in graded):
        evidence = [f"all {len(graded)} trained checkpoints score zero"]
        return _failure(FailureKind.ROLLOUT, evidence, _numbers(record, graded))
    gain = against_base(record, best_step(record))
    improved = gain is not None and gain.verdict == Verdict.BETTER
    whole = len(codes) == len(record.revisions)
    if not improved and whole and not any(code.environment for code in codes.values()):
        return _failure(FailureKind.ROLLOUT, ["no revision steps through an environment"])
    return None


def _reward(record: PostTraining) -> Failure | None:
    graded = _trained(record)
    above = [step for step in graded if step.score]
    gain = against_base(record, max(above, key=lambda s: s.score or 0.0, default=None))
    if gain is None or gain.verdict == Verdict.BETTER:
        return None
    evidence = f"the best of {len(graded)} trained checkpoints is at {gain.difference:+.3f}, {gain.verdict}"
    return _failure(FailureKind.REWARD, [evidence])


def _collapse(record: PostTraining) -> Failure | None:
    """Detect a drop after the best score of a trained checkpoint without a later recovery."""
    settled = [step for step in record.steps if step.status != "running" and not record.is_copy(step)]
    graded = _trained(record)
    best = max(graded, key=lambda s: s.score or 0.0, default=None)
    if best is None:
        return None
    later = settled[settled.index(best) + 1 :]
    fallen = [step for step in later if _fell(step, best)]
    if not fallen or not _fell(later[-1], best):
        return None
    evidence = [
        f"iteration {record.steps.index(step) + 1}: {step.problem or step.status}"
        if step.score is None
        else f"iteration {record.steps.index(step) + 1} scores {step.score:.3f} after {best.score:.3f}"
        for step in fallen[-3:]
    ]
    return _failure(FailureKind.COLLAPSE, evidence, _numbers(record, fallen))


def _fell(step: Step, best: Step) -> bool:
    if step.score is None:
        return True
    return clearly_worse(step.scores, best.scores)


def _numbers(record: PostTraining, steps: Sequence[Step]) -> list[int]:
    return [record.steps.index(step) + 1 for step in steps]


def failure_of(record: PostTraining, step: Step, best: Step | None) -> str | None:
    """Return a short description of an iteration's failure; None if it is fine.

    Args:
        record: the run.
        step: the iteration.
        best: the best earlier iteration.
    """
    if step.status == "running":
        return None
    if record.is_copy(step):
        return "copy of the base model"
    if step.submission is None:
        return f"refused: {step.status}"
    if step.score is None:
        return f"failed: {step.status}"
    if step.score == 0.0:
        return "zero score"
    if clearly_worse(step.scores, base_scores(record, step)):
        return "below the base model"
    return "regression" if best is not None and _fell(step, best) else None
