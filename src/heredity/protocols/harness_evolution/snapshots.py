"""Snapshots of a harness-evolution run, read from its folder without changing it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heredity._core.errors import ConfigError
from heredity.configuration.config import Config
from heredity.experiments.config import resolve
from heredity.experiments.results import is_run, is_suite, run_folders
from heredity.methods import Batch
from heredity.protocols.harness_evolution.judge import VALIDATION, Point, macro, points_of
from heredity.protocols.harness_evolution.terms import (
    NAME,
    SNAPSHOT_ASSESSED,
    HarnessTerms,
    HarnessViewsSection,
    ScheduleSection,
)
from heredity.records import Blob, BlobStore, Event, read_journal
from heredity.records.events import RUN_STARTED, SCHEDULE_PLANNED, RunStarted, SchedulePlanned
from heredity.records.run_folder import load_config
from heredity.session.bench import Evolved
from heredity.session.schedule import BatchPlan
from heredity.session.session_log import SessionLog

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
        best: digest of the best on update-validation; None while unknown.
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

    def named(self, names: Sequence[str]) -> list[Point]:
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
