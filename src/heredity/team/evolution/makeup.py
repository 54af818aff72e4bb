"""A team.toml as a candidate, so that configured and evolved teams have the same parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from heredity._core.errors import ConfigError
from heredity.engine.parts import Parts, read_parts
from heredity.resources import Candidate, SourceTree
from heredity.resources.building import PROMPT
from heredity.team.design import TEAM, AgentDesign, TeamDesign, TeamParts
from heredity.team.planning import INSTRUCTIONS
from heredity.team.settings import AgentSection, TeamSettings
from heredity.team.team import PLANNER

_SYSTEM = "prompt/system"


@dataclass(frozen=True)
class Makeup:
    """A team as it is configured.

    Attributes:
        candidate: the parts that may evolve: prompts, tools, memories, the design.
        rest: fixed parts by agent: its other prompts, its program, its way of calling tools.
        offered: names of the tools that the team provides to its agents.
    """

    candidate: Candidate
    rest: Mapping[str, Parts]
    offered: frozenset[str]

    def parts(self, team: TeamParts, name: str) -> Parts:
        """Return the parts of an agent of an evolved team."""
        own, rest = team.of_agent(name), self.rest.get(name, Parts())
        return replace(rest, prompts={**rest.prompts, **own.prompts}, memories=own.memories, tools=own.tools)


def makeup(settings: TeamSettings, candidate_of: Callable[[AgentSection], Candidate]) -> Makeup:
    """Return a team as it is configured.

    Args:
        settings: the team.
        candidate_of: returns an agent's parts.

    Raises:
        ConfigError: if two agents have different tools or memories of one name, or a part cannot be built.
    """
    parts: dict[str, SourceTree] = {f"prompt/{PLANNER}": SourceTree({PROMPT: settings.planner.prompt or INSTRUCTIONS})}
    agents: dict[str, AgentDesign] = {}
    rest: dict[str, Parts] = {}
    for name, agent in settings.agents.items():
        own = candidate_of(agent)
        rest[name] = read_parts(own)
        shared = {part: tree for part, tree in own.parts.items() if part.startswith(("tool/", "memory/"))}
        for part, tree in shared.items():
            if parts.setdefault(part, tree) != tree:
                raise ConfigError(f"agents.{name}: another agent has another {part}; give one of them another name")
        if _SYSTEM in own.parts:
            parts[f"prompt/{name}"] = own.parts[_SYSTEM]
        names = {
            kind: tuple(p.partition("/")[2] for p in shared if p.startswith(kind)) for kind in ("tool/", "memory/")
        }
        agents[name] = AgentDesign(
            description=agent.description,
            tools=(*agent.tools, *names["tool/"]),
            memories=names["memory/"],
            asks=agent.asks,
            turns=agent.turns,
        )
    parts[TEAM] = TeamDesign(agents=agents).to_part()
    offered = frozenset(tool for agent in settings.agents.values() for tool in agent.tools)
    return Makeup(Candidate(parts), rest, offered)
