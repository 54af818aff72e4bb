"""Servers of the Model Context Protocol in a team: those of its team.toml, and those that are resources of its agents.

A section `[mcp.NAME]` is written by the team's operator and may grant a folder, the network, variables. A resource
`tool/NAME` with an `mcp.json` has versions and is evolved like any other, so it grants nothing:

    {"server": "notes", "tools": ["find"], "descriptions": {"find": "…"}}     selection from a server of team.toml
    {"command": ["python3", "server.py"]}                                     a program among the resource's own files
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.outside import json_value
from heredity._core.refusals import reading
from heredity.configuration.tools import McpSection
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import candidate_from_folder, files_of
from heredity.resources.building import MCP
from heredity.sandbox.isolation import package_folders
from heredity.sandbox.piped import PipedCommand
from heredity.team.agent import TeamTool
from heredity.team.settings import TeamSettings
from heredity.team.tools.mcp import SECONDS, Http, McpServer, Stdio, Way


class McpResource(BaseModel):
    """An `mcp.json`.

    Attributes:
        server: a server of the team.toml; or
        command: a program in the resource's files, started in the sandbox without network.
        tools: the offered tools (all by default).
        descriptions: descriptions for models, by the server's name of the tool.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    server: str = ""
    command: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    descriptions: dict[str, str] = Field(default_factory=dict[str, str])

    @model_validator(mode="after")
    def _check_one(self) -> McpResource:
        if bool(self.server) == bool(self.command):
            what = "server, command" if self.server else "neither server nor command"
            raise ValueError(f"it has {what}; give either a server of the team.toml, or a command")
        return self


class Servers:
    """The running servers of a team; made by `open_servers`."""

    def __init__(self) -> None:
        self.by_name: dict[str, McpServer] = {}
        self.by_agent: dict[str, list[McpServer]] = {}

    def tools_of(self, tool: str) -> list[TeamTool]:
        """Return the tools of `"NAME"` or `"NAME.TOOL"`."""
        name, _, own = tool.partition(".")
        return self.by_name[name].tools(own)

    def of_agent(self, agent: str) -> list[TeamTool]:
        """Return the tools of an agent's resources that are servers."""
        return [tool for server in self.by_agent.get(agent, ()) for tool in server.tools()]


@asynccontextmanager
async def open_servers(settings: TeamSettings, *, unsafe: bool = False) -> AsyncGenerator[Servers]:
    """Start every server that an agent of the team uses (all end with the block).

    Raises:
        ConfigError: if one is misconfigured, or lacks a tool.
        HostError: if one does not answer.
        IsolationError: if one cannot be confined here.
        MissingExtraError: if the package `mcp` is missing.
    """
    servers = Servers()
    async with AsyncExitStack() as stack:

        async def enter(server: McpServer) -> McpServer:
            return await stack.enter_async_context(server)

        for name in sorted(
            {tool.partition(".")[0] for agent in settings.agents.values() for tool in agent.tools} & set(settings.mcp)
        ):
            section = settings.mcp[name]
            server = McpServer(
                name, way_of(name, section, stack, unsafe=unsafe), only=section.tools, seconds=section.seconds
            )
            servers.by_name[name] = await enter(server)
        for agent, section in settings.agents.items():
            for name, tool in servers_of(section.resources).items():
                server = _own_server(name, tool, settings.mcp, stack, unsafe=unsafe)
                servers.by_agent.setdefault(agent, []).append(await enter(server))
            for called in section.tools:
                if called.partition(".")[0] in servers.by_name:
                    servers.tools_of(called)
        yield servers


def way_of(name: str, section: McpSection, stack: AsyncExitStack, *, unsafe: bool = False) -> Way:
    """Return the connection of a server in team.toml.

    Raises:
        ConfigError: if its folder or variable does not exist.
    """
    token, variables = granted(name, section)
    if section.url:
        return Http(section.url, token)
    folder = Path(section.folder) if section.folder else stack.enter_context(EngineFolder()) / "folder"
    folder.mkdir(exist_ok=True)
    shows = tuple(Path(path) for path in section.shows)
    command = PipedCommand(section.command, folder, shows, section.packages, variables, section.network)
    return Stdio(command, unsafe)


def granted(name: str, section: McpSection) -> tuple[str, dict[str, str]]:
    """Return the token for a server, and the variables for a command.

    Raises:
        ConfigError: if its folder, package or variable does not exist.
    """
    try:
        package_folders(section.packages)
    except ConfigError as error:
        raise ConfigError(f"mcp.{name}.packages: {error}") from error
    if section.folder and not Path(section.folder).is_dir():
        raise ConfigError(f"mcp.{name}.folder: {section.folder} is not a folder; make it, or name another")
    token = variable(f"mcp.{name}.token", section.token) if section.token else ""
    return token, {given: variable(f"mcp.{name}.environment", given) for given in section.environment}


class OwnWay:
    """Connection to a server started for one attempt, with a copy of its granted folder, removed at the end.

    Args:
        name: the server's name.
        section: its settings.
        unsafe: run it with the isolation available here.
    """

    def __init__(self, name: str, section: McpSection, unsafe: bool = False) -> None:
        self._name, self._section, self._unsafe = name, section, unsafe
        self._stack = AsyncExitStack()
        self._way: Way | None = None

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Any]:
        """Open it (see `Way`); a restarted server gets the same copy."""
        if self._way is None:
            section = self._section
            if section.folder:
                copy = self._stack.enter_context(EngineFolder()) / "copy"
                await asyncio.to_thread(shutil.copytree, section.folder, copy, symlinks=True)
                section = section.model_copy(update={"folder": str(copy)})
            self._way = way_of(self._name, section, self._stack, unsafe=self._unsafe)
        async with self._way.open() as opened:
            yield opened

    async def close(self) -> None:
        """Remove the copy."""
        await self._stack.aclose()
        self._way = None


def servers_of(resources: str) -> dict[str, SourceTree]:
    """Return the servers in a folder of resources: each tool's name to its files."""
    parts = candidate_from_folder(Path(resources)).parts if resources else {}
    return {name.partition("/")[2]: part for name, part in parts.items() if name.startswith("tool/") and MCP in part}


def without_servers(candidate: Candidate) -> Candidate:
    """Return a candidate without the tools that are servers."""
    return Candidate(
        {name: part for name, part in candidate.parts.items() if not (name.startswith("tool/") and MCP in part)}
    )


def read_resource(name: str, part: SourceTree) -> McpResource:
    """Read the `mcp.json` of `tool/NAME`.

    Raises:
        ConfigError: if it is wrong; the message names the key.
    """
    with reading(f"{MCP} of tool/{name}", "JSON", "correct it there", model=McpResource):
        return McpResource.model_validate(json_value(part.text(MCP)))


def _own_server(
    name: str, part: SourceTree, sections: Mapping[str, McpSection], stack: AsyncExitStack, *, unsafe: bool
) -> McpServer:
    about = read_resource(name, part)
    offered: dict[str, Any] = {"only": about.tools, "descriptions": about.descriptions}
    if about.command:
        folder = stack.enter_context(EngineFolder()) / "folder"
        files_of(part).write_to(folder)
        return McpServer(name, Stdio(PipedCommand(about.command, folder), unsafe), seconds=SECONDS, **offered)
    if about.server not in sections:
        raise ConfigError(
            f"{MCP} of tool/{name}: server: {UnknownNameError('server of team.toml', about.server, sections)}"
        )
    section = sections[about.server]
    if section.tools and not set(about.tools) <= set(section.tools):
        raise ConfigError(
            f"{MCP} of tool/{name}: tools: only {', '.join(section.tools)} of {about.server} are granted; name some of them"
        )
    offered["only"] = about.tools or section.tools
    return McpServer(name, way_of(about.server, section, stack, unsafe=unsafe), seconds=section.seconds, **offered)


def variable(where: str, name: str) -> str:
    """Return the value of an environment variable.

    Raises:
        ConfigError: if it is not set; the message says where it was named.
    """
    value = os.environ.get(name, "")
    if not value:
        raise ConfigError(f"{where}: the environment variable {name} is not set; set it, or name another")
    return value
