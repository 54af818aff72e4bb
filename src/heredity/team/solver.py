"""A team as a solver: a candidate of resources that any taskset, method and schedule can use.

A candidate whose part `agent/team` says who is in the team answers questions by planning and working them off:

    agent/team/agent.json      {"agents": {"reader": {"description": "finds facts", "tools": ["look-up"]}}, "rounds": 5}
    prompt/planner/prompt.md   the planner's system message (by default `heredity.team.planning.INSTRUCTIONS`)
    prompt/reader/prompt.md    the system message of the agent `reader`
    tool/NAME, memory/NAME     as of any solver; every agent has the memories, and the tools that it names, or all

So prompts, tools and memories of a team are edited, compared, committed and rolled back like those of a single solver. One
attempt is one task of the team: its conversations share the attempt's budget of seconds, and every model call is the attempt's.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from heredity.actors.conversation import Conversation, NoAnswerError
from heredity.actors.parts import read_parts
from heredity.actors.solver import Solver
from heredity.actors.tools import Toolbox
from heredity.errors import ConfigError, UnknownNameError
from heredity.gateway import Message, Reply, Request
from heredity.ids import NAME_PATTERN
from heredity.outside import json_value
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import check_candidate
from heredity.results.status import AnswerStatus
from heredity.team.agent import SubAgent, TeamTool
from heredity.team.bus import Bus
from heredity.team.memory import NAME as MEMORY
from heredity.team.memory import SharedMemory
from heredity.team.messages import Kind
from heredity.team.participant import Context, Participant
from heredity.team.planning import INSTRUCTIONS, ROUNDS, ModelPlanner, PlanningAgent
from heredity.team.team import PLANNER
from heredity.team.tools.asking import asking
from heredity.team.tools.python import python_tool

TEAM = "agent/team"
_FILE = "agent.json"
_PYTHON = "python"
T = TypeVar("T")


class AgentDesign(BaseModel):
    """An agent of a team: what it can do, its tools (None for all), whom it may ask, its model calls a step."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    description: Annotated[str, Field(min_length=1)]
    tools: tuple[str, ...] | None = None
    asks: tuple[str, ...] = ()
    turns: Annotated[int, Field(ge=1)] = 20


class TeamDesign(BaseModel):
    """Who is in a team that is a candidate, and how often it plans at most."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    agents: Annotated[dict[str, AgentDesign], Field(min_length=1)]
    rounds: Annotated[int, Field(ge=1)] = ROUNDS


def build(candidate: Candidate) -> TeamSolver:
    """Build the team that a candidate describes. Nothing of it is run.

    Raises:
        ConfigError: if a part cannot be built, or the design names what is not there; the message names it.
    """
    check_candidate(candidate)
    design = _design(candidate.parts[TEAM])
    rest = Candidate({name: part for name, part in candidate.parts.items() if name != TEAM})
    solver = TeamSolver(read_parts(rest), design=design)
    known = {tool.name for tool in solver.parts.tools} | {_PYTHON}
    for name, agent in design.agents.items():
        if not NAME_PATTERN.fullmatch(name) or name in (PLANNER, MEMORY):
            raise ConfigError(
                f"{TEAM}: {name!r:.60} cannot name an agent; use letters, digits, '.', '_', '-', and not {PLANNER!r} or {MEMORY!r}"
            )
        for tool in agent.tools or ():
            if tool not in known:
                raise ConfigError(f"{TEAM}: agents.{name}.tools: {UnknownNameError('tool', tool, known)}")
        for other in agent.asks:
            if other not in design.agents or other == name:
                raise ConfigError(
                    f"{TEAM}: agents.{name}.asks: {UnknownNameError('other agent', other, set(design.agents) - {name})}"
                )
    return solver


def _design(part: SourceTree) -> TeamDesign:
    try:
        return TeamDesign.model_validate(json_value(part.text(_FILE)))
    except KeyError:
        raise ConfigError(f"{TEAM} has no {_FILE} (it has {', '.join(part)}); add it, with the team's agents") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or _FILE
        raise ConfigError(f"{TEAM}: {where}: {first['msg'].removeprefix('Value error, ')}") from error
    except ValueError as error:
        raise ConfigError(f"{_FILE} of {TEAM} is not JSON: {error}") from error


@dataclass(frozen=True)
class TeamSolver(Solver):
    """A solver that is a team.

    Attributes:
        design: who is in it.
    """

    design: TeamDesign = field(kw_only=True)

    @property
    def needs_programs(self) -> bool:
        """Whether anything of it has to be run in a sandbox."""
        return super().needs_programs or any(_PYTHON in (agent.tools or ()) for agent in self.design.agents.values())

    async def _converse(self, context: list[Message], unrecorded: list[Message], toolbox: Toolbox) -> str:
        context += unrecorded
        said = [
            f"Your earlier answer:\n{m.content}" if m.role == "assistant" else m.content
            for m in context
            if m.role != "system"
        ]
        text = await self._work("\n\n".join(said), toolbox)
        context.append(Message("assistant", text))
        unrecorded.clear()
        return text

    async def _work(self, task: str, toolbox: Toolbox) -> str:
        """Let the team do a task; what fails through no fault of the candidate ends the attempt, as in any solver."""
        async with Bus(timeout=toolbox.conversation.settings.seconds) as bus:
            self._register(bus, toolbox)
            result = await bus.outside.request(PLANNER, {"task": task})
        if not result.ok:
            raise NoAnswerError(AnswerStatus.TURNS, result.error)
        return str(result.value["answer"])

    def _register(self, bus: Bus, toolbox: Toolbox) -> None:
        memory, attempt = SharedMemory(), _Attempt(toolbox.conversation)
        members = {name: self._member(name, toolbox, memory, attempt) for name in self.design.agents}
        described = {name: agent.description for name, agent in self.design.agents.items()}
        planner = ModelPlanner(attempt, self.parts.prompts.get(PLANNER, INSTRUCTIONS))
        lead = PlanningAgent(planner, lambda: described, rounds=self.design.rounds)
        for name, handler in {**members, PLANNER: lead}.items():
            bus.register(Participant(name, handler, described.get(name, ""), frozenset({Kind.TASK})))
        bus.register(memory.participant())

    def _member(self, name: str, toolbox: Toolbox, memory: SharedMemory, attempt: _Attempt) -> SubAgent:
        agent, programs = self.design.agents[name], toolbox.programs

        def tools(context: Context) -> list[TeamTool]:
            others = [asking(other, self.design.agents[other].description, context) for other in agent.asks]
            python = [python_tool(programs)] if programs and _PYTHON in (agent.tools or ()) else []
            return [*map(TeamTool, toolbox.provided), *others, *python, *memory.tools(context)]

        own = [tool for tool in self.parts.tools if agent.tools is None or tool.name in agent.tools]
        prompts = {"system": self.parts.prompts.get(name, "")}
        parts = replace(self.parts, prompts=prompts, tools=tuple(own), program=None)
        settings = replace(toolbox.conversation.settings, max_turns=agent.turns, rounds=1, feedback="none")
        return SubAgent(Solver(parts), attempt, tools, programs, settings)


class _Attempt:
    """The attempt's model, for all conversations of a team: each call is part of the attempt's record and usage."""

    def __init__(self, conversation: Conversation) -> None:
        self.name = conversation.model.name
        self._conversation = conversation

    async def reply(self, request: Request) -> Reply:
        """Ask the attempt's model."""
        last = max((i for i, m in enumerate(request.messages) if m.role == "assistant"), default=-1)
        return await self._conversation.ask(request.messages, request.messages[last + 1 :], request.tools)
