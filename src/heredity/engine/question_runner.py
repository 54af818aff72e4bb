"""`SolvingRunner`: solvers on questions. Each attempt is a conversation whose answer is checked against the reference."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from heredity._core.errors import ConfigError, HostError, ProviderError, UnknownNameError
from heredity._core.spans import span
from heredity.engine.actor import Answer, Problem, Programs, ProvidedTools, RoundFeedback, Solving
from heredity.engine.conversation import Conversation
from heredity.engine.conversation_record import ConversationRecord, built, check_solving, seeds_of
from heredity.engine.kind import TaskTools
from heredity.engine.parts import render
from heredity.engine.questions import Verification, present, verify
from heredity.engine.rollout import RolloutError, attributed
from heredity.engine.runner import Job
from heredity.engine.solver import Solver
from heredity.engine.streams import as_completed
from heredity.engine.trajectory import Trajectory
from heredity.models import Message, Model
from heredity.models.contract import NOTHING_USED
from heredity.results.status import AnswerStatus, FailureSource, Status
from heredity.sandbox.limits import Limits
from heredity.tasks import Task

PublicTests = Callable[[Task, str], Awaitable[str | None]]
"""Returns a task's public feedback on an answer; None if there is no objection."""


class SolvingRunner:
    """Runs solvers on questions: tasksets of the kind `"question"`.

    Args:
        model: the model that solvers converse with; also the critic between rounds.
        judge: the model that checks answers (where no rule can).
        programs: the sandbox for candidates that have programs; closed by the caller.
        settings: settings of each rollout.
        concurrent: maximum concurrent rollouts.
        public: returns the feedback `"public"` between rounds.
        provided: returns the task's tools, in addition to those of a candidate. Its exceptions end the run.

    Raises:
        ConfigError: if the settings are out of range, or require public feedback without `public`.
    """

    def __init__(
        self,
        model: Model,
        *,
        judge: Model | None = None,
        programs: Programs | None = None,
        settings: Solving | None = None,
        concurrent: int = 8,
        public: PublicTests | None = None,
        provided: TaskTools | None = None,
    ) -> None:
        self.settings = settings or Solving()
        _check(self.settings, concurrent, public)
        self._model, self._judge, self._programs, self._public = model, judge, programs, public
        self._provided = provided
        self._places = asyncio.Semaphore(concurrent)

    def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs, yielding (position, trajectory) as each one ends; closing the generator drops the rest.

        A rollout may take the lower of `Solving.seconds` and `Limits.episode_s`. Waiting for a slot and checking the
        answer do not count (nor are they limited).

        Raises:
            BudgetError: if the budget does not allow a model call; rollouts in progress are dropped.
            ConfigError: if a candidate needs a sandbox or a question needs a judge that is missing.
        """
        if any((job.task.spec.get("verifier") or {}).get("kind") == "unpublished" for job in jobs):
            raise ConfigError(
                f"the answers of {jobs[0].taskset.name} are not published, so a solver has no score; have a team answer them "
                "(protocol team-questions), then write the file for the leaderboard: heredity team submission"
            )
        settings = replace(self.settings, seconds=min(self.settings.seconds, limits.episode_s))
        seeds = seeds_of(jobs, settings)
        solvers = {job.candidate: built(job.candidate) for job in jobs}

        async def attempt(position: int, job: Job) -> tuple[int, Trajectory]:
            async with self._places:
                conversation = Conversation(self._model, settings, seeds[position])
                record = self.record(job, conversation)
                return position, await attributed(record, self._attempt(record, solvers[job.candidate]))

        return as_completed(attempt(position, job) for position, job in enumerate(jobs))

    async def close(self) -> None:
        """No-op; the runner starts no processes."""

    def problem(self, task: Task) -> Problem:
        """Return the public part of a task."""
        shown = present(task.spec)
        return Problem(shown.text, shown.choices, shown.images, shown.instructions)

    async def checked(self, job: Job, text: str) -> Verification:
        """Check an answer."""
        return await verify(job.task.spec, text, judge=self._judge, seed=job.policy_seed)

    def verdict_text(self, verification: Verification) -> str:
        """Return the feedback `"verdict"` on a wrong answer."""
        extracted = verification.extracted
        read = f"It was read as: {extracted}" if extracted else "No answer could be read out of it."
        return f"Your answer is wrong. {read}"

    def record(self, job: Job, conversation: Conversation) -> QuestionRecord:
        """Return the record of a new rollout."""
        return QuestionRecord(job, conversation)

    async def _attempt(self, record: QuestionRecord, solver: Solver | ConfigError) -> Trajectory:
        if isinstance(solver, ConfigError):
            return record.failed(Status.IMPORT_ERROR, FailureSource.CANDIDATE, str(solver))
        tools = await self._provided(record.job.task) if self._provided else ProvidedTools()
        try:
            return await self._attempt_with(tools, record, solver)
        finally:
            await tools.close()

    async def _attempt_with(self, tools: ProvidedTools, record: QuestionRecord, solver: Solver) -> Trajectory:
        if taken := {tool.spec.name for tool in tools} & {tool.name for tool in solver.parts.tools}:
            clash = f"tool/{min(taken)} has the name of a tool that comes with the task; give it another name"
            return record.failed(Status.IMPORT_ERROR, FailureSource.CANDIDATE, clash)
        problem = self.problem(record.job.task)
        record.question = render(problem)
        answer = await solver.attempt(problem, record.conversation, self._programs, self._feedback(record), tools)
        scores = [(await self._verdict(record, text)).score for text in answer.rounds]
        if answer.status != AnswerStatus.OK:
            return record.unanswered(answer, scores)
        return record.scored(answer, await self._verdict(record, answer.text), scores)

    def _feedback(self, record: QuestionRecord) -> Callable[[str], Awaitable[str | None]]:
        async def verdict(text: str) -> str | None:
            verification = await self._verdict(record, text)
            return None if verification.correct else self.verdict_text(verification)

        async def public(text: str) -> str | None:
            return await self._public(record.job.task, text) if self._public is not None else None

        return public if self.settings.feedback == "public" else verdict

    async def _verdict(self, record: QuestionRecord, text: str) -> Verification:
        """Check an answer, each text once: a judge costs money and must not contradict itself."""
        if text not in record.verdicts:
            with span("verify", kind="verify") as step:
                try:
                    verification = await self.checked(record.job, text)
                except ProviderError:
                    raise
                except HostError as error:
                    raise RolloutError(f"the answer could not be checked: {error}") from error
                step.set(score=verification.score, extracted=verification.extracted, reason=verification.reason)
            record.verdicts[text] = verification
        return record.verdicts[text]


@dataclass
class QuestionRecord(ConversationRecord):
    """The state of one rollout on a question.

    Attributes:
        verdicts: the verification of each checked text.
    """

    keys = ("question", "expected", "extracted", "correct", "reason", "confidence", "rounds", "notes")

    verdicts: dict[str, Verification] = field(default_factory=dict[str, Verification])

    def scored(self, answer: Answer, verdict: Verification, scores: list[float]) -> Trajectory:
        """Return the record of an answered attempt; its score is that of the last round."""
        info = {
            "extracted": verdict.extracted,
            "correct": verdict.correct,
            "reason": verdict.reason,
            "rounds": scores,
            **verdict.details,
        }
        outcome = f"{'right' if verdict.correct else 'wrong'}, score {verdict.score:g}: {verdict.reason}"
        return self.trajectory(info, outcome, score=float(verdict.score))

    def unanswered(self, answer: Answer, scores: list[float]) -> Trajectory:
        """Return the record of a rollout without an answer in its last round."""
        info, failure = {"correct": False, "reason": answer.detail, "rounds": [*scores, 0.0]}, self.failure_of(answer)
        return self.trajectory(info, failure.message, failure=failure, truncated=answer.status == AnswerStatus.TURNS)

    def trajectory(self, info: Mapping[str, Any], outcome: str, **how: Any) -> Trajectory:
        """Return the record, with the expected answer."""
        return super().trajectory({"expected": self.job.task.spec.get("answer"), **info}, outcome, **how)

    def cost(self) -> dict[str, float]:
        """Return the usage of the conversation and the judge."""
        judged = sum((v.usage for v in self.verdicts.values()), NOTHING_USED)
        costs = {"judge_tokens": judged.tokens, "judge_cost_usd": judged.cost_usd} if judged != NOTHING_USED else {}
        return {**super().cost(), **{name: float(amount) for name, amount in costs.items() if amount is not None}}


def conversation_of(trajectory: Trajectory) -> tuple[Message, ...]:
    """Return the messages of a rollout on a question, verbatim and in order."""
    return tuple(Message.from_json(message) for message in trajectory.columns.get("messages", ()))


def _check(settings: Solving, concurrent: int, public: PublicTests | None) -> None:
    check_solving(settings, concurrent)
    if settings.feedback not in get_args(RoundFeedback):
        raise UnknownNameError("feedback", settings.feedback, get_args(RoundFeedback))
    if settings.feedback == "public" and settings.rounds > 1 and public is None:
        raise ConfigError("these questions have no public tests; set feedback to none, self or verdict")
