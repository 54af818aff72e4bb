"""Candidates played again, and methods run again: what a machine other than the owner's comes to.

Everything recorded is either replayed and equal, or a failure, or exempt. An exemption follows from what this machine has: the
kind of the tasks, which needs a language model, or limits that it meets here. No field of the record exempts anything.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heredity._core.errors import HeredityError
from heredity.configuration.config import Config
from heredity.engine.engine import Engine, EngineSettings
from heredity.engine.kind import KINDS, Workers
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.experiments.verification.rederive import Record, Rederivation, deviations, opened_cases
from heredity.methods.registry import METHODS
from heredity.records.events import (
    AGENT_USAGE,
    CANDIDATE,
    REFERENCE_SCORED,
    RUN_RESUMED,
    SUBMISSION_ADMITTED,
    SUBMISSION_COMPLETED,
    SUBMISSION_REJECTED,
)
from heredity.resources import Candidate
from heredity.results.card import Replayed
from heredity.results.status import Status
from heredity.session.rollouts import Rollouts, outcome_of, policy_seed
from heredity.session.session_log import score_to_json
from heredity.session.views import JUDGE_SEED
from heredity.tasks import Task, TasksetInfo
from heredity.tasks.registry import taskset

TRAIN = "train"
_BY_TIME = frozenset({Status.ROLLOUT_TIMEOUT, Status.INIT_TIMEOUT})
_OF_THE_MACHINE = _BY_TIME | {Status.MISSING, Status.OOM}
_SLOWER = 10.0
"""A rollout that took longer than this part of its limit here may have run out of time on a slower machine."""
NEEDS_A_MODEL = "a language model answers these tasks"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A recorded rollout.

    Attributes:
        line: line of the journal.
        split: its view, or `"train"`.
        job: the attempt to make again.
        score: its score; None if it is missing.
        status: its status; None if it is not recorded.
    """

    line: int
    split: str
    job: Job
    score: float | None
    status: str | None


def attempts(record: Record) -> Iterator[Attempt]:
    """Yield every recorded rollout on train tasks and opened views, of all statuses."""
    hidden, own = opened_cases(record.opened), taskset(record.cell.taskset)
    candidates = _Candidates(record)
    admitted = {data["submit_id"]: data for data in SUBMISSION_ADMITTED.all(record.events)}
    train: Sequence[Task] = []
    if admitted:
        most = max((task for data in admitted.values() for task in data["tasks"]), default=0)
        train = _within(record) or hidden.tasks(own, TRAIN, max(record.cell.config.budget.train_cases, most + 1))
    for event in record.events:
        data = event.data
        if event.kind == SUBMISSION_COMPLETED.name and data["blob"] is not None:
            candidate = candidates[data["candidate"]]
            for index, outcome in enumerate(data["outcomes"]):
                task = train[outcome["task"]]
                job = Job(own.info, candidate, task, index, policy_seed(record.cell.seed, task))
                yield Attempt(event.seq + 1, TRAIN, job, outcome["score"], outcome["status"])
        elif {"view", "candidate", "scores"} <= data.keys() and data["view"] in record.opened["views"]:
            yield from _on_a_view(record, event.seq + 1, data, candidates)


def _within(record: Record) -> list[Task]:
    """Return the tasks of a run that evolves within its hidden tasks, which its session attempts; none for others."""
    views = record.opened["views"]
    if "within" not in record.started or "heldout" not in views:
        return []
    name, split, count = views["heldout"]
    return [Task(c["id"], split, i, c["spec"]) for i, c in enumerate(record.opened["cases"][name][split][:count])]


def _on_a_view(record: Record, line: int, data: Mapping[str, Any], candidates: _Candidates) -> Iterator[Attempt]:
    name, split, count = record.opened["views"][data["view"]]
    info = taskset(name).info
    if data["candidate"] not in candidates:
        return
    candidate = candidates[data["candidate"]]
    if KINDS.load(info.kind).candidates.refusal(candidate) is not None:
        return
    cases = record.opened["cases"][name][split][:count]
    statuses = data.get("statuses") or [None] * count
    for index, (case, score, status) in enumerate(zip(cases, data["scores"], statuses, strict=True)):
        task = Task(case["id"], split, index, case["spec"])
        job = Job(info, candidate, task, index, policy_seed(JUDGE_SEED, task))
        yield Attempt(line, data["view"], job, score, status)


class _Candidates:
    """Candidates of a record, read once each."""

    def __init__(self, record: Record) -> None:
        own = {data["digest"]: data["blob"] for data in CANDIDATE.all(record.events)}
        compared = REFERENCE_SCORED.all(record.events)
        self._blobs = {d["candidate"]: d["candidate_blob"] for d in compared if "candidate_blob" in d} | own
        self._record, self._read = record, dict[str, Candidate]()

    def __contains__(self, digest: str) -> bool:
        return digest in self._blobs

    def __getitem__(self, digest: str) -> Candidate:
        if digest not in self._read:
            self._read[digest] = Candidate.from_bytes(self._record.blobs.get(self._blobs[digest]))
        return self._read[digest]


async def replayed_candidates(record: Record, most: int | None, kept: str) -> tuple[list[Replayed], list[str]]:
    """Play candidates again and return how many scores were compared for each split, and those that differ.

    Args:
        record: the run.
        most: number of rollouts, drawn at random each time so that they are unpredictable; None for all.
        kept: why candidates of this kind cannot be played again, as their content is not kept; empty if they can.

    Raises:
        HeredityError: if this machine cannot confine candidates, or the runner fails.
    """
    recorded = list(attempts(record))
    chosen = recorded if most is None else random.SystemRandom().sample(recorded, min(most, len(recorded)))
    needs = {name: KINDS.load(name).needs.model for name in {attempt.job.taskset.kind for attempt in chosen}}
    why = {name: NEEDS_A_MODEL if model == "required" else kept for name, model in needs.items()}
    made = [attempt for attempt in chosen if not why[attempt.job.taskset.kind]]
    again = dict(zip(map(id, made), await _played(record.cell.config, made), strict=True))
    exempt: dict[str, Counter[str]] = {}
    compared: Counter[str] = Counter()
    problems: list[str] = []
    for attempt in chosen:
        trajectory = again.get(id(attempt))
        problem, reason = "", why[attempt.job.taskset.kind]
        if trajectory is not None:
            problem, reason = _compared(attempt, trajectory, record.cell.config)
        if problem:
            problems.append(problem)
        elif reason:
            exempt.setdefault(attempt.split, Counter())[reason] += 1
        else:
            compared[attempt.split] += 1
    counts = Counter(attempt.split for attempt in recorded)
    differing = Counter(attempt.split for attempt in chosen)
    rows = [
        Replayed(
            what="candidates",
            run=record.cell.id,
            split=split,
            recorded=count,
            equal=compared[split],
            different=differing[split] - compared[split] - sum(exempt.get(split, Counter()).values()),
            exempt=dict(exempt.get(split, Counter())),
        )
        for split, count in sorted(counts.items())
    ]
    return rows, problems


async def _played(config: Config, chosen: Sequence[Attempt]) -> list[Trajectory]:
    if not chosen:
        return []
    settings = EngineSettings(
        solving=config.solver.solving(config.limits.episode_s), workers=Workers(lockstep=config.engine.lockstep)
    )
    kinds = {attempt.job.taskset.kind for attempt in chosen}
    by_kind = {kind: [attempt for attempt in chosen if attempt.job.taskset.kind == kind] for kind in sorted(kinds)}
    trajectories: dict[int, Trajectory] = {}
    async with Engine(settings, kinds) as engine:
        rollouts = Rollouts(engine, config.limits.limits())
        for some in by_kind.values():
            made = await rollouts.all([attempt.job for attempt in some])
            trajectories |= dict(zip(map(id, some), made, strict=True))
    return [trajectories[id(attempt)] for attempt in chosen]


def _compared(attempt: Attempt, trajectory: Trajectory, config: Config) -> tuple[str, str]:
    """Return how a rollout differs, or why it cannot be compared here; two empty texts if it is the same."""
    info: TasksetInfo = attempt.job.taskset
    here = outcome_of(attempt.job.task, trajectory, info.failure_return)
    calls = KINDS.load(info.kind).usage(trajectory)
    if here.status == Status.MISSING or (KINDS.load(info.kind).needs.model == "optional" and calls and calls.tokens):
        return "", NEEDS_A_MODEL if KINDS.load(info.kind).needs.model == "optional" else "it cannot be attempted here"
    score = attempt.score
    if score is None and attempt.status in (Status.MISSING, None):
        return "", "it is missing in the record"
    if here.status in _OF_THE_MACHINE and attempt.status != here.status:
        return "", "it runs out of time or memory here"
    limit = config.limits.init_s if attempt.status == Status.INIT_TIMEOUT else config.limits.episode_s
    if attempt.status in _BY_TIME and here.status != attempt.status and trajectory.seconds * _SLOWER >= limit:
        return "", "it nearly runs out of time here"
    if attempt.status in _BY_TIME and here.status == attempt.status:
        return "", ""
    again = score_to_json(here.score)
    equal = score == again or (score is not None and again is not None and math.isclose(score, again, rel_tol=1e-9))
    if equal and attempt.status in (None, here.status):
        return "", ""
    return (
        f"line {attempt.line}: {attempt.job.task.id} scored {here.score:g} ({here.status}) for "
        f"{attempt.job.candidate.digest[:12]}…, and the journal says {score} ({attempt.status or 'no status'})"
    ), ""


_ONLY_RECORDED = frozenset(
    {RUN_RESUMED.name, SUBMISSION_REJECTED.name, AGENT_USAGE.name, "gpu.leased", "agent.started", "agent.ended"}
)


async def replayed_method(record: Record) -> tuple[Replayed, list[str]]:
    """Run the method of a run again from its seed, and return whether it was, and how its requests differ."""
    name = record.cell.evolver.method
    reason = ""
    if record.cell.evolver.outside:
        reason = "an outside agent evolves"
    elif name not in METHODS.own():
        reason = "the method is not built in"
    problems: list[str] = []
    if not reason:
        again = Rederivation(record, method=True)
        try:
            problems = list(deviations(record.events, await again.run(), _ONLY_RECORDED))
        except HeredityError as error:
            problems = [f"the method {name} does not make these requests from seed {record.cell.seed}: {error}"]
    row = Replayed(
        what="methods",
        run=record.cell.id,
        split="",
        recorded=1,
        equal=int(not reason and not problems),
        different=int(bool(problems)),
        exempt={reason: 1} if reason else {},
    )
    return row, [f"{name} run again: {problem}" for problem in problems]
