"""Tools for the judges of all protocols: views, reference, journal, and the verdict on a run.

Every result is recorded as it arrives, so interrupted judging resumes where it stopped. No result is fed back to the evolver.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from heredity._core.errors import ConfigError, HostError
from heredity.methods import Decision
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
from heredity.results.base import COVERAGE
from heredity.session.cases import Opening
from heredity.session.judgements import Judgements
from heredity.session.rollouts import Comparison, Rollouts, listed_comparisons
from heredity.session.session_log import Submission, score_to_json
from heredity.session.views import View, ViewScores, clusters_of, score_candidate
from heredity.tasks import Task, Taskset, TasksetInfo


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything a judge needs.

    Attributes:
        records: receives the results.
        rollouts: runs and retries jobs; jobs share no scratch space.
        taskset: the taskset of the run.
        views: the hidden tasks, by view name.
        opening: opens the commitment to the views.
        train: the train tasks, by task index.
        others: rollouts under other execution models, by model name.
        judgements: earlier judgements of the suite under the same conditions; None judges everything anew.
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
            ConfigError: if the run has no view of this name.
        """
        if name not in self.views:
            raise ConfigError(f"this run has no view {name!r}, which its judge needs; it has {', '.join(self.views)}")
        return self.views[name]

    def recorded(self, kind: EventKind[Data], **fields: Any) -> Data | None:
        """Return the data of the latest event of a kind with these field values; None if there is none."""
        for event in reversed(self.records.journal.events):
            if event.kind == kind.name and all(event.data[name] == value for name, value in fields.items()):
                return kind.of(event)
        return None

    def scored(self, kind: EventKind[Data], **fields: Any) -> Data | None:
        """Return the latest recorded scores with these field values; None if they should be computed.

        Scores are recomputed if every rollout is missing and the run has not ended.
        """
        latest = self.recorded(kind, **fields)
        if latest is None or self.recorded(RUN_FINISHED) is not None:
            return latest
        return latest if any(score is not None for score in cast("Scored", latest)["scores"]) else None

    async def judged(self, view: View, candidate: Candidate) -> ViewScores:
        """Return the scores of a candidate on a view, recalled from an earlier judgement or newly computed.

        Raises:
            HostError: if the runner fails.
        """
        if self.judgements is None:
            return await score_candidate(self.rollouts, self.taskset, view, candidate)
        return await self.judgements.on(self.taskset, view, candidate, self.rollouts)

    async def journal_once(self, line: Line) -> None:
        """Journal an event unless one of its kind is already recorded."""
        if all(event.kind != line[0] for event in self.records.journal.events):
            await self.records.commit([line])


@dataclass(frozen=True, slots=True)
class Evolved:
    """The content of a closed session, ready to be judged.

    Attributes:
        submissions: all submissions, in order.
        decisions: commits and refusals, in order.
        status: `"finished"`, or `"failed"` if the evolver failed.
        batches: the data of each started batch, in order, with the number of decisions made before it.
        coverage: the share of scores that selection requires.
    """

    submissions: Sequence[Submission]
    decisions: Sequence[Decision]
    status: str
    batches: Sequence[tuple[BatchStarted, int]] = ()
    coverage: float = COVERAGE


@dataclass(frozen=True, slots=True)
class Reference:
    """The baseline of a run: the uniform random policy, or the candidate it started from.

    Attributes:
        candidate: the candidate to score.
        scores: its held-out scores, if already computed for the same cases; NaN where missing.
        name: its name in the journal.
        graded: its scores on the train tasks, where these are a graded view; NaN where missing.
        comparisons: the comparisons on each view, where answers are compared with others.
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
    """The judged outcome of a run.

    Attributes:
        status: `"finished"`, or `"failed"` if the evolver failed; it is judged either way.
        submit_id: the selected submission; None if nothing was selected.
        candidate: digest of the selected candidate.
        reason: why it was selected, or why nothing was.
        validation: candidate digest to its scores on validation. Used for selection only; never a result.
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
"""Judges a closed session and finishes the run's journal; recorded results are not computed again."""


async def score_reference(bench: Bench, reference: Reference) -> tuple[float, ...]:
    """Score the reference on held-out, or use the scores it carries, and journal them once.

    If the run ended with the reference itself, the run's judgement serves for both.

    Returns:
        One score per held-out task; NaN where missing.

    Raises:
        ConfigError: if the scores it carries are not one per held-out task.
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
            "one per held-out task"
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
    """Score a candidate on a view and journal the scores; recorded scores are reused.

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
    """Return the scores, which the run needs for its result.

    Args:
        scores: the scores of a candidate.
        what: a name for the rollouts, such as `"held-out rollouts"`.

    Raises:
        HostError: if every rollout is missing. The run does not end then, and resuming it repeats them.
    """
    if scores.scores and math.isnan(scores.mean):
        raise HostError(
            f"all {len(scores.scores)} {what} failed ({scores.why or 'no reason recorded'}); fix the cause and "
            "resume: recorded results are kept, and only these are repeated"
        )
    return scores


async def judged_reference(
    judgements: Judgements, taskset: Taskset, candidate: Candidate, count: int, split: str = "heldout"
) -> ViewScores:
    """Return the scores of a run's reference on the first hidden tasks of a split (see `Judgements.of`).

    Raises:
        HostError: if every rollout is missing.
    """
    scores = await judgements.of(taskset, candidate, count, split)
    return require(scores, f"{split} rollouts of the run's reference")


async def conclude(bench: Bench, status: str) -> None:
    """Journal the commitment to the hidden cases and finish the run's journal.

    The opening is not journaled: other open runs may be judged on the same cases, and a small set of cases
    could be guessed from the salt or from an unsalted digest.
    """
    await bench.journal_once(CASES_JUDGED.line({"commitment": bench.opening.commitment}))
    await bench.journal_once(RUN_FINISHED.line({"status": status}))


def load_candidate(bench: Bench, digest: str) -> Candidate:
    """Return a candidate of the run.

    Raises:
        ConfigError: if the journal has none with this digest.
        DamagedRecordError: if its blob is missing or damaged.
    """
    made = bench.recorded(CANDIDATE, digest=digest)
    if made is None:
        raise ConfigError(f"the journal has no candidate {digest}; judge the session that submitted it")
    return Candidate.from_bytes(bench.records.blobs.get(made["blob"]))
