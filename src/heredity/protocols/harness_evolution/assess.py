"""Assessment: a frozen snapshot of a harness on a view, with everything of each rollout kept (SEAGym, section 3.3).

A snapshot is content-addressed and read from the disk, where it cannot change unnoticed. Whatever a rollout changes, in
memories or files, stays with that rollout; that the snapshot itself is still the same is checked afterwards.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from heredity.errors import DamagedRecordError
from heredity.judging.bench import Bench, load_candidate
from heredity.judging.open_batch import labelled
from heredity.judging.rollouts import outcomes_of
from heredity.judging.session_log import score_to_json
from heredity.judging.views import JUDGE_SEED, View
from heredity.protocols.harness_evolution.events import SNAPSHOT_ASSESSED, SnapshotAssessed
from heredity.records import Blob, BlobStore
from heredity.resources import Candidate
from heredity.rollouts.trajectory import encode_many

_KEPT_IN = "kept_in"
"""Key of a judgement beside those of the event: the folder of the blobs of the run that made it."""


async def assess(bench: Bench, view: View, digest: str, model: str | None = None) -> SnapshotAssessed:
    """Judge a snapshot on every task of a view and journal it; what this or another run of the suite judged is not attempted again.

    Args:
        bench: what the judge works with.
        view: the tasks.
        digest: which snapshot.
        model: another execution model than the run's own, one of `bench.others`.

    Returns:
        The data of the journal's event.

    Raises:
        HostError: if the runner fails.
        DamagedRecordError: if the snapshot is not what it was when it was frozen.
    """
    recorded = bench.scored(SNAPSHOT_ASSESSED, view=view.name, candidate=digest, model=model)
    if recorded is not None:
        return recorded
    data, blob = await _judged(bench, view, digest, model)
    await bench.records.commit([SNAPSHOT_ASSESSED.line(data)], [blob] if blob else [])
    return data


async def _judged(bench: Bench, view: View, digest: str, model: str | None) -> tuple[SnapshotAssessed, Blob | None]:
    judgements, blobs = bench.judgements, bench.records.blobs
    if judgements is None:
        return await _attempted(bench, view, digest, model)

    async def make() -> dict[str, Any]:
        data, blob = await _attempted(bench, view, digest, model)
        if blob is not None:
            await asyncio.to_thread(blobs.put, blob.data)
        return {**data, _KEPT_IN: judgements.named(blobs.root)}

    under = {} if model is None else {"gateway.execution": model}
    kept, recalled = await judgements.once(view.taskset or bench.taskset, view.tasks, digest, make, **under)
    # What this run made before it was interrupted is its own.
    elsewhere = recalled and kept[_KEPT_IN] != judgements.named(blobs.root)
    names = {"view": view.name, "model": model, **({"recalled": True} if elsewhere else {})}
    data = cast("SnapshotAssessed", {**{k: v for k, v in kept.items() if k != _KEPT_IN}, **names})
    if data["blob"] is None:
        return data, None
    store = BlobStore(judgements.folder(kept[_KEPT_IN]))
    if not store.path(data["blob"]).exists():  # The run that made it was removed, and its trajectories with it.
        return await _attempted(bench, view, digest, model)
    return data, Blob.of(await asyncio.to_thread(store.get, data["blob"]))


async def _attempted(bench: Bench, view: View, digest: str, model: str | None) -> tuple[SnapshotAssessed, Blob | None]:
    candidate = await asyncio.to_thread(_frozen, bench, digest)
    rollouts = bench.rollouts if model is None else bench.others[model]
    info = view.taskset or bench.taskset
    trajectories = await rollouts.tasks(info, view.tasks, candidate, JUDGE_SEED)
    if candidate.digest != digest or Candidate.from_bytes(candidate.to_bytes()).digest != digest:
        raise DamagedRecordError(f"the snapshot {digest} was changed while it was assessed; nothing of it is kept")
    await asyncio.to_thread(_frozen, bench, digest)
    blob = await asyncio.to_thread(Blob.of, encode_many(trajectories)) if trajectories else None
    outcomes = outcomes_of(info, view.tasks, candidate, trajectories)
    failures = [outcome.failure for outcome in outcomes]
    data: SnapshotAssessed = {
        "view": view.name,
        "candidate": digest,
        "taskset": info.name,
        "model": model,
        "tasks": [labelled(task) for task in view.tasks],
        "scores": [score_to_json(outcome.score) for outcome in outcomes],
        "lengths": [outcome.length for outcome in outcomes],
        "statuses": [outcome.status for outcome in outcomes],
        "errors": [failure and f"{failure.category}: {failure.message}" for failure in failures],
        "seconds": [round(t.seconds, 6) for t in trajectories],
        "costs": [dict(t.cost) for t in trajectories],
        "blob": blob.digest if blob else None,
    }
    return data, blob


def _frozen(bench: Bench, digest: str) -> Candidate:
    candidate = load_candidate(bench, digest)
    if candidate.digest != digest:
        raise DamagedRecordError(f"the snapshot {digest} is another one on the disk; restore the run from a copy")
    return candidate
