"""A second form of team: agents argue in rounds, seeing all earlier arguments, and another agent judges.

It is a plan like any other, made without a model. The arguments of a round run at once, each after all of the round
before, and the verdict follows the last round. Where the team evolves, each round of arguments is a round of the
plan. So plan.md, the record, resuming and the view are those of every team.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heredity.team.participant import Context
from heredity.team.plan import Plan, State, Step
from heredity.team.planning import PlanningFailedError, Revision

VERDICT = "verdict"
_OPENING = "Argue your case on this: give your answer, and the reasons that speak for it."
_REPLY = (
    "Above is what all have said so far, you among them. Answer the others: say where they are right and where they are "
    "wrong, and keep your answer or change it."
)
_JUDGE = "Above is what each of those who argued said last. Weigh it, and give the answer to the task in the form that it asks for."


class Debate:
    """A planner (`heredity.team.planning.Planner`) whose plan is a debate.

    Args:
        agents: the debaters, two or more.
        judge: the agent that decides, not a debater.
        rounds: number of rounds.
        stepwise: plan one round at a time, so that agents may be improved between rounds; failed debaters speak
            again, and a failed judge is asked once more.

    Attributes:
        everybody: all agents of the debate.
    """

    def __init__(self, agents: Sequence[str], judge: str, rounds: int, *, stepwise: bool = False) -> None:
        self._agents, self._judge, self._rounds, self._stepwise = tuple(agents), judge, rounds, stepwise
        self.everybody = (*self._agents, judge)

    async def revise(self, plan: Plan, agents: Mapping[str, str], context: Context) -> Revision:
        """Return the whole debate, then the verdict; after failures, a verdict on the other arguments.

        Raises:
            PlanningFailedError: if all debaters failed, or the judge gives no answer.
        """
        if not plan.steps and not self._stepwise:
            return Revision(self._steps(plan.task), note=f"{len(self._agents)} argue, {self._judge} judges")
        verdicts = [step for step in plan.steps if step.agent == self._judge and step.state is not State.PENDING]
        if verdicts and verdicts[-1].state is State.DONE and verdicts[-1].result:
            return Revision(finished=True, result=verdicts[-1].result)
        last = {step.agent: step.id for step in plan.steps if step.agent != self._judge and step.state is State.DONE}
        spoken = sum(step.agent == self._agents[0] for step in plan.steps)
        if self._stepwise and spoken < self._rounds:
            return Revision(self._round(plan.task, spoken + 1, tuple(last.values())), note=f"round {spoken + 1}")
        if len(verdicts) > self._stepwise or not last:
            failed = next((step for step in reversed(plan.steps) if step.state is State.FAILED), None)
            raise PlanningFailedError(failed.result if failed else f"{self._judge} gave no answer")
        again = f"{VERDICT}-2" if verdicts else VERDICT
        note = f"{self._judge} judges" if self._stepwise else "not all have argued"
        return Revision((self._verdict(plan.task, tuple(last.values()), again),), note=note)

    def _steps(self, task: str) -> tuple[Step, ...]:
        steps: list[Step] = []
        before: tuple[str, ...] = ()
        for number in range(1, self._rounds + 1):
            own = self._round(task, number, before)
            steps += own
            before = tuple(step.id for step in own)
        return (*steps, self._verdict(task, before))

    def _round(self, task: str, number: int, before: tuple[str, ...]) -> tuple[Step, ...]:
        prompt = f"{task}\n\n{_REPLY if before else _OPENING}"
        return tuple(
            Step(f"r{number}-{position}", name, prompt, before) for position, name in enumerate(self._agents, 1)
        )

    def _verdict(self, task: str, after: tuple[str, ...], step: str = VERDICT) -> Step:
        return Step(step, self._judge, f"{task}\n\n{_JUDGE}", after)
