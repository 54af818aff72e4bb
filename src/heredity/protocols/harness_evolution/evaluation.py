"""Evaluation: judges snapshots of finished harness-evolution runs again, without training or changing the runs.

The result is a folder like a suite's, with a run folder for each run, execution model and repeat. Each has a journal (it
records which run was judged and how), and resumes when the same evaluation is requested again. The tasks are the run's: its
hidden cases are drawn again and must match the commitment that the run made when it started.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from heredity._core.errors import ConfigError, RecordError, UnknownNameError
from heredity._core.ids import canonical_json, digest_json
from heredity.analysis.claims import Both, claims, compare
from heredity.analysis.samples import GAP, share
from heredity.analysis.suite_table import coverage_of
from heredity.configuration.config import Config
from heredity.engine.runner import Job, Runner
from heredity.engine.trajectory import Trajectory
from heredity.experiments.config import resolve, slug
from heredity.experiments.engine import Engine, package_versions
from heredity.experiments.results import is_run, is_suite, rebuild_run, rebuild_suite, run_folders
from heredity.experiments.sealed import sealed_folder
from heredity.methods import Batch
from heredity.models.settings import stand_in
from heredity.protocols.harness_evolution.analysis.paired import (
    common_tasks,
    gains_table,
    over_runs,
    paired_gains,
    task_clusters,
)
from heredity.protocols.harness_evolution.judge import (
    ID,
    VALIDATION,
    Point,
    assess,
    macro,
    points_of,
    replay_view,
    scores_of,
    trained_in,
    views_of,
)
from heredity.protocols.harness_evolution.results import MatrixCell, MatrixRow, Paired, Role, harness_of
from heredity.protocols.harness_evolution.terms import (
    EVALUATION_PLANNED,
    NAME,
    SNAPSHOT_ASSESSED,
    SNAPSHOTS_FROZEN,
    EvaluationPlanned,
    HarnessRunSection,
    HarnessTerms,
    HarnessViewsSection,
    ScheduleSection,
    SnapshotsFrozen,
)
from heredity.records import Blob, BlobStore, Committer, Event, RunFolder, config_digest, read_journal
from heredity.records.events import (
    CANDIDATE,
    JUDGING_SCORED,
    JUDGING_SELECTED,
    REFERENCE_SCORED,
    RUN_FINISHED,
    RUN_RESUMED,
    RUN_STARTED,
    SCHEDULE_PLANNED,
    CandidateMade,
    RunStarted,
    SchedulePlanned,
)
from heredity.records.journal import Line
from heredity.records.lock import RunLock
from heredity.records.run_folder import load_config, write_atomic
from heredity.results.run import RunResults
from heredity.results.suite import Claim, SuiteResults
from heredity.sandbox.limits import Limits
from heredity.session.bench import Bench, Evolved, conclude
from heredity.session.cases import HiddenCases
from heredity.session.rollouts import Rollouts, gather, policy_seed
from heredity.session.schedule import BatchPlan
from heredity.session.session_log import SessionLog
from heredity.session.views import JUDGE_SEED, Cases, View, ViewScores, clusters_of
from heredity.tasks.registry import taskset

BEST = "best"
"""Name of the snapshot that is best on update-validation, the earliest among equals."""

_DIGEST = re.compile(r"[0-9a-f]{6,64}")


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshots of a run, read from its journal.

    Attributes:
        folder: the run's folder.
        started: the data of its `run.started`.
        planned: the data of its `schedule.planned`.
        config: its configuration.
        terms: its schedule and its views.
        evolved: its submissions, decisions and batches.
        points: the harness before the first batch and after every one, judged or not; of an interrupted run,
            only those that are final.
        best: digest of the best on update-validation (None while unknown).
        blobs: candidate digest to the digest of its blob.
    """

    folder: Path
    started: RunStarted
    planned: SchedulePlanned
    config: Config
    terms: HarnessTerms
    evolved: Evolved
    points: Sequence[Point]
    best: str | None
    blobs: Mapping[str, str]

    @property
    def suite(self) -> Path:
        """The folder of its suite."""
        return self.folder.parent.parent

    def select(self, names: Sequence[str]) -> list[Point]:
        """Return the named snapshots, in the order of training, each once.

        Args:
            names: `"A_0"`, `"A_T"`, `"best"`, `"E_4"`, or a candidate's digest or a prefix of at least 6 characters; none
                for the first, the best and the last.

        Raises:
            ConfigError: if one does not exist; the message lists those that do.
        """
        chosen = [self._find(name) for name in names] if names else self._ends()
        return sorted(dict.fromkeys(chosen), key=lambda point: point.batch)

    def load(self, points: Sequence[Point]) -> list[Blob]:
        """Read the candidates of snapshots, in the order of `points`.

        Raises:
            DamagedRecordError: if one is missing or damaged.
        """
        store = BlobStore(self.folder / "blobs")
        return [Blob.of(store.get(self.blobs[point.candidate])) for point in points]

    def _ends(self) -> list[Point]:
        best = [point for point in self.points if point.candidate == self.best][:1]
        return [self.points[0], *best, self.points[-1]]

    def _find(self, name: str) -> Point:
        for point in self.points:
            if name in (f"E_{point.batch}", point.role) or (name == BEST and point.candidate == self.best):
                return point
        if _DIGEST.fullmatch(name):
            frozen = [point for point in self.points if point.candidate.startswith(name)]
            matching = frozen[:1] if len({point.candidate for point in frozen}) == 1 else []
            if matching:
                return matching[0]
        there = ", ".join(self._point_name(point) for point in self.points)
        why = ": update-validation is not judged yet" if name == BEST and self.best is None else ""
        raise ConfigError(f"{self.folder} has no snapshot {name!r}{why}; it has {there}. Nothing was evaluated")

    def _point_name(self, point: Point) -> str:
        roles = [point.role or "", BEST if point.candidate == self.best else "", point.candidate[:12]]
        return f"E_{point.batch} ({', '.join(filter(None, roles))})"


def evolved_runs(folders: Sequence[Path]) -> list[Snapshots]:
    """Read the harness-evolution runs in folders; a suite's folder stands for all its runs.

    Raises:
        ConfigError: if a folder has no run, or a run has no snapshot yet.
        RecordError: if records cannot be read; `DamagedRecordError` if they are damaged.
    """
    paths: list[Path] = []
    for folder in folders:
        own = run_folders(folder) if is_suite(folder) else [folder] if is_run(folder) else []
        if not own:
            raise ConfigError(f"{folder} is neither a run nor a suite; pass a folder under runs/")
        paths += own
    return [read_snapshots(folder) for folder in dict.fromkeys(path.resolve() for path in paths)]


def read_snapshots(folder: Path) -> Snapshots:
    """Read one run.

    Raises:
        ConfigError: if it is not a harness-evolution run, or has no commit.
        RecordError: if its records cannot be read; `DamagedRecordError` if they are damaged.
    """
    events = read_journal(folder / "journal.jsonl")
    started, planned = RUN_STARTED.first(events), SCHEDULE_PLANNED.first(events)
    if started is None or planned is None or started["protocol"] != NAME:
        kind = started["protocol"] if started else "a run that has not started"
        raise ConfigError(f"{folder} holds {kind}, which has no snapshots; pass a {NAME} run")
    config = resolve(load_config(folder), source=str(folder / "run.toml"))
    log = SessionLog()
    log.apply(events)
    views = config.of(HarnessViewsSection)
    terms = HarnessTerms(_plan(config, planned), views.ood, views.replay, views.points)
    evolved = Evolved(list(log.submissions.values()), log.decisions, "finished", log.batches, views.coverage)
    points = points_of(_assessing_all(terms), evolved)
    if log.closed is None and log.batches:
        # The method may still learn from the open batch: later points are not final.
        points = points[:-1]
    if not points:
        raise ConfigError(f"{folder} has no commit and therefore no snapshot; nothing was evaluated")
    best = _best(events, points_of(terms, evolved))
    return Snapshots(folder, started, planned, config, terms, evolved, points, best, log.candidates)


def _assessing_all(terms: HarnessTerms) -> HarnessTerms:
    plan = terms.plan
    return replace(terms, plan=replace(plan, schedule=replace(plan.schedule, assess=1)))


def _plan(config: Config, planned: SchedulePlanned) -> BatchPlan:
    schedule = config.of(ScheduleSection).schedule()
    reset = schedule.persistence == "reset"
    batches = tuple(
        Batch(b["number"], b["epoch"], tuple(b["tasks"]), schedule.updates, reset) for b in planned["batches"]
    )
    return BatchPlan(schedule, planned["seed"], planned["train"], batches)


def _best(events: Sequence[Event], points: Sequence[Point]) -> str | None:
    judged = {
        data["candidate"]: data
        for data in SNAPSHOT_ASSESSED.all(events)
        if data["view"] == VALIDATION and data["model"] is None
    }
    if any(point.candidate not in judged for point in points):
        return None  # With some missing, the overall best is unknown.
    return max(points, key=lambda point: (macro(judged[point.candidate]), -point.batch)).candidate


Notify = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Part:
    """One evaluation of a run under one model.

    Attributes:
        name: name of its folder.
        source: the run.
        points: the snapshots.
        config: the run's configuration, with the evaluation's overrides.
        repeat: number of the repeat, from 1.
    """

    name: str
    source: Snapshots
    points: Sequence[Point]
    config: Config
    repeat: int

    @property
    def model(self) -> str:
        """The execution model."""
        return self.config.gateway.execution

    @property
    def evolver(self) -> dict[str, Any]:
        """The evolver's name in the record; includes the model it evolved under if that differs from this one."""
        own, evolver = self.source.config.gateway.execution, self.source.started["evolver"]
        name = str(evolver["name"]) + (f" evolved under {own}" if own != self.model else "")
        name += f" (repeat {self.repeat})" if self.repeat > 1 else ""
        return {"name": name, "kind": "evaluation", "options": evolver.get("options") or {}}


@dataclass(frozen=True, slots=True)
class Reseeded:
    """A runner that changes the seeds of rollouts, so that a repeat is not the same rollout again."""

    runner: Runner
    repeat: int

    def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        """Run jobs (see `Runner.run`)."""
        seed = JUDGE_SEED + self.repeat - 1
        return self.runner.run([replace(job, policy_seed=policy_seed(seed, job.task)) for job in jobs], limits)

    async def close(self) -> None:
        """No-op; the shared runner stays open."""


class JudgedAgain:
    """A part with its tasks drawn and checked against those of its run.

    Attributes:
        part: the run, the snapshots, the model.
        views: the chosen views, by name.
    """

    def __init__(self, part: Part, runner: Runner, views: Sequence[str], isolation: str) -> None:
        """Draw the tasks.

        Args:
            part: the run, the snapshots, the model.
            runner: runs tasks under the model.
            views: names of views (none for all).
            isolation: the isolation tier of candidates.

        Raises:
            ConfigError: if the tasks differ from those the run was judged on.
            UnknownNameError: if a view does not exist.
            RecordError: if the suite's hidden cases cannot be read.
        """
        self.part, self._isolation = part, isolation
        self._runner = Reseeded(runner, part.repeat)
        source = part.source
        hidden_cases = HiddenCases.open(sealed_folder(source.suite))
        self._cases = cases = self._draw(source.config, hidden_cases)
        self._check(cases)
        if _ood(part.config) != _ood(source.config):
            self._cases = cases = self._draw(part.config, hidden_cases)
        self._trained = trained_in(cases.train, source.evolved)
        replay = replay_view(source.terms, cases.train, self._trained)
        every = [*cases.views.values(), *([replay] if replay else [])]
        self.views = _chosen({view.name: view for view in every}, views)

    async def run(self, folder: Path, suite_id: str, candidates: Sequence[Blob], notify: Notify) -> None:
        """Judge every snapshot on every view, or resume an interrupted evaluation.

        Args:
            folder: the run folder for the results.
            suite_id: name of the whole evaluation.
            candidates: the snapshots (in the order of the part's points).
            notify: receives a line after every view.

        Raises:
            ConfigError: if the folder holds something else.
            RecordError: if the folder cannot be read or written.
            HostError: if the runner fails.
        """
        with RunFolder.open(folder) as opened:
            records = Committer(opened.journal, opened.blobs)
            await self._begin(opened, records, suite_id, candidates)
            bench = self._bench(records)
            digests = list(dict.fromkeys(point.candidate for point in self.part.points))
            for view in self.views.values():
                await gather([assess(bench, view, digest) for digest in digests])
                notify(f"{self.part.name}: {len(digests)} snapshots on {view.name}")
            await self._conclude(bench)

    def _draw(self, config: Config, hidden_cases: HiddenCases) -> Cases:
        own, ood = taskset(config.run.tasksets[0]), [taskset(name) for name in _ood(config)]
        return Cases(hidden_cases, own, config.budget.train_cases, views_of(config, own, ood), disjoint=True)

    def _check(self, cases: Cases) -> None:
        source = self.part.source
        info, began = taskset(source.config.run.tasksets[0]).info, source.started
        if info.version != began["taskset_version"]:
            raise ConfigError(
                f"{source.folder} was run with {info.name} {began['taskset_version']}, but {info.version} is installed; "
                "scores of different versions are not comparable: install the version it was run with"
            )
        if cases.opening.commitment != began["commitment"]:
            raise ConfigError(
                f"the hidden cases differ from those {source.folder} was judged on; "
                "restore its sealed folder and its tasksets"
            )

    def _bench(self, records: Committer) -> Bench:
        cases, config = self._cases, self.part.config
        return Bench(
            records=records,
            rollouts=Rollouts(self._runner, config.limits.limits()),
            taskset=taskset(config.run.tasksets[0]).info,
            views=cases.views,
            opening=cases.opening,
            train=cases.train,
        )

    async def _begin(self, folder: RunFolder, records: Committer, suite_id: str, candidates: Sequence[Blob]) -> None:
        lines, events = self._first_lines(suite_id, candidates), records.journal.events
        if not events:
            folder.save_config(self.part.config.model_dump(exclude_none=True))
        for event, (kind, data) in zip(events, lines, strict=False):
            if event.kind != kind or (
                kind == EVALUATION_PLANNED.name and canonical_json(event.data) != canonical_json(data)
            ):
                raise ConfigError(
                    f"{folder.path} holds another evaluation; repeat the same request or choose another --out"
                )
        # Do not write an event twice: the process may have been killed between two of these lines.
        if left := lines[len(events) :]:
            await records.commit(left, candidates)
        elif RUN_FINISHED.first(events) is None:
            attempt = 1 + len(list(RUN_RESUMED.all(events)))
            await records.commit([RUN_RESUMED.line({"attempt": attempt, "reason": "judging was interrupted"})])

    def _first_lines(self, suite_id: str, candidates: Sequence[Blob]) -> list[Line]:
        part = self.part
        planned = self._planned()
        blobs = {point.candidate: blob for point, blob in zip(part.points, candidates, strict=True)}
        note = f"a snapshot of {part.source.started['run_id']}"
        made: list[CandidateMade] = [
            {"digest": digest, "blob": blob.digest, "parents": [], "note": note} for digest, blob in blobs.items()
        ]
        frozen: SnapshotsFrozen = {"points": planned["snapshots"], "trained": self._trained}
        return [
            RUN_STARTED.line(self._started(suite_id)),
            EVALUATION_PLANNED.line(planned),
            SCHEDULE_PLANNED.line(part.source.planned),
            *map(CANDIDATE.line, made),
            SNAPSHOTS_FROZEN.line(frozen),
        ]

    def _started(self, suite_id: str) -> RunStarted:
        part, before = self.part, self.part.source.started
        return {
            "taskset": before["taskset"],
            "taskset_version": before["taskset_version"],
            "family": before["family"],
            "group": before["group"],
            "seed": before["seed"],
            "failure_return": before["failure_return"],
            "run_id": part.name,
            "suite_id": suite_id,
            "protocol": NAME,
            "evolver": part.evolver,
            "budget": {},
            "views": {name: len(view.tasks) for name, view in self.views.items()},
            "isolation": self._isolation,
            "packages": package_versions(),
            "commitment": self._cases.opening.commitment,
            "conditions": {**part.config.conditions(), "gateway.execution": part.model},
            "config_digest": config_digest(part.config.model_dump(exclude_none=True)),
            "execution": part.model,
        }

    def _planned(self) -> EvaluationPlanned:
        part, before = self.part, self.part.source.started
        info = taskset(part.config.run.tasksets[0]).info
        return {
            "run": before["run_id"],
            "suite": before["suite_id"],
            "config_digest": before["config_digest"],
            "evolved_under": part.source.config.gateway.execution,
            "model": part.model,
            "snapshots": [point.to_json() for point in part.points],
            "views": {name: (view.taskset or info).name for name, view in self.views.items()},
            "repeat": part.repeat,
            "settings": config_digest(part.config.model_dump(exclude_none=True)),
            "commitment": self._cases.opening.commitment,
        }

    async def _conclude(self, bench: Bench) -> None:
        """Record the verdict in the form of all protocols, if the last snapshot was judged in distribution."""
        first, last = self.part.points[0], self.part.points[-1]
        reason = f"snapshot E_{last.batch} of {self.part.source.started['run_id']}, judged again"
        await bench.journal_once(
            JUDGING_SELECTED.line({"submit_id": None, "candidate": last.candidate, "reason": reason})
        )
        if ID in self.views:
            digest, scored = last.candidate, self._scored(bench, last).to_json()
            clusters = clusters_of(bench.view(ID).tasks)
            await bench.journal_once(
                JUDGING_SCORED.line({"view": "heldout", "candidate": digest, "submit_id": None, **scored, **clusters})
            )
            if first.role == "A_0":
                listed = self._scored(bench, first).to_json()["scores"]
                digest = first.candidate
                await bench.journal_once(
                    REFERENCE_SCORED.line(
                        {"name": "initial", "view": "heldout", "candidate": digest, "scores": listed, **clusters}
                    )
                )
        await conclude(bench, "finished")

    @staticmethod
    def _scored(bench: Bench, point: Point) -> ViewScores:
        assessed = bench.recorded(SNAPSHOT_ASSESSED, view=ID, candidate=point.candidate)
        assert assessed is not None, "every snapshot was judged on every view"
        return scores_of(assessed)


def _ood(config: Config) -> list[str]:
    return config.of(HarnessRunSection).ood


def _chosen(views: Mapping[str, View], names: Sequence[str]) -> dict[str, View]:
    """Return views by name; `ood` stands for all out-of-distribution views."""
    for name in names:
        if name not in views and not any(view.startswith(f"{name}:") for view in views):
            raise UnknownNameError("view", name, views)
    return {
        view: entry for view, entry in views.items() if not names or view in names or view.partition(":")[0] in names
    }


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A run that was judged under a model.

    Attributes:
        run: name of the run, shared by its repeats.
        evolved: the model it evolved under.
        model: the model it was judged under.
        results: its results.
    """

    run: str
    evolved: str
    model: str
    results: RunResults

    @property
    def tables(self) -> Mapping[str, Paired]:
        """The compared scores, by view."""
        harness = harness_of(self.results)
        return {} if harness is None else harness.paired


def cross_model(evaluations: Sequence[Evaluation]) -> list[MatrixRow]:
    """Return the matrix: one row per view and model of evolution, one cell per model of evaluation."""
    models = list(dict.fromkeys(evaluation.model for evaluation in evaluations))
    evolved = list(dict.fromkeys(evaluation.evolved for evaluation in evaluations))
    rows: list[MatrixRow] = []
    least = coverage_of(evaluation.results for evaluation in evaluations)
    for view in dict.fromkeys(view for evaluation in evaluations for view in evaluation.tables):
        judged = [
            _repeats(view, [e for e in evaluations if (e.evolved, e.model) == (home, model)])
            for home in evolved
            for model in models
        ]
        compared = [_compare(runs, least) for runs in judged]
        claimed = iter(claims([both for both in compared if both is not None]))
        pairs = [None if both is None else next(claimed) for both in compared]
        cells = list(map(_cell, [model for _ in evolved for model in models], judged, compared, pairs))
        for i, home in enumerate(evolved):
            rows.append(MatrixRow(view=view, evolved=home, cells=tuple(cells[i * len(models) : (i + 1) * len(models)])))
    return rows


Repeats = list[list[Paired]]
"""The repeats of each run."""


def _repeats(view: str, evaluations: Sequence[Evaluation]) -> Repeats:
    runs: dict[str, list[Paired]] = {}
    for evaluation in evaluations:
        if view in evaluation.tables:
            runs.setdefault(evaluation.run, []).append(evaluation.tables[view])
    return list(runs.values())


def _compare(runs: Repeats, least: float) -> Both | None:
    table = gains_table([_gains(repeats) for repeats in runs])
    strata = [table] if table.size else []
    columns = (np.array(c, dtype=float) for repeats in runs for table in repeats for c in table.scores.values())
    drawn = {(t.kind, task): own for repeats in runs for t in repeats for task, own in task_clusters(t).items()}
    tasks = dict.fromkeys(task for repeats in runs for task in _gains(repeats))
    clusters = [[drawn.get(task) for task in tasks]] if strata else []
    asked = [{(t.kind, task) for t in repeats for task in common_tasks(t, "final")} for repeats in runs]
    return compare(
        strata,
        bounds=GAP if share(*columns) else None,
        cases=over_runs(strata),
        clusters=clusters,
        least=least,
        asked=sum(map(len, asked)),
    )


def _cell(model: str, runs: Repeats, compared: Both | None, pair: tuple[Claim, Claim] | None) -> MatrixCell:
    evolvers, candidates = (None, None) if pair is None or stand_in(model) else pair
    return MatrixCell(
        model=model,
        runs=len(runs),
        tasks=len({task for repeats in runs for task in _gains(repeats)}),
        A_0=_level(runs, "base"),
        A_T=_level(runs, "final"),
        difference=None if compared is None else compared.candidates.difference,
        evolvers=evolvers,
        candidates=candidates,
    )


def _gains(repeats: Iterable[Paired]) -> dict[tuple[str, str], float]:
    """Return the gain on each task of a run, averaged over the repeats in which both snapshots have a score."""
    gains: dict[tuple[str, str], list[float]] = {}
    for table in repeats:
        for task, gain in paired_gains(table, "final").items():
            gains.setdefault((table.kind, task), []).append(gain)
    return {task: float(np.mean(own)) for task, own in gains.items()}


def _level(runs: Repeats, role: Role) -> float | None:
    """Return the mean score over the runs of a snapshot, after averaging each run's repeats and tasks."""
    means: list[float] = []
    for repeats in runs:
        scores = [score for table in repeats for score in table.scores.get(role, ()) if score is not None]
        means += [float(np.mean(scores))] if scores else []
    return float(np.mean(means)) if means else None


MATRIX = "cross_model.json"
"""File of the cross-model matrix, next to metrics.json; derived, like metrics.json."""

SETTABLE = ("gateway", "solver", "limits", "engine")
"""Sections of a run's configuration that an evaluation may change."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request to judge snapshots.

    Attributes:
        snapshots: their names (see `Snapshots.select`); none for the first, the best and the last.
        views: names of views, `"ood"` for all out-of-distribution views; none for all views of the run.
        models: execution models; none for the run's.
        ood: tasksets whose held-out tasks replace the run's out-of-distribution views.
        repeats: number of repeats (each with a new seed for the model).
        settings: overrides such as `"solver.max_turns=30"`, of `SETTABLE`.
    """

    snapshots: Sequence[str] = ()
    views: Sequence[str] = ()
    models: Sequence[str] = ()
    ood: Sequence[str] = ()
    repeats: int = 1
    settings: Sequence[str] = ()

    def __post_init__(self) -> None:
        keys = [setting.partition("=")[0].strip() for setting in self.settings]
        for key in keys:
            if key.partition(".")[0] not in SETTABLE:
                raise ConfigError(
                    f"an evaluation cannot set {key!r}, only keys of {', '.join(SETTABLE)}: "
                    "a run is judged under the settings it evolved with"
                )
            if keys.count(key) > 1:
                raise ConfigError(f"{key} is set twice; set it once, or pass several models with --model")
        if self.models and "gateway.execution" in keys:
            raise ConfigError("gateway.execution and models are both set; pass all models with --model")
        if len(set(self.models)) < len(self.models):
            raise ConfigError(f"models are {', '.join(self.models)}; pass each once")
        if self.repeats < 1:
            raise ConfigError(f"repeats is {self.repeats}; expected 1 or more")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The result of an evaluation.

    Attributes:
        folder: its folder.
        metrics: its results, in the form of a suite's.
        runs: the results per run, model and repeat.
        matrix: the cross-model matrix (`heredity.protocols.harness_evolution.evaluation`).
        notes: caveats for readers.
    """

    folder: Path
    metrics: SuiteResults
    runs: list[RunResults]
    matrix: list[MatrixRow]
    notes: list[str]


async def evaluate(folder: Path, sources: Sequence[Path], wanted: Wanted, notify: Notify = len) -> Evaluated:
    """Judge snapshots of runs again, or resume an interrupted evaluation.

    Args:
        folder: the output folder (not a folder of the runs).
        sources: runs of harness evolution, or suites of them.
        wanted: the request.
        notify: receives a line after every view of a snapshot.

    Raises:
        ConfigError: if a snapshot, view or model does not exist, a taskset has another version, or the folder holds
            something else (nothing has been run then).
        RecordError: if records cannot be read or written; `DamagedRecordError` if they are damaged.
        HostError: if the runner fails; repeat the call to resume.
    """
    runs = evolved_runs(sources)
    parts = _parts(runs, wanted)
    candidates = {run.folder: run.load(run.select(wanted.snapshots)) for run in runs}
    _check_apart(folder, runs)
    async with AsyncExitStack() as stack:
        engines = await _engines(parts, stack)
        ready = [_ready(part, engines[_shared(part.config)], wanted) for part in parts]
        stack.callback(_locked(folder).release)
        for judged in ready:
            snapshots = candidates[judged.part.source.folder]
            await judged.run(folder / "runs" / judged.part.name, folder.name, snapshots, notify)
    judged = [_evaluation(part, rebuild_run(folder / "runs" / part.name)) for part in parts]
    matrix = cross_model(judged)
    write_atomic(
        folder / MATRIX,
        json.dumps([row.model_dump(mode="json") for row in matrix], indent=1, allow_nan=False).encode() + b"\n",
    )
    return Evaluated(
        folder, rebuild_suite(folder).metrics, [evaluation.results for evaluation in judged], matrix, _notes(runs)
    )


def _check_apart(folder: Path, runs: Sequence[Snapshots]) -> None:
    if any(folder.resolve().is_relative_to(run.suite) for run in runs):
        raise ConfigError(f"{folder} is inside an evaluated suite, which must not change; choose another --out")


def _parts(runs: Sequence[Snapshots], wanted: Wanted) -> list[Part]:
    ids = [str(run.started["run_id"]) for run in runs]
    parts: list[Part] = []
    for run, run_id in zip(runs, ids, strict=True):
        points, name = run.select(wanted.snapshots), run_id
        if ids.count(run_id) > 1:
            name = f"{slug(run.suite.name)}--{name}"
        for model in wanted.models or ("",):
            changes: dict[str, Any] = {"gateway.execution": model} if model else {}
            if wanted.ood:
                views = run.config.of(HarnessViewsSection)
                changes |= {"run.ood": list(wanted.ood), "views.ood": views.ood or views.heldout}
            config = resolve(run.config.model_dump(exclude_none=True), list(wanted.settings), changes)
            under = f"{name}--{slug(model)}" if model else name
            parts += [
                Part(under if repeat == 1 else f"{under}--r{repeat}", run, points, config, repeat)
                for repeat in range(1, wanted.repeats + 1)
            ]
    return parts


def _evaluation(part: Part, results: RunResults) -> Evaluation:
    source = part.source
    return Evaluation(str(source.folder), source.config.gateway.execution, part.model, results)


def _ready(part: Part, engine: Engine, wanted: Wanted) -> JudgedAgain:
    return JudgedAgain(part, engine.under(part.model), wanted.views, engine.isolation)


def _shared(config: Config) -> str:
    """Return the settings that runs must share to use one engine: all but the execution model."""
    settings = config.gateway.model_dump(exclude={"execution", "optimisation"})
    return digest_json([settings, config.solver.model_dump(), config.engine.model_dump(), config.tools.conditions()])


async def _engines(parts: Sequence[Part], stack: AsyncExitStack) -> dict[str, Engine]:
    named = {name for part in parts for name in (*part.config.run.tasksets, *part.config.of(HarnessRunSection).ood)}
    kinds = {taskset(name).info.kind for name in named}
    engines: dict[str, Engine] = {}
    for part in parts:
        key = _shared(part.config)
        if key not in engines:
            engines[key] = await stack.enter_async_context(Engine(part.config, kinds))
        engines[key].under(part.model)
    return engines


def _locked(folder: Path) -> RunLock:
    try:
        (folder / "runs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"{folder} cannot be created: {error.strerror}") from error
    return RunLock.acquire(folder / "lock")


def _notes(runs: Sequence[Snapshots]) -> list[str]:
    now = package_versions()
    notes: list[str] = []
    for run in runs:
        before: Mapping[str, str] = run.started["packages"]
        other = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
        if other:
            notes.append(
                f"{run.started['run_id']} was run with other versions of {', '.join(other)}; scores may differ"
            )
    return notes
