"""Assessment: runs a frozen snapshot of a harness on a view, with every rollout recorded in full (SEAGym, section 3.3).

A snapshot is content-addressed and read from disk, where it cannot change unnoticed. A rollout's changes to memories or
files stay with that rollout; the snapshot is checked again afterwards.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from heredity._core.errors import DamagedRecordError
from heredity.engine.trajectory import encode_many
from heredity.protocols.harness_evolution.events import SNAPSHOT_ASSESSED, SnapshotAssessed
from heredity.records import Blob, BlobStore
from heredity.resources import Candidate
from heredity.session.admission import labelled
from heredity.session.bench import Bench, load_candidate
from heredity.session.rollouts import outcomes_of
from heredity.session.session_log import score_to_json
from heredity.session.views import JUDGE_SEED, View

_KEPT_IN = "kept_in"
"""Key of a judgement, in addition to those of the event: the blob folder of the run that made it."""


async def assess(bench: Bench, view: View, digest: str, model: str | None = None) -> SnapshotAssessed:
    """Judge a snapshot on every task of a view and journal it; judgements of this or another run of the suite are reused.

    Args:
        bench: the judge's inputs.
        view: the tasks.
        digest: the snapshot's digest.
        model: an execution model from `bench.others`; empty for the run's.

    Returns:
        The data of the journal's event.

    Raises:
        HostError: if the runner fails.
        DamagedRecordError: if the snapshot changed since it was frozen.
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
    # This run made it before it was interrupted, so it paid for it.
    elsewhere = recalled and kept[_KEPT_IN] != judgements.named(blobs.root)
    names = {"view": view.name, "model": model, **({"recalled": True} if elsewhere else {})}
    data = cast("SnapshotAssessed", {**{k: v for k, v in kept.items() if k != _KEPT_IN}, **names})
    if data["blob"] is None:
        return data, None
    store = BlobStore(judgements.folder(kept[_KEPT_IN]))
    if not store.path(data["blob"]).exists():  # The run that made it was deleted, with its trajectories.
        return await _attempted(bench, view, digest, model)
    return data, Blob.of(await asyncio.to_thread(store.get, data["blob"]))


async def _attempted(bench: Bench, view: View, digest: str, model: str | None) -> tuple[SnapshotAssessed, Blob | None]:
    candidate = await asyncio.to_thread(_frozen, bench, digest)
    rollouts = bench.rollouts if model is None else bench.others[model]
    info = view.taskset or bench.taskset
    trajectories = await rollouts.tasks(info, view.tasks, candidate, JUDGE_SEED)
    if candidate.digest != digest or Candidate.from_bytes(candidate.to_bytes()).digest != digest:
        raise DamagedRecordError(f"snapshot {digest} changed during assessment; its results are discarded")
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
        raise DamagedRecordError(f"snapshot {digest} does not match its file on disk; restore the run from a copy")
    return candidate
