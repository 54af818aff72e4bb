"""How a run went: process metrics and scaling curves (Agent² RL-Bench, table 6, table 14 and appendix A.20)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from heredity.analysis.run_record import finite, mean
from heredity.protocols.post_training.analysis.compare import best_step
from heredity.protocols.post_training.analysis.record import GRADED, PostTraining, Step


def process_metrics(record: PostTraining) -> dict[str, Any]:
    """Return the process metrics; times are seconds of the run's clock, which grading may or may not stop.

    Returns:
        requests: submissions asked for, refused ones among them.
        graded: those that were scored; copies: the untouched base model, answered with the baseline.
        valid_rate: graded and copies, over requests that are settled.
        zero_rate: share of 0 among what was graded or failed in grading, a failure counting as 0.
        first_improvement_s, best_s: when the first score above the base model's, and the best one, was asked for.
        best_at: the best one's place among graded submissions, from 1.
        monotonic_ratio: share of graded submissions that score no less than the graded one before.
        time_used_ratio: when the agent ended, over its budget.
        last_submit_gap_s: from the last request to the agent's end.
    """
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
    return {
        "requests": len(record.steps),
        "graded": len(graded),
        "copies": copies,
        "refused": refused,
        "failed": len(failed),
        "valid_rate": _share(len(settled) - len(failed) - refused, len(settled)),
        "zero_rate": _share(sum(score == 0.0 for score in scores) + len(failed), len(graded) + len(failed)),
        "improvements": _rises(scores, base),
        "first_improvement_s": better[0].asked_s if better else None,
        "best_s": best.asked_s if best else None,
        "best_at": graded.index(best) + 1 if best else None,
        "monotonic_ratio": _share(sum(b >= a for a, b in pairwise(scores)), len(scores) - 1),
        "budget_s": budget,
        "ended_s": record.clock_s,
        "time_used_ratio": None if not budget else min(record.clock_s / budget, 1.0),
        "last_submit_gap_s": None if last is None else max(record.clock_s - last, 0.0),
        "revisions": len(record.revisions),
        "checkpoints_kept": sum(c["kept"] for c in record.checkpoints.values()),
        "checkpoints_dropped": sum(not c["kept"] for c in record.checkpoints.values()),
        "tokens": record.tokens,
        "cost_usd": record.cost_usd,
    }


def _rises(scores: Iterable[float], base: float | None) -> int:
    best, count = base, 0
    for score in scores:
        if best is None or score > best:
            count += best is not None
            best = score
    return count


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole > 0 else None


def scaling(record: PostTraining) -> dict[str, list[list[float]]]:
    """Return the best improvement so far over `time` (seconds), `submissions` and `tokens`: pairs of how much was spent and it.

    Improvement is the graded mean less the base model's, and no less than 0: an agent that has nothing better has the base.
    Each curve begins at 0 and has a point at each submission that was graded; that over tokens only where they were known.
    """
    base = mean(record.baseline(GRADED))
    if base is None:
        return {"time": [], "submissions": [], "tokens": []}
    curves: dict[str, list[list[float]]] = {name: [[0.0, 0.0]] for name in ("time", "submissions", "tokens")}
    best = 0.0
    for number, step in enumerate((s for s in record.steps if s.score is not None), 1):
        best = max(best, (step.score or 0.0) - base)
        for name, at in (("time", _settled(step)), ("submissions", float(number)), ("tokens", step.tokens)):
            if at is not None:
                curves[name].append([float(at), best])
    if record.tokens is not None:
        curves["tokens"].append([float(record.tokens), best])
    return {name: points if len(points) > 1 else [] for name, points in curves.items()}


def _settled(step: Step) -> float | None:
    return step.asked_s if step.done_s is None else step.done_s
