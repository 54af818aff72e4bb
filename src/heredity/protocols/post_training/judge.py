"""The judge of post-training: the best graded checkpoint, on a slice that no submission was graded on (Agent² RL-Bench).

The graded view's best score within the budget is the paper's result. It selected the checkpoint and is therefore optimistic. The
held-out slice measures the selected checkpoint, paired by item with the base model.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from heredity._core.ids import seed_sequence
from heredity.engine.runner import Job
from heredity.protocols.post_training.events import BASELINE_SCORED, GRADING_REPEATED, BaselineScored, GradingRepeated
from heredity.records import Event
from heredity.records.events import JUDGING_SELECTED
from heredity.results.base import covers
from heredity.session.bench import (
    Bench,
    Evolved,
    Reference,
    Verdict,
    conclude,
    load_candidate,
    require,
    score,
    score_reference,
)
from heredity.session.rollouts import listed_comparisons, outcome_of
from heredity.session.session_log import Submission, score_to_json
from heredity.session.views import clusters_of


async def judge(bench: Bench, evolved: Evolved, reference: Reference | None = None, *, repeats: int = 0) -> Verdict:
    """Judge a closed session and finish the run's journal; recorded results are reused.

    Args:
        bench: the judge's inputs; the graded view has the session's tasks.
        evolved: the closed session.
        reference: the base model.
        repeats: number of further gradings of the best checkpoint, to measure the noise of grading.

    Raises:
        HostError: if the grading worker fails, or all held-out rollouts are missing; resume the run to
            continue judging.
        RecordError: if the disk is full or fails.
    """
    best, reason = _best(evolved)
    submit_id, candidate = (best.submit_id, best.candidate) if best else (None, None)
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": submit_id, "candidate": candidate, "reason": reason}))
    heldout = (
        None
        if candidate is None
        else require(await score(bench, bench.view("heldout"), candidate, submit_id), "held-out rollouts")
    )
    if candidate is not None:
        for repeat in range(1, repeats + 1):
            await _again(bench, candidate, submit_id, repeat)
    scores = await score_reference(bench, reference) if reference else None
    if reference is not None and reference.graded is not None:
        listed = [score_to_json(points) for points in reference.graded]
        compared = listed_comparisons(reference.comparisons.get("graded", ()))
        digest = reference.candidate.digest
        baseline: BaselineScored = {
            "candidate": digest,
            "view": "graded",
            "scores": listed,
            **compared,
            **clusters_of(bench.train),
        }
        await bench.journal_once(BASELINE_SCORED.line(baseline))
    await conclude(bench, evolved.status)
    return Verdict(evolved.status, submit_id, candidate, reason, {}, heldout, scores)


async def _again(bench: Bench, digest: str, submit_id: int | None, repeat: int) -> None:
    """Grade a checkpoint once more on the graded view, with other seeds, to measure the noise of a score."""
    if bench.recorded(GRADING_REPEATED, candidate=digest, repeat=repeat) is not None:
        return
    candidate = await asyncio.to_thread(load_candidate, bench, digest)
    jobs = [
        Job(bench.taskset, candidate, task, episode_index=index, policy_seed=_seed(repeat, task.index))
        for index, task in enumerate(bench.train)
    ]
    trajectories = await bench.rollouts.all(jobs)
    outcomes = [
        outcome_of(job.task, t, bench.taskset.failure_return) for job, t in zip(jobs, trajectories, strict=True)
    ]
    scores = [score_to_json(outcome.score) for outcome in outcomes]
    data: GradingRepeated = {"submit_id": submit_id, "candidate": digest, "repeat": repeat, "scores": scores}
    await bench.records.commit([GRADING_REPEATED.line(data)])


def _seed(repeat: int, item: int) -> int:
    return int(seed_sequence(0, "grading", "repeat", repeat, item).generate_state(1)[0])


def selected(evolved: Evolved, events: Sequence[Event] = ()) -> str | None:
    """Return the best graded checkpoint, from the submissions alone (see `Selection`)."""
    best, _ = _best(evolved)
    return best.candidate if best else None


def _best(evolved: Evolved) -> tuple[Submission | None, str]:
    """Return the submission with the best graded score, the earliest among equals, and the reason."""
    graded = [(s.feedback(), s) for s in evolved.submissions if s.status is not None]
    covered = [(feedback, s) for feedback, s in graded if covers(feedback.scores.tolist(), evolved.coverage)]
    scored = [(feedback.mean, -s.submit_id, s) for feedback, s in covered]
    if not scored and any(not math.isnan(feedback.mean) for feedback, _ in graded):
        return None, f"no checkpoint has {evolved.coverage:.0%} of its graded scores; the rest are missing"
    if not scored:
        return None, "no checkpoint was graded"
    mean, _, best = max(scored, key=lambda entry: entry[:2])
    return best, f"best graded mean {mean:.6g} of {len(scored)} checkpoints"
