"""The session: the only door to evidence. It admits, charges, attempts, records and answers, each exactly once.

The order of a submission on disk is what makes a run survive being killed at any instant: candidate, then the charge,
then the rollouts, then their trajectories, then the result, then the feedback, then the reply.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from heredity.errors import (
    BudgetError,
    ClosedError,
    DamagedRecordError,
    HostError,
    RejectedError,
)
from heredity.evolution import Batch, Budget, Decision, Feedback, Trial
from heredity.gateway import Model
from heredity.judging.accounts import Accounts
from heredity.judging.admission import (
    MAX_KEY,
    CheckedTrial,
    EpisodeRange,
    MalformedError,
    admission_lines,
    category_of,
    request_digest,
)
from heredity.judging.clock import RunClock
from heredity.judging.decisions import Decisions, gate_of
from heredity.judging.evaluate import Evaluator
from heredity.judging.gathering import gather
from heredity.judging.open_batch import OpenBatch
from heredity.judging.recorded_model import RecordedModel
from heredity.judging.requests import AdmittedRequest, earlier
from heredity.judging.rollouts import Rollouts, encodable
from heredity.judging.rules import SessionRules
from heredity.judging.session_log import SessionLog, Submission
from heredity.records import Blob, Committer
from heredity.records.agent_events import TokenUsageData
from heredity.records.events import (
    AGENT_USAGE,
    HEARTBEAT,
    SESSION_CLOSED,
    SUBMISSION_COMPLETED,
    SUBMISSION_REJECTED,
    BatchStarted,
)
from heredity.records.journal import Line
from heredity.resources import Candidate
from heredity.rollouts.contract import Runner
from heredity.rollouts.trajectory import Trajectory, decode_many
from heredity.tasks import Task, TasksetInfo

Publish = Callable[[Feedback, Sequence[Trajectory]], Awaitable[None] | None]
"""Told of each completed submission before its reply; told again of all of them when a run is resumed."""

MAX_REJECTIONS = 1000
"""How many refused requests are recorded: an agent that floods its session must not fill the disk."""


class Session:
    """Implements `heredity.evolution.SessionContract` over a journal; see there for `submit`.

    Attributes:
        clock: the run's clock.
        broken: what ended a submission that was neither the candidate's nor the evolver's fault (a full disk, a runner
            that died). Nothing more is admitted then; the run can be resumed.
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
        """Open a session, continuing from what the journal says of it.

        Args:
            records: where everything is recorded.
            runner: what attempts the tasks.
            taskset: what the tasks belong to.
            tasks: the train tasks; an evolver names them by their position here.
            rules: budget, seed, limits.
            publisher: makes the hook that feedback is published to; it may ask the session about its submissions.
            clock: the run's clock; None makes one that continues from the journal.
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
        """Attempt trials and return their feedback in the order of the request.

        The same key with the same request gives the same answer and is charged once: while the first is in flight,
        after it ended, after the session was closed, and in a later process. Giving up on a reply stops no rollout.

        Raises:
            RejectedError: if the request is malformed, or its key belongs to another request; nothing is charged.
            BudgetError: if the budget does not cover it; nothing is charged.
            ClosedError: if the session is closed or its budget is spent; nothing is charged.
            ReplayDivergedError: if a replaying evolver asks for something else than the journal records under this key.
            RecordError: if the disk is full or fails; the run is to be resumed.
            HostError: if the runner fails, or something failed before; the run is to be resumed.
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
        """Return what is left of the budget, as the evolver is to see it."""
        return self._accounts.seen(self.clock.now())

    async def commit(self, decision: Decision, candidate: Candidate | None = None) -> Decision:
        """Journal a decision and return what is on record (see `SessionContract.commit`).

        Behind a contract gate the candidate itself has to be given.

        Raises:
            RejectedError: if the candidate was never submitted and is not given.
            ReplayDivergedError: if a replaying method decides otherwise than its journal records.
            ClosedError: if the session is closed.
        """
        recorded = self._decisions.repeated(decision)
        if recorded is not None:
            return recorded
        self._check_open("committed")
        return await self._decisions.make(decision, candidate)

    async def batches(self) -> AsyncIterator[Batch]:
        """Yield the batches of the schedule; beginning one freezes what is committed.

        Raises:
            ConfigError: if the run has no schedule.
            RejectedError: if the next batch is started while submissions are in flight.
            ClosedError: if the session is closed, or its budget is spent.
        """
        for batch in self._batches.left():
            if not self._batches.repeating:
                self._check_open("begun")
                self._check_unspent()
                if self._running():
                    raise RejectedError(
                        f"batch {batch.number} cannot begin while submissions are in flight; await them"
                    )
            await self._batches.begin(batch)
            yield batch

    def recorded(self, model: Model) -> RecordedModel:
        """Return a model for the evolver, whose calls are recorded and paid for by this session's budget."""
        return RecordedModel(model, self._records, self._check_unspent, self._accounts.pay)

    @property
    def decisions(self) -> Sequence[Decision]:
        """The commits and refusals so far, in order."""
        return (*self._log.decisions,)

    @property
    def batches_started(self) -> Sequence[tuple[BatchStarted, int]]:
        """The data of each batch that was started, and how many decisions were made before it."""
        return tuple(self._log.batches)

    @property
    def closed(self) -> str | None:
        """Why the session is closed; None while it is open."""
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
        """Read the trajectories of a completed submission in the order of its outcomes; none if nothing was attempted.

        Raises:
            KeyError: if there is none with this number.
            DamagedRecordError: if their blob is missing or damaged.
        """
        blob = self.submission(submit_id).blob
        return [] if blob is None else decode_many(self._records.blobs.get(blob))

    async def recover(self) -> None:
        """Publish again what was completed before a restart, and attempt again, uncharged, what was interrupted."""
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
        """Wait until nothing more can come of this session: it is closed, broken, or spent with nothing in flight."""
        await self._ended.wait()

    async def close(self, reason: str) -> None:
        """Admit nothing more, wait for what is in flight, and journal why; closing a closed session changes nothing.

        Args:
            reason: `budget`, `finished`, `evolver_failed` or `interrupted`.

        Raises:
            HostError: if the session is broken; it stays open on disk, to be resumed.
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
        """Stop everything in flight and leave the session open on disk, to be resumed."""
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
        left = self._accounts.left(self.clock.now())
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
            # The answer is kept on disk, not here: the trajectories of a run may not fit into memory.
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
            raise DamagedRecordError(f"the blob {blob} holds another candidate than {digest}; restore it from a copy")
        return candidate

    async def record_usage(self, source: str, usage: TokenUsageData) -> None:
        """Journal what an outside agent used, and who says so."""
        await self.note(AGENT_USAGE.line({"source": source, **usage}))

    async def note(self, line: Line, blobs: Sequence[Blob] = ()) -> None:
        """Journal something that belongs to the run and is none of the session's own events."""
        await self._commit([line], blobs)

    def refused(self, key: str, category: str, message: str) -> None:
        """Journal once that something was refused before it could be submitted."""
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
            raise ClosedError(f"the session is closed ({self._log.closed or 'closing'}); nothing more can be {what}")

    def _check_unspent(self) -> None:
        self._check_unbroken()
        if self.remaining().exhausted:
            raise ClosedError("the session is closed: its budget is spent")

    def _running(self) -> list[asyncio.Task[list[Feedback]]]:
        return [r.task for r in self._requests.values() if r.task is not None and not r.task.done()]

    def _check_unbroken(self) -> None:
        if self.broken is not None:
            raise HostError(f"the session stopped: {self.broken}; then resume the run") from self.broken

    def _notice_end(self) -> None:
        exhausted = self._accounts.left(self.clock.now()).exhausted
        if self.closed is not None or self.broken is not None or (exhausted and not self._running()):
            self._ended.set()
