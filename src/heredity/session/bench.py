"""Tools for the judges of all protocols: views, reference, journal, and the verdict on a run.

Every result is recorded as it arrives, so interrupted judging resumes where it stopped. No result is fed back to the evolver.

The scores of a candidate on hidden tasks are computed once per suite and set of conditions. If a model or an environment is not
deterministic, two judgements of one candidate differ, and taking the better one would reward noise. Every run of the suite
therefore gets the first judgement: an unchanged candidate scores exactly as its run's reference does.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from heredity._core.errors import ConfigError, HostError, RecordError
from heredity._core.ids import canonical_json, digest_bytes
from heredity._core.outside import ANY_SIZE, read_bytes
from heredity._core.workers import computed
from heredity.engine.runner import Runner
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
from heredity.session.cases import HiddenCases, Opening
from heredity.session.rollouts import Comparison, Rollouts, listed_comparisons
from heredity.session.session_log import Submission, score_to_json
from heredity.session.views import View, ViewScores, clusters_of, score_candidate
from heredity.tasks import Task, Taskset, TasksetInfo

Made = TypeVar("Made", bound=Mapping[str, Any])


class _Scores(BaseModel):
    scores: list[float | None]


class _Line(BaseModel):
    key: str
    data: _Scores


_LINE = TypeAdapter(_Line)


class JudgementStore:
    """The judgements of a suite, stored in its folder, one line each with `key` and `data`.

    Attributes:
        path: the file.
        hidden_cases: the suite's secret.
        making: lock held while building something candidates are read from, such as a base model.
    """

    def __init__(self, path: Path, hidden_cases: HiddenCases) -> None:
        """Load earlier judgements; a truncated line is ignored and its judgement made again."""
        self.path, self.hidden_cases, self.making = path, hidden_cases, asyncio.Lock()
        self._kept = _read(path)
        self._busy: dict[str, asyncio.Lock] = {}

    async def once(self, key: str, make: Callable[[], Awaitable[Made]]) -> tuple[Made, bool]:
        """Return a judgement and True if it was recalled; judgements with missing rollouts are not stored.

        Raises:
            RecordError: if the disk is full or fails.
        """
        async with self._busy.setdefault(key, asyncio.Lock()):
            if key in self._kept:
                return cast("Made", self._kept[key]), True
            data = await make()
            if None not in data["scores"]:
                self._keep(key, data)
            return data, False

    def _keep(self, key: str, data: Mapping[str, Any]) -> None:
        self._kept[key] = data
        try:
            with self.path.open("ab") as file:
                file.write(b"\n" + json.dumps({"key": key, "data": data}).encode())
        except OSError as error:
            raise RecordError(f"{self.path} cannot be written: {error.strerror}; make room and resume") from error


@dataclass(frozen=True, slots=True)
class Judgements:
    """The judgements under the conditions of one run.

    Attributes:
        store: the judgements of its suite.
        rollouts: runs tasks under these conditions.
        conditions: everything a candidate's score on a task depends on, as JSON values.
    """

    store: JudgementStore
    rollouts: Rollouts
    conditions: Mapping[str, Any]

    def under(self, runner: Runner, **more: Any) -> Judgements:
        """Return the judgements of another runner, with the conditions it adds."""
        return replace(self, rollouts=replace(self.rollouts, runner=runner), conditions={**self.conditions, **more})

    async def of(self, taskset: Taskset, candidate: Candidate, count: int, split: str = "heldout") -> ViewScores:
        """Return the scores of a candidate on the first hidden tasks of a split.

        Raises:
            ConfigError: if the taskset has too few.
            HostError: if the runner fails.
        """
        # Off the event loop: drawing many tasks takes a while, and signals must still be handled.
        tasks = await computed(lambda: self.store.hidden_cases.tasks(taskset, split, count))
        return await self.on(taskset.info, View(split, tasks), candidate, self.rollouts)

    async def on(self, taskset: TasksetInfo, view: View, candidate: Candidate, rollouts: Rollouts) -> ViewScores:
        """Return the scores of a candidate on a view.

        Args:
            taskset: the taskset of the view's tasks.
            view: the tasks.
            candidate: the candidate to judge.
            rollouts: runs the tasks, under the same conditions as `self.rollouts`.

        Raises:
            HostError: if the runner fails.
        """

        async def make() -> Scored:
            return (await score_candidate(rollouts, taskset, view, candidate)).to_json()

        data, recalled = await self.once(taskset, view.tasks, candidate.digest, make)
        scores = ViewScores.from_json(data)
        return replace(scores, seconds=0.0, usage=None, recalled=True) if recalled else scores

    async def once(
        self,
        taskset: TasksetInfo,
        tasks: Sequence[Task],
        candidate: str,
        make: Callable[[], Awaitable[Made]],
        **changed: Any,
    ) -> tuple[Made, bool]:
        """Return the judgement of a candidate, and True if it was recalled.

        Args:
            taskset: the taskset of the tasks.
            tasks: the tasks to judge it on.
            candidate: its digest.
            make: judges it; returns data with a list `scores`, None where a rollout is missing.
            changed: overrides of the conditions, such as another execution model.
        """
        given = [[task.split, task.index, task.id, dict(task.spec)] for task in tasks]
        about = [taskset.name, taskset.version, given, candidate, {**self.conditions, **changed}]
        # Tasks are hidden: without the salt, they could be guessed from their digest.
        key = digest_bytes(self.store.hidden_cases.salt + canonical_json(about))
        return await self.store.once(key, make)

    def name_of(self, folder: Path) -> str:
        """Return the name of a suite's folder in judgements: a relative path, so the suite can be moved."""
        return os.path.relpath(folder, self.store.path.parent)

    def folder(self, name: str) -> Path:
        """Return the folder with that name."""
        return self.store.path.parent / name


def _read(path: Path) -> dict[str, Mapping[str, Any]]:
    kept: dict[str, Mapping[str, Any]] = {}
    try:
        lines = read_bytes(path, ANY_SIZE).splitlines()
    except FileNotFoundError:
        return kept
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}; delete it (it is derived) and resume") from error
    for line in lines:
        try:
            _LINE.validate_json(line)
        except ValidationError:
            continue
        judgement = json.loads(line)
        kept[judgement["key"]] = judgement["data"]
    return kept


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
        final: True if what is recorded as missing stays missing, as when a record is verified.
    """

    records: Committer
    rollouts: Rollouts
    taskset: TasksetInfo
    views: Mapping[str, View]
    opening: Opening
    train: Sequence[Task] = ()
    others: Mapping[str, Rollouts] = field(default_factory=dict[str, Rollouts])
    judgements: Judgements | None = None
    final: bool = False

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
        One score per held-out task (NaN where missing).

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
