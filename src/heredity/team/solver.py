"""A team as a solver: a candidate of resources that works with any taskset, method and schedule.

A candidate whose part `agent/team` lists the team's agents (`heredity.team.design`) answers questions by planning and
carrying out steps.

So prompts, tools and memories of a team are edited, compared, committed and rolled back like those of a single
solver. One attempt is one task of the team (its conversations share the attempt's time budget), and every model call
belongs to the attempt.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from heredity.engine.actor import Answer, Problem, ProvidedTools
from heredity.engine.conversation import Conversation, NoAnswerError
from heredity.engine.solver import Solver
from heredity.engine.tools import Toolbox
from heredity.models import Message, Reply, Request
from heredity.resources import Candidate
from heredity.results.status import AnswerStatus
from heredity.team.agent import SubAgent, TeamTool
from heredity.team.bus import Bus
from heredity.team.design import TeamParts, read_team
from heredity.team.evolution.evolving import NO_EVOLUTION, Evolving, check_optimizer
from heredity.team.evolution.generation import WRITE_SKILL, WRITE_TOOL, writing_tools
from heredity.team.evolution.trials import Staff
from heredity.team.memory import SharedMemory
from heredity.team.participant import Context
from heredity.team.planning import PlanningAgent
from heredity.team.team import PLANNER, Member, register_team
from heredity.team.tools.own_tools import asking, python_tool

Pictures = tuple[tuple[str, bytes], ...]
"""Media types and bytes of a question's pictures."""

_PYTHON = "python"
_WRITING = (WRITE_TOOL, WRITE_SKILL)
PROVIDED = frozenset({_PYTHON, *_WRITING})
"""Tools that agents may name without being the candidate's."""


def build(candidate: Candidate) -> TeamSolver:
    """Build the team that a candidate describes. Nothing is executed.

    Raises:
        ConfigError: if a part cannot be built, or the design names a missing one; the message names it.
    """
    team = read_team(candidate, PROVIDED)
    if team.design.evolution is not None:
        check_optimizer(team.design.evolution)
    return TeamSolver(team.parts, team=team)


@dataclass(frozen=True)
class TeamSolver(Solver):
    """A solver that is a team.

    Attributes:
        team: the agents and their parts.
    """

    team: TeamParts = field(kw_only=True)

    @property
    def needs_programs(self) -> bool:
        """Return whether any part of it runs in a sandbox."""
        named = {tool for agent in self.team.design.agents.values() for tool in agent.tools or ()}
        return super().needs_programs or bool(named & PROVIDED)

    async def _converse(self, context: list[Message], unrecorded: list[Message], toolbox: Toolbox) -> str:
        context += unrecorded
        parts = [
            f"Your earlier answer:\n{m.content}" if m.role == "assistant" else m.content
            for m in context
            if m.role != "system"
        ]
        pictures = tuple((image.media_type, image.data) for m in context for image in m.images)
        text = await self._work("\n\n".join(parts), pictures, toolbox)
        context.append(Message("assistant", text))
        unrecorded.clear()
        return text

    async def _work(self, task: str, pictures: Pictures, toolbox: Toolbox) -> str:
        """Let the team do a task; a failure outside the candidate ends the attempt, as in any solver."""
        async with Bus(timeout=toolbox.conversation.settings.seconds) as bus:
            evolving = self._register(bus, pictures, toolbox)
            result = await bus.outside.request(PLANNER, {"task": task})
        toolbox.conversation.notes.extend(f"evolution: {json.dumps(made, sort_keys=True)}" for made in evolving.made)
        if not result.ok:
            raise NoAnswerError(AnswerStatus.TURNS, result.error)
        return str(result.value["answer"])

    def _register(self, bus: Bus, pictures: Pictures, toolbox: Toolbox) -> Evolving:
        """Register all participants: each agent uses the team's state at the start of a step."""
        memory, attempt, design = SharedMemory(), _Attempt(toolbox.conversation), self.team.design
        seconds = toolbox.conversation.settings.seconds

        def agent(team: TeamParts, name: str) -> SubAgent:
            return replace(_member(team, name, toolbox, memory, attempt), pictures=pictures)

        staff = Staff(agent, attempt, PROVIDED, design.rounds, seconds, seconds)
        seed = toolbox.conversation.seed or 0
        evolution = design.evolution or NO_EVOLUTION
        evolving = Evolving(self.team, staff, evolution, attempt, toolbox.programs, seed=seed)

        def agents() -> dict[str, str]:
            return {name: agent.description for name, agent in evolving.team.design.agents.items()}

        lead = PlanningAgent(evolving, agents, between=evolving.between, rounds=design.rounds)
        members = {name: Member(made.description, evolving.handler(name)) for name, made in design.agents.items()}
        register_team(bus, lead, members, memory)
        evolving.join(bus)
        return evolving


def _member(team: TeamParts, name: str, toolbox: Toolbox, memory: SharedMemory, attempt: _Attempt) -> SubAgent:
    agent, programs = team.design.agents[name], toolbox.programs

    conversations: dict[int, ProvidedTools] = {}
    given = toolbox.provided if isinstance(toolbox.provided, ProvidedTools) else ProvidedTools(toolbox.provided)

    def tools(context: Context) -> list[TeamTool]:
        provided = conversations[id(context)] = given.again()
        others = [asking(other, team.design.agents[other].description, context) for other in agent.asks]
        offered = {_PYTHON: python_tool(programs), **writing_tools(programs, context)} if programs else {}
        named = [tool for tool_name, tool in offered.items() if tool_name in (agent.tools or ())]
        own = [*others, *named, *memory.tools(context)]
        taken = {tool.tool.spec.name for tool in own}
        had = (tool for tool in provided if tool.spec.name not in taken and agent.has(tool.spec.name))
        return [*map(TeamTool, had), *own]

    async def release(context: Context) -> None:
        if opened := conversations.pop(id(context), None):
            await opened.close()

    settings = replace(toolbox.conversation.settings, max_turns=agent.turns, rounds=1, feedback="none")
    return SubAgent(
        _Counted(team.of_agent(name), toolbox.conversation), attempt, tools, programs, settings, release=release
    )


@dataclass(frozen=True)
class _Counted(Solver):
    """A member whose tool calls count toward the attempt's.

    Attributes:
        whole: the attempt's conversation.
    """

    whole: Conversation

    async def attempt(self, problem: Problem, conversation: Conversation, *given: Any, **named: Any) -> Answer:
        """Do a step (see `Solver.attempt`)."""
        try:
            return await super().attempt(problem, conversation, *given, **named)
        finally:
            self.whole.tool_calls += conversation.tool_calls


class _Attempt:
    """The attempt's model, for all conversations of a team: each call is part of the attempt's record and usage."""

    def __init__(self, conversation: Conversation) -> None:
        self.name = conversation.model.name
        self._conversation = conversation

    async def reply(self, request: Request) -> Reply:
        """Ask the attempt's model."""
        last = max((i for i, m in enumerate(request.messages) if m.role == "assistant"), default=-1)
        return await self._conversation.ask(request.messages, request.messages[last + 1 :], request.tools)
