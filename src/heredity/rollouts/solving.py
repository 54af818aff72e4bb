"""`SolvingRunner`: solvers on questions. Each attempt is a conversation, whose answer is checked against the reference."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np

from heredity.actors.contract import Answer, Problem, Programs, RoundFeedback, Solving
from heredity.actors.conversation import Conversation
from heredity.actors.parts import render
from heredity.actors.solver import Solver, build
from heredity.errors import ConfigError, HostError, IsolationError, ProviderError, UnknownNameError
from heredity.gateway import Message, Model
from heredity.gateway.contract import NOTHING_USED
from heredity.ids import seed_sequence
from heredity.resources import Candidate
from heredity.rollouts.as_they_end import as_they_end
from heredity.rollouts.contract import Job, Limits
from heredity.rollouts.trajectory import Column, Failure, Trajectory
from heredity.spans import span
from heredity.tasks import Task
from heredity.tasks.questions import Verification, present, verify

PublicTests = Callable[[Task, str], Awaitable[str | None]]
"""What a task says in public of an answer; None if there is nothing to say against it."""

_CATEGORIES = {"timeout": "rollout_timeout", "program_error": "act_error"}
_NO_ANSWER = "no_answer"
_INFO = ("question", "expected", "extracted", "correct", "reason", "rounds", "notes")


class SolvingRunner:
    """Attempts questions with solvers: tasksets of the kind `"question"`.

    Args:
        model: what solvers converse with; also the critic between rounds.
        judge: the model that checks answers where no rule can.
        programs: the sandbox for candidates that have programs; whoever made it closes it.
        settings: how each attempt goes.
        concurrent: most attempts at the same time.
        public: gives the feedback `"public"` between rounds.

    Raises:
        ConfigError: if the settings are out of range, or ask for public feedback and nothing gives it.
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
    ) -> None:
        self.settings = settings or Solving()
        _check(self.settings, concurrent, public)
        self._model, self._judge, self._programs, self._public = model, judge, programs, public
        self._places = asyncio.Semaphore(concurrent)

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs, yielding (position, trajectory) as each one ends; what has not ended is dropped when it is closed.

        An attempt may take `Solving.seconds` or `Limits.episode_s`, whichever is less; waiting for a place is not
        counted, and neither is checking the answer.

        Raises:
            BudgetError: if the budget does not allow a model call; the attempts under way are dropped.
            ConfigError: if a candidate needs a sandbox or a question needs a judge, and there is none.
        """
        settings = replace(self.settings, seconds=min(self.settings.seconds, limits.episode_s))
        seeds = _seeds(jobs, settings)
        solvers = {job.candidate: _built(job.candidate) for job in jobs}

        async def attempt(position: int, job: Job) -> tuple[int, Trajectory]:
            async with self._places:
                talk = Conversation(self._model, settings, seeds[position])
                return position, await self._attempt(_Record(job, talk), solvers[job.candidate])

        async with aclosing(as_they_end(attempt(position, job) for position, job in enumerate(jobs))) as ended:
            async for each in ended:
                yield each

    async def close(self) -> None:
        """Do nothing: the runner starts no process of its own."""

    async def _attempt(self, record: _Record, solver: Solver | ConfigError) -> Trajectory:
        job = record.job
        with span("attempt", kind="attempt", task=job.task.id, candidate=job.candidate.digest) as step:
            try:
                trajectory = await self._solved(record, solver)
            except ProviderError as error:
                trajectory = record.failed("provider_error", "provider", f"{error.kind}: {error}")
            except _VerifierError as error:
                trajectory = record.failed("environment_error", "environment", str(error))
            except HostError as error:
                trajectory = record.failed("host_error", "host", str(error))
            except IsolationError as error:
                trajectory = record.failed("isolation_error", "host", str(error))
            step.set(status=trajectory.status, blame=trajectory.blame, score=trajectory.total_reward)
            return trajectory

    async def _solved(self, record: _Record, solver: Solver | ConfigError) -> Trajectory:
        if isinstance(solver, ConfigError):
            return record.failed("import_error", "candidate", str(solver))
        shown = present(record.job.task.spec)
        problem = Problem(shown.text, shown.choices, shown.images, shown.instructions)
        record.question = render(problem)
        answer = await solver.attempt(problem, record.talk, self._programs, self._feedback(record))
        scores = [(await self._verdict(record, text)).score for text in answer.rounds]
        if answer.status != "ok":
            return record.unanswered(answer, scores)
        return record.scored(answer, await self._verdict(record, answer.text), scores)

    def _feedback(self, record: _Record) -> Callable[[str], Awaitable[str | None]]:
        async def verdict(text: str) -> str | None:
            found = await self._verdict(record, text)
            if found.correct:
                return None
            read = f" It was read as: {found.extracted}" if found.extracted else " No answer could be read out of it."
            return f"Your answer is wrong.{read}"

        async def public(text: str) -> str | None:
            return await self._public(record.job.task, text) if self._public is not None else None

        return public if self.settings.feedback == "public" else verdict

    async def _verdict(self, record: _Record, text: str) -> Verification:
        """Check an answer, the same words once: a judge costs money, and must not say two things of them."""
        if text not in record.verdicts:
            with span("verify", kind="verify") as step:
                try:
                    found = await verify(record.job.task.spec, text, judge=self._judge, seed=record.job.policy_seed)
                except ProviderError:
                    raise
                except HostError as error:
                    raise _VerifierError(f"the answer could not be checked: {error}") from error
                step.set(score=found.score, extracted=found.extracted, reason=found.reason)
            record.verdicts[text] = found
        return record.verdicts[text]


class _VerifierError(Exception):
    """A verifier failed by itself."""


@dataclass
class _Record:
    """What is known of one attempt while it lasts, and how it becomes a trajectory."""

    job: Job
    talk: Conversation
    question: str | None = None
    verdicts: dict[str, Verification] = field(default_factory=dict[str, Verification])
    started: float = field(default_factory=time.monotonic)

    def scored(self, answer: Answer, verdict: Verification, scores: list[float]) -> Trajectory:
        """Return the record of an answered attempt: its score is that of the last round."""
        info = {
            "extracted": verdict.extracted,
            "correct": verdict.correct,
            "reason": verdict.reason,
            "rounds": scores,
        }
        told = f"{'right' if verdict.correct else 'wrong'}, score {verdict.score:g}: {verdict.reason}"
        return self._trajectory(info, told, score=float(verdict.score))

    def unanswered(self, answer: Answer, scores: list[float]) -> Trajectory:
        """Return the record of an attempt in which the candidate gave no answer in its last round."""
        status = _CATEGORIES.get(answer.status, _NO_ANSWER)
        info = {"correct": False, "reason": answer.detail, "rounds": [*scores, 0.0]}
        trace = answer.notes[-1] if answer.status == "program_error" and answer.notes else ""
        failure = Failure(status, f"{answer.status}: {answer.detail}", trace, self._last_step())
        return self._trajectory(info, failure.message, failure=failure, truncated=answer.status == "turns")

    def failed(self, status: str, blame: str, message: str) -> Trajectory:
        """Return the record of an attempt that something else ended."""
        failure = Failure(status, message, "", self._last_step())
        return self._trajectory({"reason": message}, message, failure=failure, blame=blame)

    def _trajectory(
        self,
        info: Mapping[str, Any],
        told: str,
        *,
        score: float = 0.0,
        failure: Failure | None = None,
        blame: str = "candidate",
        truncated: bool = False,
    ) -> Trajectory:
        steps = [turn for turn in self.talk.turns if turn.reply is not None]
        length = len(steps)
        known = {"question": self.question, "expected": self.job.task.spec.get("answer"), **info}
        if self.talk.notes:
            known["notes"] = list(self.talk.notes)
        columns: dict[str, Column] = {
            "obs": [*(_text(turn.told) for turn in steps), told],
            "action": [_said(turn.reply) for turn in steps if turn.reply is not None],
            "reward": _at_end(length, score, np.float64),
            "terminated": _at_end(length, failure is None, np.bool_),
            "truncated": _at_end(length, truncated, np.bool_),
            "messages": [message.to_json() for message in self.talk.messages],
            **{f"info/{key}": [None] * (length - 1) + [known.get(key)] * bool(length) for key in _INFO},
        }
        return Trajectory(
            task_id=self.job.task.id,
            candidate=self.job.candidate.digest,
            status=failure.category if failure else "ok",
            blame=blame if failure else "none",
            total_reward=score,
            length=length,
            terminated=failure is None,
            columns=columns,
            failure=failure,
            seconds=time.monotonic() - self.started,
            cost=self._cost(),
        )

    def _cost(self) -> dict[str, float]:
        judged = sum((v.usage for v in self.verdicts.values()), NOTHING_USED)
        amounts = {
            **self.talk.usage.to_json(),
            "model_calls": self.talk.calls,
            "tool_calls": self.talk.tool_calls,
            **({} if judged == NOTHING_USED else {"judge_tokens": judged.tokens, "judge_cost_usd": judged.cost_usd}),
        }
        return {name: float(amount) for name, amount in amounts.items() if amount is not None}

    def _last_step(self) -> int | None:
        steps = sum(turn.reply is not None for turn in self.talk.turns)
        return steps - 1 if steps else None


def conversation_of(trajectory: Trajectory) -> tuple[Message, ...]:
    """Return everything that was said in an attempt at a question, in order, as it was said."""
    return tuple(Message.from_json(message) for message in trajectory.columns.get("messages", ()))


def _built(candidate: Candidate) -> Solver | ConfigError:
    try:
        return build(candidate)
    except ConfigError as error:
        return error


def _seeds(jobs: Sequence[Job], settings: Solving) -> list[int]:
    """Return the model's seed of each job: the policy's, and for repeats of an attempt others, or they would all be alike."""
    seen: Counter[tuple[Candidate, str]] = Counter()
    seeds: list[int] = []
    for job in jobs:
        repeat = seen[job.candidate, job.task.id]
        seen[job.candidate, job.task.id] += 1
        if repeat and settings.temperature != 0:
            seeds.append(int(seed_sequence(job.policy_seed, "repeat", repeat).generate_state(1)[0]))
        else:
            seeds.append(job.policy_seed)
    return seeds


def _at_end(length: int, value: float | bool, dtype: type[np.generic]) -> np.ndarray:
    column = np.zeros(length, dtype)
    column[-1:] = value
    return column


def _text(told: Sequence[Message]) -> str:
    if len(told) == 1 and told[0].role == "user":
        return told[0].content
    return "\n\n".join(f"[{message.role}]\n{message.content}" for message in told)


def _said(reply: Message) -> str:
    calls = [_call(call.name, call.arguments) for call in reply.tool_calls]
    return "\n".join(part for part in (reply.content, *calls) if part)


def _call(name: str, arguments: str) -> str:
    given: Any = arguments
    with suppress(ValueError, RecursionError):
        given = json.loads(arguments)
    return json.dumps({"tool": name, "arguments": given}, ensure_ascii=False)


def _check(settings: Solving, concurrent: int, public: PublicTests | None) -> None:
    least = {"max_turns": 1, "rounds": 1, "tool_output_chars": 1}
    for name, minimum in least.items():
        if getattr(settings, name) < minimum:
            raise ConfigError(f"{name} is {getattr(settings, name)}; expected {minimum} or more")
    for name in ("seconds", "tool_seconds"):
        if not getattr(settings, name) > 0:
            raise ConfigError(f"{name} is {getattr(settings, name)}; expected more than 0")
    if concurrent < 1:
        raise ConfigError(f"concurrent is {concurrent}; expected 1 or more")
    if settings.feedback not in get_args(RoundFeedback):
        raise UnknownNameError("feedback", settings.feedback, get_args(RoundFeedback))
    if settings.feedback == "public" and settings.rounds > 1 and public is None:
        raise ConfigError("these questions have no public tests; set feedback to none, self or verdict")
