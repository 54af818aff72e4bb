"""A session over one failure: gives any method of the loop its training tasks, and weighs its commits (Autogenesis, E.3.4).

Its train tasks are the failed step, successful steps of the same agent, and solved earlier tasks (canaries). The
parts to which the failure is attributed evolve; an edit is put into the whole team before it is tried. So every
optimizer works inside a team as it does in a run, through the same loop and the same gate.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from heredity._core.errors import BudgetError, ConfigError
from heredity._core.ids import digest_json
from heredity.engine import trajectory as trajectories
from heredity.engine.trajectory import Trajectory
from heredity.methods.contract import Batch, Budget, Decision, Feedback, Outcome, Trial
from heredity.resources import Candidate
from heredity.results.status import FailureSource, Status
from heredity.team.design import TeamParts
from heredity.team.evolution.trials import Case, Trials
from heredity.team.participant import Context

Tested = Callable[[TeamParts], Awaitable[str]]
"""Tests the contracts of a team's tools; returns the first problem, or `""`."""


@dataclass
class FailureSession:
    """Implements `heredity.methods.contract.SessionContract`.

    Attributes:
        trials: attempts cases.
        context: the context of the planner's message, which records everything.
        base: the current team.
        scope: names of the parts that may change.
        cases: the train tasks.
        tested: tests the contracts of tools.
        keep: records a decision and the whole team it concerns.
        left: remaining attempts.
        accepted: the team committed last; None if none was.
    """

    trials: Trials
    context: Context
    base: TeamParts
    scope: frozenset[str]
    cases: Sequence[Case]
    tested: Tested
    keep: Callable[[Decision, Candidate], Awaitable[None]]
    left: int
    accepted: TeamParts | None = None
    submissions: int = 0
    _attempted: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])

    def whole(self, part: Candidate) -> Candidate:
        """Return the team with the parts in scope replaced by those of a candidate."""
        others = {name: tree for name, tree in self.base.candidate.parts.items() if name not in self.scope}
        return Candidate({**others, **part.parts})

    @property
    def initial(self) -> Candidate:
        """The current state of the parts in scope."""
        return Candidate({name: tree for name, tree in self.base.candidate.parts.items() if name in self.scope})

    async def submit(self, trials: Sequence[Trial], key: str) -> list[Feedback]:
        """Attempt the cases (see `SessionContract.submit`)."""
        charge = sum(len(trial.tasks) * trial.repeats for trial in trials)
        if charge > self.left:
            raise BudgetError(f"{charge} attempts are requested, but this task's evolution has {self.left} left")
        self.left -= charge
        return [await self._feedback(trial) for trial in trials]

    def remaining(self) -> Budget:
        """Return the remaining budget."""
        return Budget(episodes=self.left)

    async def commit(self, decision: Decision, candidate: Candidate | None = None) -> Decision:
        """Check an edit again after the gate: one without evidence, or without a fix, is refused."""
        if not decision.baseline:
            return decision
        assert candidate is not None
        if decision.accepted and decision.difference is None:
            decision = replace(decision, accepted=False, reason="it has no evidence of its own")
        elif decision.accepted and not (decision.difference or 0) > 0:
            decision = replace(decision, accepted=False, reason=f"it mends nothing: {decision.reason}")
        whole = self.whole(candidate)
        await self.keep(decision, whole)
        if decision.accepted:
            self.accepted = self.trials.team(whole)
        return decision

    def batches(self) -> AsyncIterator[Batch]:
        """Refuse: a team's evolution has no schedule."""
        raise ConfigError("the evolution of a team at work has no schedule; choose a method that needs none")

    async def _feedback(self, trial: Trial) -> Feedback:
        self.submissions += 1
        number, digest = self.submissions, trial.candidate.digest
        team, wrong = await self._checked(trial.candidate)
        if team is None:
            failure = trajectories.Failure(Status.INIT_ERROR, wrong)
            lost = [Outcome(task, 0.0, 0, Status.INIT_ERROR, failure) for task in trial.tasks] * trial.repeats
            return Feedback(number, digest, Status.INIT_ERROR, tuple(lost), failure)
        asked = [(task, self._repeat(team, self.cases[task])) for _ in range(trial.repeats) for task in trial.tasks]
        made = [self.trials.attempt(self.context, team, self.cases[task], repeat) for task, repeat in asked]
        results = await asyncio.gather(*made)
        outcomes = [self._outcome(task, digest, result) for (task, _), result in zip(asked, results, strict=True)]
        return Feedback(number, digest, Status.OK, tuple(outcomes))

    async def _checked(self, candidate: Candidate) -> tuple[TeamParts | None, str]:
        """Return the whole team, or the reason it is invalid: it cannot be built, or one of its tools breaks its contract."""
        try:
            team = self.trials.team(self.whole(candidate))
            wrong = await self.tested(team)
        except ConfigError as error:
            return None, str(error)
        return (None, wrong) if wrong else (team, "")

    def _repeat(self, team: TeamParts, case: Case) -> int:
        """Number the attempts of a team at a case: an attempt made in another round is answered from the record."""
        key = (team.candidate.digest, case.key)
        self._attempted[key] = self._attempted.get(key, -1) + 1
        return self._attempted[key]

    def _outcome(self, task: int, candidate: str, result: dict[str, Any]) -> Outcome:
        case = self.cases[task]
        question = str(case.body.get("task", ""))
        replies = [*([result["transcript"]] if result["transcript"] else []), result["answer"] or "(no answer)"]
        rows = len(replies)
        columns = {
            "obs": [question, *([""] * (rows - 1)), result["detail"]],
            "action": replies,
            "reward": [0.0] * (rows - 1) + [result["score"]],
            "terminated": [False] * (rows - 1) + [True],
            "truncated": [False] * rows,
            "info/question": [None] * (rows - 1) + [question],
            "info/reason": [None] * (rows - 1) + [result["detail"] or None],
            "info/correct": [None] * (rows - 1) + [result["score"] == 1.0],
            "info/extracted": [None] * (rows - 1) + [result["answer"]],
        }
        cost = {name: float(amount) for name, amount in result["usage"].items() if amount is not None}
        ids = (digest_json([case.key])[:16], candidate)
        trajectory = Trajectory(*ids, Status.OK, FailureSource.NONE, result["score"], rows, True, columns, cost=cost)
        return Outcome(task, result["score"], rows, Status.OK, None, trajectory)
