"""One run, judged again under one execution model, once, in its own journal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import canonical_json
from heredity.configuration.config import Config
from heredity.engine.runner import Job, Runner
from heredity.engine.trajectory import Trajectory
from heredity.experiments.engine import package_versions
from heredity.experiments.sealed import sealed_folder
from heredity.protocols.harness_evolution.judge import ID, Point, assess, replay_view, scores_of, trained_in
from heredity.protocols.harness_evolution.setting import views_of
from heredity.protocols.harness_evolution.snapshots import Snapshots
from heredity.protocols.harness_evolution.terms import (
    EVALUATION_PLANNED,
    NAME,
    SNAPSHOT_ASSESSED,
    SNAPSHOTS_FROZEN,
    EvaluationPlanned,
    HarnessRunSection,
    SnapshotsFrozen,
)
from heredity.records import Blob, Committer, RunFolder, config_digest
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
)
from heredity.records.journal import Line
from heredity.sandbox.limits import Limits
from heredity.session.bench import Bench, conclude
from heredity.session.cases import HiddenCases
from heredity.session.rollouts import Rollouts, gather, policy_seed
from heredity.session.views import JUDGE_SEED, Cases, View, ViewScores, clusters_of
from heredity.tasks.registry import taskset

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
            views: names of views; none for all.
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
            candidates: the snapshots, in the order of the part's points.
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
        part, source, before = self.part, self.part.source, self.part.source.started
        info, opening = taskset(part.config.run.tasksets[0]).info, self._cases.opening
        started: RunStarted = {
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
            "commitment": opening.commitment,
            "conditions": {**part.config.conditions(), "gateway.execution": part.model},
            "config_digest": config_digest(part.config.model_dump(exclude_none=True)),
            "execution": part.model,
        }
        planned: EvaluationPlanned = {
            "run": before["run_id"],
            "suite": before["suite_id"],
            "config_digest": before["config_digest"],
            "evolved_under": source.config.gateway.execution,
            "model": part.model,
            "snapshots": [point.to_json() for point in part.points],
            "views": {name: (view.taskset or info).name for name, view in self.views.items()},
            "repeat": part.repeat,
            "settings": config_digest(part.config.model_dump(exclude_none=True)),
            "commitment": opening.commitment,
        }
        made = {point.candidate: blob for point, blob in zip(part.points, candidates, strict=True)}
        note = f"a snapshot of {before['run_id']}"
        named: list[CandidateMade] = [
            {"digest": d, "blob": blob.digest, "parents": [], "note": note} for d, blob in made.items()
        ]
        frozen: SnapshotsFrozen = {"points": planned["snapshots"], "trained": self._trained}
        return [
            RUN_STARTED.line(started),
            EVALUATION_PLANNED.line(planned),
            SCHEDULE_PLANNED.line(source.planned),
            *map(CANDIDATE.line, named),
            SNAPSHOTS_FROZEN.line(frozen),
        ]

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
