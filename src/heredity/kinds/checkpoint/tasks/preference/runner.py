"""`PreferenceRunner`: a language model answers instructions, and a judge compares its answers with references."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import Any, Protocol, cast

from heredity._core.errors import ConfigError
from heredity.engine.actor import Problem, Solving
from heredity.engine.conversation import Conversation
from heredity.engine.conversation_record import ConversationRecord, check_solving, seeds_of
from heredity.engine.questions.judge import Comparison, pairwise
from heredity.engine.rollout import attributed
from heredity.engine.runner import Job
from heredity.engine.solver import Solver, build
from heredity.engine.streams import as_completed
from heredity.engine.trajectory import Trajectory
from heredity.models import Model, Sampling
from heredity.models.contract import NOTHING_USED, Usage
from heredity.results.status import AnswerStatus, FailureSource
from heredity.sandbox.limits import Limits
from heredity.tasks import TasksetInfo

Rule = Callable[[Mapping[str, Any], str], float]
"""Maps a task's spec and an answer to its quality, 0 to 1; raises ConfigError for an unknown spec."""

MARGIN = 0.02
"""Answers whose quality differs by less are a tie."""

FREE = 1.5
"""Maximum length of a winning answer as a multiple of the reference's; a longer one scores proportionally less."""


class PreferenceJudge(Protocol):
    """Compares a candidate's answer, `a`, with a reference answer, `b`."""

    async def compare(self, spec: Mapping[str, Any], answer: str, seed: int) -> Comparison:
        """Compare an answer with the reference of a task's spec, in both orders; `seed` is the rollout's.

        Raises:
            ProviderError: if the judge gives no verdict; the comparison is then missing, not lost.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A language model as the judge, called in both orders; contradictory verdicts are a tie."""

    model: Model

    async def compare(self, spec: Mapping[str, Any], answer: str, seed: int) -> Comparison:
        """Compare (see `PreferenceJudge.compare`)."""
        greedy = Sampling(temperature=0.0)
        return await pairwise(self.model, spec["question"], answer, spec["reference"], seed=seed, sampling=greedy)


@dataclass(frozen=True, slots=True)
class RuleJudge:
    """A stand-in that applies a rule of the taskset: it runs anywhere, without any understanding."""

    rule: Rule

    async def compare(self, spec: Mapping[str, Any], answer: str, seed: int) -> Comparison:
        """Compare (see `PreferenceJudge.compare`). Each answer is scored separately, so that the order cannot matter.

        Raises:
            ConfigError: if the rule does not know such instructions.
        """
        own, other = (self.rule(spec, text) for text in (answer, spec["reference"]))
        winner = "tie" if abs(own - other) < MARGIN else "a" if own > other else "b"
        why = f"quality {own:.2f} against {other:.2f}"
        return Comparison(winner, True, (why, why), NOTHING_USED)


def points(winner: str, length: int, reference: int) -> float:
    """Return the score of a comparison: 1 for a win, 0.5 for a tie, 0 for a loss; less if the answer is much longer.

    Args:
        winner: `"a"`, `"b"` or `"tie"`; the answer is `a`.
        length: of the answer, in characters.
        reference: that of the reference answer.
    """
    won = {"a": 1.0, "tie": 0.5, "b": 0.0}[winner]
    return won * min(1.0, FREE * max(1, reference) / max(1, length))


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
