"""Shared code of conversation runners: building solvers, seeding rollouts, and turning conversations into trajectories."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from heredity._core.errors import ConfigError
from heredity._core.ids import seed_sequence
from heredity.engine.actor import Answer, Solving
from heredity.engine.conversation import Conversation
from heredity.engine.runner import Job
from heredity.engine.solver import Solver, build
from heredity.engine.trajectory import Column, Failure, Trajectory
from heredity.models import Message
from heredity.resources import Candidate
from heredity.results.status import AnswerStatus, FailureSource, Status

_CATEGORIES = {
    AnswerStatus.TIMEOUT: Status.ROLLOUT_TIMEOUT,
    AnswerStatus.PROGRAM_TIMEOUT: Status.ROLLOUT_TIMEOUT,
    AnswerStatus.PROGRAM_ERROR: Status.ACT_ERROR,
}


@dataclass
class ConversationRecord:
    """The state of one rollout while it lasts; turns it into a trajectory.

    Attributes:
        keys: the columns `info/KEY`; their values are in the last row.
        job: the job.
        conversation: the conversation.
        question: the question; None until it is known.
    """

    keys: ClassVar[tuple[str, ...]] = ()

    job: Job
    conversation: Conversation
    question: str | None = None
    started: float = field(default_factory=time.monotonic)

    def failed(self, status: str, failure_source: FailureSource, message: str, trace: str = "") -> Trajectory:
        """Return the record of a rollout that an error ended."""
        failure = Failure(status, message, trace, self._last_step())
        return self.trajectory({"reason": message}, message, failure=failure, failure_source=failure_source)

    def failure_of(self, answer: Answer) -> Failure:
        """Return the reason for a missing answer."""
        trace = answer.notes[-1] if answer.status == AnswerStatus.PROGRAM_ERROR and answer.notes else ""
        category = _CATEGORIES.get(answer.status, Status.NO_ANSWER)
        return Failure(category, f"{answer.status}: {answer.detail}", trace, self._last_step())

    def trajectory(
        self,
        info: Mapping[str, Any],
        outcome: str,
        *,
        score: float = 0.0,
        failure: Failure | None = None,
        failure_source: FailureSource = FailureSource.CANDIDATE,
        truncated: bool = False,
    ) -> Trajectory:
        """Return the record of a rollout.

        Args:
            info: values of `keys`; others are left out.
            outcome: the result of the last step.
            score: the whole reward.
            failure: the failure, if any.
            failure_source: source of the failure; with `NONE` the score counts and the status is ok.
            truncated: true if the rollout was cut short.
        """
        steps = [turn for turn in self.conversation.turns if turn.reply is not None]
        length, failed = len(steps), failure is not None and failure_source != FailureSource.NONE
        details = {"question": self.question, **info}
        if self.conversation.notes:
            details["notes"] = list(self.conversation.notes)
        columns: dict[str, Column] = {
            "obs": [*(_text(turn.messages_shown) for turn in steps), outcome],
            "action": [_reply_text(turn.reply) for turn in steps if turn.reply is not None],
            "reward": _at_end(length, score, np.float64),
            "terminated": _at_end(length, failure is None, np.bool_),
            "truncated": _at_end(length, truncated, np.bool_),
            "messages": [message.to_json() for message in self.conversation.messages],
            **{f"info/{key}": [None] * (length - 1) + [details.get(key)] * bool(length) for key in self.keys},
        }
        return Trajectory(
            task_id=self.job.task.id,
            candidate=self.job.candidate.digest,
            status=failure.category if failure and failed else Status.OK,
            failure_source=failure_source if failed else FailureSource.NONE,
            total_reward=score,
            length=length,
            terminated=failure is None,
            columns=columns,
            failure=failure,
            seconds=time.monotonic() - self.started,
            cost=self.cost(),
        )

    def cost(self) -> dict[str, float]:
        """Return the conversation's usage; unknown values are absent."""
        amounts: dict[str, Any] = {
            **self.conversation.usage.to_json(),
            "model_calls": self.conversation.calls,
            "tool_calls": self.conversation.tool_calls,
        }
        return {name: float(amount) for name, amount in amounts.items() if amount is not None}

    def _last_step(self) -> int | None:
        steps = sum(turn.reply is not None for turn in self.conversation.turns)
        return steps - 1 if steps else None


def built(candidate: Candidate) -> Solver | ConfigError:
    """Return a candidate's solver, or the reason it cannot be built."""
    try:
        return build(candidate)
    except ConfigError as error:
        return error


def seeds_of(jobs: Sequence[Job], settings: Solving) -> list[int]:
    """Return the model's seed for each job: the policy's; repeats get other seeds, or they would all be alike."""
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


def check_solving(settings: Solving, concurrent: int) -> None:
    """Check the settings' ranges.

    Raises:
        ConfigError: if a value is out of range.
    """
    least = {"max_turns": 1, "rounds": 1, "tool_output_chars": 1}
    for name, minimum in least.items():
        if getattr(settings, name) < minimum:
            raise ConfigError(f"{name} is {getattr(settings, name)}; expected {minimum} or more")
    for name in ("seconds", "program_seconds", "tool_seconds", "shell_seconds"):
        if not getattr(settings, name) > 0:
            raise ConfigError(f"{name} is {getattr(settings, name)}; expected more than 0")
    if concurrent < 1:
        raise ConfigError(f"concurrent is {concurrent}; expected 1 or more")


def _at_end(length: int, value: float | bool, dtype: type[np.generic]) -> np.ndarray:
    column = np.zeros(length, dtype)
    column[-1:] = value
    return column


def _text(messages: Sequence[Message]) -> str:
    if len(messages) == 1 and messages[0].role == "user":
        return messages[0].content
    return "\n\n".join(f"[{message.role}]\n{message.content}" for message in messages)


def _reply_text(reply: Message) -> str:
    calls = [_call(call.name, call.arguments) for call in reply.tool_calls]
    return "\n".join(part for part in (reply.content, *calls) if part)


def _call(name: str, arguments: str) -> str:
    given: Any = arguments
    with suppress(ValueError, RecursionError):
        given = json.loads(arguments)
    return json.dumps({"tool": name, "arguments": given}, ensure_ascii=False)
