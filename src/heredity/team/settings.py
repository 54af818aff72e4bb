"""team.toml: the configuration of a team.

    [team]
    model = "openai/gpt-5-mini"     # default model
    memory = "memory.jsonl"         # general notes of earlier tasks; added to in the end

    [corpus]
    folder = "documents"            # documents for the tools `search` and `read`

    [web]
    allow = ["127.0.0.1:8000"]      # hosts for the tools `browse` and `fetch`

    [agents.coder]
    description = "computes with Python"
    prompt = "You compute."
    tools = ["python", "notes"]
    asks = ["engineer"]             # other agents as tools

    [agents.engineer]
    description = "writes and tests programs"
    launcher = "claude-code"        # a coding agent, in a separate sandbox

    [mcp.notes]                     # a server of the Model Context Protocol, in the sandbox
    command = ["python3", "notes.py"]
    folder = "notes"

    [evolution]
    mode = "across"                 # the team improves itself, also for later tasks

Paths are seen from the folder of the file. `[gateway]` is that of every configuration.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from heredity._core.bounds import Count, CountOrZero, Dollars, Parallel, Seconds, Tokens
from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import NAME_PATTERN
from heredity._core.outside import json_value, read_text, toml_table
from heredity._core.refusals import reading
from heredity.configuration import tools
from heredity.configuration.secrets import refuse_secrets
from heredity.configuration.tools import CorpusSection, McpSection, SearchSection, WebSection
from heredity.models.settings import GatewaySettings
from heredity.team.memory import NAME as MEMORY
from heredity.team.planning import ROUNDS
from heredity.team.team import PLANNER


class Table(BaseModel):
    """A section: unknown keys and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class AgentSection(Table):
    """One sub-agent.

    Attributes:
        description: its abilities, for the planner and for agents that ask it.
        model: its model.
        prompt: its system message.
        resources: a folder with further parts, as `tool/NAME`, `prompt/NAME`, `memory/NAME` below it.
        tools: names from `TOOLS`, servers of `[mcp]`, or single tools of these (`"notes.add"`).
        asks: agents that it may ask as tools.
        turns: limit on the model calls of a step.
        concurrency: number of steps it does at once.
        pictures: whether its model sees images: it then gets the pictures among the task's files, and may look at
            pages.
        launcher: for a coding agent, its launcher ("claude-code", "codex", "mini-swe-agent"), or a folder with
            `start.sh`, written with a `/`; it then has no resources, tools or asks of the team's.
        tokens: token limit of a coding agent's step; none by default.
        cost_usd: its limit in US dollars; none by default.
        network: whether a coding agent shares the host's network.
        memory_mib, disk_mib: limits of a coding agent's memory and disk, in MiB; None for the defaults.
        a2a: for an outside agent (A2A), its address; it then has no model, prompt, resources, tools or asks.
        token: the environment variable with the token sent to it.
        optional: whether `heredity team run` and `serve` leave it out, with a note, where something it needs is missing.
    """

    description: str = ""
    model: str = ""
    prompt: str = ""
    resources: str = ""
    tools: tuple[str, ...] = Field(default=(), strict=False)
    asks: tuple[str, ...] = Field(default=(), strict=False)
    turns: Count = 20
    concurrency: Parallel = 4
    pictures: bool = False
    launcher: str = ""
    tokens: Tokens | None = None
    cost_usd: Dollars | None = None
    network: bool = False
    memory_mib: Count | None = None
    disk_mib: Count | None = None
    a2a: str = ""
    token: str = ""
    optional: bool = False

    @property
    def own(self) -> bool:
        """True for an outside program, which the team does not drive with a model and tools."""
        return bool(self.a2a or self.launcher)

    def asks_model(self, usual: str) -> bool:
        """Return whether it uses a model of the team: a folder's `start.sh` need not, and gets one if it names one."""
        return not self.a2a and ("/" not in self.launcher or bool(self.model or usual))

    @model_validator(mode="after")
    def _of_here_or_elsewhere(self) -> AgentSection:
        own = [name for name in ("model", "prompt", "resources", "tools", "asks") if getattr(self, name)]
        if self.a2a and not re.match(r"https?://[^\s/]", self.a2a):
            raise ValueError(f'a2a: {self.a2a!r:.80} is not an address; give one such as "http://127.0.0.1:9000"')
        if self.a2a and own:
            raise ValueError(f"{own[0]}: an agent of elsewhere has its own; leave it out")
        theirs = [name for name in ("resources", "tools", "asks", "pictures") if getattr(self, name)]
        if self.launcher and (theirs or self.a2a):
            raise ValueError(f"{[*theirs, 'a2a'][0]}: a coding agent has its own; leave it out")
        bounds = [name for name in ("tokens", "cost_usd", "network", "memory_mib", "disk_mib") if getattr(self, name)]
        if bounds and not self.launcher:
            raise ValueError(f"{bounds[0]}: it bounds a coding agent; give launcher as well, or leave it out")
        if self.token and not self.a2a:
            raise ValueError("token: it is sent to agents of elsewhere; give a2a as well, or leave it out")
        return self


TOOLS = (*tools.TOOLS, "write_tool", "write_skill")
"""Tools that agents may name; every agent also has `remember` and `recall`."""

RESERVED = (PLANNER, MEMORY, "evolution", "user")
"""Names that agents may not have."""


class TeamSection(Table):
    """The team as a whole.

    Attributes:
        model: the default model.
        rounds: limit on rounds of planning.
        seconds: time limit of a task.
        step_seconds: time limit of each step.
        memory: a file with the team's memory of earlier tasks, extended by general notes; empty for none.
    """

    model: str = ""
    rounds: Count = ROUNDS
    seconds: Seconds = 7200.0
    step_seconds: Seconds = 1800.0
    memory: str = ""


class PlannerSection(Table):
    """The planning agent.

    Attributes:
        model: its model.
        prompt: a system message in place of the usual one; it has to say the form of its reply.
    """

    model: str = ""
    prompt: str = ""


class DebateSection(Table):
    """A debate in place of a plan: agents argue in rounds, seeing all earlier arguments, and another agent judges.

    Attributes:
        agents: the debaters (two or more); empty for no debate.
        judge: the agent that decides.
        rounds: number of rounds.
    """

    agents: tuple[str, ...] = Field(default=(), strict=False)
    judge: str = ""
    rounds: Annotated[int, Field(ge=1, le=20)] = 2


class EvolutionSection(Table):
    """Evolution settings of a team (docs/teams.md, "Evolution while working").

    Attributes:
        mode: `"none"`; `"within"`: commits hold for the task they are made in; `"across"`: for later tasks too.
        optimizer: the method of the loop that proposes edits.
        options: its options (`heredity methods show NAME`).
        model: the proposing model; by default `gateway.optimisation`, else `team.model`.
        targets: parts that may change; with `"agent"` also the agents' tools and whom they may ask.
        attempts: limit on a task's attempts, re-attempts of steps and canaries together.
        tries: limit on proposals (for one failure).
        guards: number of successful steps re-attempted along with a failed one.
        store: the file of versions; the history is stored next to it.
        canaries: the file of solved earlier tasks.
        at_commit: number of latest canaries tried before a commit.
        check_every: number of tasks between checks of all canaries; 0 for never.
        seed: seed of the optimizer's draws.
    """

    mode: Literal["none", "within", "across"] = "none"
    optimizer: str = "reflection"
    options: dict[str, Any] = Field(default_factory=dict[str, Any])
    model: str = ""
    targets: tuple[Literal["prompt", "tool", "memory", "agent"], ...] = Field(
        default=("prompt", "tool", "memory"), strict=False
    )
    attempts: CountOrZero = 24
    tries: Count = 2
    guards: CountOrZero = 1
    store: str = "team-versions.db"
    canaries: str = "canaries.jsonl"
    at_commit: CountOrZero = 3
    check_every: CountOrZero = 5
    seed: Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)] = 0


class TeamSettings(Table):
    """A whole team.toml."""

    team: TeamSection = Field(default_factory=TeamSection)
    planner: PlannerSection = Field(default_factory=PlannerSection)
    agents: dict[str, AgentSection] = Field(min_length=1)
    debate: DebateSection = Field(default_factory=DebateSection)
    corpus: CorpusSection = Field(default_factory=CorpusSection)
    mcp: dict[str, McpSection] = Field(default_factory=dict[str, McpSection])
    web: WebSection = Field(default_factory=WebSection)
    search: SearchSection = Field(default_factory=SearchSection)
    evolution: EvolutionSection = Field(default_factory=EvolutionSection)
    gateway: GatewaySettings = Field(default_factory=GatewaySettings)

    @model_validator(mode="after")
    def _of_here_and_elsewhere(self) -> TeamSettings:
        for name, agent in self.agents.items():
            if not agent.description and not agent.a2a:
                raise ValueError(f"agents.{name}.description is missing; add it: what the agent can do")
        foreign = [(name, "a2a" if agent.a2a else "launcher") for name, agent in self.agents.items() if agent.own]
        if foreign and self.evolution.mode != "none":
            raise ValueError(
                f"agents.{'.'.join(foreign[0])}: what it did cannot be tried again without effects, so a team with one "
                'does not evolve; set evolution.mode = "none"'
            )
        return self

    @model_validator(mode="after")
    def _debating(self) -> TeamSettings:
        debate = self.debate
        if not debate.agents and not debate.judge:
            return self
        for key, name in [*(("agents", name) for name in debate.agents), ("judge", debate.judge)]:
            if name not in self.agents:
                raise ValueError(f"debate.{key}: {UnknownNameError('agent', name, self.agents)}")
        if len(set(debate.agents)) < max(2, len(debate.agents)) or debate.judge in debate.agents:
            raise ValueError(
                f"debate.agents: {', '.join(debate.agents)}, judged by {debate.judge}; name two or more different agents, and "
                "a judge that is none of them"
            )
        return self

    @model_validator(mode="after")
    def _agreed(self) -> TeamSettings:
        for name, agent in self.agents.items():
            if not NAME_PATTERN.fullmatch(name) or name in RESERVED:
                raise ValueError(
                    f"agents.{name:.40}: names have letters, digits, '.', '_', '-', and are not {', '.join(map(repr, RESERVED))}"
                )
            for other in agent.asks:
                if other not in self.agents or other == name:
                    raise ValueError(
                        f"agents.{name}.asks: {UnknownNameError('other agent', other, set(self.agents) - {name})}"
                    )
            tools.check_named(f"agents.{name}.tools", agent.tools, TOOLS, self.mcp, self.web)
        tools.check_servers(self.mcp, TOOLS)
        for name in [name for name, model in self.models().items() if not model]:
            raise ValueError(f"{name:.40} has no model; set team.model, or its own")
        return self

    def tools(self) -> frozenset[str]:
        """Return the names of the tools that agents have."""
        return frozenset(tool for agent in self.agents.values() for tool in agent.tools)

    def models(self) -> dict[str, str]:
        """Return the model of the planner and of each agent, by name."""
        agents = {name: agent.model for name, agent in self.agents.items() if agent.asks_model(self.team.model)}
        # A debate needs no planner.
        planner = agents.get(self.debate.judge, "") if self.debate.agents else ""
        own = {PLANNER: self.planner.model or planner, **agents}
        return {name: model or self.team.model for name, model in own.items()}

    def models_named(self) -> list[str]:
        """Return all models it may call, sorted: of the planner, of agents, and of its evolution."""
        proposes = self.evolution.model or self.gateway.optimisation if self.evolution.mode != "none" else ""
        return sorted({*self.models().values(), proposes} - {""})


def load_team(path: Path, changes: Mapping[str, Any] | None = None, mode: str = "") -> TeamSettings:
    """Read a team.toml and make its paths absolute.

    Args:
        path: the file.
        changes: values that replace those of the `[team]` section, such as `{"model": "local/smollm2"}`.
        mode: replaces `evolution.mode`; `""` leaves it.

    Raises:
        ConfigError: if it cannot be read, or a key or value is wrong; the message names it.
    """
    with reading(path, "valid TOML", "correct it there, or give the path of another team.toml"):
        data = toml_table(read_text(path))
    team: Any = data.get("team", {})
    if changes and isinstance(team, dict):
        data["team"] = {**team, **changes}
    refuse_secrets(data)
    base = path.absolute().parent
    evolution: Any = data.get("evolution", {} if mode else None)
    if mode and isinstance(evolution, dict):
        data["evolution"] = evolution = {**evolution, "mode": mode}
    if isinstance(evolution, dict):
        data["evolution"] = {"store": EvolutionSection().store, "canaries": EvolutionSection().canaries, **evolution}
    places = (("team", "memory"), ("corpus", "folder"), ("evolution", "store"), ("evolution", "canaries"))
    for section, key in places:
        _locate(data.get(section), key, base)
    agents: Any = data.get("agents")
    for agent in agents.values() if isinstance(agents, dict) else ():
        _locate(agent, "resources", base)
        if isinstance(agent, dict) and "/" in str(agent.get("launcher", "")):
            _locate(agent, "launcher", base)
    servers: Any = data.get("mcp")
    for server in servers.values() if isinstance(servers, dict) else ():
        _locate(server, "folder", base)
        if isinstance(server, dict) and isinstance(server.get("shows"), list):
            server["shows"] = [str(base / path) for path in server["shows"] if isinstance(path, str)]
    with reading(path, "TOML", "correct it there, or give the path of another team.toml", model=TeamSettings):
        return TeamSettings.model_validate(data)


def _locate(section: Any, key: str, base: Path) -> None:
    if isinstance(section, dict) and isinstance(section.get(key), str) and section[key]:
        section[key] = str(base / section[key])


class Asked(BaseModel):
    """Content of `task.json`."""

    task: str
    files: tuple[str, ...] = ()
    answer: str = ""
    settings: TeamSettings

    @field_validator("files")
    @classmethod
    def _plain(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if odd := [name for name in names if not name or Path(name).name != name]:
            raise ValueError(f"{odd[0]!r:.80} is not a file name")
        return names


def read_task(folder: Path) -> Asked:
    """Return the task of a folder used by `heredity team run`.

    Raises:
        ConfigError: if the folder holds no task, or its file is damaged.
    """
    path = folder / "task.json"
    if not path.exists():
        raise ConfigError(f"{folder} holds no task; give a folder that `heredity team run` worked in")
    with reading(path, "JSON", "restore it, or give the task anew", model=Asked):
        return Asked.model_validate(json_value(read_text(path)))
