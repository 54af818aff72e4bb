"""How a run went: process metrics and scaling curves (Agent² RL-Bench, table 6, table 14 and appendix A.20)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from heredity.analysis.run_record import finite, mean
from heredity.protocols.post_training.analysis.compare import best_step
from heredity.protocols.post_training.analysis.record import GRADED, PostTraining, Step
from heredity.protocols.post_training.results import Points, Process, Scaling


def process_metrics(record: PostTraining) -> Process:
    """Return the process metrics; times are seconds of the run's clock, which grading may or may not stop."""
    base = mean(record.baseline(GRADED))
    settled = [step for step in record.steps if step.status != "running"]
    graded = [step for step in settled if step.score is not None]
    scores = [step.score or 0.0 for step in graded]
    better = [step for step in graded if base is not None and (step.score or 0.0) > base]
    failed = [step for step in settled if step.submission is not None and step.score is None]
    copies = sum(record.is_copy(step) for step in settled)
    refused = sum(step.submission is None and not record.is_copy(step) for step in settled)
    best = best_step(record)
    budget = finite((record.started.get("budget") or {}).get("seconds"))
    last = record.steps[-1].asked_s if record.steps else None
    return Process(
        requests=len(record.steps),
        graded=len(graded),
        copies=copies,
        refused=refused,
        failed=len(failed),
        valid_rate=_share(len(settled) - len(failed) - refused, len(settled)),
        zero_rate=_share(sum(score == 0.0 for score in scores) + len(failed), len(graded) + len(failed)),
        improvements=_rises(scores, base),
        first_improvement_s=better[0].asked_s if better else None,
        best_s=best.asked_s if best else None,
        best_at=graded.index(best) + 1 if best else None,
        monotonic_ratio=_share(sum(b >= a for a, b in pairwise(scores)), len(scores) - 1),
        budget_s=budget,
        ended_s=record.clock_s,
        time_used_ratio=None if not budget else min(record.clock_s / budget, 1.0),
        last_submit_gap_s=None if last is None else max(record.clock_s - last, 0.0),
        revisions=len(record.revisions),
        checkpoints_kept=sum(c["kept"] for c in record.checkpoints.values()),
        checkpoints_dropped=sum(not c["kept"] for c in record.checkpoints.values()),
        tokens=record.tokens,
        cost_usd=record.cost_usd,
        calls=record.calls,
    )


def _rises(scores: Iterable[float], base: float | None) -> int:
    best, count = base, 0
    for score in scores:
        if best is None or score > best:
            count += best is not None
            best = score
    return count


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole > 0 else None


def scaling(record: PostTraining) -> Scaling:
    """Return the best improvement so far over time, submissions and tokens.

    Improvement is the graded mean less the base model's, and no less than 0: an agent that has nothing better has the base.
    Each curve begins at 0 and has a point at each submission that was graded; that over tokens only where they were known.
    """
    base = mean(record.baseline(GRADED))
    if base is None:
        return Scaling(time=[], submissions=[], tokens=[])
    over_time, over_submissions, over_tokens = [(0.0, 0.0)], [(0.0, 0.0)], [(0.0, 0.0)]
    best = 0.0
    for number, step in enumerate((s for s in record.steps if s.score is not None), 1):
        best = max(best, (step.score or 0.0) - base)
        over_submissions.append((float(number), best))
        for curve, amount in ((over_time, _settled(step)), (over_tokens, step.tokens)):
            if amount is not None:
                curve.append((float(amount), best))
    if record.tokens is not None:
        over_tokens.append((float(record.tokens), best))
    return Scaling(time=_drawn(over_time), submissions=_drawn(over_submissions), tokens=_drawn(over_tokens))


def _drawn(curve: Points) -> Points:
    """Return a curve, nothing of one that never left its start."""
    return curve if len(curve) > 1 else []


def _settled(step: Step) -> float | None:
    return step.asked_s if step.done_s is None else step.done_s
