"""Evaluation: judges snapshots of finished harness-evolution runs again, without training or changing the runs.

The result is a folder like a suite's, with a run folder for each run, execution model and repeat. Each has a journal that
records which run was judged and how, and resumes when the same evaluation is requested again. The tasks are the run's: its
hidden cases are drawn again and must match the commitment that the run made when it started.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heredity._core.errors import ConfigError, RecordError
from heredity._core.ids import digest_json
from heredity.analysis.claims import Both, claims, compare
from heredity.analysis.samples import GAP, share
from heredity.analysis.suite_table import coverage_of
from heredity.configuration.config import Config
from heredity.experiments.config import resolve, slug
from heredity.experiments.engine import Engine, package_versions
from heredity.experiments.results import rebuild_run, rebuild_suite
from heredity.models.settings import stand_in
from heredity.protocols.harness_evolution.analysis.paired import (
    asked_of,
    clusters_of,
    gains_table,
    over_runs,
    paired_gains,
)
from heredity.protocols.harness_evolution.judged_again import JudgedAgain, Notify, Part
from heredity.protocols.harness_evolution.results import MatrixCell, MatrixRow, Paired, Role, harness_of
from heredity.protocols.harness_evolution.snapshots import Snapshots, evolved_runs
from heredity.protocols.harness_evolution.terms import HarnessRunSection, HarnessViewsSection
from heredity.records.lock import RunLock
from heredity.records.run_folder import write_atomic
from heredity.results.run import RunResults
from heredity.results.suite import Claim, SuiteResults
from heredity.tasks.registry import taskset


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
    drawn = {(t.kind, task): own for repeats in runs for t in repeats for task, own in clusters_of(t).items()}
    tasks = dict.fromkeys(task for repeats in runs for task in _gains(repeats))
    clusters = [[drawn.get(task) for task in tasks]] if strata else []
    asked = [{(t.kind, task) for t in repeats for task in asked_of(t, "final")} for repeats in runs]
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
        snapshots: their names (see `Snapshots.named`); none for the first, the best and the last.
        views: names of views, `"ood"` for all out-of-distribution views; none for all views of the run.
        models: execution models; none for the run's.
        ood: tasksets whose held-out tasks replace the run's out-of-distribution views.
        repeats: number of repeats; the model gets a new seed each time.
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
        folder: the output folder; not a folder of the runs.
        sources: runs of harness evolution, or suites of them.
        wanted: the request.
        notify: receives a line after every view of a snapshot.

    Raises:
        ConfigError: if a snapshot, view or model does not exist, a taskset has another version, or the folder holds something
            else; nothing has been run then.
        RecordError: if records cannot be read or written; `DamagedRecordError` if they are damaged.
        HostError: if the runner fails; repeat the call to resume.
    """
    runs = evolved_runs(sources)
    parts = _parts(runs, wanted)
    candidates = {run.folder: run.load(run.named(wanted.snapshots)) for run in runs}
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
        points, name = run.named(wanted.snapshots), run_id
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
