"""Setup and judge of harness evolution: frozen snapshots, each judged on every view, never pooled (SEAGym, sections 3.3 to 3.5).

Snapshots are named by the number of batches before them: `E_0`, `E_1`, and so on; the first is `A_0` and the last `A_T`. They
are judged after the session is closed. This is equivalent to judging them when they were frozen: they cannot change, and
no score is fed back. Points with the same harness are judged once.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import ConfigError, DamagedRecordError, RecordError
from heredity._core.ids import generator
from heredity.configuration.config import Cell, Config
from heredity.engine.trajectory import encode_many
from heredity.experiments.config import slug
from heredity.experiments.evolvers import build_evolver, check_evolver
from heredity.methods.registry import METHODS
from heredity.models import Usage
from heredity.protocols.contract import Needs, RunContext, Setup, SuiteContext
from heredity.protocols.harness_evolution.terms import (
    SNAPSHOT_ASSESSED,
    SNAPSHOTS_FROZEN,
    HarnessRunSection,
    HarnessTerms,
    HarnessViewsSection,
    PointData,
    ScheduleSection,
    SnapshotAssessed,
    TransferSection,
    ood_views,
)
from heredity.records import Blob, BlobStore, Event
from heredity.records.events import JUDGING_SCORED, JUDGING_SELECTED, REFERENCE_SCORED, JudgingScored, ReferenceScored
from heredity.records.run_folder import write_atomic
from heredity.resources import Candidate
from heredity.results.base import covers
from heredity.results.status import Status
from heredity.session.admission import labelled
from heredity.session.bench import Bench, Evolved, Reference, Verdict, conclude, load_candidate, require
from heredity.session.rollouts import gather, outcomes_of, total_usage
from heredity.session.schedule import BatchPlan, draw_plan, frozen, read_plan
from heredity.session.session_log import Submission, score_to_json
from heredity.session.views import JUDGE_SEED, View, ViewPlan, ViewScores, check_sizes, clusters_of
from heredity.tasks import Task, Taskset


class HarnessSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Request the out-of-distribution tasksets and additional execution models."""
        scheduled = config.budget.train_cases * config.of(ScheduleSection).epochs
        section, views = config.of(ScheduleSection), config.of(HarnessViewsSection)
        batches = math.ceil(config.budget.train_cases / section.batch_size) * section.epochs
        judged = views.heldout + views.ood * max(1, len(config.of(HarnessRunSection).ood)) + views.replay
        snapshots = 1 + (batches // section.assess if section.assess else section.epochs)
        most = snapshots if views.points == "all" else min(3, snapshots)
        repeats = int(config.evolver.options.get("repeats", 4))
        return Needs(
            attempts=(
                scheduled + views.validation + judged,
                scheduled * (1 + section.updates) * max(1, repeats) + views.validation * snapshots + judged * most,
            ),
            proposals=(0, 0) if config.evolver.method == "static" else (batches, 6 * batches * section.updates),
            tasksets=config.of(HarnessRunSection).ood,
            models=config.of(TransferSection).models,
            episodes=scheduled if config.budget.episodes is None else config.budget.episodes,
        )

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check the method and the schedule, and that every split has enough tasks."""
        _check_method(cell.config)
        _check_canaries([one.config.of(ScheduleSection) for one in suite.cells])
        terms_of(cell.config, cell.seed)
        own, config = suite.tasksets[cell.taskset], cell.config
        train = ("budget.train_cases", own, "train", config.budget.train_cases)
        views = [
            (_KEYS.get(view.name, "views.ood"), view.taskset or own, view.split, view.count)
            for view in views_of(config, own, [suite.tasksets[name] for name in config.of(HarnessRunSection).ood])
        ]
        check_sizes(own, {key: (split, count) for key, one, split, count in (train, *views) if one is own})
        for key, taskset, split, count in (train, *views):
            try:
                taskset.draw(split, count, 0)
            except ConfigError as error:
                raise ConfigError(f"{key} = {count}: {error}") from error
        check_evolver(cell, suite)

    async def open(self, context: RunContext) -> Setup:
        """Return the run. It is compared with its first snapshot."""
        cell, own = context.cell, context.taskset
        ood = [context.suite.tasksets[name] for name in cell.config.of(HarnessRunSection).ood]
        terms = terms_of(cell.config, cell.seed)
        _save(terms.plan, cell, context.suite.folder / "plans")
        return Setup(
            evolver=build_evolver(cell, own.info, context.folder, context.suite.secrets, context.model, scheduled=True),
            judge=partial(judge, terms),
            views=views_of(cell.config, own, ood),
            batches=terms.plan,
            disjoint=True,
        )


def terms_of(config: Config, seed: int) -> HarnessTerms:
    """Return the judging terms of a run. Runs with the same seed have the same batches (for any method).

    Raises:
        ConfigError: if the schedule cannot be drawn, or a saved plan does not match it.
        ConfigError: if a saved plan cannot be read.
    """
    section, views, train = config.of(ScheduleSection), config.of(HarnessViewsSection), config.budget.train_cases
    schedule, saved = section.schedule(), section.plan
    plan = read_plan(Path(saved), schedule, train) if saved is not None else draw_plan(schedule, train, seed)
    others = tuple(name for name in config.of(TransferSection).models if name != config.gateway.execution)
    return HarnessTerms(plan, views.ood, views.replay, views.points, others)


def views_of(config: Config, own: Taskset, others: Sequence[Taskset]) -> list[ViewPlan]:
    """Return the views of a run.

    Args:
        config: has the number of tasks of each view.
        own: the run's taskset.
        others: out-of-distribution tasksets.
    """
    views = config.of(HarnessViewsSection)
    plans = [ViewPlan(ID, "heldout", views.heldout), ViewPlan(VALIDATION, "validation", views.validation)]
    if views.ood:
        named = ood_views(own, others).items()
        plans += [ViewPlan(name, split, views.ood, taskset) for name, (taskset, split) in named]
    return plans


def _save(plan: BatchPlan, cell: Cell, folder: Path) -> None:
    """Save a batch plan, for readers and for other suites."""
    path = folder / f"{slug(cell.taskset)}-s{cell.seed}-{plan.digest[:8]}.json"
    if path.exists():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"{folder} cannot be created: {error.strerror}") from error
    write_atomic(path, (json.dumps(plan.to_json(), indent=1) + "\n").encode())


def _check_method(config: Config) -> None:
    name = config.evolver.method
    if name is not None and not getattr(METHODS.load(name), "scheduled", False):
        able = [method for method in METHODS.names() if getattr(METHODS.load(method), "scheduled", False)]
        raise ConfigError(f"the method {name!r} does not support schedules; methods that do: {', '.join(able)}")


def _check_canaries(schedules: Sequence[ScheduleSection]) -> None:
    """Check that at least one run uses the canaries: if a matrix varies the gate, runs without it need none."""
    most = max(schedule.canaries for schedule in schedules)
    if most and not any(schedule.gate for schedule in schedules):
        raise ConfigError(
            f"schedule.canaries is {most} but schedule.gate is false, so they are never run; set schedule.gate = true "
            "or remove schedule.canaries"
        )


_KEPT_IN = "kept_in"
"""Key of a judgement, in addition to those of the event: the blob folder of the run that made it."""


async def assess(bench: Bench, view: View, digest: str, model: str | None = None) -> SnapshotAssessed:
    """Judge a snapshot on every task of a view and journal it (or reuse a judgement of this or another run of the suite).

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
        return {**data, _KEPT_IN: judgements.name_of(blobs.root)}

    under = {} if model is None else {"gateway.execution": model}
    kept, recalled = await judgements.once(view.taskset or bench.taskset, view.tasks, digest, make, **under)
    # This run made it before it was interrupted, so it paid for it.
    elsewhere = recalled and kept[_KEPT_IN] != judgements.name_of(blobs.root)
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


VALIDATION, ID, REPLAY = "update_validation", "id", "replay"
"""Names of views; `heredity.protocols.harness_evolution.terms.ood_views` names those out of distribution."""

_KEYS = {VALIDATION: "views.update_validation", ID: "views.id"}
"""Configuration keys of views; `views.ood` for all others."""


@dataclass(frozen=True, slots=True)
class Point:
    """A snapshot of the harness.

    Attributes:
        batch: number of batches before it.
        candidate: its digest.
        role: `"A_0"`, `"A_T"`, or None.
    """

    batch: int
    candidate: str
    role: str | None

    def to_json(self) -> PointData:
        """Return the point in its recorded form."""
        return {"name": f"E_{self.batch}", "batch": self.batch, "candidate": self.candidate, "role": self.role}


async def judge(terms: HarnessTerms, bench: Bench, evolved: Evolved, reference: Reference | None = None) -> Verdict:
    """Judge a closed session and finish the run's journal; recorded results are reused.

    Args:
        terms: the judging terms of the run.
        bench: the judge's inputs.
        evolved: the closed session.
        reference: unused (a run is compared with its first snapshot).

    Raises:
        HostError: if the runner fails, or all rollouts on update-validation, or on held-out of the first or the last
            snapshot, are missing; resume the run to continue judging.
        RecordError: if the disk is full or fails.
    """
    points, trained = points_of(terms, evolved), trained_in(bench.train, evolved)
    await bench.journal_once(
        SNAPSHOTS_FROZEN.line({"points": [point.to_json() for point in points], "trained": dict(trained)})
    )
    if not points:
        return await _nothing(bench, evolved)
    first, final = points[0].candidate, points[-1].candidate
    validation = {data["candidate"]: data for data in await _on(bench, bench.view(VALIDATION), points)}
    if not any(score is not None for data in validation.values() for score in data["scores"]):
        require(scores_of(validation[first]), "update-validation rollouts")
    eligible = [point for point in points if covers(validation[point.candidate]["scores"], evolved.coverage)]
    best = max(eligible, key=lambda point: (macro(validation[point.candidate]), -point.batch), default=points[-1])
    chosen = points if terms.points == "all" else [points[0], best, points[-1]]
    heldout = {data["candidate"]: data for data in await _on(bench, bench.view(ID), chosen)}
    scores, before = (require(scores_of(heldout[digest]), "held-out rollouts") for digest in (final, first))
    others = [view for name, view in bench.views.items() if name not in (VALIDATION, ID)]
    replay = replay_view(terms, bench.train, trained)
    for view in [*others, *([replay] if replay else [])]:
        await _on(bench, view, chosen)
    for model in terms.models:
        for view in (bench.view(ID), *others):
            await _on(bench, view, [points[0], best, points[-1]], model)
    return await _concluded(bench, evolved, (first, final), validation, (before, scores))


async def _on(bench: Bench, view: View, points: Sequence[Point], model: str | None = None) -> list[SnapshotAssessed]:
    digests = dict.fromkeys(point.candidate for point in points)
    return await gather([assess(bench, view, digest, model) for digest in digests])


def macro(data: SnapshotAssessed) -> float:
    """Return the mean over domains of their mean scores; minus infinity if every rollout is missing."""
    by_domain: dict[str, list[float]] = {}
    for task, score in zip(data["tasks"], data["scores"], strict=True):
        if score is not None:
            by_domain.setdefault(task["domain"], []).append(score)
    means = [math.fsum(scores) / len(scores) for scores in by_domain.values()]
    return math.fsum(means) / len(means) if means else -math.inf


def points_of(terms: HarnessTerms, evolved: Evolved) -> list[Point]:
    """Return the snapshots to judge, in order; none if no candidate was committed."""
    batches, first = evolved.batches, frozen(evolved.decisions[:1])
    if first is None:
        return []
    after = [*(str(data["candidate"]) for data, _ in batches[1:]), str(selected(evolved))]
    started = len(batches)
    numbers = terms.plan.assessed(started)
    roles = {0: "A_0", started: "A_T"} if started else {0: "A_0"}
    return [Point(n, first if n == 0 else after[n - 1], roles.get(n)) for n in numbers]


def selected(evolved: Evolved, events: Sequence[Event] = ()) -> str | None:
    """Return the last snapshot, from the decisions alone (see `Selection`)."""
    batches, first = evolved.batches, frozen(evolved.decisions[:1])
    since = batches[-1][1] if batches and batches[-1][0]["reset"] else 0
    return None if first is None else frozen(evolved.decisions[since:], first)


def trained_in(train: Sequence[Task], evolved: Evolved) -> dict[str, int]:
    """Return the ids of the tasks run in training, each with its first batch.

    Args:
        train: the train tasks, by task index.
        evolved: the closed session.
    """
    attempted = {task for s in evolved.submissions if s.status is not None for task in s.tasks}
    trained: dict[str, int] = {}
    for data, _ in evolved.batches:
        for task in data["tasks"]:
            if task in attempted:
                trained.setdefault(train[task].id, data["number"])
    return trained


def replay_view(terms: HarnessTerms, train: Sequence[Task], trained: Mapping[str, int]) -> View | None:
    """Return the view of trained tasks; None if there is none.

    Args:
        terms: has the number of tasks.
        train: the train tasks, by task index.
        trained: see `trained_in`.
    """
    order = generator(terms.plan.seed, "schedule", "replay").permutation(len(train))
    replayable = [train[int(index)] for index in order if train[int(index)].id in trained]
    chosen = sorted(replayable[: terms.replay], key=lambda task: task.index)
    # No longer a train task: the judge shares no task index with the evolver.
    return View(REPLAY, tuple(replace(task, split=REPLAY) for task in chosen)) if chosen else None


async def _nothing(bench: Bench, evolved: Evolved) -> Verdict:
    reason = "nothing was committed"
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": None, "candidate": None, "reason": reason}))
    await conclude(bench, evolved.status)
    return Verdict(evolved.status, None, None, reason, {}, None)


async def _concluded(
    bench: Bench,
    evolved: Evolved,
    snapshots: tuple[str, str],
    validation: Mapping[str, SnapshotAssessed],
    heldout: tuple[ViewScores, ViewScores],
) -> Verdict:
    """Record the run's verdict in the form of all protocols: the last snapshot, compared with the first."""
    (first, final), (before, scores), clusters = snapshots, heldout, clusters_of(bench.view(ID).tasks)
    commits = sum(d.accepted for d in evolved.decisions)
    reason = f"the last snapshot; {commits} commits, {len(evolved.decisions) - commits} refused"
    submit_id = _latest(evolved.submissions, final)
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": submit_id, "candidate": final, "reason": reason}))
    if bench.recorded(JUDGING_SCORED, view="heldout", candidate=final) is None:
        data: JudgingScored = {
            "view": "heldout",
            "candidate": final,
            "submit_id": submit_id,
            **scores.to_json(),
            **clusters,
        }
        await bench.records.commit([JUDGING_SCORED.line(data)])
    listed = before.to_json()["scores"]
    reference: ReferenceScored = {
        "name": "initial",
        "view": "heldout",
        "candidate": first,
        "scores": listed,
        **clusters,
    }
    await bench.journal_once(REFERENCE_SCORED.line(reference))
    await conclude(bench, evolved.status)
    by_candidate = {digest: scores_of(data) for digest, data in validation.items()}
    return Verdict(evolved.status, submit_id, final, reason, by_candidate, scores, before.scores)


def _latest(submissions: Sequence[Submission], candidate: str) -> int | None:
    return next((s.submit_id for s in reversed(submissions) if s.candidate == candidate), None)


def scores_of(data: SnapshotAssessed) -> ViewScores:
    """Return the scores of a recorded assessment."""
    used = total_usage([_usage(cost) for cost in data["costs"]])
    return ViewScores(
        scores=tuple(math.nan if score is None else float(score) for score in data["scores"]),
        lengths=tuple(data["lengths"]),
        statuses=tuple(data["statuses"]),
        seconds=math.fsum(data["seconds"]),
        usage=used,
        why=next((e for e, s in zip(data["errors"], data["statuses"], strict=True) if s == Status.MISSING and e), ""),
    )


def _usage(cost: Mapping[str, float]) -> Usage | None:
    names = ("input_tokens", "output_tokens", "cached_tokens")
    tokens = [int(cost[name]) if name in cost else None for name in names]
    return Usage(*tokens, cost_usd=cost.get("cost_usd")) if "input_tokens" in cost or "model_calls" in cost else None
