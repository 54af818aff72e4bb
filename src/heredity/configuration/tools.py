"""Sections about tools: what of the web, of documents and of servers whoever answers questions may reach.

They are the same in the configuration of a run, where `solver.tools` names the tools of solvers, and in a team.toml, where each
agent names its own.

    [solver]
    tools = ["search", "read", "fetch", "notes"]

    [corpus]
    folder = "documents"

    [web]
    allow = ["127.0.0.1:8000"]

    [mcp.notes]
    command = ["python3", "notes.py"]
    folder = "notes"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from heredity.bounds import Seconds
from heredity.errors import ConfigError, UnknownNameError
from heredity.plugins import located
from heredity.sandbox.hosts import AllowedHosts

SEARCH, READ, PYTHON, BROWSE, FETCH, SEARCH_WEB = "search", "read", "python", "browse", "fetch", "search-web"
TOOLS = (SEARCH, READ, PYTHON, BROWSE, FETCH, SEARCH_WEB)
"""Tools that a configuration names; servers of `[mcp]` are named beside them."""

_READING, _REACHING, _ASKING = frozenset({SEARCH, READ}), frozenset({FETCH, BROWSE}), frozenset({SEARCH_WEB})
"""Which tools need `[corpus]`, `[web]` and `[search]`."""


def _located(path: str, base: Path) -> str:
    return located(path, base) if path else path


class ToolSection(BaseModel):
    """Base of the sections about tools: frozen, every key known, values of TOML's own types.

    Attributes:
        paths: keys that name files or folders, with what makes them absolute.
        indifferent: keys that say how something is reached, and leave alone what is.
    """

    paths: ClassVar[Mapping[str, Callable[[str, Path], str]]] = MappingProxyType({})
    indifferent: ClassVar[tuple[str, ...]] = ()
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    def conditions(self) -> dict[str, Any]:
        """Return the keys that a score hangs on, where they are given: runs without tools have none."""
        return self.model_dump(mode="json", exclude=set(self.indifferent), exclude_defaults=True)


class CorpusSection(ToolSection):
    """`[corpus]`: the folder of documents that `search` and `read` work on, beside the files of the task."""

    paths: ClassVar[Mapping[str, Callable[[str, Path], str]]] = MappingProxyType({"folder": _located})

    folder: str = ""


class McpSection(ToolSection):
    """`[mcp.NAME]`: a server of the Model Context Protocol, started in the sandbox or at an address.

    Attributes:
        command: program and arguments; or
        url: its address (streamable HTTP).
        token: the environment variable that holds the token it is sent.
        folder: the folder that a command starts in and may write, `/workspace` inside; by default an empty one. Each attempt of a
            solver has a copy of its own.
        shows: files and folders that a command may read, at the same paths inside.
        packages: installed Python packages that a command may import.
        environment: variables of this process that a command is given.
        network: whether a command may use the host's network.
        tools: the tools that are offered; all by default.
        seconds: how long a call may take.
    """

    paths: ClassVar[Mapping[str, Callable[[str, Path], str]]] = MappingProxyType(
        {"folder": _located, "shows": _located}
    )
    indifferent: ClassVar[tuple[str, ...]] = ("token",)

    command: tuple[str, ...] = Field(default=(), strict=False)
    url: str = ""
    token: str = ""
    folder: str = ""
    shows: tuple[str, ...] = Field(default=(), strict=False)
    packages: tuple[str, ...] = Field(default=(), strict=False)
    environment: tuple[str, ...] = Field(default=(), strict=False)
    network: bool = False
    tools: tuple[str, ...] = Field(default=(), strict=False)
    seconds: Seconds = 60.0

    @model_validator(mode="after")
    def _one_way(self) -> McpSection:
        if bool(self.command) == bool(self.url):
            raise ValueError("a server has either a command, with which it is started, or a url; give one of them")
        if self.url and not re.match(r"https?://[^\s/]", self.url):
            raise ValueError(f'url: {self.url!r:.80} is no address; give one such as "http://127.0.0.1:8765/mcp"')
        local = [name for name in ("folder", "shows", "packages", "environment", "network") if getattr(self, name)]
        if self.url and local:
            raise ValueError(f"{local[0]}: what a command is granted says nothing to a server at a url; leave it out")
        if self.command and self.token:
            raise ValueError("token: it is sent to servers at a url; name it in environment for one with a command")
        return self


class WebSection(ToolSection):
    """`[web]`: what of the web may be reached.

    Attributes:
        allow: hosts: `host:port`, `host` (ports 80 and 443), `*.domain`, or `*` for every public one.
        private: whether names of hosts may lead to addresses of this machine and of the local network.
        browser: the path of Chromium; empty to look for it.
        memory_mib: how much memory the browser may hold, all of its processes together.
    """

    paths: ClassVar[Mapping[str, Callable[[str, Path], str]]] = MappingProxyType({"browser": _located})
    indifferent: ClassVar[tuple[str, ...]] = ("browser", "memory_mib")

    allow: tuple[str, ...] = Field(default=(), strict=False)
    private: bool = False
    browser: str = ""
    memory_mib: Annotated[int, Field(ge=1, le=1 << 30)] = 4096

    @model_validator(mode="after")
    def _hosts(self) -> WebSection:
        try:
            AllowedHosts(self.allow)
        except ConfigError as error:
            raise ValueError(str(error)) from error
        return self


class SearchSection(ToolSection):
    """`[search]`: the service that `search-web` asks.

    Attributes:
        service: `"searxng"` (one's own, whose JSON is allowed), `"brave"` or `"tavily"`, and what answers as these do.
        url: where it is, if not at its usual address.
        key: the environment variable that holds its key.
    """

    indifferent: ClassVar[tuple[str, ...]] = ("key",)

    service: Literal["searxng", "brave", "tavily"] = "searxng"
    url: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """The tools that somebody is given, and what these work on.

    Attributes:
        names: some of `TOOLS`, servers of `mcp`, or single tools of these (`"notes.add"`).
        corpus, web, search: the sections of the tools that need them.
        mcp: the servers by name.
        key: what names them: `"solver.tools"`, or `"evolver.tools"` for an outside agent's.
        sees: whether who is given them may look at pages.
    """

    names: tuple[str, ...] = ()
    corpus: CorpusSection = field(default_factory=CorpusSection)
    web: WebSection = field(default_factory=WebSection)
    search: SearchSection = field(default_factory=SearchSection)
    mcp: Mapping[str, McpSection] = field(default_factory=dict[str, McpSection])
    key: str = "solver.tools"
    sees: bool = False

    @property
    def used(self) -> frozenset[str]:
        """What is named, of single tools their servers."""
        return frozenset(name.partition(".")[0] for name in self.names)

    @property
    def servers(self) -> dict[str, McpSection]:
        """The servers that are named."""
        return {name: section for name, section in self.mcp.items() if name in self.used}

    def conditions(self) -> dict[str, Any]:
        """Return what the score of a candidate hangs on, by dotted keys; nothing where there are no tools."""
        by_tool = {"corpus": (self.corpus, _READING), "web": (self.web, _REACHING), "search": (self.search, _ASKING)}
        sections: dict[str, ToolSection] = {name: part for name, (part, tools) in by_tool.items() if self.used & tools}
        sections |= {f"mcp.{name}": section for name, section in self.servers.items()}
        return {f"{name}.{key}": value for name, part in sections.items() for key, value in part.conditions().items()}

    def agree(self) -> None:
        """Check that what is named is there.

        Raises:
            ValueError: if not; the message names the key.
        """
        check_named(self.key, self.names, TOOLS, self.mcp, self.web)
        twice = next((name for at, name in enumerate(self.names) if name in self.names[:at]), None)
        if twice is not None:
            raise ValueError(f"{self.key} names {twice!r} twice; name it once")
        if self.sees and BROWSE not in self.names:
            raise ValueError(
                f"solver.pictures: only pages are looked at; name {BROWSE!r} in solver.tools, or leave it out"
            )

    def check_used(self, used: Collection[str]) -> None:
        """Check that what is given is used.

        Args:
            used: all tools and servers that somebody is given.

        Raises:
            ConfigError: if not; the message names the key.
        """
        given: dict[str, tuple[object, Collection[str]]] = {
            "corpus.folder": (self.corpus.folder, _READING),
            "web.allow": (self.web.allow, _REACHING),
            "search.url": (self.search.url, _ASKING),
            "search.key": (self.search.key, _ASKING),
            **{f"mcp.{name}": (True, {name}) for name in self.mcp},
        }
        for key, (value, tools) in given.items():
            if value and not set(tools) & set(used):
                raise ConfigError(
                    f"{key} is given, and no tool uses it; name {' or '.join(map(repr, sorted(tools)))} in solver.tools or "
                    "evolver.tools, or leave it out"
                )


def check_servers(servers: Mapping[str, McpSection], taken: Collection[str]) -> None:
    """Check the names of servers; raises ValueError, which names the key."""
    for name in servers:
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", name) or name in taken:
            raise ValueError(
                f"mcp.{name:.40}: a server has a name of up to 32 letters, digits, '_' and '-', and not that of a tool"
            )


def check_named(
    where: str, names: Sequence[str], tools: Collection[str], servers: Mapping[str, McpSection], web: WebSection
) -> None:
    """Check that tools which are named are there; raises ValueError, which names the key `where`."""
    available = {*tools, *servers}
    for name in names:
        own, dot, _ = name.partition(".")
        if own not in available or (dot and own in tools):
            raise ValueError(f"{where}: {UnknownNameError('tool', name, available)}")
    for tool in (BROWSE, FETCH):
        if tool in names and not web.allow:
            raise ValueError(f"{where}: {tool!r} needs hosts that may be reached; set web.allow")
