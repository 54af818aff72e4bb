"""How policy evolution is judged: hidden validation picks a checkpoint, hidden held-out scores it (EvoPolicyGym).

Every result is journalled as it arrives, so that judging continues where it stopped; nothing of it is fed back.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heredity.errors import ConfigError
from heredity.judging.attempts import Attempter
from heredity.judging.cases import Opening
from heredity.judging.session_log import Submission, score_to_json
from heredity.judging.views import View, ViewScores, score_candidate
from heredity.records import Committer
from heredity.resources import Candidate
from heredity.tasks import TasksetInfo

AT_ONCE = 4
"""How many candidates are attempted at the same time, to keep the machine busy while the last episodes of one end."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What the judge works with.

    Attributes:
        records: where results are journalled.
        attempter: attempts and retries jobs; it shares no scratch between them.
        taskset: what the tasks belong to.
        validation: the view that picks the checkpoint.
        heldout: the view that scores it.
        opening: opens the commitment to both views.
    """

    records: Committer
    attempter: Attempter
    taskset: TasksetInfo
    validation: View
    heldout: View
    opening: Opening

    def journalled(self, kind: str, **fields: Any) -> Mapping[str, Any] | None:
        """Return the data of the first event of a kind whose fields are these, if there is one."""
        for event in self.records.journal.events:
            if event.kind == kind and all(event.data[name] == value for name, value in fields.items()):
                return event.data
        return None

    async def journal_once(self, kind: str, data: Mapping[str, Any]) -> None:
        """Journal an event unless there is one of its kind."""
        if self.journalled(kind) is None:
            await self.records.commit([(kind, data)])


@dataclass(frozen=True, slots=True)
class Reference:
    """A policy that every run is compared with: the uniform random one.

    Attributes:
        candidate: the policy program.
        scores: its held-out scores, if they were computed before for the same cases; NaN where missing.
        name: what it is called in the journal.
    """

    candidate: Candidate
    scores: tuple[float, ...] | None = None
    name: str = "random"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run came to.

    Attributes:
        status: `"finished"`, or `"failed"` if the evolver failed; it is judged either way.
        submit_id: the selected submission; None if there was nothing to select.
        candidate: digest of the selected candidate.
        reason: why it was selected, or why nothing was.
        validation: digest of each candidate to its scores on validation. Used to select; never a result.
        heldout: the result: the selected candidate's scores on held-out; None if nothing was selected.
        reference: the reference's held-out scores, if it was scored.
    """

    status: str
    submit_id: int | None
    candidate: str | None
    reason: str
    validation: Mapping[str, ViewScores]
    heldout: ViewScores | None
    reference: tuple[float, ...] | None = None


async def judge(
    bench: Bench, submissions: Sequence[Submission], *, status: str, reference: Reference | None = None
) -> Verdict:
    """Judge a closed session and finish the run's journal; what is journalled already is not attempted again.

    Args:
        bench: what the judge works with.
        submissions: all of the session's, in order.
        status: what the run ends with: `"finished"` or `"failed"`.
        reference: scored on the same held-out cases.

    Raises:
        HostError: if the runner fails; judging continues from the journal when the run is resumed.
        RecordError: if the disk is full or fails.
    """
    checkpoints = _checkpoints(submissions)
    validation = await _validate(bench, checkpoints)
    submit_id, candidate, reason = _select(checkpoints, validation)
    await bench.journal_once("judging.selected", {"submit_id": submit_id, "candidate": candidate, "reason": reason})
    heldout = None
    if candidate is not None:
        heldout = await _score(bench, bench.heldout, candidate, submit_id)
    scores = await score_reference(bench, reference) if reference else None
    opening = bench.opening
    opened = {"commitment": opening.commitment, "salt": opening.salt, "digest": opening.digest}
    await bench.journal_once("cases.opened", opened)
    await bench.journal_once("run.finished", {"status": status})
    return Verdict(status, submit_id, candidate, reason, validation, heldout, scores)


async def score_reference(bench: Bench, reference: Reference) -> tuple[float, ...]:
    """Score the reference on held-out, or take over the scores it was given, and journal them once.

    Returns:
        One score for each held-out task; NaN where missing.

    Raises:
        ConfigError: if the scores it was given are not one for each held-out task.
    """
    known = bench.journalled("reference.scored", name=reference.name, view=bench.heldout.name)
    if known is not None:
        return tuple(math.nan if s is None else s for s in known["scores"])
    scores = reference.scores
    if scores is None:
        scores = (await score_candidate(bench.attempter, bench.taskset, bench.heldout, reference.candidate)).scores
    if len(scores) != len(bench.heldout.tasks):
        raise ConfigError(
            f"the reference {reference.name!r} has {len(scores)} scores; expected {len(bench.heldout.tasks)}, "
            "one for each held-out task"
        )
    listed = [score_to_json(s) for s in scores]
    data = {"name": reference.name, "view": bench.heldout.name, "scores": listed}
    await bench.records.commit([("reference.scored", data)])
    return scores


def _checkpoints(submissions: Sequence[Submission]) -> dict[str, Submission]:
    """Return each distinct candidate that was submitted with status ok, with the latest such submission of it."""
    return {s.candidate: s for s in submissions if s.status == "ok"}


async def _validate(bench: Bench, checkpoints: Mapping[str, Submission]) -> dict[str, ViewScores]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def score(submission: Submission) -> ViewScores:
        async with gate:
            return await _score(bench, bench.validation, submission.candidate, submission.submit_id)

    tasks = {digest: asyncio.create_task(score(s)) for digest, s in checkpoints.items()}
    if not tasks:
        return {}
    try:
        await asyncio.gather(*tasks.values())
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.wait(tasks.values())
    return {digest: task.result() for digest, task in tasks.items()}


async def _score(bench: Bench, view: View, digest: str, submit_id: int | None) -> ViewScores:
    known = bench.journalled("judging.scored", view=view.name, candidate=digest)
    if known is not None:
        return ViewScores.from_json(known)
    candidate = await asyncio.to_thread(_load_candidate, bench, digest)
    scores = await score_candidate(bench.attempter, bench.taskset, view, candidate)
    data = {"view": view.name, "candidate": digest, "submit_id": submit_id, **scores.to_json()}
    await bench.records.commit([("judging.scored", data)])
    return scores


def _select(
    checkpoints: Mapping[str, Submission], validation: Mapping[str, ViewScores]
) -> tuple[int | None, str | None, str]:
    ranked = [
        (scores.mean, checkpoints[digest].submit_id, digest)
        for digest, scores in validation.items()
        if not math.isnan(scores.mean)
    ]
    if not checkpoints:
        return None, None, "no submission ended with status ok"
    if not ranked:
        return None, None, "every validation attempt is missing"
    mean, submit_id, digest = max(ranked)
    ties = sum(1 for other, _, _ in ranked if other == mean)
    reason = f"best validation mean {mean:.6g} of {len(ranked)} candidates"
    return submit_id, digest, reason + (f"; the latest of {ties} equal ones" if ties > 1 else "")


def _load_candidate(bench: Bench, digest: str) -> Candidate:
    blob = bench.journalled("candidate", digest=digest)
    if blob is None:
        raise ConfigError(f"the journal names no candidate {digest}; judge the session that submitted it")
    return Candidate.from_bytes(bench.records.blobs.get(blob["blob"]))
