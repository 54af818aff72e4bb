"""Who failed in a round, and which resources an edit would have to change (Autogenesis, section 3.2.3: reflect, select)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from heredity.team.agent import SubAgent
from heredity.team.design import TEAM, TeamParts
from heredity.team.evolution.failures import Failure, FailureKind, failures, score
from heredity.team.evolution.trials import Case, handled_by, plan_failures
from heredity.team.participant import Context
from heredity.team.plan import Plan, State
from heredity.team.record import Record
from heredity.team.team import PLANNER

_DESIGN = frozenset({FailureKind.MISSING_CAPABILITY, FailureKind.BUDGET})


@dataclass(frozen=True)
class Attributed:
    """What failed.

    Attributes:
        case: the step, to be tried again.
        score: how well it went, in [0, 1].
        failures: what went wrong in it.
    """

    case: Case
    score: float
    failures: tuple[Failure, ...]

    def parts(self, team: TeamParts) -> list[str]:
        """Return the names of the parts that its failures are attributed to.

        A tool of the team's own that fails is at fault itself; a capability that is missing and a budget that is used up are also
        the design's; everything else is the agent's prompt's and memories'.
        """
        tools = [f"tool/{failure.tool}" for failure in self.failures if failure.tool]
        if tools:
            return list(dict.fromkeys(tools))
        design = [TEAM] if any(failure.kind in _DESIGN for failure in self.failures) else []
        if self.case.agent == PLANNER:
            return [f"prompt/{PLANNER}", *design]
        agent = team.design.agents.get(self.case.agent)
        if agent is None:
            return design
        own = [name for name in team.candidate.parts if name.startswith("memory/")]
        memories = own if agent.memories is None else [f"memory/{name}" for name in agent.memories]
        return [f"prompt/{self.case.agent}", *memories, *design]


async def round_failures(
    plan: Plan, number: int, planner_id: str, record: Record, agent: Callable[[str], SubAgent], context: Context
) -> list[Attributed]:
    """Return the steps that ended in a round in which something failed that an edit could mend."""
    failures_found: list[Attributed] = []
    over = plan.rounds[-1].ended if plan.rounds else ()
    # In the order of the plan, and not in that in which they ended: this is another where a team goes on.
    for step in [step for step in plan.steps if step.id in over]:
        request = record.messages.get(f"{planner_id}.round{number}.{step.id}")
        result = record.result(request.id) if request else None
        if request is None or result is None or result.outcome is None:
            continue
        answer = result.value.get("answer", "") if isinstance(result.value, Mapping) else ""
        handled = await handled_by(
            agent(step.agent), context, record.effects_of(request.id), request.body, result.outcome
        )
        handled = replace(handled, error=result.error, answer=str(answer))
        wrong = failures(handled)
        if wrong:
            case = Case(f"round{number}.{step.id}", "step", step.agent, request.body)
            failures_found.append(Attributed(case, score(handled, wrong), tuple(wrong)))
    return failures_found


def planner_failure(replies: Sequence[str], before: Plan, agents: Mapping[str, str], number: int) -> Attributed | None:
    """Return what was wrong with a planner's first reply of a round."""
    problem = plan_failures(replies, before, agents)
    if not problem:
        return None
    kind = FailureKind.MISSING_CAPABILITY if "there is no agent" in problem else FailureKind.WRONG_FORMAT
    case = Case(f"round{number}.plan", "plan", PLANNER, {"task": before.task, "plan": before})
    return Attributed(case, 0.5, (Failure(kind, problem),))


def well_done(plan: Plan, failed: Attributed, most: int, planner_id: str, record: Record) -> list[Case]:
    """Return the latest steps that the same agent did well, as cases that have to stay so."""
    order = [step.id for step in plan.steps]
    ended = [(n, own) for n, its_round in enumerate(plan.rounds, 1) for own in sorted(its_round.ended, key=order.index)]
    cases: list[Case] = []
    for number, step_id in ended:
        step = next((step for step in plan.steps if step.id == step_id), None)
        request = record.messages.get(f"{planner_id}.round{number}.{step_id}")
        key = f"round{number}.{step_id}"
        if step is None or request is None or step.state is not State.DONE or key == failed.case.key:
            continue
        if step.agent == failed.case.agent:
            cases.append(Case(key, "step", step.agent, request.body))
    return cases[-most:] if most else []
