"""Suites: many runs on one engine, one set of hidden cases, one comparison at the end."""

from __future__ import annotations

import asyncio
import math
import shutil
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import tomli_w

from heredity.analysis.failed_updates import failed_updates, unusable_replies, unused
from heredity.configuration.config import Cell, Config
from heredity.errors import ConfigError, HeredityError, OutageError, RecordError
from heredity.evolution.operators.dialogue import Steps
from heredity.experiments.best import Winner
from heredity.experiments.blocks import blocks, compared_cells
from heredity.experiments.config import cells, read_toml, resolve, slug
from heredity.experiments.engine import Engine
from heredity.experiments.indexing import keeping_index
from heredity.experiments.measured import keep_measured
from heredity.experiments.model_files import model_files
from heredity.experiments.plans import package_versions, plan_of
from heredity.experiments.progress import CountingRunner, RunProgress, Silent, Watcher
from heredity.experiments.results import rebuild_run, rebuild_suite, write_derived
from heredity.experiments.sealed import SealedCases
from heredity.gateway.waiting import noticing
from heredity.judging.bench import Verdict
from heredity.judging.cases import HiddenCases
from heredity.judging.judgements import Judgements, JudgementStore
from heredity.judging.rollouts import Rollouts
from heredity.judging.run import Conditions, EvolverFailure, run_evolution
from heredity.judging.session import Session
from heredity.protocols.contract import Needs, RunContext, SuiteContext
from heredity.protocols.registry import PROTOCOLS
from heredity.records import Event, read_journal
from heredity.records.events import EVOLVER_FAILED, SUBMISSION_COMPLETED, EvolverFailed
from heredity.records.lock import RunLock
from heredity.records.run_folder import write_atomic
from heredity.records.span_log import NAME as SPANS
from heredity.records.span_log import SpanLog, read_spans
from heredity.results.run import RunResults
from heredity.results.status import Status
from heredity.results.suite import SuiteResults
from heredity.sandbox.gpus import GpuMachine, GpuPool
from heredity.spans import Span, collecting, span, watching
from heredity.tasks import Taskset
from heredity.tasks.registry import taskset
from heredity.workers import computed

CONFIG_NAME = "suite.toml"
_JUDGEMENTS = "judgements.jsonl"
REPORT = "report"
"""Names the suite's own report among failures."""
CASES = "hidden cases"
"""Names the suite's hidden cases among notes."""
INDEX = "index"
"""Names the index that `heredity view` opens among notes."""
_SPEED = ("gpus", "workers", "parallel_runs")
"""Keys of `[engine]` that change where and how fast a suite is run and nothing else, so a suite may be continued with others."""


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """What a suite came to.

    Attributes:
        folder: the suite's folder.
        metrics: its results.
        runs: those of its runs.
        failures: name of each run that did not end, to the reason; `REPORT` if the suite's report could not be written.
        evolver_failures: name of each run whose evolver failed, to why: what it raised, that nothing of its model's replies
            could be used, or that updates could not be made. What it had submitted was judged.
        notes: name of a run to what is to be known of it, such as a trace with gaps, or why rollouts are missing.
        winners: the winner on each taskset, whose files are in the suite's `best/`.
    """

    folder: Path
    metrics: SuiteResults
    runs: list[RunResults]
    failures: dict[str, str]
    evolver_failures: dict[str, str]
    notes: dict[str, str]
    winners: Sequence[Winner] = ()


def new_suite_folder(root: Path, config: Config) -> Path:
    """Return an unused folder for a suite below `root`, named after it and the time."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    name = f"{slug(config.run.name or 'suite')}-{stamp}"
    folder, number = root / name, 1
    while folder.exists():
        number += 1
        folder = root / f"{name}-{number}"
    return folder


def open_suite(folder: Path, config: Config | None = None) -> Config:
    """Create a suite's folder, or open one; return its configuration.

    Raises:
        ConfigError: if the folder holds a suite with another configuration, or none and no configuration is given.
        RecordError: if it cannot be written.
    """
    path = folder / CONFIG_NAME
    if path.exists():
        stored = resolve(read_toml(path), source=str(path))
        if config is not None and _deciding(config) != _deciding(stored):
            raise ConfigError(
                f"{folder} holds a suite with another configuration ({_difference(stored, config)}); "
                "choose another folder, or resume that one"
            )
        return config or stored
    if config is None:
        raise ConfigError(
            f"{folder} has no {CONFIG_NAME}, so no suite has begun there; give the folder of one, such as "
            f"runs/demo-20260101-120000, or begin one there: heredity run FILE --out {folder}"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"{folder} cannot be created: {error.strerror}") from error
    write_atomic(path, tomli_w.dumps(config.model_dump(exclude_none=True)).encode())
    return config


def forget_unbegun(folder: Path) -> None:
    """Remove a suite's folder if no run of it was started, so that a corrected configuration can take its place."""
    if not (folder / "runs").exists():
        shutil.rmtree(folder, ignore_errors=True)


def with_jobs(config: Config, jobs: int) -> Config:
    """Return the configuration with another number of parallel runs."""
    return config.model_copy(update={"engine": config.engine.model_copy(update={"parallel_runs": jobs})})


def _deciding(config: Config) -> dict[str, Any]:
    return config.model_dump(exclude={"engine": set(_SPEED)})


def _difference(stored: Config, given: Config) -> str:
    before, now = _deciding(stored), _deciding(given)
    section = next(name for name in before if before[name] != now[name])
    keys = sorted({*before[section], *now[section]})
    key = next(key for key in keys if before[section].get(key) != now[section].get(key))
    return f"{section}.{key} is {before[section].get(key)!r} there and {now[section].get(key)!r} here"


async def run_suite(
    folder: Path,
    config: Config,
    watcher: Watcher | None = None,
    runs: list[RunProgress] | None = None,
    machine: GpuMachine | None = None,
) -> SuiteResult:
    """Run, or continue, every run of a suite, then compare them.

    A run that fails does not stop the others. Cancelling loses nothing: calling this again continues.

    Args:
        folder: the suite's folder, opened with `open_suite`.
        config: its configuration.
        watcher: is told of progress.
        runs: filled with the progress of every run, for a watcher that looks at all of them.
        machine: where GPUs are; this machine's by default.

    Raises:
        RunLockedError: if another process works on the suite.
        ConfigError: if a taskset, method or option is unknown: nothing has been run then.
        IsolationError: if this machine cannot isolate policies.
    """
    lock = RunLock.acquire(folder / "lock")
    try:
        suite = _Suite(folder, config, watcher or Silent(), machine)
        if runs is not None:
            runs += suite.progress.values()
        with keeping_index(folder, lambda why: suite.notes.update({INDEX: why})):
            async with Engine(config, {tasks.info.kind for tasks in suite.tasksets.values()}) as engine:
                await suite.run(engine)
        return _conclude(suite)
    finally:
        lock.release()


def _conclude(suite: _Suite) -> SuiteResult:
    rebuilt = rebuild_suite(suite.folder, write=False)
    failures = {**rebuilt.unreadable, **suite.failures}
    winners: Sequence[Winner] = ()
    try:
        winners = write_derived(suite.folder, rebuilt.metrics, rebuilt.runs)
    except RecordError as error:
        failures[REPORT] = str(error)
    return SuiteResult(
        suite.folder, rebuilt.metrics, rebuilt.runs, failures, suite.evolver_failures, suite.notes, winners
    )


class _Suite:
    def __init__(self, folder: Path, config: Config, watcher: Watcher, machine: GpuMachine | None = None) -> None:
        self.folder, self.config, self.watcher = folder, config, watcher
        self.setting = PROTOCOLS.load(config.run.protocol).setting
        self.cells = compared_cells(folder, cells(config))
        self.needs: dict[str, Needs] = {cell.id: self.setting.needs(cell.config) for cell in self.cells}
        named = (*config.run.tasksets, *(name for needs in self.needs.values() for name in needs.tasksets))
        keep_measured(folder, dict.fromkeys(named))
        self.tasksets: dict[str, Taskset] = {name: taskset(name) for name in dict.fromkeys(named)}
        self.progress = {
            c.id: RunProgress(c.id, c.taskset, c.label, c.seed, self.needs[c.id].episodes) for c in self.cells
        }
        self.failures: dict[str, str] = {}
        self.evolver_failures: dict[str, str] = {}
        self.notes = {name: "; ".join(one.info.notes) for name, one in self.tasksets.items() if one.info.notes}
        self.cases_known = False
        self.sealed = SealedCases(folder)
        self.gpus = GpuPool(config.engine.gpus, machine)
        # Suites with the same cases may have published them.
        hidden = (self.sealed.path, self.sealed.origin, *self.sealed.others())
        self.context = SuiteContext(folder, self.cells, self.tasksets, hidden)
        for cell in self.cells:
            self.setting.check(cell, self.context)

    async def run(self, engine: Engine) -> None:
        """Run every cell, a few at a time; those of a sequence seed after seed, until it is decided.

        Raises:
            ConfigError: if a model that one of them needs is not there.
        """
        for cell in self.cells:
            for name in (cell.config.gateway.execution, *self.needs[cell.id].models):
                engine.under(name)
            engine.asked_by(cell)
        hidden_cases = HiddenCases.create(self.sealed.path)
        self.cases_known = self.sealed.begin()
        store = JudgementStore(self.folder / _JUDGEMENTS, hidden_cases)
        gate = asyncio.Semaphore(self.config.engine.parallel_runs)

        async def guarded(cell: Cell) -> None:
            async with gate:
                await self._run_cell(cell, engine, store)

        with closing(blocks(self.folder, self.cells)) as remaining:
            for block in remaining:
                async with asyncio.TaskGroup() as group:
                    for cell in block:
                        group.create_task(guarded(cell))
        if not self.failures and (open_suites := self.sealed.end()):
            self.notes[CASES] = (
                f"they stay sealed until {', '.join(open_suites)} has ended, which is judged on them too"
            )

    async def _run_cell(self, cell: Cell, engine: Engine, store: JudgementStore) -> None:
        progress = self.progress[cell.id]
        progress.begin()
        self.watcher.changed(progress)
        try:
            async with self.gpus.lease(self.needs[cell.id].gpus) as lease:
                files = await asyncio.to_thread(model_files, cell.config, self.needs[cell.id].models)
                judgements, asked = _judgements(cell, engine, store, files), engine.asked_by(cell)
                context = RunContext(cell, self.context, engine, store.hidden_cases, judgements, lease, asked)
                verdict = await self._judged(context, engine)
            await asyncio.to_thread(rebuild_run, self._path(cell))
            missing = "; ".join(filter(None, (_missing(self._path(cell), verdict), _unused(self._path(cell)))))
        except asyncio.CancelledError:
            progress.end("stopped")
            raise
        except OutageError as error:
            self.failures[cell.id] = str(error)
            progress.end("paused", str(error))
        # A disk that is full or fails may also be met outside the records: where programs and logs are written.
        except (HeredityError, OSError) as error:
            self.failures[cell.id] = str(error)
            progress.end("failed", str(error))
        else:
            mean = verdict.heldout.mean if verdict.heldout else math.nan
            progress.heldout = mean if math.isfinite(mean) else None
            if missing:
                self.notes[cell.id] = "; ".join(filter(None, (self.notes.get(cell.id), missing)))
            failure = _evolver_failure(self._path(cell))
            if failure:
                self.evolver_failures[cell.id] = failure
                progress.end("failed", f"the evolver failed: {failure}")
            else:
                progress.end("done", verdict.reason if verdict.heldout is None else missing)
        self.watcher.changed(progress)

    async def _judged(self, context: RunContext, engine: Engine) -> Verdict:
        cell = context.cell
        progress, execution = self.progress[cell.id], cell.config.gateway.execution
        setup = await self.setting.open(context)

        steps = Steps()

        async def evolve(session: Session) -> None:
            progress.session = session
            with watching(steps):
                await setup.evolver.evolve(session)

        conditions = Conditions(
            context.taskset,
            CountingRunner(setup.runner or engine.under(execution), progress),
            context.hidden_cases,
            setup.reference,
            others={name: CountingRunner(engine.under(name), progress) for name in self.needs[cell.id].models},
            probe=engine.probe(context.taskset.info.kind),
            judgements=setup.judgements or context.judgements,
        )
        plan = plan_of(cell, self.folder.name, setup, engine.isolation, cases_known=self.cases_known)
        plan = replace(plan, failure=partial(_failed_evolver, setup.evolver.failure, steps, self._path(cell) / SPANS))
        with self._traced(cell) as trace, noticing(partial(self._waits, progress)):
            verdict = await run_evolution(self._path(cell), plan, conditions, evolve, setup.evolver.publisher)
            trace.set(status=verdict.status, heldout=verdict.heldout.mean if verdict.heldout else None)
        draws = {view.name: (view.taskset or context.taskset, view.split, view.count) for view in setup.views}
        named = {name: (taskset.info.name, split, count) for name, (taskset, split, count) in draws.items()}
        opening = await computed(lambda: context.hidden_cases.opening_of(list(draws.values())))
        self.sealed.keep(cell.id, opening, named)
        return verdict

    def _waits(self, progress: RunProgress, why: str, seconds: float) -> None:
        if progress.wait_for(why, seconds):
            self.watcher.changed(progress)

    @contextmanager
    def _traced(self, cell: Cell) -> Generator[Span]:
        """Write the spans of a run into its folder; the root says which run it is."""
        log = SpanLog(self._path(cell) / SPANS, lambda why: self.notes.update({cell.id: why}))
        about = {"run": cell.id, "suite": self.folder.name, "taskset": cell.taskset, "evolver": cell.label}
        try:
            with collecting(log), span("run", kind="run", **about, seed=cell.seed) as root:
                yield root
        finally:
            log.close()

    def _path(self, cell: Cell) -> Path:
        return self.folder / "runs" / cell.id


def _judgements(cell: Cell, engine: Engine, store: JudgementStore, files: Mapping[str, str]) -> Judgements:
    """Return the judgements under the conditions of a run: the same settings, isolation, packages and content of its models."""
    config = cell.config
    conditions = {
        **config.conditions(),
        "isolation": engine.isolation,
        "packages": package_versions(),
        "files": dict(files),
    }
    return Judgements(store, Rollouts(engine.under(config.gateway.execution), config.limits.limits()), conditions)


def _missing(folder: Path, verdict: Verdict) -> str:
    """Say how many rollouts no provider or host could make, and why, as far as the journal knows; or `""`."""
    made = [e.data for e in read_journal(folder / "journal.jsonl") if e.kind == SUBMISSION_COMPLETED.name]
    train = [outcome for data in made for outcome in data["outcomes"] if outcome["status"] == Status.MISSING]
    heldout = verdict.heldout.statuses.count(Status.MISSING) if verdict.heldout else 0
    if not train and not heldout:
        return ""
    why = train[-1]["failure"]["message"] if train else verdict.heldout and verdict.heldout.why
    return (
        f"{len(train)} train and {heldout} held-out rollouts are missing: {why or f'heredity trace {folder} says why'}"
    )


def _failed_evolver(
    failure: EvolverFailure | None, steps: Steps, spans: Path, events: Sequence[Event]
) -> EvolverFailed | None:
    """Return how the evolver of a closed session failed, or that nothing its model replied could be used."""
    failed = failure(events) if failure is not None else None
    if failed is not None:
        return failed
    if not steps.asked and spans.exists():
        # The evolver worked in an earlier process, which was killed before this was looked at.
        for recorded in read_spans(spans)[0]:
            steps(recorded)
    why = unusable_replies([event.to_json() for event in events], steps)
    return {"message": why, "traceback": ""} if why else None


def _evolver_failure(folder: Path) -> str:
    """Return how the evolver failed, or why updates of it could not be made; `""` if all went well."""
    events = [event.to_json() for event in read_journal(folder / "journal.jsonl")]
    failed = next((str(e["data"]["message"]) for e in events if e["kind"] == EVOLVER_FAILED.name), "")
    return failed or failed_updates(events)


def _unused(folder: Path) -> str:
    """Say of how many replies of the method's model nothing could be used; `""` if all were used."""
    count, replies, why = unused(event.to_json() for event in read_journal(folder / "journal.jsonl"))
    return f"{count} of {replies} model replies were unusable: {why}" if count else ""
