"""Runs from start to verdict: open or resume the folder, run the evolver, close the session, judge."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import (
    BudgetError,
    ClosedError,
    ConfigError,
    HostError,
    IsolationError,
    MissingExtraError,
    RecordError,
)
from heredity._core.spans import span
from heredity._core.workers import computed
from heredity.engine.runner import Runner
from heredity.methods import Budget
from heredity.records import Committer, Event, RunFolder, config_digest
from heredity.records.events import (
    EVOLVER_FAILED,
    RUN_FINISHED,
    RUN_RESUMED,
    RUN_STARTED,
    SESSION_CLOSED,
    EvolverFailed,
    RunStarted,
)
from heredity.results.base import COVERAGE
from heredity.sandbox.limits import Limits
from heredity.session.admission import journal_plan
from heredity.session.bench import Bench, Evolved, Judge, Judgements, Reference, Verdict
from heredity.session.cases import HiddenCases, Opening
from heredity.session.rollouts import Rollouts, encodable
from heredity.session.schedule import BatchPlan, Probe
from heredity.session.session import Publish, Session, SessionRules
from heredity.session.session_log import cut_torn_request, score_to_json
from heredity.session.views import Cases, ViewPlan
from heredity.tasks import Taskset, TasksetInfo

_NOT_THE_EVOLVER = (RecordError, HostError, IsolationError, MissingExtraError)

EvolverFailure = Callable[[Sequence[Event]], EvolverFailed | None]
"""Returns the evolver's failure, read from the journal of a closed session; None if it did not fail."""

Evolve = Callable[[Session], Awaitable[None]]
"""Spends a session's budget: a method, or the launcher of a coding agent."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The settings of one run.

    Attributes:
        run_id: the run's name.
        suite_id: the suite that owns the hidden cases.
        protocol: name of the protocol, for the record.
        evolver: name, kind and options of the evolver, as JSON values.
        seed: seeds the evolver and the candidates' random generators; never the hidden cases.
        budget: episodes, and optionally submissions, tokens, cost and seconds.
        judge: judges the run when its session is closed.
        views: the hidden tasks to judge on.
        train_tasks: number of train task indices.
        min_episodes: minimum episodes per submission.
        max_episodes: maximum episodes per submission.
        limits: limits of one rollout.
        replay: True if the evolver is deterministic and resumed by running it again (see `SessionRules`).
        batches: the batches of train tasks; None lets the evolver choose tasks.
        disjoint: if True, views must not share tasks with each other or with training.
        config: the resolved configuration, saved as run.toml; a folder resumes only with the same one.
        isolation: the isolation tier of candidates.
        packages: versions of every package that can change a score.
        plugins: code of other packages that was loaded by name (see `heredity._core.plugins.Origin`).
        execution: name of the execution model, for the record; empty without one.
        conditions: the settings that scores depend on, by dotted configuration key (they distinguish runs of one evolver).
        routes: route names and the models behind them, for the record.
        coverage: the share of scores that selection and verdicts require.
        record: further fields of `run.started`, with keys of the protocol.
        failure: finds the failure of an evolver that does not raise (None if it always raises).
        within: the view whose tasks the session runs, for evolution within a task without training; empty to run train tasks.
    """

    run_id: str
    suite_id: str
    protocol: str
    evolver: Mapping[str, Any]
    seed: int
    budget: Budget
    judge: Judge
    views: Sequence[ViewPlan]
    train_tasks: int = 128
    min_episodes: int = 1
    max_episodes: int = 128
    limits: Limits = field(default_factory=Limits)
    replay: bool = False
    batches: BatchPlan | None = None
    disjoint: bool = False
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    isolation: str = "unknown"
    packages: Mapping[str, str] = field(default_factory=dict[str, str])
    plugins: Sequence[Mapping[str, str]] = ()
    execution: str = ""
    conditions: Mapping[str, Any] = field(default_factory=dict[str, Any])
    routes: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    coverage: float = COVERAGE
    record: Mapping[str, Any] = field(default_factory=dict[str, Any])
    failure: EvolverFailure | None = None
    within: str = ""

    def __post_init__(self) -> None:
        for name in ("train_tasks", "min_episodes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; expected 1 or more")
        if self.max_episodes < self.min_episodes:
            raise ConfigError(f"max_episodes is {self.max_episodes}; expected at least {self.min_episodes}")
        if self.seed < 0:
            raise ConfigError(f"seed is {self.seed}; expected 0 or more")


@dataclass(frozen=True, slots=True)
class Conditions:
    """Resources shared by the runs of a suite on one taskset.

    Attributes:
        taskset: the source of tasks.
        runner: runs the tasks; the caller closes it.
        hidden_cases: the suite's secret.
        reference: the baseline of every run; None for no comparison.
        others: runners with other execution models, by model name.
        probe: the check of the contract gate.
        judgements: the suite's judgements under this run's conditions; None judges everything anew.
    """

    taskset: Taskset
    runner: Runner
    hidden_cases: HiddenCases
    reference: Reference | None = None
    others: Mapping[str, Runner] = field(default_factory=dict[str, Runner])
    probe: Probe | None = None
    judgements: Judgements | None = None


async def run_evolution(
    path: Path,
    plan: RunPlan,
    conditions: Conditions,
    evolve: Evolve,
    publisher: Callable[[Session], Publish] | None = None,
) -> Verdict:
    """Start or resume a run and drive it until it is judged.

    A cancelled or killed run loses nothing (call this again with the same arguments to resume). An evolver that
    raises has failed: its traceback is recorded, and its submissions are judged. Other errors (disk, runner)
    leave the run resumable.

    Args:
        path: the run's folder.
        plan: the settings of this run.
        conditions: the resources it shares with other runs.
        evolve: spends the session's budget. Once the budget is spent, it may end with `ClosedError` or `BudgetError`.
        publisher: makes the hook that receives feedback, such as an agent's workspace.

    Raises:
        RunLockedError: if another process works on this folder.
        ConfigError: if the folder holds a run with another configuration.
        RecordError: if the disk fails, a record is damaged, or a replaying evolver diverges.
        HostError: if the runner fails.
        IsolationError: if the requested isolation is not available; `MissingExtraError` if its package is not installed.
    """
    with RunFolder.open(path) as folder:
        cut_torn_request(folder.journal)
        records = Committer(folder.journal, folder.blobs)
        draw = partial(
            Cases,
            conditions.hidden_cases,
            conditions.taskset,
            plan.train_tasks,
            plan.views,
            disjoint=plan.disjoint,
            within=plan.within,
        )
        cases = await computed(draw)
        await _begin(folder, records, plan, conditions, cases.opening)
        if plan.batches is not None:
            await journal_plan(records, plan.batches, cases.train)
        session = _open_session(records, plan, conditions, cases, publisher)
        await _evolve(session, evolve, records)
        await _examine(plan, records)
        failed = EVOLVER_FAILED.first(records.journal.events) is not None
        evolved = Evolved(
            session.snapshot(),
            session.decisions,
            "failed" if failed else "finished",
            session.batches_started,
            plan.coverage,
        )
        bench = _bench(records, plan, conditions, cases)
        with span("judge", kind="other", protocol=plan.protocol):
            return await plan.judge(bench, evolved, conditions.reference)


async def _begin(
    folder: RunFolder, records: Committer, plan: RunPlan, conditions: Conditions, opening: Opening
) -> None:
    started = start_of(plan, conditions.taskset.info, opening)
    events = records.journal.events
    if not events:
        folder.save_config(plan.config)
        await records.commit([RUN_STARTED.line(started)])
        return
    _check_same_run(RUN_STARTED.of(events[0]), started, folder.path)
    if RUN_FINISHED.first(events) is None:
        attempt = 1 + len(list(RUN_RESUMED.all(events)))
        reason = "judging was interrupted" if SESSION_CLOSED.first(events) else "the evolver was interrupted"
        await records.commit([RUN_RESUMED.line({"attempt": attempt, "reason": reason})])


def start_of(plan: RunPlan, info: TasksetInfo, opening: Opening) -> RunStarted:
    """Return the data of a run's `run.started`.

    Args:
        plan: the settings of the run.
        info: its taskset.
        opening: the opening of the commitment to its hidden cases.
    """
    budget = {name: amount for name, amount in asdict(plan.budget).items() if amount is not None}
    started: RunStarted = {
        "run_id": plan.run_id,
        "suite_id": plan.suite_id,
        "protocol": plan.protocol,
        "taskset": info.name,
        "taskset_version": info.version,
        "family": info.family,
        "group": info.group,
        "evolver": dict(plan.evolver),
        "execution": plan.execution,
        "seed": plan.seed,
        "budget": budget,
        "views": {view.name: view.count for view in plan.views},
        "failure_return": score_to_json(info.failure_return),
        "isolation": plan.isolation,
        "packages": dict(plan.packages),
        "commitment": opening.commitment,
        "conditions": dict(plan.conditions),
        "config_digest": config_digest(plan.config),
    }
    if info.labels:
        started["labels"] = dict(info.labels)
    if info.notes:
        started["notes"] = list(info.notes)
    if plan.plugins:
        started["plugins"] = [dict(origin) for origin in plan.plugins]
    if plan.routes:
        started["routes"] = {name: list(models) for name, models in plan.routes.items()}
    if plan.coverage != COVERAGE:
        started["coverage"] = plan.coverage
    # The protocol declares the types of the fields it adds.
    return cast(RunStarted, {**started, **plan.record})


def _check_same_run(before: RunStarted | None, now: RunStarted, path: Path) -> None:
    """Refuse to resume a run under other conditions: its scores would not be comparable."""
    if not before:
        raise RecordError(f"{path} does not hold a run; choose another folder")
    # The machine and other packages may differ (they are recorded); anything that decides scores must not.
    for name in (
        "run_id",
        "protocol",
        "taskset",
        "taskset_version",
        "seed",
        "budget",
        "views",
        "commitment",
        "config_digest",
    ):
        if before[name] != now[name]:
            raise ConfigError(
                f"{path} holds a run with {name} = {before[name]!r}, but {name} is now {now[name]!r}; "
                "restore the original value or start a new run in another folder"
            )


def _open_session(
    records: Committer,
    plan: RunPlan,
    conditions: Conditions,
    cases: Cases,
    publisher: Callable[[Session], Publish] | None,
) -> Session:
    rules = SessionRules(
        budget=plan.budget,
        seed=plan.seed,
        limits=plan.limits,
        min_episodes=plan.min_episodes,
        max_episodes=plan.max_episodes,
        replay=plan.replay,
        plan=plan.batches,
        probe=conditions.probe,
    )
    info = conditions.taskset.info
    return Session(records, conditions.runner, taskset=info, tasks=cases.train, rules=rules, publisher=publisher)


def _bench(records: Committer, plan: RunPlan, conditions: Conditions, cases: Cases) -> Bench:
    return Bench(
        records=records,
        rollouts=Rollouts(conditions.runner, plan.limits),
        taskset=conditions.taskset.info,
        views=cases.views,
        opening=cases.opening,
        train=cases.train,
        others={name: Rollouts(runner, plan.limits) for name, runner in conditions.others.items()},
        judgements=conditions.judgements,
    )


async def _evolve(session: Session, evolve: Evolve, records: Committer) -> None:
    if session.closed is not None:
        return
    await session.recover()
    failed = EVOLVER_FAILED.first(records.journal.events) is not None
    if not failed:
        failure = await _drive(session, evolve)
        if failure is not None:
            failed = True
            await records.commit([EVOLVER_FAILED.line(_failure(failure))])
    reason = "evolver_failed" if failed else ("budget" if session.remaining().exhausted else "finished")
    await session.close(reason)


async def _examine(plan: RunPlan, records: Committer) -> None:
    """Journal the evolver's failure if only the journal of the closed session reveals it."""
    events = records.journal.events
    if plan.failure is None or RUN_FINISHED.first(events) or EVOLVER_FAILED.first(events):
        return
    failure = plan.failure(events)
    if failure is not None:
        await records.commit([EVOLVER_FAILED.line(failure)])


async def _drive(session: Session, evolve: Evolve) -> BaseException | None:
    """Run the evolver and return its exception; raise errors that are not its fault."""

    async def work() -> None:
        await evolve(session)

    working, beating = asyncio.create_task(work()), asyncio.create_task(session.heartbeats())
    try:
        await asyncio.wait({working, beating}, return_when=asyncio.FIRST_COMPLETED)
        if not (beating.done() and beating.exception()):
            await asyncio.wait({working})
    finally:
        unfinished = not working.done()
        for task in (working, beating):
            task.cancel()
        await asyncio.wait({working, beating})
        if unfinished:
            await session.abandon()
    if not beating.cancelled() and beating.exception():
        raise RecordError("the run's clock could not be recorded; resume the run") from beating.exception()
    if session.broken is not None:
        await session.abandon()
        raise session.broken
    failure = asyncio.CancelledError("the evolver cancelled itself") if working.cancelled() else working.exception()
    if isinstance(failure, _NOT_THE_EVOLVER):
        await session.abandon()
        raise failure
    return None if isinstance(failure, ClosedError | BudgetError) else failure


def _failure(error: BaseException) -> EvolverFailed:
    lines = traceback.format_exception(error)
    return {"message": encodable(f"{type(error).__name__}: {error}"), "traceback": encodable("".join(lines))}
