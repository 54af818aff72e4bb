"""Evolution between the rounds of a task: failures are found, attributed, mended, and what is committed is used from then on.

Everything follows from what is on record - messages, effects, decisions - and from the task's seed, so a team that goes on after
a kill comes to the same versions without proposing or trying anything again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heredity.actors.contract import Programs
from heredity.errors import ConfigError, HeredityError
from heredity.evolution.contract import Decision, EvolverContext
from heredity.evolution.registry import METHODS, method
from heredity.gateway import Model
from heredity.ids import digest_json
from heredity.resources import Candidate, SourceTree
from heredity.resources.building import PROMPT
from heredity.tasks import TasksetInfo
from heredity.team.agent import Numbered, RecordedModel, SubAgent
from heredity.team.bus import NOBODYS, Bus, describe
from heredity.team.design import TEAM, AgentDesign, EvolutionDesign, TeamParts, read_team
from heredity.team.evolution.attribution import Attributed, planner_failure, round_failures, well_done
from heredity.team.evolution.generation import contracts_failure
from heredity.team.evolution.session import FailureSession
from heredity.team.evolution.trials import PROPOSAL, Case, Staff, Trials
from heredity.team.messages import Message
from heredity.team.participant import Context
from heredity.team.plan import Plan
from heredity.team.planning import INSTRUCTIONS, ModelPlanner, Revision
from heredity.team.team import PLANNER

Kept = Callable[[Decision, Candidate, Candidate], Mapping[str, str]]
"""Puts a decision into the lineage: the decision, the team as it was, the team that it is about; returns versions by part."""

NO_EVOLUTION = EvolutionDesign(attempts=0)


def _nowhere(_: Decision, __: Candidate, ___: Candidate) -> Mapping[str, str]:
    return {}


@dataclass
class Evolving:
    """A team that may change while it works.

    Attributes:
        team: what it is made of now.
        staff: how its agents are made.
        settings: how it evolves; with `attempts = 0` it stays as it is.
        optimizer: the model that proposes edits.
        programs: runs the contract tests of tools; None where there is no sandbox.
        keep: puts decisions into a lineage.
        canaries: earlier tasks that were solved.
        seed: of the optimizers' draws.
        trials: attempts what shows whether an edit helps; there from `join` on.
        made: what was decided in this task, in order.
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
    _round: int = 0
    _left: int = 0
    _before: Plan | None = None
    _looked: int = 0
    _proposals: set[str] = field(default_factory=set[str])
    _decided: int = 0

    def join(self, bus: Bus) -> None:
        """Take part in a team, for trials of edits."""
        self._left = self.settings.attempts
        self.trials = Trials(self.staff, bus)
        if self._left:
            self.trials.join()

    def handler(self, name: str) -> Callable[[Message, Context], Awaitable[Any]]:
        """Return what does the steps of an agent: each with what the team is made of when it begins."""

        async def handle(message: Message, context: Context) -> Any:
            return await self.agent(name)(message, context)

        return handle

    def agent(self, name: str) -> SubAgent:
        """Return an agent as it is now."""
        return self.staff.agent(self.team, name)

    async def revise(self, plan: Plan, agents: Mapping[str, str], context: Context) -> Revision:
        """Plan, with the planner's message as it is now (`heredity.team.planning.Planner`)."""
        return await ModelPlanner(self.staff.planner, self.team.planner).revise(plan, agents, context)

    async def between(self, plan: Plan, context: Context) -> None:
        """Look at a round that is over, and improve the team where it failed in a way that an edit could mend."""
        self._round += 1
        if not self.settings.attempts:
            return
        try:
            await self._take_in(plan, context)
            for failed in await self._failed(plan, context):
                if self._left < 2:
                    break
                await self._mend(failed, plan, context)
        except HeredityError as error:
            if isinstance(error, NOBODYS):
                raise
            await self._note(context, {"what": "evolution failed", "reason": describe(error)})
        self._before = plan

    async def _failed(self, plan: Plan, context: Context) -> list[Attributed]:
        """Return what failed in the last round, one entry for each scope, the worst first."""
        record, message = self.trials.bus.record, context.message
        assert message is not None
        found = round_failures(plan, self._round, message.id, record, self.agent, context)
        trace = record.effects_of(message.id)
        looked, self._looked = self._looked, len(trace)
        before = self._before or Plan(plan.task)
        described = {name: agent.description for name, agent in self.team.design.agents.items()}
        if failed := planner_failure(trace[looked:], before, described, self._round):
            found.append(failed)
        chosen: dict[frozenset[str], Attributed] = {}
        for one in sorted(found, key=lambda one: one.score):
            scope = self._scope(one)
            if scope:
                chosen.setdefault(scope, one)
        return list(chosen.values())

    def _scope(self, failed: Attributed) -> frozenset[str]:
        """Return the parts that may be edited to mend a failure."""
        parts = {*self.team.candidate.parts, f"prompt/{PLANNER}"}
        return frozenset(
            name
            for name in failed.parts(self.team)
            if name in parts and name.partition("/")[0] in self.settings.targets
        )

    async def _mend(self, failed: Attributed, plan: Plan, context: Context) -> None:
        """Let the optimizer mend a failure, if it fails again when it is tried again."""
        settings, trials, scope = self.settings, self.trials, self._scope(failed)
        about: dict[str, Any] = {
            "step": failed.case.key,
            "failures": [f"{f.kind}: {f.detail}" for f in failed.failures],
        }
        self._left -= 1
        again = await trials.attempt(context, trials.team(self._base.candidate), failed.case)
        if again["score"] == 1.0:
            await self._note(context, {"what": "did not fail again", **about})
            return
        assert context.message is not None
        guards = well_done(plan, failed, settings.guards, context.message.id, trials.bus.record)
        cases = [failed.case, *guards, *self.canaries]
        session = FailureSession(
            trials, context, self._base, scope, cases, self._tested(context), self._keeper(context, about), self._left
        )
        options = _options(settings, scope, len(cases))
        chosen, number = method(settings.optimizer, options), self._round
        await chosen.evolve(
            session,
            EvolverContext(
                taskset=_INFO,
                initial=session.initial,
                seed=int(digest_json([self.seed, number, failed.case.key])[:8], 16),
                train_tasks=len(cases),
                options=options,
                model=self._recorded(context),
            ),
        )
        self._left = session.left
        self.team = session.accepted or self.team

    @property
    def _base(self) -> TeamParts:
        """The team with the planner's message written out, so that it can be edited."""
        parts = self.team.candidate.parts
        if f"prompt/{PLANNER}" in parts:
            return self.team
        written = SourceTree({PROMPT: INSTRUCTIONS})
        return read_team(Candidate({**parts, f"prompt/{PLANNER}": written}), self.staff.offered)

    def _recorded(self, context: Context) -> Model | None:
        return self.optimizer and RecordedModel(self.optimizer, Numbered(context, f"evolution-{self._round}-"))

    def _tested(self, context: Context) -> Callable[[TeamParts], Awaitable[str]]:
        base = self._base

        async def tested(team: TeamParts) -> str:
            async def run() -> str:
                return "" if self.programs is None else await contracts_failure(self.programs, team, base)

            name = f"contract-{team.candidate.digest[:16]}-{base.candidate.digest[:16]}"
            return str(await context.once(name, run))

        return tested

    def _keeper(self, context: Context, about: Mapping[str, Any]) -> Callable[[Decision, Candidate], Awaitable[None]]:
        before = self._base.candidate

        async def keep(decision: Decision, whole: Candidate) -> None:
            await self._note(context, {"what": "edit", **about}, decision, before, whole)

        return keep

    async def _note(
        self,
        context: Context,
        about: Mapping[str, Any],
        decision: Decision | None = None,
        before: Candidate | None = None,
        whole: Candidate | None = None,
    ) -> None:
        """Put on record what came of a failure or of a proposal, and a version for each part that was to change."""
        self._decided += 1

        async def put() -> dict[str, Any]:
            said: dict[str, Any] = {"round": self._round, **about}
            if decision is None or before is None or whole is None:
                return said
            versions = dict(self.keep(decision, before, whole))
            said |= {"accepted": decision.accepted, "reason": decision.reason, "difference": decision.difference}
            changed = [n for n in {*before.parts, *whole.parts} if before.parts.get(n) != whole.parts.get(n)]
            return {**said, "parts": sorted(changed), "versions": versions, "team": whole.digest[:16]}

        self.made.append(dict(await context.once(f"decision-{self._decided}", put)))

    # Tools and skills that agents wrote.

    async def _take_in(self, plan: Plan, context: Context) -> None:
        """Take what agents wrote in the last round into the team: what passes its tests and costs no canary."""
        messages = self.trials.bus.record.messages
        new = sorted(key for key, m in messages.items() if m.kind == PROPOSAL and key not in self._proposals)
        for message in [messages[key] for key in new]:
            self._proposals.add(message.id)
            await self._consider(message, context)

    async def _consider(self, message: Message, context: Context) -> None:
        name, part = f"tool/{message.body['name']}", SourceTree(message.body["files"])
        base, about = self.team, {"what": "written", "by": message.sender, "step": message.parent}
        whole = Candidate({**base.candidate.parts, name: part})
        wrong = str(message.body["wrong"]) or ("" if "tool" in self.settings.targets else "tools may not change")
        try:
            granted = _granted(base, message.sender, str(message.body["name"]))
            whole = Candidate({**whole.parts, TEAM: granted})
            team = self.trials.team(whole)
            wrong = wrong or await self._tested(context)(team) or await self._lost(base, team, context)
        except ConfigError as error:
            wrong, team = str(error), base
        reason = wrong or "it passes the tests of its contract" + (" and keeps the canaries" if self.canaries else "")
        decision = Decision(whole.digest, base.candidate.digest, not wrong, reason)
        await self._note(context, about, decision, base.candidate, whole)
        self.team = self.team if wrong else team

    async def _lost(self, base: TeamParts, team: TeamParts, context: Context) -> str:
        """Return the first canary that a team loses and its base solves."""
        for case in self.canaries:
            if self._left < 2:
                return "too few attempts are left to try the canaries"
            self._left -= 2
            if (await self.trials.attempt(context, self.trials.team(base.candidate), case))["score"] < 1.0:
                continue
            if (await self.trials.attempt(context, team, case))["score"] < 1.0:
                return f"it loses the canary {case.body['task']!r:.200}"
        return ""


def _granted(team: TeamParts, agent: str, tool: str) -> SourceTree:
    """Return the design in which an agent has a tool: whoever has all has it anyway."""
    design = team.design
    own: AgentDesign | None = design.agents.get(agent)
    if own is None:
        raise ConfigError(f"{agent} is no agent of this team any more, and cannot be given a tool")
    if own.tools is None or tool in own.tools:
        return team.candidate.parts[TEAM]
    agents = {**design.agents, agent: own.model_copy(update={"tools": (*own.tools, tool)})}
    return design.model_copy(update={"agents": agents}).to_part()


def _options(settings: EvolutionDesign, scope: frozenset[str], cases: int) -> dict[str, Any]:
    """Return a method's options: those of the team, and of the loop those that the method has."""
    known = getattr(METHODS.load(settings.optimizer), "options_model", None)
    fields = set(known.model_fields) if known is not None else set[str]()
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
        UnknownNameError: if there is no such method, or it has no such option.
        ConfigError: if it is none that edits prompts and weighs each edit.
    """
    method(settings.optimizer, _options(settings, frozenset({f"prompt/{PLANNER}"}), 1))


_INFO = TasksetInfo(
    name="team",
    version="1",
    kind="question",
    spec={},
    public={},
    description="Steps of a task that a team works on: the first went wrong, the others went well and have to stay so.",
    failure_return=0.0,
)
