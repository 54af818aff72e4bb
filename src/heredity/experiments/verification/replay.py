"""Candidates, played again: what they scored on the opened cases, made anew in the sandbox of whoever verifies.

Nothing that the owner configured about isolation, models or machines is taken over: only limits, the isolation of episodes from
each other, and how a rollout goes. So a stranger's run can neither lower the walls nor spend anybody's money.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heredity.configuration.config import Config
from heredity.errors import HeredityError
from heredity.experiments.config import resolve
from heredity.experiments.verification.findings import Finding, failed_on, not_checked
from heredity.experiments.verification.record import RunRecords
from heredity.judging.rollouts import Rollouts, outcome_of, policy_seed
from heredity.judging.views import JUDGE_SEED
from heredity.records import load_config
from heredity.resources import Candidate
from heredity.results.status import Status
from heredity.rollouts.contract import Job
from heredity.rollouts.engine import Engine, EngineSettings
from heredity.rollouts.kind import KINDS, Workers
from heredity.tasks import Task, TasksetInfo
from heredity.tasks.registry import taskset

_OF_THE_MACHINE = frozenset({Status.MISSING, Status.ROLLOUT_TIMEOUT, Status.INIT_TIMEOUT, Status.OOM})
"""What a faster or slower machine may make of the same rollout."""


@dataclass(frozen=True, slots=True)
class _Recorded:
    """A rollout that was judged: on which line, of which view, and what it scored."""

    line: int
    view: str
    job: Job
    score: float


async def replayed(run: RunRecords, most: int | None) -> Finding:
    """Attempt judged rollouts again and compare their scores, which must be the same.

    Args:
        run: the run.
        most: how many rollouts, drawn anew each time so that nobody knows which; None for all.

    Raises:
        IsolationError: if this machine cannot confine candidates.
        HostError: if the runner fails.
    """
    if run.opened is None:
        return not_checked("the cases are not published, so that nothing can be attempted on them")
    own = taskset(run.started["taskset"]).info
    if run.started["execution"]:
        return not_checked(f"not comparable: the language model {run.started['execution']} attempts these tasks")
    if reason := KINDS.load(own.kind).unrepeatable(run.folder):
        return not_checked(reason)
    if own.version != run.started["taskset_version"]:
        return not_checked(f"{own.name} is {own.version} here, and was {run.started['taskset_version']}")
    recorded = [rollout for rollout in _recorded(run, run.opened) if rollout.job.taskset.kind == own.kind]
    if not recorded:
        return not_checked("nothing was judged")
    chosen = recorded if most is None else random.SystemRandom().sample(recorded, min(most, len(recorded)))
    config = resolve(load_config(run.folder))
    scores = await _scores(config, own, [rollout.job for rollout in chosen])
    problems = [
        f"line {rollout.line}: {rollout.job.task.id} scored {score:g} for {rollout.job.candidate.digest[:12]}…, "
        f"and the journal says {rollout.score:g}"
        for rollout, score in zip(chosen, scores, strict=True)
        if score is not None and score != rollout.score
    ]
    left_out = scores.count(None)
    rest = f"; {left_out} ended by time or memory here, which is not comparable" if left_out else ""
    if left_out == len(chosen):
        return not_checked(f"each of {left_out} rollouts ended by time or memory here, which is not comparable")
    return failed_on(problems, f"{len(chosen) - left_out} of {len(recorded)} judged rollouts score the same{rest}")


def _recorded(run: RunRecords, opened: Mapping[str, Any]) -> list[_Recorded]:
    """Return every judged rollout that can be compared: on an opened view, of a candidate that is kept."""
    infos: dict[str, TasksetInfo] = {}
    candidates: dict[str, Candidate] = {}
    recorded: list[_Recorded] = []
    for event in run.events:
        data = event.data
        if (
            not {"view", "candidate", "scores"} <= data.keys()
            or data["view"] not in opened["views"]
            or data.get("model")
        ):
            continue
        name, split, count = opened["views"][data["view"]]
        info = infos[name] = infos.get(name) or taskset(name).info
        digest = data["candidate"]
        candidate = candidates[digest] = candidates.get(digest) or run.candidate(digest)
        if KINDS.load(info.kind).candidates.refusal(candidate) is not None:
            continue
        cases, statuses = opened["cases"][name][split][:count], data.get("statuses") or ["ok"] * count
        for index, (case, score, status) in enumerate(zip(cases, data["scores"], statuses, strict=True)):
            if score is not None and status not in _OF_THE_MACHINE:
                task = Task(case["id"], split, index, case["spec"])
                job = Job(info, candidate, task, episode_index=index, policy_seed=policy_seed(JUDGE_SEED, task))
                recorded.append(_Recorded(event.seq + 1, data["view"], job, score))
    return recorded


async def _scores(config: Config, info: TasksetInfo, jobs: Sequence[Job]) -> list[float | None]:
    settings = EngineSettings(
        solving=config.solver.solving(config.limits.episode_s), workers=Workers(lockstep=config.engine.lockstep)
    )
    async with Engine(settings, {info.kind}) as engine:
        trajectories = await Rollouts(engine, config.limits.limits()).all(jobs)
    outcomes = [outcome_of(job.task, t, job.taskset.failure_return) for job, t in zip(jobs, trajectories, strict=True)]
    return [None if outcome.status in _OF_THE_MACHINE else outcome.score for outcome in outcomes]


async def replay(run: RunRecords, most: int | None) -> Finding:
    """Replay a run as `replayed`, and say why where this machine cannot."""
    try:
        return await replayed(run, most)
    except HeredityError as error:
        return not_checked(f"nothing could be attempted here: {error}")
