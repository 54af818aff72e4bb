"""`PreferenceRunner`: a language model answers instructions, and a judge compares its answers with references."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import Any, cast

from heredity._core.errors import ConfigError
from heredity.engine.actor import Problem, Solving
from heredity.engine.conversation import Conversation
from heredity.engine.conversation_record import ConversationRecord, check_solving, seeds_of
from heredity.engine.rollout import attributed
from heredity.engine.runner import Job
from heredity.engine.solver import Solver, build
from heredity.engine.streams import as_completed
from heredity.engine.trajectory import Trajectory
from heredity.kinds.checkpoint.tasks.preference.judges import ModelJudge, PreferenceJudge, Rule, RuleJudge, points
from heredity.models import Model
from heredity.models.contract import NOTHING_USED, Usage
from heredity.results.status import AnswerStatus, FailureSource
from heredity.sandbox.limits import Limits
from heredity.tasks import TasksetInfo

KIND = "preference"
"""The kind of tasksets that are judged by comparison: by the `Rule` that `rule` in their spec names, `"module:function"`, or else
by a model."""


class PreferenceRunner:
    """Runs instructions: tasksets of the kind `"preference"`.

    A rollout scores 1 for an answer that the judge prefers to the reference, 0.5 for a tie, 0 for a loss, less if it
    is much longer than the reference (`points`). An empty answer loses. A judge that gives no verdict leaves the
    rollout missing.

    Args:
        model: answers the instructions.
        judge: the model that compares, for tasksets that need one.
        settings: settings of the queries.
        concurrent: maximum concurrent rollouts.

    Raises:
        ConfigError: if a setting is out of range.
    """

    def __init__(
        self, model: Model, *, judge: Model | None = None, settings: Solving | None = None, concurrent: int = 16
    ) -> None:
        self.settings = settings or Solving()
        check_solving(self.settings, concurrent)
        self._model, self._judge = model, judge
        self._places = asyncio.Semaphore(concurrent)

    def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs, yielding (position, trajectory) as each one ends; closing the generator drops the rest.

        Raises:
            BudgetError: if the budget does not allow a model call; rollouts in progress are dropped.
            ConfigError: if a judge model is needed and missing, or a candidate is not a solver with only prompts.
        """
        settings = replace(self.settings, seconds=min(self.settings.seconds, limits.episode_s))
        seeds = seeds_of(jobs, settings)
        solvers = {job.candidate: build(job.candidate) for job in jobs}
        if any(solver.needs_programs for solver in solvers.values()):
            raise ConfigError("instructions are answered by a solver of prompts alone; leave out tools and programs")

        async def attempt(position: int, job: Job) -> tuple[int, Trajectory]:
            async with self._places:
                record = _Record(job, Conversation(self._model, settings, seeds[position]), job.task.spec["question"])
                judge = self._judge_of(job.taskset)
                return position, await attributed(record, self._compared(record, solvers[job.candidate], judge))

        return as_completed(attempt(position, job) for position, job in enumerate(jobs))

    async def close(self) -> None:
        """No-op; the runner has no processes of its own."""

    def _judge_of(self, info: TasksetInfo) -> PreferenceJudge:
        rule = info.spec.get("rule")
        if isinstance(rule, str):
            return RuleJudge(cast(Rule, resolve_name(rule)))
        if self._judge is None:
            raise ConfigError(f"{info.name} needs a model as the judge; set gateway.judge")
        return ModelJudge(self._judge)

    async def _compared(self, record: _Record, solver: Solver, judge: PreferenceJudge) -> Trajectory:
        answer = await solver.attempt(Problem(record.job.task.spec["question"]), record.conversation, None)
        spec = record.job.task.spec
        length, reference = len(answer.text), len(spec["reference"])
        lengths = {"length": length, "reference_length": reference}
        if answer.status != AnswerStatus.OK or not answer.text.strip():
            why = {"winner": "b", "reason": answer.detail or "no words"}
            return record.trajectory({**why, **lengths}, "lost: no answer", failure_source=FailureSource.NONE)
        comparison = await judge.compare(spec, answer.text, record.job.policy_seed)
        record.judged = comparison.usage
        info: dict[str, Any] = {
            "winner": comparison.winner,
            "consistent": comparison.consistent,
            "reason": " / ".join(dict.fromkeys(comparison.reasons)),
            **lengths,
        }
        outcome = {"a": "preferred to the reference", "b": "the reference was preferred", "tie": "a tie"}[
            comparison.winner
        ]
        return record.trajectory(
            info, outcome, score=points(comparison.winner, length, reference), failure_source=FailureSource.NONE
        )


@dataclass
class _Record(ConversationRecord):
    """The state of one rollout."""

    keys = ("question", "winner", "consistent", "reason", "length", "reference_length", "notes")

    judged: Usage = NOTHING_USED

    def cost(self) -> dict[str, float]:
        """Return the usage of the conversation and the judge."""
        costs = {"judge_tokens": self.judged.tokens, "judge_cost_usd": self.judged.cost_usd}
        if self.judged == NOTHING_USED:
            return super().cost()
        return {**super().cost(), **{name: float(amount) for name, amount in costs.items() if amount is not None}}
