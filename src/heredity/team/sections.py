"""Sections of a team.toml about one agent, and their common base."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field, model_validator

from heredity._core.bounds import Count, Dollars, Parallel, Tokens


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
        tokens: token limit of a coding agent's step; `cost_usd`: its limit in US dollars; None for no limit.
        network: whether a coding agent shares the host's network.
        memory_mib, disk_mib: limits of a coding agent's memory and disk, in MiB; None for the defaults.
        a2a: for an outside agent (A2A), its address; it then has no model, prompt, resources, tools or asks.
        token: the environment variable with the token sent to it.
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
