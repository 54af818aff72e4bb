"""How generation is judged: the best build meets all gates from hidden seeds; one that nothing is found in is admitted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from heredity.judging.bench import Bench, Evolved, Reference, Verdict, conclude, load_candidate, require
from heredity.judging.rollouts import encodable, outcome_of, policy_seed
from heredity.judging.session_log import Submission
from heredity.judging.views import JUDGE_SEED, ViewScores
from heredity.protocols.world_generation.events import GATES_EXECUTED, WORLD_ADMITTED, GatesExecuted, WorldAdmitted
from heredity.protocols.world_generation.shelf import shelve
from heredity.records import Blob, Event
from heredity.records.events import JUDGING_SCORED, JUDGING_SELECTED
from heredity.resources import Candidate
from heredity.results.status import Status
from heredity.rollouts.contract import Job
from heredity.rollouts.trajectory import Trajectory
from heredity.rollouts.world_build.runner import LEVELS
from heredity.worlds.gates.contract import CERTIFICATE


async def judge(
    bench: Bench, evolved: Evolved, reference: Reference | None = None, *, world: str, shelf: Path | None = None
) -> Verdict:
    """Judge a closed session and finish the run's journal; what is recorded already is not executed again.

    Args:
        bench: what the judge works with.
        evolved: what the session left.
        reference: nothing: a world is compared with no other.
        world: what the world is called.
        shelf: the folder into which an admitted world is written; None writes none.

    Raises:
        HostError: if the runner fails, or no process could build; judging continues when the run is resumed.
        RecordError: if the disk is full or fails.
    """
    best, reason = _best(evolved.submissions)
    submit_id, digest = (best.submit_id, best.candidate) if best else (None, None)
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": submit_id, "candidate": digest, "reason": reason}))
    heldout = None if digest is None else await _scored(bench, digest, submit_id)
    if heldout is not None and digest is not None and all(score == 1.0 for score in heldout.scores):
        await _admitted(bench, digest, world, shelf)
    await conclude(bench, evolved.status)
    return Verdict(evolved.status, submit_id, digest, reason, {}, heldout)


async def _scored(bench: Bench, digest: str, submit_id: int | None) -> ViewScores:
    """Execute all gates on every hidden task; scores and what was found are journalled together."""
    view = bench.view("heldout")
    recorded = bench.scored(JUDGING_SCORED, view=view.name, candidate=digest)
    if recorded is not None:
        return require(ViewScores.from_json(recorded), "executions of all gates")
    candidate = load_candidate(bench, digest)
    jobs = [
        Job(bench.taskset, candidate, task, episode_index=index, policy_seed=policy_seed(JUDGE_SEED, task))
        for index, task in enumerate(view.tasks)
    ]
    trajectories = await bench.rollouts.all(jobs)
    outcomes = [outcome_of(job.task, t, 0.0) for job, t in zip(jobs, trajectories, strict=True)]
    missing = [outcome.failure.message for outcome in outcomes if outcome.status == Status.MISSING and outcome.failure]
    scores = ViewScores(
        scores=tuple(outcome.score for outcome in outcomes),
        lengths=tuple(outcome.length for outcome in outcomes),
        statuses=tuple(outcome.status for outcome in outcomes),
        seconds=sum(t.seconds for t in trajectories),
        why=encodable(missing[0]) if missing else "",
    )
    executed = [_executed(digest, trajectory) for trajectory in trajectories]
    lines = [GATES_EXECUTED.line(data) for data, _ in executed]
    lines.append(
        JUDGING_SCORED.line({"view": view.name, "candidate": digest, "submit_id": submit_id, **scores.to_json()})
    )
    await bench.records.commit(lines, [blob for _, blobs in executed for blob in blobs])
    return require(scores, "executions of all gates")


def _executed(digest: str, trajectory: Trajectory) -> tuple[GatesExecuted, list[Blob]]:
    blobs = {name: Blob.of(data) for name, data in trajectory.media.items() if data not in (b"", b"null")}
    certificate, levels = blobs.get(CERTIFICATE), blobs.get(LEVELS)
    data: GatesExecuted = {
        "candidate": digest,
        "task": trajectory.task_id,
        "passed": trajectory.status == Status.OK and trajectory.total_reward == 1.0,
        "status": trajectory.status,
        "reports": reports_of(trajectory),
        "certificate": certificate and certificate.digest,
        "levels": levels and levels.digest,
    }
    return data, list(blobs.values())


def reports_of(trajectory: Trajectory) -> list[dict[str, object]]:
    """Return what gates came to, as a build's trajectory keeps it."""
    columns = trajectory.columns
    rows = zip(
        *(columns[name] for name in ("action", "reward", "info/findings", "info/figures")),
        strict=True,
    )
    return [
        {"gate": str(gate), "passed": bool(passed), "findings": list(findings), "figures": dict(figures)}
        for gate, passed, findings, figures in rows
    ]


async def _admitted(bench: Bench, digest: str, world: str, shelf: Path | None) -> None:
    executed = bench.recorded(GATES_EXECUTED, candidate=digest)
    if executed is None or executed["certificate"] is None or executed["levels"] is None:
        return
    certificate = bench.records.blobs.get(executed["certificate"])
    data: WorldAdmitted = {"candidate": digest, "world": world, "digest": str(json.loads(certificate)["digest"])}
    await bench.journal_once(WORLD_ADMITTED.line(data))
    if shelf is not None:
        candidate: Candidate = load_candidate(bench, digest)
        shelve(shelf / world, candidate.agent, bench.records.blobs.get(executed["levels"]), certificate)


def selected(evolved: Evolved, events: Sequence[Event] = ()) -> str | None:
    """Return the best build, from the submissions alone (see `Selection`)."""
    best, _ = _best(evolved.submissions)
    return best.candidate if best else None


def _best(submissions: Sequence[Submission]) -> tuple[Submission | None, str]:
    """Return the build that passed most of the gates that were shown, the last of equals, and why."""
    ended = [(s.feedback().mean, s.submit_id, s) for s in submissions if s.status is not None]
    scored = [entry for entry in ended if entry[0] == entry[0]]
    if not scored:
        return None, "nothing was built"
    mean, _, best = max(scored, key=lambda entry: entry[:2])
    return best, f"the last of the builds that passed {mean:.0%} of the gates shown, of {len(scored)} builds"
