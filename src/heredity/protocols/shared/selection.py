"""Selection of a submission: hidden validation selects a checkpoint, hidden held-out scores it (EvoPolicyGym)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence

from heredity.records import Event
from heredity.records.events import JUDGING_SCORED, JUDGING_SELECTED
from heredity.results.base import covers
from heredity.session.bench import Bench, Evolved, Reference, Verdict, conclude, require, score, score_reference
from heredity.session.rollouts import gather
from heredity.session.session_log import Submission
from heredity.session.views import ViewScores

AT_ONCE = 4
"""Number of candidates judged at the same time, to keep the machine busy while the last episodes of one finish."""


async def judge(
    bench: Bench,
    evolved: Evolved,
    reference: Reference | None = None,
    *,
    others: Sequence[Reference] = (),
    shortlist: int | None = None,
) -> Verdict:
    """Judge a closed session and finish the run's journal; recorded results are reused.

    Args:
        bench: the judge's inputs.
        evolved: the closed session.
        reference: scored on the same held-out cases.
        others: further references, scored on the same cases.
        shortlist: maximum number of validated candidates (those with the best train means; all by default).

    Raises:
        HostError: if the runner fails, or all rollouts on validation or on held-out are missing; resume the run
            to continue judging.
        RecordError: if the disk is full or fails.
    """
    checkpoints = _checkpoints(evolved.submissions, shortlist)
    validation = await _validate(bench, checkpoints)
    submit_id, candidate, reason = _select(checkpoints, validation, evolved.coverage)
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": submit_id, "candidate": candidate, "reason": reason}))
    heldout = None
    if candidate is not None:
        heldout = require(await score(bench, bench.view("heldout"), candidate, submit_id), "held-out rollouts")
    scores = await score_reference(bench, reference) if reference else None
    for other in others:
        await score_reference(bench, other)
    await conclude(bench, evolved.status)
    return Verdict(evolved.status, submit_id, candidate, reason, validation, heldout, scores)


def selected(evolved: Evolved, events: Sequence[Event], shortlist: int | None = None) -> str | None:
    """Return a run's final candidate, from the recorded scores on validation (see `Selection` and `judge`)."""
    scored = {data["candidate"]: data for data in JUDGING_SCORED.all(events) if data["view"] == "validation"}
    checkpoints = _checkpoints(evolved.submissions, shortlist)
    validation = {digest: ViewScores.from_json(scored[digest]) for digest in checkpoints}
    return _select(checkpoints, validation, evolved.coverage)[1]


def _checkpoints(submissions: Sequence[Submission], shortlist: int | None) -> dict[str, Submission]:
    """Return each distinct candidate submitted with status ok, with its latest such submission."""
    latest = {s.candidate: s for s in submissions if s.status == "ok"}
    if shortlist is None or len(latest) <= shortlist:
        return latest
    best = sorted(latest.values(), key=lambda s: (-_train_mean(s), s.submit_id))[:shortlist]
    return {s.candidate: s for s in sorted(best, key=lambda s: s.submit_id)}


def _train_mean(submission: Submission) -> float:
    scores = [o.score for o in submission.outcomes if not math.isnan(o.score)]
    return sum(scores) / len(scores) if scores else -math.inf


async def _validate(bench: Bench, checkpoints: Mapping[str, Submission]) -> dict[str, ViewScores]:
    view, gate = bench.view("validation"), asyncio.Semaphore(AT_ONCE)

    async def scored(submission: Submission) -> ViewScores:
        async with gate:
            return await score(bench, view, submission.candidate, submission.submit_id)

    validated = await gather([scored(s) for s in checkpoints.values()])
    if validated and all(math.isnan(view_scores.mean) for view_scores in validated):
        require(validated[0], "validation rollouts")
    return dict(zip(checkpoints, validated, strict=True))


def _select(
    checkpoints: Mapping[str, Submission], validation: Mapping[str, ViewScores], coverage: float
) -> tuple[int | None, str | None, str]:
    ranked = [
        (scores.mean, checkpoints[digest].submit_id, digest)
        for digest, scores in validation.items()
        if covers(scores.scores, coverage) and scores.mean > -math.inf
    ]
    if not ranked and any(scores.mean == -math.inf for scores in validation.values()):
        return None, None, "every candidate failed on validation, and failures have no score"
    if not ranked and validation:
        return None, None, f"no candidate has {coverage:.0%} of its validation scores; the rest are missing"
    if not ranked:
        return None, None, "no submission ended with status ok"
    mean, submit_id, digest = max(ranked)
    ties = sum(1 for other, _, _ in ranked if other == mean)
    reason = f"best validation mean {mean:.6g} of {len(ranked)} candidates"
    return submit_id, digest, reason + (f"; the latest of {ties} equal ones" if ties > 1 else "")
