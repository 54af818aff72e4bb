"""Judging snapshots of a run of harness evolution again, alone: nothing is trained, and the run is not changed.

What comes of it is a folder as a suite's, with a run folder for each run, execution model and repeat. Each has a journal of its
own, which says what was judged, of which run, and is continued when the same is asked again. The tasks are those of the run:
its hidden cases are drawn anew and must open the commitment that the run made when it began.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heredity.configuration.config import Config
from heredity.errors import ConfigError, RecordError
from heredity.experiments.config import resolve, slug
from heredity.experiments.engine import Engine
from heredity.experiments.plans import package_versions
from heredity.experiments.results import rebuild_run, rebuild_suite
from heredity.ids import digest_json
from heredity.protocols.harness_evolution.analysis.cross_model import Evaluation, cross_model
from heredity.protocols.harness_evolution.judged_again import JudgedAgain, Notify, Part
from heredity.protocols.harness_evolution.results import MatrixRow
from heredity.protocols.harness_evolution.sections import HarnessRunSection, HarnessViewsSection
from heredity.protocols.harness_evolution.snapshots import Snapshots, evolved_runs
from heredity.records.lock import RunLock
from heredity.records.run_folder import write_atomic
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.tasks.registry import taskset

MATRIX = "cross_model.json"
"""The file of the cross-model matrix, beside metrics.json; derived, as that one is."""

SETTABLE = ("gateway", "solver", "limits", "engine")
"""Sections of a run's configuration that an evaluation may change."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be judged.

    Attributes:
        snapshots: their names (see `Snapshots.named`); none for the first, the best and the last.
        views: names of views, `"ood"` for all that are out of distribution; none for all that the run has.
        models: execution models; none for the run's own.
        ood: tasksets whose held-out tasks are the views out of distribution, instead of the run's.
        repeats: how often everything is attempted; each time the model is seeded anew.
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
                    f"an evaluation cannot set {key!r}, only keys of {', '.join(SETTABLE)}: a run is judged as it was evolved"
                )
            if keys.count(key) > 1:
                raise ConfigError(f"{key} is set twice; give one value, or several models with --model")
        if self.models and "gateway.execution" in keys:
            raise ConfigError("gateway.execution is set and models are named; name all of them with --model")
        if len(set(self.models)) < len(self.models):
            raise ConfigError(f"models are {', '.join(self.models)}; name each once")
        if self.repeats < 1:
            raise ConfigError(f"repeats is {self.repeats}; expected 1 or more")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What an evaluation came to.

    Attributes:
        folder: where it is.
        metrics: its results, as of a suite.
        runs: the results of each run, model and repeat.
        matrix: the cross-model matrix (`heredity.protocols.harness_evolution.analysis.cross_model`).
        notes: what a reader must know.
    """

    folder: Path
    metrics: SuiteResults
    runs: list[RunResults]
    matrix: list[MatrixRow]
    notes: list[str]


async def evaluate(folder: Path, sources: Sequence[Path], wanted: Wanted, notify: Notify = len) -> Evaluated:
    """Judge snapshots of runs again, or continue doing so.

    Args:
        folder: where the results go; none of the runs' own folders.
        sources: runs of harness evolution, or suites of them.
        wanted: what is to be judged.
        notify: is given a line after every view of a snapshot.

    Raises:
        ConfigError: if a snapshot, view or model does not exist, a taskset is another version, or the folder holds something
            else: nothing has been attempted then.
        RecordError: if records cannot be read or written; `DamagedRecordError` if they are damaged.
        HostError: if the runner fails; asking for the same again continues.
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
        raise ConfigError(f"{folder} is in a suite that is evaluated, and runs are not changed; choose another --out")


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
    """Return what runs must have in common to use one engine: everything about it but which model attempts tasks."""
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
                f"{run.started['run_id']} was run with other versions of {', '.join(other)}; scores may differ for that"
            )
    return notes
