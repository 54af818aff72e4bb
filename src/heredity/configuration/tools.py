"""Sections about tools: web, documents and servers for solvers and agents.

They are the same in the configuration of a run, where `solver.tools` names the tools of solvers, and in a team.toml,
where each agent names some.

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

from heredity._core.bounds import Seconds
from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.plugins import located
from heredity.sandbox.hosts import AllowedHosts

SEARCH, READ, PYTHON, BROWSE, FETCH, SEARCH_WEB = "search", "read", "python", "browse", "fetch", "search-web"
TOOLS = (SEARCH, READ, PYTHON, BROWSE, FETCH, SEARCH_WEB)
"""Built-in tools; a configuration may also name servers of `[mcp]`."""

_READING, _REACHING, _ASKING = frozenset({SEARCH, READ}), frozenset({FETCH, BROWSE}), frozenset({SEARCH_WEB})
"""Tools that need `[corpus]`, `[web]` and `[search]`."""


def _located(path: str, base: Path) -> str:
    return located(path, base) if path else path


class ToolSection(BaseModel):
    """Base of the sections about tools: frozen, every key known, values of TOML's own types.

    Attributes:
        paths: keys that name files or folders, with the functions that make them absolute.
        indifferent: keys that affect how something is reached, but not the thing reached.
    """

    paths: ClassVar[Mapping[str, Callable[[str, Path], str]]] = MappingProxyType({})
    indifferent: ClassVar[tuple[str, ...]] = ()
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    def conditions(self) -> dict[str, Any]:
        """Return the keys that determine a score, if set: runs without tools have none."""
        return self.model_dump(mode="json", exclude=set(self.indifferent), exclude_defaults=True)


class CorpusSection(ToolSection):
    """`[corpus]`: documents for `search` and `read`.

    Attributes:
        folder: the folder of documents, offered in addition to the files of the task.
    """

    paths: ClassVar[Mapping[str, Callable[[str, Path], str]]] = MappingProxyType({"folder": _located})

    folder: str = ""


class McpSection(ToolSection):
    """`[mcp.NAME]`: a server of the Model Context Protocol, started in the sandbox or at an address.

    Attributes:
        command: program and arguments of a server to start in the sandbox.
        url: address of a running server (streamable HTTP), instead of a command.
        token: the environment variable that holds the token for a server at a url.
        folder: working folder of a command, writable, `/workspace` inside; by default an empty one. Each attempt of a
            solver has a separate copy.
        shows: files and folders that a command may read, at the same paths inside.
        packages: installed Python packages that a command may import.
        environment: variables of this process passed to a command.
        network: true if a command may use the host's network.
        tools: the tools to offer; all by default.
        seconds: timeout of a call.
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
    def _check_connection(self) -> McpSection:
        if bool(self.command) == bool(self.url):
            raise ValueError("a server has either a command, which starts it, or a url; give one of them")
        if self.url and not re.match(r"https?://[^\s/]", self.url):
            raise ValueError(f'url: {self.url!r:.80} is not an address; give one such as "http://127.0.0.1:8765/mcp"')
        local = [name for name in ("folder", "shows", "packages", "environment", "network") if getattr(self, name)]
        if self.url and local:
            raise ValueError(f"{local[0]}: it applies to a command, and this server has a url; leave it out")
        if self.command and self.token:
            raise ValueError("token: it is for servers at a url; for one with a command, name it in environment")
        return self


class WebSection(ToolSection):
    """`[web]`: the reachable part of the web.

    Attributes:
        allow: hosts: `host:port`, `host` (ports 80 and 443), `*.domain`, or `*` for every public one.
        private: true if host names may resolve to addresses of this machine and of the local network.
        browser: the path of Chromium (empty to look for it).
        memory_mib: memory limit of the browser in MiB, all of its processes together.
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
    """`[search]`: the search service of `search-web`.

    Attributes:
        service: `"searxng"` (self-hosted, with its JSON format enabled), `"brave"` or `"tavily"`, or a compatible one.
        url: its address, if not the usual one.
        key: the environment variable that holds its key.
    """

    indifferent: ClassVar[tuple[str, ...]] = ("key",)

    service: Literal["searxng", "brave", "tavily"] = "searxng"
    url: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """The tools for solvers or an agent, and their settings.

    Attributes:
        names: some of `TOOLS`, servers of `mcp`, or single tools of these (`"notes.add"`).
        corpus, web, search: the sections of the tools that need them.
        mcp: the servers by name.
        key: the configuration key that names them: `"solver.tools"`, or `"evolver.tools"` for an outside agent's.
        sees: true if their user may look at pages.
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
        """The named tools and servers; for a single tool, its server."""
        return frozenset(name.partition(".")[0] for name in self.names)

    @property
    def servers(self) -> dict[str, McpSection]:
        """The named servers."""
        return {name: section for name, section in self.mcp.items() if name in self.used}

    def conditions(self) -> dict[str, Any]:
        """Return the settings that determine the score of a candidate, by dotted keys; empty without tools."""
        by_tool = {"corpus": (self.corpus, _READING), "web": (self.web, _REACHING), "search": (self.search, _ASKING)}
        sections: dict[str, ToolSection] = {name: part for name, (part, tools) in by_tool.items() if self.used & tools}
        sections |= {f"mcp.{name}": section for name, section in self.servers.items()}
        return {f"{name}.{key}": value for name, part in sections.items() for key, value in part.conditions().items()}

    def agree(self) -> None:
        """Check that the named tools exist.

        Raises:
            ValueError: if one does not; the message names the key.
        """
        check_named(self.key, self.names, TOOLS, self.mcp, self.web)
        twice = next((name for at, name in enumerate(self.names) if name in self.names[:at]), None)
        if twice is not None:
            raise ValueError(f"{self.key} names {twice!r} twice; name it once")
        if self.sees and BROWSE not in self.names:
            raise ValueError(f"solver.pictures is only for pages; name {BROWSE!r} in solver.tools, or leave it out")

    def check_used(self, used: Collection[str]) -> None:
        """Check that every configured section is used.

        Args:
            used: all tools and servers in use.

        Raises:
            ConfigError: if one is not; the message names the key.
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
                    f"{key} is set, but no tool uses it; name {' or '.join(map(repr, sorted(tools)))} in solver.tools or "
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
    """Check that the named tools exist; raises ValueError, which names the key `where`."""
    available = {*tools, *servers}
    for name in names:
        own, dot, _ = name.partition(".")
        if own not in available or (dot and own in tools):
            raise ValueError(f"{where}: {UnknownNameError('tool', name, available)}")
    for tool in (BROWSE, FETCH):
        if tool in names and not web.allow:
            raise ValueError(f"{where}: {tool!r} needs reachable hosts; set web.allow")
