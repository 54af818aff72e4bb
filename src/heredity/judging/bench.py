"""What judges work with, whatever the protocol: views, a reference, the journal; and what a run comes to.

Every result is recorded as it arrives, so that judging continues where it stopped; nothing of it is fed back.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from heredity.errors import ConfigError, HostError
from heredity.evolution import Decision
from heredity.judging.cases import Opening
from heredity.judging.judgements import Judgements
from heredity.judging.rollouts import Comparison, Rollouts, listed_comparisons
from heredity.judging.session_log import Submission, score_to_json
from heredity.judging.views import View, ViewScores, clusters_of, score_candidate
from heredity.records import Blob, Committer
from heredity.records.events import (
    CANDIDATE,
    CASES_JUDGED,
    JUDGING_SCORED,
    REFERENCE_SCORED,
    RUN_FINISHED,
    BatchStarted,
    Data,
    EventKind,
    JudgingScored,
    ReferenceScored,
    Scored,
)
from heredity.records.journal import Line
from heredity.resources import Candidate
from heredity.results.coverage import COVERAGE
from heredity.tasks import Task, Taskset, TasksetInfo


@dataclass(frozen=True, slots=True)
class Bench:
    """What the judge works with.

    Attributes:
        records: where results are recorded.
        rollouts: attempts and retries jobs; it shares no scratch between them.
        taskset: what the tasks belong to.
        views: the hidden tasks, by the names of the views.
        opening: opens the commitment to the views.
        train: the train tasks, by task index.
        others: what attempts jobs under other execution models, by their names.
        judgements: what was judged before in the suite, under the same conditions; None attempts everything anew.
    """

    records: Committer
    rollouts: Rollouts
    taskset: TasksetInfo
    views: Mapping[str, View]
    opening: Opening
    train: Sequence[Task] = ()
    others: Mapping[str, Rollouts] = field(default_factory=dict[str, Rollouts])
    judgements: Judgements | None = None

    def view(self, name: str) -> View:
        """Return a view.

        Raises:
            ConfigError: if the run is not judged on one of this name.
        """
        if name not in self.views:
            raise ConfigError(f"this run has no view {name!r}, which its judge needs; it has {', '.join(self.views)}")
        return self.views[name]

    def recorded(self, kind: EventKind[Data], **fields: Any) -> Data | None:
        """Return the data of the latest event of a kind whose fields are these, if there is one."""
        for event in reversed(self.records.journal.events):
            if event.kind == kind.name and all(event.data[name] == value for name, value in fields.items()):
                return kind.of(event)
        return None

    def scored(self, kind: EventKind[Data], **fields: Any) -> Data | None:
        """Return the latest recorded scores with these fields; None where there is anything to be gained by another try.

        That is so if every rollout is missing and the run has not ended.
        """
        latest = self.recorded(kind, **fields)
        if latest is None or self.recorded(RUN_FINISHED) is not None:
            return latest
        return latest if any(score is not None for score in cast("Scored", latest)["scores"]) else None

    async def judged(self, view: View, candidate: Candidate) -> ViewScores:
        """Return the scores of a candidate on a view, recalled or attempted.

        Raises:
            HostError: if the runner fails.
        """
        if self.judgements is None:
            return await score_candidate(self.rollouts, self.taskset, view, candidate)
        return await self.judgements.on(self.taskset, view, candidate, self.rollouts)

    async def journal_once(self, line: Line) -> None:
        """Journal an event unless there is one of its kind."""
        if all(event.kind != line[0] for event in self.records.journal.events):
            await self.records.commit([line])


@dataclass(frozen=True, slots=True)
class Evolved:
    """What a closed session leaves to be judged.

    Attributes:
        submissions: all of them, in order.
        decisions: commits and refusals, in order.
        status: `"finished"`, or `"failed"` if the evolver failed.
        batches: the data of each batch that was started, in order, and how many decisions were made before it.
        coverage: the share of scores that selection asks for.
    """

    submissions: Sequence[Submission]
    decisions: Sequence[Decision]
    status: str
    batches: Sequence[tuple[BatchStarted, int]] = ()
    coverage: float = COVERAGE


@dataclass(frozen=True, slots=True)
class Reference:
    """What a run is compared with: the uniform random policy, or the candidate that it started from.

    Attributes:
        candidate: what is scored.
        scores: its held-out scores, if they were computed before for the same cases; NaN where missing.
        name: what it is called in the journal.
        graded: its scores on the train tasks, where these are a graded view; NaN where missing.
        comparisons: where answers are compared with others, what was found on each view.
    """

    candidate: Candidate
    scores: tuple[float, ...] | None = None
    name: str = "random"
    graded: tuple[float, ...] | None = None
    comparisons: Mapping[str, Sequence[Comparison | None]] = field(
        default_factory=dict[str, "Sequence[Comparison | None]"]
    )


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


Judge = Callable[[Bench, Evolved, Reference | None], Awaitable[Verdict]]
"""Judges a closed session and finishes the run's journal; what is recorded already is not attempted again."""


async def score_reference(bench: Bench, reference: Reference) -> tuple[float, ...]:
    """Score the reference on held-out, or take over the scores it was given, and journal them once.

    Where the run ended with the very same candidate, that judgement is the reference's too.

    Returns:
        One score for each held-out task; NaN where missing.

    Raises:
        ConfigError: if the scores it was given are not one for each held-out task.
    """
    view = bench.view("heldout")
    recorded = bench.scored(REFERENCE_SCORED, name=reference.name, view=view.name)
    if recorded is not None:
        return tuple(math.nan if s is None else s for s in recorded["scores"])
    same = bench.scored(JUDGING_SCORED, view=view.name, candidate=reference.candidate.digest)
    scores = ViewScores.from_json(same).scores if same is not None else reference.scores
    if scores is None:
        scores = (await bench.judged(view, reference.candidate)).scores
    if len(scores) != len(view.tasks):
        raise ConfigError(
            f"the reference {reference.name!r} has {len(scores)} scores; expected {len(view.tasks)}, "
            "one for each held-out task"
        )
    listed = [score_to_json(s) for s in scores]
    compared = listed_comparisons(reference.comparisons.get(view.name, ()))
    blob = Blob.of(reference.candidate.to_bytes())
    data: ReferenceScored = {
        "name": reference.name,
        "view": view.name,
        "candidate": reference.candidate.digest,
        "candidate_blob": blob.digest,
        "scores": listed,
        **compared,
        **clusters_of(view.tasks),
    }
    await bench.records.commit([REFERENCE_SCORED.line(data)], [blob])
    return scores


async def score(bench: Bench, view: View, digest: str, submit_id: int | None) -> ViewScores:
    """Score a candidate on a view and journal it; what is recorded already is not attempted again.

    Raises:
        HostError: if the runner fails.
    """
    recorded = bench.scored(JUDGING_SCORED, view=view.name, candidate=digest)
    if recorded is not None:
        return ViewScores.from_json(recorded)
    candidate = await asyncio.to_thread(load_candidate, bench, digest)
    scores = await bench.judged(view, candidate)
    data: JudgingScored = {
        "view": view.name,
        "candidate": digest,
        "submit_id": submit_id,
        **scores.to_json(),
        **clusters_of(view.tasks),
    }
    await bench.records.commit([JUDGING_SCORED.line(data)])
    return scores


def require(scores: ViewScores, what: str) -> ViewScores:
    """Return scores without which a run has no result.

    Args:
        scores: how a candidate did.
        what: what they are of, such as `"held-out rollouts"`.

    Raises:
        HostError: if every rollout is missing. The run has not ended then, and resuming it makes them again.
    """
    if scores.scores and math.isnan(scores.mean):
        raise HostError(
            f"none of the {len(scores.scores)} {what} could be made ({scores.why or 'no reason is known'}); mend that and "
            "resume: what is known is kept, and these are attempted again"
        )
    return scores


async def judged_reference(
    judgements: Judgements, taskset: Taskset, candidate: Candidate, count: int, split: str = "heldout"
) -> ViewScores:
    """Return the scores of what a run is compared with, on the first hidden tasks of a split (see `Judgements.of`).

    Raises:
        HostError: if not one rollout could be made.
    """
    scores = await judgements.of(taskset, candidate, count, split)
    return require(scores, f"{split} rollouts of the run's reference")


async def conclude(bench: Bench, status: str) -> None:
    """Say which hidden cases the run was judged on, and finish its journal.

    What opens the commitment is not said: other runs may still be open that are judged on the same cases, and with the salt, or an
    unsalted digest, cases that are few enough could be guessed.
    """
    await bench.journal_once(CASES_JUDGED.line({"commitment": bench.opening.commitment}))
    await bench.journal_once(RUN_FINISHED.line({"status": status}))


def load_candidate(bench: Bench, digest: str) -> Candidate:
    """Return a candidate of the run.

    Raises:
        ConfigError: if the journal names none with this digest.
        DamagedRecordError: if its blob is missing or damaged.
    """
    made = bench.recorded(CANDIDATE, digest=digest)
    if made is None:
        raise ConfigError(f"the journal names no candidate {digest}; judge the session that submitted it")
    return Candidate.from_bytes(bench.records.blobs.get(made["blob"]))
