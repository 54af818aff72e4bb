"""Design of a team: a candidate whose part `agent/team` lists the agents and their resources.

agent/team/agent.json      {"agents": {"reader": {"description": "finds facts", "tools": ["look-up"]}}, "rounds": 5}
prompt/planner/prompt.md   the planner's system message (by default `heredity.team.planning.INSTRUCTIONS`)
prompt/reader/prompt.md    the system message of the agent `reader`
tool/NAME, memory/NAME     as of any solver; every agent has those that it names, or all
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from heredity._core.bounds import Count, CountOrZero
from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import NAME_PATTERN
from heredity._core.outside import json_value
from heredity._core.refusals import reading
from heredity.engine.parts import Parts, read_parts
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import check_candidate
from heredity.team.memory import NAME as MEMORY
from heredity.team.planning import INSTRUCTIONS, ROUNDS
from heredity.team.team import PLANNER
from heredity.team.tools.own_tools import tool_name

TEAM = "agent/team"
FILE = "agent.json"
MOST_TURNS = 1000


class EvolutionDesign(BaseModel):
    """Evolution settings of a team, applied between the rounds of a task (docs/teams.md, "Evolution while working").

    Attributes:
        optimizer: the method that proposes edits.
        options: the method's options.
        targets: parts that may change: `"prompt"`, `"tool"`, `"memory"`; with `"agent"` also the agents' tools and
            whom they may ask.
        attempts: limit on a task's attempts (re-attempts of steps and canaries together); 0 for no evolution.
        tries: limit on proposals for one failure.
        guards: successful steps of the same agent, re-attempted along with the failed one: they must still succeed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    optimizer: str = "reflection"
    options: dict[str, Any] = Field(default_factory=dict[str, Any])
    targets: tuple[str, ...] = ("prompt", "tool", "memory")
    attempts: CountOrZero = 24
    tries: Count = 2
    guards: CountOrZero = 1


class AgentDesign(BaseModel):
    """An agent of a team.

    Attributes:
        description: its abilities.
        tools, memories: the candidate's tools and memories it has; None for all.
        given: the configured tools it has, by the names that models see, such as `"browser_open"`, `"browser_*"`;
            None for all. Tools not given are not available to it.
        asks: agents it may ask.
        turns: limit on the model calls of a step.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    description: Annotated[str, Field(min_length=1)]
    tools: tuple[str, ...] | None = None
    memories: tuple[str, ...] | None = None
    given: tuple[str, ...] | None = None
    asks: tuple[str, ...] = ()
    turns: Annotated[int, Field(ge=1, le=MOST_TURNS)] = 20

    def has(self, tool: str) -> bool:
        """Return whether it has a configured tool."""
        return self.given is None or any(fnmatchcase(tool, name) for name in self.given)


class TeamDesign(BaseModel):
    """A candidate's team: its agents, the limit on rounds, and its evolution between rounds."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    agents: Annotated[dict[str, AgentDesign], Field(min_length=1)]
    rounds: Count = ROUNDS
    evolution: EvolutionDesign | None = None

    def to_part(self) -> SourceTree:
        """Return it as the part `agent/team`."""
        value = self.model_dump(mode="json", exclude_defaults=True)
        return SourceTree({FILE: json.dumps(value, indent=1, ensure_ascii=False) + "\n"})


@dataclass(frozen=True)
class TeamParts:
    """A team, read from a candidate.

    Attributes:
        candidate: the source of the team.
        design: the agents.
        parts: all prompts, tools and memories.
    """

    candidate: Candidate
    design: TeamDesign
    parts: Parts

    @property
    def planner(self) -> str:
        """The planner's system message."""
        return self.parts.prompts.get(PLANNER, INSTRUCTIONS)

    def of_agent(self, name: str) -> Parts:
        """Return the parts of one agent."""
        agent = self.design.agents[name]
        tools = tuple(tool for tool in self.parts.tools if agent.tools is None or tool.name in agent.tools)
        memories = {
            own: text for own, text in self.parts.memories.items() if agent.memories is None or own in agent.memories
        }
        prompts = {"system": self.parts.prompts.get(name, "")}
        return replace(self.parts, prompts=prompts, memories=memories, tools=tools, program=None)


def read_team(candidate: Candidate, offered: Collection[str]) -> TeamParts:
    """Read a team (nothing is executed).

    Args:
        candidate: the source of the team.
        offered: names of tools that agents may have in addition to the candidate's.

    Raises:
        ConfigError: if a part cannot be built, or the design names a missing one; the message names it.
    """
    check_candidate(candidate)
    if TEAM not in candidate.parts:
        raise ConfigError(f"a team needs the part {TEAM}, and there is {', '.join(candidate.parts) or 'none'}; add it")
    design = _design(candidate.parts[TEAM])
    parts = read_parts(Candidate({name: part for name, part in candidate.parts.items() if name != TEAM}))
    tools = {tool.name for tool in parts.tools} | set(offered)
    taken = {tool.name for tool in parts.tools} & set(offered)
    if taken:
        raise ConfigError(f"tool/{min(taken)} has the name of a tool that the team provides; give it another name")
    for name, agent in design.agents.items():
        _check_agent(name, agent, design.agents, tools)
    _check_names(design.agents)
    return TeamParts(candidate, design, parts)


def _check_names(agents: Collection[str]) -> None:
    called: dict[str, str] = {}
    for name in agents:
        if (other := called.setdefault(tool_name(name), name)) != name:
            raise ConfigError(
                f"{TEAM}: agents.{name}: as a tool it would be called {tool_name(name)}, as {other} is; give it another name"
            )


def _check_agent(name: str, agent: AgentDesign, agents: Mapping[str, AgentDesign], tools: Collection[str]) -> None:
    if not NAME_PATTERN.fullmatch(name) or name in (PLANNER, MEMORY):
        raise ConfigError(
            f"{TEAM}: {name!r:.60} cannot name an agent; use letters, digits, '.', '_', '-', and not {PLANNER!r} or {MEMORY!r}"
        )
    for tool in agent.tools or ():
        if tool not in tools:
            raise ConfigError(f"{TEAM}: agents.{name}.tools: {UnknownNameError('tool', tool, tools)}")
    for other in agent.asks:
        if other not in agents or other == name:
            raise ConfigError(
                f"{TEAM}: agents.{name}.asks: {UnknownNameError('other agent', other, set(agents) - {name})}"
            )


def _design(part: SourceTree) -> TeamDesign:
    if FILE not in part:
        raise ConfigError(f"{TEAM} has no {FILE} (it has {', '.join(part)}); add it, with the team's agents")
    with reading(f"{FILE} of {TEAM}", "JSON", "correct it there", model=TeamDesign):
        return TeamDesign.model_validate(json_value(part.text(FILE)))
