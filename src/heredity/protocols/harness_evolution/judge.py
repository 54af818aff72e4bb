"""The judge of harness evolution: frozen snapshots, each judged on every view, never pooled (SEAGym, sections 3.3 to 3.5).

Snapshots are named by the number of batches before them: `E_0`, `E_1`, and so on; the first is `A_0` and the last `A_T`. They
are judged after the session is closed. This is equivalent to judging them when they were frozen: they cannot change, and
no score is fed back. Points with the same harness are judged once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from heredity._core.ids import generator
from heredity.models import Usage
from heredity.protocols.harness_evolution.assess import assess
from heredity.protocols.harness_evolution.events import SNAPSHOTS_FROZEN, PointData, SnapshotAssessed
from heredity.protocols.harness_evolution.terms import HarnessTerms
from heredity.records import Event
from heredity.records.events import JUDGING_SCORED, JUDGING_SELECTED, REFERENCE_SCORED, JudgingScored, ReferenceScored
from heredity.results.base import covers
from heredity.results.status import Status
from heredity.session.bench import Bench, Evolved, Reference, Verdict, conclude, require
from heredity.session.rollouts import gather, total_usage
from heredity.session.schedule import frozen
from heredity.session.session_log import Submission
from heredity.session.views import View, ViewScores, clusters_of
from heredity.tasks import Task

VALIDATION, ID, REPLAY = "update_validation", "id", "replay"
"""Names of views; `heredity.protocols.harness_evolution.terms.ood_views` names those out of distribution."""


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
        reference: unused: a run is compared with its first snapshot.

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
