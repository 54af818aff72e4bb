"""The session: an evolver's only access to evidence. It admits, charges, runs, records and answers each request exactly once.

A run survives being killed at any instant because a submission is written in this order: candidate, charge, rollouts,
trajectories, result, feedback, reply.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from heredity._core.errors import (
    BudgetError,
    ClosedError,
    ConfigError,
    DamagedRecordError,
    HostError,
    OutageError,
    ProviderError,
    RejectedError,
    ReplayDivergedError,
)
from heredity.engine.runner import Runner
from heredity.engine.trajectory import Trajectory, decode_many
from heredity.methods import Batch, Budget, Decision, Feedback, Trial
from heredity.models import Model, Reply, Request, Usage
from heredity.models.contract import NOTHING_USED
from heredity.records import Blob, Committer, Event
from heredity.records.events import (
    AGENT_USAGE,
    HEARTBEAT,
    MODEL_CALLED,
    REPLY_UNUSED,
    SESSION_CLOSED,
    SUBMISSION_COMPLETED,
    SUBMISSION_REJECTED,
    AgentUsage,
    BatchStarted,
    ModelCalled,
    ReplyUnused,
    TokenUsageData,
)
from heredity.records.journal import Line
from heredity.resources import Candidate
from heredity.sandbox.limits import Limits
from heredity.session.admission import (
    MAX_KEY,
    CheckedTrial,
    EpisodeRange,
    MalformedError,
    OpenBatch,
    admission_lines,
    category_of,
    request_digest,
)
from heredity.session.rollouts import Evaluator, Rollouts, encodable, gather
from heredity.session.schedule import BatchPlan, Decisions, Probe, gate_of
from heredity.session.session_log import SessionLog, Submission
from heredity.tasks import Task, TasksetInfo


@dataclass(frozen=True, slots=True)
class SessionRules:
    """The rules of a session.

    Attributes:
        budget: limits on episodes, submissions, tokens, cost and seconds.
        seed: the run's seed; seeds the candidates' random generators.
        limits: limits of one rollout.
        min_episodes: minimum episodes per submission.
        max_episodes: maximum episodes per submission.
        retries: retries of a rollout that failed through no fault of the candidate.
        replay: True if the evolver is deterministic and starts again from the beginning when the run is resumed. Its
            earlier requests are answered from the journal, and `remaining` returns the same values as the first time.
        plan: the batches of train tasks; None if the evolver chooses tasks freely.
        probe: the check of the contract gate, if the plan's schedule has one.
    """

    budget: Budget
    seed: int
    limits: Limits = field(default_factory=Limits)
    min_episodes: int = 1
    max_episodes: int = 128
    retries: int = 2
    replay: bool = False
    plan: BatchPlan | None = None
    probe: Probe | None = None

    def __post_init__(self) -> None:
        if self.plan is not None and self.plan.schedule.gate and self.probe is None:
            raise ConfigError("schedule.gate is true, but tasks of this kind have no contract to check; remove it")


@dataclass(slots=True, eq=False)
class AdmittedRequest:
    """An admitted request.

    Attributes:
        digest: its digest (see `request_digest`).
        ids: the numbers of its submissions.
        charge: its cost in episodes.
        earlier: True if an earlier process admitted it and it has not been requested again since.
        task: the running rollouts; None before and after.
    """

    digest: str
    ids: Sequence[int]
    charge: int
    earlier: bool
    task: asyncio.Task[list[Feedback]] | None = None

    def repeats(self, digest: str, key: str, *, replay: bool) -> bool:
        """Check a request under the same key; return True the first time it is repeated after a restart.

        Raises:
            ReplayDivergedError: if a replaying method's request differs (from the one before the restart).
            RejectedError: if it is a different request.
        """
        if self.digest != digest:
            if self.earlier and replay:
                raise ReplayDivergedError(
                    f"cannot resume: the request {key!r} differs from the recorded one; "
                    "resume with the original method version and configuration, or start a new run"
                )
            raise RejectedError(f"the key {key!r} belongs to another request; use a new key for each request")
        first, self.earlier = self.earlier, False
        return first


def earlier(log: SessionLog, ids: Sequence[int]) -> AdmittedRequest:
    """Return a request from the journal."""
    submissions = [log.submissions[i] for i in ids]
    return AdmittedRequest(submissions[0].request, ids, sum(s.charge for s in submissions), earlier=True)


class RunClock:
    """Running time of a run, in seconds.

    The clock ticks at regular heartbeats, which are recorded. At most two intervals count between ticks (a stopped process
    or a sleeping machine is not charged for its absence). A restart continues from the last recorded heartbeat,
    so a crash costs or gains at most one interval.
    """

    def __init__(
        self, start_s: float = 0.0, interval_s: float = 5.0, source: Callable[[], float] = time.monotonic
    ) -> None:
        """Start the clock.

        Args:
            start_s: initial value, in seconds: the last reading in the journal.
            interval_s: seconds between heartbeats.
            source: a monotonic clock, in seconds.
        """
        self.interval_s = interval_s
        self._counted = start_s
        self._source = source
        self._ticked = source()

    def now(self) -> float:
        """Return the seconds counted so far."""
        return self._counted + min(self._source() - self._ticked, 2 * self.interval_s)

    def tick(self) -> float:
        """Mark a heartbeat and return the seconds counted so far."""
        self._counted = self.now()
        self._ticked = self._source()
        return self._counted


class Pay(Protocol):
    """Accounts for model calls."""

    def __call__(self, usage: Usage, *, fresh: bool) -> None:
        """Count the usage of a call; `fresh` is False if an earlier process made it."""
        ...


class RecordedModel:
    """A method's model: recorded, replayed, and charged to the run's budget.

    The occurrence number distinguishes equal requests, so the order of different requests does not matter.
    """

    def __init__(self, model: Model, records: Committer, admit: Callable[[], None], pay: Pay) -> None:
        """Load the recorded calls.

        Args:
            model: answers the requests.
            records: receives the calls.
            admit: raises if the budget is spent.
            pay: receives the usage of every call, replayed calls included.
        """
        self.name, self.models = model.name, (model,)
        self._model, self._records, self._admit, self._pay = model, records, admit, pay
        calls = MODEL_CALLED.all(records.journal.events)
        self._recorded = {(call["request"], call["place"]): call for call in calls}
        self._asked: Counter[str] = Counter()
        self._unused = {(data["request"], data["place"]) for data in REPLY_UNUSED.all(records.journal.events)}

    async def reply(self, request: Request) -> Reply:
        """Answer a request, from the journal if it is recorded.

        Raises:
            ProviderError: if the model fails to answer this request, or failed to when it was recorded.
            OutageError: if the provider is unreachable (not recorded: a resumed run sends the request again).
            ClosedError: if the budget is spent; no request is sent.
        """
        occurrence = self._asked[request.digest]
        self._asked[request.digest] += 1
        self._admit()
        recorded = self._recorded.get((request.digest, occurrence))
        answer = (
            json.loads(self._records.blobs.get(recorded["blob"])) if recorded else await self._ask(request, occurrence)
        )
        if "error" in answer:
            error = answer["error"]
            raise ProviderError(error["kind"], error["message"], transient=error["transient"])
        reply = Reply.from_json(answer["reply"])
        self._pay(reply.usage, fresh=recorded is None)
        return reply

    async def unused(self, request: Request, why: str) -> None:
        """Record, once, that the reply to a request was unusable."""
        occurrence = self._asked[request.digest] - 1
        if (request.digest, occurrence) in self._unused:
            return
        self._unused.add((request.digest, occurrence))
        data: ReplyUnused = {"request": request.digest, "place": occurrence, "why": why}
        await self._records.commit([REPLY_UNUSED.line(data)])

    async def _ask(self, request: Request, occurrence: int) -> dict[str, Any]:
        model, failure, usage = self.name, None, None
        answer: dict[str, Any] = {"request": request.to_json()}
        try:
            reply = await self._model.reply(request)
        except ProviderError as error:
            if error.outage:
                raise OutageError(str(error)) from error
            failure = error.kind
            answer["error"] = {"kind": failure, "message": str(error), "transient": error.transient}
        else:
            answer["reply"] = reply.to_json()
            model, usage = reply.model, reply.usage.to_json()
        blob = Blob.of(json.dumps(answer, ensure_ascii=True).encode())
        data: ModelCalled = {
            "request": request.digest,
            "place": occurrence,
            "purpose": request.purpose,
            "model": model,
            "blob": blob.digest,
            "error": failure,
            "usage": usage,
        }
        await self._records.commit([MODEL_CALLED.line(data)], [blob])
        return answer


class BudgetLedger:
    """Spending against each limit of a budget.

    Episodes and submissions are charged before use, so they are never overdrawn. Seconds pass on the run's clock,
    which the caller passes to `remaining`. Tokens and dollars are only known after use: once they are spent nothing
    new is admitted, so they are overdrawn at most by the work in flight.
    """

    def __init__(self, total: Budget) -> None:
        """Start a ledger with nothing spent.

        Raises:
            ConfigError: if a limit is negative.
        """
        for name in ("episodes", "submissions", "tokens", "cost_usd", "seconds"):
            amount = getattr(total, name)
            if amount is not None and amount < 0:
                raise ConfigError(f"budget.{name} is {amount}; expected 0 or more, or leave it out for no limit")
        self.total = total
        self.episodes = 0
        self.submissions = 0
        self.used = NOTHING_USED

    def check(self, episodes: int, submissions: int) -> None:
        """Check that a purchase is covered.

        Raises:
            BudgetError: if it is not; the message has the remaining amount.
        """
        asked = (("episodes", episodes, self.episodes), ("submissions", submissions, self.submissions))
        for name, amount, used in asked:
            limit: int | None = getattr(self.total, name)
            if limit is not None and used + amount > limit:
                raise BudgetError(f"the request costs {amount} {name}, but only {limit - used} are left; request fewer")

    def charge(self, episodes: int, submissions: int) -> None:
        """Spend episodes and submissions, both or neither.

        Raises:
            BudgetError: if the budget does not cover it; nothing is spent.
        """
        self.check(episodes, submissions)
        self.episodes += episodes
        self.submissions += submissions

    def use(self, usage: Usage) -> None:
        """Count the usage of model calls.

        Raises:
            ConfigError: if tokens or cost are limited but the model does not report them: the limit could not be enforced.
        """
        used = self.used + usage
        bounds = (("tokens", self.total.tokens, used.tokens), ("cost_usd", self.total.cost_usd, used.cost_usd))
        for name, limit, amount in bounds:
            if limit is not None and amount is None:
                raise ConfigError(
                    f"budget.{name} is {limit}, but the model does not report its usage; set its prices under"
                    " [gateway.providers] or remove this limit"
                )
        self.used = used

    def remaining(self, clock_s: float = 0.0) -> Budget:
        """Return the remaining budget when the run's clock reads `clock_s` seconds; never negative."""
        total = self.total
        return Budget(
            episodes=None if total.episodes is None else total.episodes - self.episodes,
            submissions=None if total.submissions is None else total.submissions - self.submissions,
            tokens=None if total.tokens is None else max(0, total.tokens - (self.used.tokens or 0)),
            cost_usd=None if total.cost_usd is None else max(0.0, total.cost_usd - (self.used.cost_usd or 0.0)),
            seconds=None if total.seconds is None else max(0.0, total.seconds - clock_s),
        )


class Accounts:
    """Two ledgers of a session: the true one, and the one its evolver sees.

    They differ while a deterministic method is resumed: it starts again from the beginning and must see the same
    budget as the first time.
    """

    def __init__(self, budget: Budget, log: SessionLog, events: Iterable[Event], *, replay: bool) -> None:
        """Open the accounts with the spending recorded in the journal."""
        self._true = BudgetLedger(budget)
        self._true.charge(log.episodes, len(log.submissions))
        for submission in log.submissions.values():
            self._true.use(submission.usage or Usage(0, 0, 0, 0.0))
        for call in MODEL_CALLED.all(events):
            if call["usage"] is not None:
                self._true.use(Usage(**call["usage"]))
        self._shown = BudgetLedger(budget) if replay else self._true
        self._paid = set[int]() if replay else {s.submit_id for s in log.submissions.values() if s.status is not None}

    def remaining(self, clock_s: float) -> Budget:
        """Return the remaining budget."""
        return self._true.remaining(clock_s)

    def visible(self, clock_s: float) -> Budget:
        """Return the remaining budget as the evolver sees it."""
        return self._shown.remaining(clock_s)

    def buy(self, episodes: int, submissions: int) -> None:
        """Spend episodes and submissions.

        Raises:
            BudgetError: if they are not covered; nothing is spent.
        """
        self._true.charge(episodes, submissions)
        self.show(episodes, submissions)

    def show(self, episodes: int, submissions: int) -> None:
        """Charge a repeated purchase to the ledger that the evolver sees."""
        if self._shown is not self._true:
            self._shown.charge(episodes, submissions)

    def pay(self, usage: Usage, *, fresh: bool) -> None:
        """Count the usage of a model call; `fresh` is False if an earlier process counted it.

        Raises:
            ConfigError: as `BudgetLedger.use`.
        """
        if fresh:
            self._true.use(usage)
        if self._shown is not self._true:
            self._shown.use(usage)

    def pay_for(self, submission: Submission, *, fresh: bool) -> None:
        """Count, once, the usage of a submission's model calls."""
        if submission.usage is not None and submission.submit_id not in self._paid:
            self._paid.add(submission.submit_id)
            self.pay(submission.usage, fresh=fresh)


Publish = Callable[[Feedback, Sequence[Trajectory]], Awaitable[None] | None]
"""Receives each completed submission before its reply, and all of them again when a run is resumed."""

MAX_REJECTIONS = 1000
"""Maximum number of recorded rejections: an agent that floods its session must not fill the disk."""


class Session:
    """Implements `heredity.methods.SessionContract` over a journal; see there for `submit`.

    Attributes:
        clock: the run's clock.
        broken: the error that ended a submission through no fault of the candidate or the evolver (full disk, dead
            runner). Nothing more is admitted after it; the run can be resumed.
    """

    def __init__(
        self,
        records: Committer,
        runner: Runner,
        *,
        taskset: TasksetInfo,
        tasks: Sequence[Task],
        rules: SessionRules,
        publisher: Callable[[Session], Publish] | None = None,
        clock: RunClock | None = None,
    ) -> None:
        """Open a session and restore its state from the journal.

        Args:
            records: receives everything the session records.
            runner: runs the tasks.
            taskset: the taskset of the tasks.
            tasks: the train tasks (an evolver refers to them by position).
            rules: budget, seed, limits.
            publisher: makes the hook that receives feedback; the hook may query the session's submissions.
            clock: the run's clock; by default one that continues from the journal.
        """
        self._records = records
        self._rules = rules
        self._range = EpisodeRange(rules.min_episodes, rules.max_episodes, len(tasks))
        self._evaluator = Evaluator(Rollouts(runner, rules.limits, rules.retries), taskset, tasks, rules.seed)
        self._log = SessionLog()
        self._log.apply(records.journal.events)
        self._accounts = Accounts(rules.budget, self._log, records.journal.events, replay=rules.replay)
        self._decisions = Decisions(
            self._log, self._commit, gate_of(rules.plan, rules.probe, self._submitted), replay=rules.replay
        )
        self._batches = OpenBatch(rules.plan, self._log, self._commit, replay=rules.replay)
        self._requests = {key: earlier(self._log, ids) for key, ids in self._log.requests.items()}
        self._next_id = len(self._log.submissions) + 1
        self._ended = asyncio.Event()
        self._closing = self._abandoned = False
        self.broken: BaseException | None = None
        self.clock = clock or RunClock(self._log.clock_s)
        self._publish = publisher(self) if publisher else None
        self._notice_end()

    async def submit(self, trials: Sequence[Trial], key: str) -> list[Feedback]:
        """Evaluate trials and return their feedback in the order of the request.

        Repeating a request under its key returns the same answer and is charged once: while the first is in flight,
        after it ended, after the session was closed, and in a later process. Cancelling the call does not stop rollouts.

        Raises:
            RejectedError: if the request is malformed, or its key belongs to another request; nothing is charged.
            BudgetError: if the budget does not cover it; nothing is charged.
            ClosedError: if the session is closed or its budget is spent; nothing is charged.
            ReplayDivergedError: if a replaying evolver's request differs from the one recorded under this key.
            RecordError: if the disk is full or fails; resume the run.
            HostError: if the runner fails or the session is broken; resume the run.
        """
        return await self._submitted(trials, key, evolvers=True)

    async def _submitted(self, trials: Sequence[Trial], key: str, *, evolvers: bool = False) -> list[Feedback]:
        try:
            checked = self._range.check(trials, key)
            digest = request_digest(checked)
            request = self._requests.get(key)
            if request is None:
                if evolvers:
                    self._batches.check(checked, key)
                request = self._admit(checked, key, digest)
            else:
                if request.repeats(digest, key, replay=self._rules.replay):
                    self._accounts.show(request.charge, len(request.ids))
        except (RejectedError, BudgetError) as error:
            self._record_rejection(key, error)
            raise
        return await asyncio.shield(request.task or self._start(request, ()))

    def remaining(self) -> Budget:
        """Return the remaining budget as the evolver sees it."""
        return self._accounts.visible(self.clock.now())

    async def commit(self, decision: Decision, candidate: Candidate | None = None) -> Decision:
        """Journal a decision and return the recorded one (see `SessionContract.commit`).

        With a contract gate, pass the candidate itself.

        Raises:
            RejectedError: if the candidate was never submitted and is not passed.
            ReplayDivergedError: if a replaying method's decision differs from the journal.
            ClosedError: if the session is closed.
        """
        recorded = self._decisions.repeated(decision)
        if recorded is not None:
            return recorded
        self._check_open("committed")
        return await self._decisions.make(decision, candidate)

    async def batches(self) -> AsyncIterator[Batch]:
        """Yield the batches of the schedule (starting one freezes the committed candidate).

        Raises:
            ConfigError: if the run has no schedule.
            RejectedError: if the next batch is started while submissions are in flight.
            ClosedError: if the session is closed, or its budget is spent.
        """
        for batch in self._batches.remaining():
            if not self._batches.repeating:
                self._check_open("started")
                self._check_unspent()
                if self._running():
                    raise RejectedError(
                        f"batch {batch.number} cannot start while submissions are in flight; await them first"
                    )
            await self._batches.begin(batch)
            yield batch

    def recorded(self, model: Model) -> RecordedModel:
        """Return a model whose calls are recorded and charged to this session's budget."""
        return RecordedModel(model, self._records, self._check_unspent, self._accounts.pay)

    @property
    def decisions(self) -> Sequence[Decision]:
        """The commits and refusals so far, in order."""
        return (*self._log.decisions,)

    @property
    def batches_started(self) -> Sequence[tuple[BatchStarted, int]]:
        """The data of each started batch, with the number of decisions made before it."""
        return tuple(self._log.batches)

    @property
    def closed(self) -> str | None:
        """Reason for closing; None while the session is open."""
        return self._log.closed

    def snapshot(self) -> list[Submission]:
        """Return every admitted submission in order."""
        return list(self._log.submissions.values())

    def submission(self, submit_id: int) -> Submission:
        """Return one admitted submission.

        Raises:
            KeyError: if there is none with this number.
        """
        return self._log.submissions[submit_id]

    def load(self, submit_id: int) -> list[Trajectory]:
        """Read the trajectories of a completed submission in the order of its outcomes; empty if its candidate was refused.

        Raises:
            KeyError: if there is none with this number.
            DamagedRecordError: if their blob is missing or damaged.
        """
        blob = self.submission(submit_id).blob
        return [] if blob is None else decode_many(self._records.blobs.get(blob))

    async def recover(self) -> None:
        """After a restart, publish completed submissions again and rerun interrupted ones at no charge."""
        if self._publish is not None:
            for submission in self.snapshot():
                if submission.status is not None:
                    trajectories = await asyncio.to_thread(self.load, submission.submit_id)
                    await self._tell(submission.feedback(trajectories), trajectories)
        for request in self._requests.values():
            if request.task is None and any(self.submission(i).status is None for i in request.ids):
                self._start(request, ())

    async def heartbeats(self) -> None:
        """Journal the run's clock at every interval until the session is closed.

        Raises:
            RecordError: if the disk is full or fails.
        """
        while self.closed is None:
            await asyncio.sleep(self.clock.interval_s)
            if self.closed is None:
                await self._commit([HEARTBEAT.line({"clock_s": round(self.clock.tick(), 3)})])
            self._notice_end()

    async def finished(self) -> None:
        """Wait until the session is closed, broken, or spent with nothing in flight."""
        await self._ended.wait()

    async def close(self, reason: str) -> None:
        """Stop admitting requests, wait for work in flight, and journal the reason; no-op on a closed session.

        Args:
            reason: `budget`, `finished`, `evolver_failed` or `interrupted`.

        Raises:
            HostError: if the session is broken; it stays open on disk and can be resumed.
        """
        self._closing = True
        while running := self._running():
            await asyncio.wait(running)
        self._check_unbroken()
        if self._log.closed is None:
            await self._commit(
                [HEARTBEAT.line({"clock_s": round(self.clock.tick(), 3)}), SESSION_CLOSED.line({"reason": reason})]
            )
        self._ended.set()

    async def abandon(self) -> None:
        """Stop all work in flight and leave the session open on disk, so that the run can be resumed."""
        self._closing = self._abandoned = True
        running = self._running()
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        self._ended.set()

    def _admit(self, checked: Sequence[CheckedTrial], key: str, digest: str) -> AdmittedRequest:
        self._check_unbroken()
        self._check_open("submitted")
        left = self._accounts.remaining(self.clock.now())
        if left.exhausted:
            raise ClosedError("the session is closed: its budget is spent")
        charge = sum(len(trial.tasks) for trial in checked)
        self._accounts.buy(charge, len(checked))
        ids = range(self._next_id, self._next_id + len(checked))
        self._next_id += len(checked)
        request = self._requests[key] = AdmittedRequest(digest, ids, charge, earlier=False)
        at_s = round(self.clock.now(), 3)
        lines = admission_lines(self._log, checked, key, (digest, ids), left.episodes, at_s)
        self._start(request, lines, checked)
        return request

    def _record_rejection(self, key: str, error: RejectedError | BudgetError) -> None:
        entry = (encodable(key)[:MAX_KEY], category_of(error), encodable(str(error)))
        full = len(self._log.rejections) >= MAX_REJECTIONS
        if entry in self._log.rejections or full or self._log.closed is not None or self.broken is not None:
            return
        line = SUBMISSION_REJECTED.line({"key": entry[0], "category": entry[1], "message": entry[2]})
        self._log.apply(self._records.journal.append_many([line]))

    def _start(
        self, request: AdmittedRequest, lines: Sequence[Line], checked: Sequence[CheckedTrial] = ()
    ) -> asyncio.Task[list[Feedback]]:
        self._check_unbroken()
        if self._abandoned:
            raise ClosedError("the session was abandoned; resume the run")
        task = asyncio.create_task(self._serve(request, lines, checked))
        request.task = task

        def ended(task: asyncio.Task[list[Feedback]]) -> None:
            # Answers stay on disk: the trajectories of a run may not fit into memory.
            request.task = None
            if not task.cancelled() and task.exception() is not None:
                self.broken = self.broken or task.exception()
            self._notice_end()

        task.add_done_callback(ended)
        return task

    async def _serve(
        self, request: AdmittedRequest, lines: Sequence[Line], checked: Sequence[CheckedTrial]
    ) -> list[Feedback]:
        if lines:
            await self._commit(lines, [trial.blob for trial in checked])
        candidates = [trial.candidate for trial in checked] or [None] * len(request.ids)
        return await gather([self._settle(i, c) for i, c in zip(request.ids, candidates, strict=True)])

    async def _settle(self, submit_id: int, candidate: Candidate | None) -> Feedback:
        submission = self.submission(submit_id)
        if submission.status is not None:
            self._accounts.pay_for(submission, fresh=False)
            return submission.feedback(await asyncio.to_thread(self.load, submit_id))
        candidate = candidate or await asyncio.to_thread(self._load_candidate, submission.candidate)
        result = await self._evaluator.evaluate(submission, candidate)
        await self._commit([SUBMISSION_COMPLETED.line(result.data)], [result.blob] if result.blob else [])
        self._accounts.pay_for(self.submission(submit_id), fresh=True)
        feedback = self.submission(submit_id).feedback(result.trajectories)
        await self._tell(feedback, result.trajectories)
        return feedback

    def _load_candidate(self, digest: str) -> Candidate:
        blob = self._log.candidates[digest]
        candidate = Candidate.from_bytes(self._records.blobs.get(blob))
        if candidate.digest != digest:
            raise DamagedRecordError(f"blob {blob} does not hold candidate {digest}; restore it from a copy")
        return candidate

    async def record_usage(self, source: str, usage: TokenUsageData, dropped: Sequence[str] = ()) -> None:
        """Journal an outside agent's usage, its source, and the fields of its request that were dropped."""
        data: AgentUsage = {"source": source, **usage}
        if dropped:
            data["dropped"] = list(dropped)
        await self.note(AGENT_USAGE.line(data))

    async def note(self, line: Line, blobs: Sequence[Blob] = ()) -> None:
        """Journal an event of the run that is not one of the session's."""
        await self._commit([line], blobs)

    def refused(self, key: str, category: str, message: str) -> None:
        """Journal, once, a rejection made before submission."""
        self._record_rejection(key, MalformedError(category, message))

    async def _commit(self, lines: Sequence[Line], blobs: Sequence[Blob] = ()) -> None:
        self._log.apply(await self._records.commit(lines, blobs))

    async def _tell(self, feedback: Feedback, trajectories: Sequence[Trajectory]) -> None:
        if self._publish is not None:
            published = self._publish(feedback, trajectories)
            if inspect.isawaitable(published):
                await published

    def _check_open(self, what: str) -> None:
        if self._closing or self._log.closed is not None:
            raise ClosedError(f"nothing more can be {what}: the session is closed ({self._log.closed or 'closing'})")

    def _check_unspent(self) -> None:
        self._check_unbroken()
        if self.remaining().exhausted:
            raise ClosedError("the session is closed: its budget is spent")

    def _running(self) -> list[asyncio.Task[list[Feedback]]]:
        return [r.task for r in self._requests.values() if r.task is not None and not r.task.done()]

    def _check_unbroken(self) -> None:
        if self.broken is not None:
            raise HostError(f"the session stopped: {self.broken}; fix the cause and resume the run") from self.broken

    def _notice_end(self) -> None:
        exhausted = self._accounts.remaining(self.clock.now()).exhausted
        if self.closed is not None or self.broken is not None or (exhausted and not self._running()):
            self._ended.set()
