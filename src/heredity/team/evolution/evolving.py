"""Evolution between the rounds of a task: finds failures, attributes them, fixes them, and uses committed edits from then on.

Everything follows from the record - messages, effects, decisions - and from the task's seed, so a team resumed after
a kill reaches the same versions without repeating proposals or attempts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from heredity._core.errors import BudgetError, ConfigError, HeredityError
from heredity._core.ids import digest_json
from heredity._core.spans import watching
from heredity.engine import trajectory as trajectories
from heredity.engine.actor import Programs
from heredity.engine.trajectory import Trajectory
from heredity.methods.contract import Batch, Budget, Decision, EvolverContext, Feedback, Outcome, Trial
from heredity.methods.operators.dialogue import Steps
from heredity.methods.registry import METHODS, method
from heredity.models import Model
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import changed_parts
from heredity.resources.building import PROMPT
from heredity.results.status import FailureSource, Status
from heredity.tasks import TasksetInfo
from heredity.team.agent import Numbered, RecordedModel, SubAgent
from heredity.team.bus import NOBODYS, Bus, describe
from heredity.team.design import TEAM, AgentDesign, EvolutionDesign, TeamParts, read_team
from heredity.team.evolution.generation import contracts_failure
from heredity.team.evolution.trials import (
    PROPOSAL,
    Case,
    Failure,
    FailureKind,
    Staff,
    Trials,
    failures,
    handled_by,
    plan_failures,
    score,
)
from heredity.team.participant import Context, Message, Participant
from heredity.team.planning import INSTRUCTIONS, ModelPlanner, Plan, Revision, State
from heredity.team.record import Record
from heredity.team.team import PLANNER

Tested = Callable[[TeamParts], Awaitable[str]]
"""Tests the contracts of a team's tools; returns the first problem, or `""`."""


@dataclass
class FailureSession:
    """Session over one failure: gives any method its training tasks, and weighs its commits (Autogenesis, E.3.4).

    Implements `heredity.methods.contract.SessionContract`. The train tasks are the failed step, successful steps of the
    same agent, and solved earlier tasks (canaries). The parts to which the failure is attributed evolve; an edit is put
    into the whole team before it is tried.

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


_DESIGN = frozenset({FailureKind.MISSING_CAPABILITY, FailureKind.BUDGET})


@dataclass(frozen=True)
class Attributed:
    """A failed step.

    Attributes:
        case: the step, as a case to re-attempt.
        score: its score, in [0, 1].
        failures: its failures.
    """

    case: Case
    score: float
    failures: tuple[Failure, ...]

    def parts(self, team: TeamParts) -> list[str]:
        """Return the names of the parts to which its failures are attributed.

        A failing tool of the team is itself at fault. A missing capability and an exhausted budget are also
        attributed to the design, and everything else to the agent's prompt and memories.
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
    """Return the steps of a round with failures that an edit could fix."""
    failures_found: list[Attributed] = []
    over = plan.rounds[-1].ended if plan.rounds else ()
    # In the order of the plan, not of completion, which differs in a resumed team.
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
    """Return the fault in a planner's first reply of a round."""
    problem = plan_failures(replies, before, agents)
    if not problem:
        return None
    kind = FailureKind.MISSING_CAPABILITY if "there is no agent" in problem else FailureKind.WRONG_FORMAT
    case = Case(f"round{number}.plan", "plan", PLANNER, {"task": before.task, "plan": before})
    return Attributed(case, 0.5, (Failure(kind, problem),))


def well_done(plan: Plan, failed: Attributed, most: int, planner_id: str, record: Record) -> list[Case]:
    """Return the agent's latest successful steps, as cases that must stay successful."""
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


Kept = Callable[[Decision, Candidate, Candidate], Mapping[str, str]]
"""Stores a decision in the lineage: takes the decision, the previous team and the proposed team; returns versions by
part.
"""


@dataclass
class _Task:
    """Evolution state of a task.

    Attributes:
        context: the context of the planner's message, which records everything.
        left: remaining attempts.
        round: finished rounds; `before`: the plan last shown to the planner.
        planned: the planner's replies since the last round ended.
        decided: number of recorded decisions.
    """

    context: Context
    left: int
    before: Plan
    round: int = 0
    planned: list[str] = field(default_factory=list[str])
    decided: int = 0

    @property
    def id(self) -> str:
        """Id of the planner's message."""
        assert self.context.message is not None
        return self.context.message.id


UNUSABLE = "no edit: the optimizer's replies could not be used"
"""Recorded result of a failure for which the optimizer's proposals could not be read."""

NO_EVOLUTION = EvolutionDesign(attempts=0)


def _nowhere(_: Decision, __: Candidate, ___: Candidate) -> Mapping[str, str]:
    return {}


@dataclass
class Evolving:
    """A team that may change while it works.

    Attributes:
        team: its current parts.
        staff: makes its agents.
        settings: the evolution settings; with `attempts = 0` it does not change.
        optimizer: the model that proposes edits.
        programs: runs the contract tests of tools (None without a sandbox).
        keep: stores decisions in a lineage.
        canaries: solved earlier tasks.
        seed: seed of the optimizers' draws.
        trials: attempts cases to test edits; set by `join`.
        made: decisions of this task, in order.
    """

    team: TeamParts
    staff: Staff
    settings: EvolutionDesign = NO_EVOLUTION
    optimizer: Model | None = None
    programs: Programs | None = None
    keep: Kept = _nowhere
    canaries: Sequence[Case] = ()
    seed: int = 0
    trials: Trials = field(init=False)
    made: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _tasks: dict[str, _Task] = field(default_factory=dict[str, "_Task"])
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    def join(self, bus: Bus) -> None:
        """Join a team, for trials of edits."""
        self.trials = Trials(self.staff, bus)
        if self.settings.attempts:
            self.trials.join()

    @property
    def attempted(self) -> int:
        """Number of attempts charged."""
        return sum(self.settings.attempts - task.left for task in self._tasks.values())

    def decisions(self, task_id: str) -> list[dict[str, Any]]:
        """Return a task's decisions, in order, from the record, including tasks that ended before this process started."""
        done = self.trials.bus.record.effects_of(task_id)
        return [dict(value) for name, value in done if name.startswith("decision-")]

    def handler(self, name: str) -> Callable[[Message, Context], Awaitable[Any]]:
        """Return the handler of an agent's steps; each step uses the team's parts at its start."""

        async def reply_to(message: Message, context: Context) -> Any:
            return await self.agent(name)(message, context)

        return reply_to

    def agent(self, name: str) -> SubAgent:
        """Return an agent in its current form."""
        return self.staff.agent(self.team, name)

    async def revise(self, plan: Plan, agents: Mapping[str, str], context: Context) -> Revision:
        """Plan with the planner's current message (`heredity.team.planning.Planner`)."""
        heard = self._task(context, plan).planned.append
        return await ModelPlanner(self.staff.planner, self.team.planner, heard).revise(plan, agents, context)

    async def between(self, plan: Plan, context: Context) -> None:
        """Examine a finished round, and improve the team where it failed in a way that an edit could fix."""
        if not self.settings.attempts or context.message is None:
            return
        task = self._task(context, plan)
        async with self._one:
            task.round += 1
            task.context = context
            try:
                await self._take_in(task)
                for failed in await self._failed(plan, task):
                    if task.left >= _FEWEST:
                        await self._mend(failed, plan, task)
            except HeredityError as error:
                if isinstance(error, NOBODYS):
                    raise
                await self._note(task, {"what": "evolution failed", "reason": describe(error)})
            task.before = plan

    def _task(self, context: Context, plan: Plan) -> _Task:
        assert context.message is not None
        return self._tasks.setdefault(context.message.id, _Task(context, self.settings.attempts, Plan(plan.task)))

    async def _failed(self, plan: Plan, task: _Task) -> list[Attributed]:
        """Return the failures of the last round, one entry for each scope, the worst first."""
        record = self.trials.bus.record
        failures_found = await round_failures(plan, task.round, task.id, record, self.agent, task.context)
        planned, task.planned = task.planned, []
        described = {name: agent.description for name, agent in self.team.design.agents.items()}
        if failed := planner_failure(planned, task.before, described, task.round):
            failures_found.append(failed)
        chosen: dict[frozenset[str], Attributed] = {}
        for one in sorted(failures_found, key=lambda one: one.score):
            scope = self._scope(one)
            if scope:
                chosen.setdefault(scope, one)
        return list(chosen.values())

    def _scope(self, failed: Attributed) -> frozenset[str]:
        """Return the parts that may be edited to fix a failure."""
        parts = {*self.team.candidate.parts, f"prompt/{PLANNER}"}
        return frozenset(
            name
            for name in failed.parts(self.team)
            if name in parts and name.partition("/")[0] in self.settings.targets
        )

    async def _mend(self, failed: Attributed, plan: Plan, task: _Task) -> None:
        """Let the optimizer fix a failure, if it recurs when re-attempted."""
        settings, trials, base, scope = self.settings, self.trials, self._base, self._scope(failed)
        about = {"step": failed.case.key, "failures": [f"{f.kind}: {f.detail}" for f in failed.failures]}
        task.left -= 1
        again = await trials.attempt(task.context, trials.team(base.candidate), failed.case)
        if again["score"] == 1.0:
            await self._note(task, {"what": "did not fail again", **about})
            return
        guards = well_done(plan, failed, settings.guards, task.id, trials.bus.record)
        cases = [failed.case, *guards, *self.canaries]

        async def keep(decision: Decision, whole: Candidate) -> None:
            await self._note(task, {"what": "edit", **about}, decision, base.candidate, whole)

        session = FailureSession(trials, task.context, base, scope, cases, self._tested(task, base), keep, task.left)
        options = _options(settings, scope, len(cases))
        optimizer = self.optimizer and RecordedModel(self.optimizer, Numbered(task.context, f"evolution-{task.round}-"))
        evolver = EvolverContext(
            taskset=_INFO,
            initial=session.initial,
            seed=int(digest_json([self.seed, task.round, failed.case.key])[:8], 16),
            train_tasks=len(cases),
            options=options,
            model=optimizer,
        )
        steps = Steps()
        with watching(steps):
            await method(settings.optimizer, options).evolve(session, evolver)
        task.left = session.left
        if steps.asked and steps.failed == steps.asked:
            await self._note(task, {"what": UNUSABLE, "reason": steps.reason, **about})
        if session.accepted is not None:
            await self._become(session.accepted)

    async def _become(self, team: TeamParts) -> None:
        before, bus = self.team.design.agents, self.trials.bus
        self.team = team
        for name in before.keys() | team.design.agents.keys():
            agent, earlier = team.design.agents.get(name), before.get(name)
            if earlier is not None and (agent is None or agent.description != earlier.description):
                await bus.unregister(name)
            if agent is not None and (earlier is None or agent.description != earlier.description):
                bus.register(Participant(name, self.handler(name), agent.description))

    @property
    def _base(self) -> TeamParts:
        """The team with the planner's message written out, so that it can be edited."""
        parts = self.team.candidate.parts
        if f"prompt/{PLANNER}" in parts:
            return self.team
        written = SourceTree({PROMPT: INSTRUCTIONS})
        return read_team(Candidate({**parts, f"prompt/{PLANNER}": written}), self.staff.offered)

    def _tested(self, task: _Task, base: TeamParts) -> Callable[[TeamParts], Awaitable[str]]:
        async def tested(team: TeamParts) -> str:
            if team.design.evolution != base.design.evolution:
                return "how a team evolves is not for its evolution to change"
            speakers = self.staff.debate.everybody if self.staff.debate else ()
            if lacking := [name for name in speakers if name not in team.design.agents]:
                return f"the debate needs {', '.join(lacking)}"

            async def run() -> str:
                return "" if self.programs is None else await contracts_failure(self.programs, team, base)

            name = f"contract-{team.candidate.digest[:16]}-{base.candidate.digest[:16]}"
            return str(await task.context.once(name, run))

        return tested

    async def _note(
        self,
        task: _Task,
        about: Mapping[str, Any],
        decision: Decision | None = None,
        before: Candidate | None = None,
        whole: Candidate | None = None,
    ) -> None:
        """Record the result of a failure or a proposal, and a version for each part that was to change."""
        task.decided += 1

        async def put() -> dict[str, Any]:
            note: dict[str, Any] = {"round": task.round, **about}
            if decision is None or before is None or whole is None:
                return note
            versions = dict(self.keep(decision, before, whole))
            note |= {"accepted": decision.accepted, "reason": decision.reason, "difference": decision.difference}
            return {**note, "parts": changed_parts(before, whole), "versions": versions, "team": whole.digest[:16]}

        self.made.append(dict(await task.context.once(f"decision-{task.decided}", put)))

    # Tools and skills written by agents.

    async def _take_in(self, task: _Task) -> None:
        """Add the tools and skills written in the last round to the team, if they pass their tests and lose no canary."""
        messages = self.trials.bus.record.messages
        own = f"{task.id}.round{task.round}."
        # Of this round alone: the record of a resumed team also has those of later rounds.
        proposals = [m for key, m in messages.items() if m.kind == PROPOSAL and key.startswith(own)]
        for message in sorted(proposals, key=lambda m: m.id):
            await self._consider(message, task)

    async def _consider(self, message: Message, task: _Task) -> None:
        name, part = f"tool/{message.body['name']}", SourceTree(message.body["files"])
        base, about = self.team, {"what": "written", "by": message.sender, "step": message.parent}
        whole = Candidate({**base.candidate.parts, name: part})
        wrong = str(message.body["wrong"]) or ("" if "tool" in self.settings.targets else "tools may not change")
        team = base
        try:
            granted = _granted(base, message.sender, str(message.body["name"]))
            whole = Candidate({**whole.parts, TEAM: granted})
            team = self.trials.team(whole)
            wrong = wrong or await self._tested(task, base)(team) or await self._lost(base, team, task)
        except ConfigError as error:
            wrong = str(error)
        reason = wrong or "it passes the tests of its contract" + (" and keeps the canaries" if self.canaries else "")
        decision = Decision(whole.digest, base.candidate.digest, not wrong, reason)
        await self._note(task, about, decision, base.candidate, whole)
        self.team = self.team if wrong else team

    async def _lost(self, base: TeamParts, team: TeamParts, task: _Task) -> str:
        """Return the first canary that the base solves and a team loses."""
        for case in self.canaries:
            if task.left < _FEWEST:
                return "too few attempts are left to try the canaries"
            task.left -= _FEWEST
            if (await self.trials.attempt(task.context, self.trials.team(base.candidate), case))["score"] < 1.0:
                continue
            if (await self.trials.attempt(task.context, team, case))["score"] < 1.0:
                return f"it loses the canary {case.body['task']!r:.200}"
        return ""


def _granted(team: TeamParts, agent: str, tool: str) -> SourceTree:
    """Return the design in which an agent has a tool; an agent with all tools already has it."""
    design = team.design
    own: AgentDesign | None = design.agents.get(agent)
    if own is None:
        raise ConfigError(f"{agent} is no agent of this team any more, and cannot be given a tool")
    if own.tools is None or tool in own.tools:
        return team.candidate.parts[TEAM]
    agents = {**design.agents, agent: own.model_copy(update={"tools": (*own.tools, tool)})}
    return design.model_copy(update={"agents": agents}).to_part()


def _options(settings: EvolutionDesign, scope: frozenset[str], cases: int) -> dict[str, Any]:
    """Return a method's options: the team's, and those of the loop that the method has."""
    options = getattr(METHODS.load(settings.optimizer), "options_model", None)
    fields = set(options.model_fields) if options is not None else set[str]()
    loop: dict[str, Any] = {
        "target": sorted({name.partition("/")[0] for name in scope}),
        "rounds": settings.tries,
        "patience": settings.tries,
        "batch": cases,
        "canaries": list(range(1, cases)),
        "gate": True,
    }
    return {**{name: value for name, value in loop.items() if name in fields}, **settings.options}


def check_optimizer(settings: EvolutionDesign) -> None:
    """Check that a method can work inside of a team.

    Raises:
        UnknownNameError: if the method does not exist, or lacks an option.
        ConfigError: if it does not edit prompts and weigh each edit.
    """
    method(settings.optimizer, _options(settings, frozenset({f"prompt/{PLANNER}"}), 1))


_FEWEST = 2
"""Attempts needed for a comparison: one on each side."""

_INFO = TasksetInfo(
    name="team",
    version="1",
    kind="question",
    spec={},
    public={},
    description="Steps of a task that a team works on: the first went wrong, the others went well and have to stay so.",
    failure_return=0.0,
)
