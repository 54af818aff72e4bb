"""Suites: many runs on one engine, one set of hidden cases, one comparison at the end."""

from __future__ import annotations

import asyncio
import math
import shutil
import threading
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import tomli_w

from heredity._core.errors import ConfigError, HeredityError, OutageError, RecordError
from heredity._core.spans import Span, collecting, span, watching
from heredity._core.workers import computed
from heredity.analysis.suite_comparisons import sequential_look
from heredity.analysis.suite_table import taskset_scores
from heredity.analysis.usage import failed_updates, unusable_replies, unused
from heredity.configuration.config import Cell, Config
from heredity.experiments.best import Winner
from heredity.experiments.config import cells, model_files, read_toml, resolve, slug
from heredity.experiments.engine import Engine, package_versions, plan_of
from heredity.experiments.measured import keep_measured
from heredity.experiments.progress import CountingRunner, RunProgress, Silent, Watcher
from heredity.experiments.results import is_run, metrics_of, read_run, rebuild_run, rebuild_suite, write_derived
from heredity.experiments.sealed import SealedCases
from heredity.experiments.sequence import (
    LOOKED,
    NAME,
    STOPPED,
    SequenceLooked,
    SequenceRecord,
    SequenceStarted,
    read_sequence,
)
from heredity.experiments.transparency.writer import SuiteLog
from heredity.methods.operators.dialogue import Steps
from heredity.models.waiting import noticing
from heredity.pages.live.index import Index, open_index
from heredity.protocols.contract import Needs, RunContext, Setup, SuiteContext
from heredity.protocols.registry import PROTOCOLS
from heredity.records import Event, read_journal
from heredity.records.events import EVOLVER_FAILED, SUBMISSION_COMPLETED, EvolverFailed
from heredity.records.journal import Journal
from heredity.records.lock import RunLock
from heredity.records.run_folder import write_atomic
from heredity.records.span_log import NAME as SPANS
from heredity.records.span_log import SpanLog, read_spans
from heredity.results.run import RunResults, RunStatus
from heredity.results.status import Status
from heredity.results.suite import Stop, SuiteResults
from heredity.sandbox.gpus import GpuMachine, GpuPool
from heredity.session.bench import Judgements, JudgementStore, Verdict
from heredity.session.cases import HiddenCases
from heredity.session.rollouts import Rollouts
from heredity.session.run import Conditions, EvolverFailure, run_evolution
from heredity.session.session import Session
from heredity.tasks import Taskset
from heredity.tasks.registry import taskset

EVERY_S = 1.0
"""Minimum seconds between two updates; longer after a slow one, as updates take at most a tenth of the time."""

LAST_S = 10.0
"""Timeout of the last update, in seconds; `heredity view` indexes the rest when it opens the folder."""


@contextmanager
def keeping_index(folder: Path, problem: Callable[[str], None] = lambda _: None) -> Generator[None]:
    """Keep the index of a suite up to date from a thread; at the end of the block it holds everything recorded.

    The index is derived. If it cannot be written, the suite continues; after a kill, indexing resumes from its last
    state.

    Args:
        folder: the suite's folder.
        problem: called at the end with the reason if the index could not be kept up to date.
    """
    ended, reasons = threading.Event(), list[str]()

    def keep() -> None:
        with ExitStack() as opened:
            index: Index | None = None
            pause, last = EVERY_S, False
            while not last:
                last = ended.wait(pause)
                began = time.monotonic()
                try:
                    index = index or opened.enter_context(open_index(folder))
                    _update(index, ended, began + LAST_S)
                    reasons.clear()
                except Exception as error:  # noqa: BLE001 - whatever is wrong with what is derived, the suite goes on
                    reasons[:] = [f"the index for heredity view could not be kept up to date: {error}"]
                pause = max(EVERY_S, 10 * (time.monotonic() - began))

    thread = threading.Thread(target=keep, name="index of heredity view", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        for reason in reasons:
            problem(reason)


def _update(index: Index, ended: threading.Event, until: float) -> None:
    """Update an index; after the end of the suite, for a limited time."""
    index.update(lambda: ended.is_set() and time.monotonic() > until)


def compared_cells(folder: Path, cells: Sequence[Cell]) -> list[Cell]:
    """Return the runs of a suite: all, or those of the two entries that its rule compares."""
    sequence = read_sequence(folder)
    return list(cells) if sequence is None else [cell for cell in cells if cell.label in sequence.labels]


def blocks(folder: Path, cells: Sequence[Cell]) -> Generator[list[Cell]]:
    """Yield the next runs until none are left; a suite without a rule yields all at once.

    A sequential suite yields the unfinished runs of one seed, then compares the two entries. A seed that cannot be
    finished ends
    the sequence for now; resuming continues with it.

    Args:
        folder: the suite's folder, locked by the caller.
        cells: runs from `compared_cells`.

    Raises:
        RecordError: if the sequence cannot be read or written.
    """
    if read_sequence(folder) is None:
        yield list(cells)
        return
    with closing(Journal.open(folder / NAME)) as journal:
        sequence, runs = SequenceRecord.of(journal.events), _Runs(folder, cells)
        for seed in sequence.rule["seeds"]:
            if sequence.stopped is not None:
                return
            if unfinished := runs.unfinished(seed):
                yield unfinished
            if runs.unfinished(seed):
                return
            if seed not in (look["seed"] for look in sequence.looks):
                look = runs.look(seed, sequence.labels)
                ended = stopped_by(look, sequence.rule)
                journal.append_many([LOOKED.line(look), *([STOPPED.line({"reason": ended})] if ended else [])])
                journal.sync()
                sequence = SequenceRecord.of(journal.events)


def looked(seed: int, finished: Sequence[tuple[RunResults, str]], pair: tuple[str, str]) -> SequenceLooked:
    """Compare two entries on the runs of all seeds up to one.

    Args:
        seed: the last seed.
        finished: the runs, each with the label of its evolver.
        pair: labels of the entries.
    """
    tasksets = taskset_scores([run for run, _ in finished], [label for _, label in finished], metrics_of)
    look, scale = sequential_look(tasksets, pair)
    return {
        "seed": seed,
        "pairs": 0 if look is None else look.seeds,
        "difference": None if look is None else look.difference,
        "ci": None if look is None else look.interval,
        "p": None if look is None else look.p,
        "scale": scale,
    }


def stopped_by(look: SequenceLooked, rule: SequenceStarted) -> Stop | None:
    """Return why a sequence ends with a look; None if it goes on."""
    if look["p"] is not None and look["p"] <= rule["level"]:
        return Stop.DECIDED
    return Stop.MOST_SEEDS if look["seed"] == rule["seeds"][-1] else None


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of a sequence; finished ones are read once."""

    folder: Path
    cells: Sequence[Cell]
    read: dict[str, RunResults] = field(default_factory=dict[str, RunResults])

    def unfinished(self, seed: int) -> list[Cell]:
        """Return the runs of a seed that are not finished."""
        return [cell for cell in self.cells if cell.seed == seed and not self._finished(cell)]

    def look(self, seed: int, pair: tuple[str, str]) -> SequenceLooked:
        """Compare the two entries on all seeds up to this one."""
        return looked(
            seed, [(self.read[c.id], c.label) for c in self.cells if c.seed <= seed and self._finished(c)], pair
        )

    def _finished(self, cell: Cell) -> bool:
        path = self.folder / "runs" / cell.id
        if cell.id not in self.read and is_run(path):
            # The run that meets a damaged record reports it.
            with suppress(RecordError):
                run = read_run(path).metrics
                if run.status is not RunStatus.UNFINISHED:
                    self.read[cell.id] = run
        return cell.id in self.read


CONFIG_NAME = "suite.toml"
_JUDGEMENTS = "judgements.jsonl"
REPORT = "report"
"""Key of the suite's report among failures."""
CASES = "hidden cases"
"""Key of the suite's hidden cases among notes."""
INDEX = "index"
"""Key of the index for `heredity view` among notes."""
_SPEED = ("gpus", "workers", "parallel_runs")
"""Keys of `[engine]` that only change where and how fast a suite runs, so a resumed suite may change them."""


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """Result of a suite.

    Attributes:
        folder: the suite's folder.
        metrics: its results.
        runs: results of its runs.
        failures: name of each run that did not end, to the reason; `REPORT` if the suite's report could not be
            written.
        evolver_failures: name of each run whose evolver failed, to the reason: an exception, unusable replies of
            its model, or
            updates that could not be made. Its submissions were judged.
        notes: name of a run to remarks on it, such as gaps in a trace, or why rollouts are missing.
        winners: winner on each taskset, whose files are in the suite's `best/`.
    """

    folder: Path
    metrics: SuiteResults
    runs: list[RunResults]
    failures: dict[str, str]
    evolver_failures: dict[str, str]
    notes: dict[str, str]
    winners: Sequence[Winner] = ()


def new_suite_folder(root: Path, config: Config) -> Path:
    """Return an unused folder for a suite below `root`, named after the suite and the time."""
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
            f"{folder} has no {CONFIG_NAME}, so it does not hold a suite; give a suite's folder, such as "
            f"runs/demo-20260101-120000, or start one there: heredity run FILE --out {folder}"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"{folder} cannot be created: {error.strerror}") from error
    write_atomic(path, tomli_w.dumps(config.model_dump(exclude_none=True)).encode())
    return config


def forget_unbegun(folder: Path) -> None:
    """Remove a suite's folder if no run was started, so that a corrected configuration can replace it."""
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
    only: Collection[str] | None = None,
) -> SuiteResult:
    """Run or resume every run of a suite, then compare them.

    A failed run does not stop the others. Cancelling loses nothing: call this again to resume.

    Args:
        folder: the suite's folder, opened with `open_suite`.
        config: its configuration.
        watcher: notified of progress.
        runs: filled with the progress of every run, for a watcher that displays all of them.
        machine: machine with the GPUs (default: this one).
        only: ids of the runs to run now; the others are left for a later call, and hidden cases stay sealed.

    Raises:
        RunLockedError: if another process works on the suite.
        ConfigError: if a taskset, method or option is unknown; nothing has been run then.
        IsolationError: if this machine cannot isolate policies.
    """
    lock = RunLock.acquire(folder / "lock")
    try:
        suite = _Suite(folder, config, watcher or Silent(), machine)
        if runs is not None:
            runs += suite.progress.values()
        with keeping_index(folder, lambda why: suite.notes.update({INDEX: why})), closing(suite.log):
            async with Engine(config, {tasks.info.kind for tasks in suite.tasksets.values()}) as engine:
                await suite.run(engine, only)
        return _conclude(suite)
    finally:
        lock.release()


def _conclude(suite: _Suite) -> SuiteResult:
    for path in suite.log.late:
        with suppress(RecordError):  # the suite's report names damaged runs
            rebuild_run(path)
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
        self.log = SuiteLog(lambda log, why: self.notes.update({log: why}))
        self.sealed = SealedCases(folder)
        self.gpus = GpuPool(config.engine.gpus, machine)
        # Suites with the same cases may have published them.
        hidden = (self.sealed.path, self.sealed.origin, *self.sealed.others())
        self.context = SuiteContext(folder, self.cells, self.tasksets, hidden)
        for cell in self.cells:
            self.setting.check(cell, self.context)

    async def run(self, engine: Engine, only: Collection[str] | None = None) -> None:
        """Run every cell, or only some, a few at a time; a sequence runs seed after seed until it is decided.

        Raises:
            ConfigError: if a model that a run needs is missing.
        """
        for cell in self.cells:
            for name in (cell.config.gateway.execution, *self.needs[cell.id].models):
                engine.under(name)
            engine.asked_by(cell)
        hidden_cases = HiddenCases.create(self.sealed.path)
        self.cases_known = self.sealed.begin()
        store = JudgementStore(self.folder / _JUDGEMENTS, hidden_cases)
        gate = asyncio.Semaphore(self.config.engine.parallel_runs)

        async def run_guarded(cell: Cell) -> None:
            async with gate:
                await self._run_cell(cell, engine, store)

        if only is not None:
            async with asyncio.TaskGroup() as group:
                for cell in (cell for cell in self.cells if cell.id in only):
                    group.create_task(run_guarded(cell))
            return
        with closing(blocks(self.folder, self.cells)) as remaining:
            for block in remaining:
                async with asyncio.TaskGroup() as group:
                    for cell in block:
                        group.create_task(run_guarded(cell))
        if not self.failures and (open_suites := self.sealed.end()):
            self.notes[CASES] = f"they stay sealed until {', '.join(open_suites)}, judged on them too, has ended"

    async def _run_cell(self, cell: Cell, engine: Engine, store: JudgementStore) -> None:
        progress = self.progress[cell.id]
        progress.begin()
        self.watcher.changed(progress)
        try:
            async with self.gpus.lease(self.needs[cell.id].gpus) as lease:
                files = await asyncio.to_thread(model_files, cell.config, self.needs[cell.id].models)
                judgements, asked = _judgements(cell, engine, store, files), engine.asked_by(cell)
                context = RunContext(cell, self.context, engine, store.hidden_cases, judgements, lease, asked)
                verdict = await self._judge(context, engine)
            await self.log.write(self._path(cell))
            await asyncio.to_thread(rebuild_run, self._path(cell))
            missing = "; ".join(filter(None, (_missing(self._path(cell), verdict), _unused(self._path(cell)))))
        except asyncio.CancelledError:
            progress.end("stopped")
            raise
        except OutageError as error:
            self.failures[cell.id] = str(error)
            progress.end("paused", str(error))
        # A full or failing disk also shows outside the records: where programs and logs are written.
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

    async def _judge(self, context: RunContext, engine: Engine) -> Verdict:
        cell = context.cell
        progress, steps = self.progress[cell.id], Steps()
        # The trace begins here, so that it has the model calls that judge references.
        self._path(cell).mkdir(parents=True, exist_ok=True)
        with self._traced(cell) as trace, noticing(partial(self._waits, progress)):
            with span("references"):
                setup = await self.setting.open(context)
            verdict = await self._evolved(context, engine, setup, steps)
            trace.set(status=verdict.status, heldout=verdict.heldout.mean if verdict.heldout else None)
        draws = {view.name: (view.taskset or context.taskset, view.split, view.count) for view in setup.views}
        named = {name: (taskset.info.name, split, count) for name, (taskset, split, count) in draws.items()}
        opening = await computed(lambda: context.hidden_cases.opening_of(list(draws.values())))
        self.sealed.keep(cell.id, opening, named)
        return verdict

    async def _evolved(self, context: RunContext, engine: Engine, setup: Setup, steps: Steps) -> Verdict:
        cell = context.cell
        progress, execution = self.progress[cell.id], cell.config.gateway.execution

        async def evolve(session: Session) -> None:
            progress.session = session
            await self.log.write(self._path(cell))
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
        return await run_evolution(self._path(cell), plan, conditions, evolve, setup.evolver.publisher)

    def _waits(self, progress: RunProgress, why: str, seconds: float) -> None:
        if progress.wait_for(why, seconds):
            self.watcher.changed(progress)

    @contextmanager
    def _traced(self, cell: Cell) -> Generator[Span]:
        """Write the spans of a run into its folder; the root span names the run."""
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
    """Return the judgements under a run's conditions: settings, isolation, packages and content of its models."""
    config = cell.config
    conditions = {
        **config.conditions(),
        "isolation": engine.isolation,
        "packages": package_versions(),
        "files": dict(files),
    }
    return Judgements(store, Rollouts(engine.under(config.gateway.execution), config.limits.limits()), conditions)


def _missing(folder: Path, verdict: Verdict) -> str:
    """Return the number of rollouts that a provider or host failed to make and the reason on record, or `""`."""
    made = [e.data for e in read_journal(folder / "journal.jsonl") if e.kind == SUBMISSION_COMPLETED.name]
    train = [outcome for data in made for outcome in data["outcomes"] if outcome["status"] == Status.MISSING]
    heldout = verdict.heldout.statuses.count(Status.MISSING) if verdict.heldout else 0
    if not train and not heldout:
        return ""
    why = train[-1]["failure"]["message"] if train else verdict.heldout and verdict.heldout.why
    return f"{len(train)} train and {heldout} held-out rollouts are missing: {why or f'for the reason: heredity trace {folder}'}"


def _failed_evolver(
    failure: EvolverFailure | None, steps: Steps, spans: Path, events: Sequence[Event]
) -> EvolverFailed | None:
    """Return how the evolver of a closed session failed, or that all replies of its model were unusable."""
    failed = failure(events) if failure is not None else None
    if failed is not None:
        return failed
    if not steps.asked and spans.exists():
        # The evolver may have failed in an earlier process that was killed before this check.
        for recorded in read_spans(spans)[0]:
            steps(recorded)
    why = unusable_replies([event.to_json() for event in events], steps)
    return {"message": why, "traceback": ""} if why else None


def _evolver_failure(folder: Path) -> str:
    """Return how the evolver failed, or why updates of it could not be made; `""` on success."""
    events = [event.to_json() for event in read_journal(folder / "journal.jsonl")]
    failed = next((str(e["data"]["message"]) for e in events if e["kind"] == EVOLVER_FAILED.name), "")
    return failed or failed_updates(events)


def _unused(folder: Path) -> str:
    """Return the number of unusable replies of the method's model as text; `""` if all were used."""
    count, replies, why = unused(event.to_json() for event in read_journal(folder / "journal.jsonl"))
    return f"{count} of {replies} model replies were unusable: {why}" if count else ""
