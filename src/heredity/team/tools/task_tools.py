"""Configured tools for single solvers, candidate teams, and outside agents.

    async with open_task_tools(config.tools, programs) as tools:
        runner = SolvingRunner(model, programs=programs, provided=tools)

They are opened once (for a run). Anything that could carry information between attempts is separate for each: browser
pages, fetched pages, servers of the Model Context Protocol with a copy of their folder. So no attempt leaves anything
to a later one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, IsolationError, MissingExtraError
from heredity.configuration.tools import BROWSE, FETCH, PYTHON, READ, SEARCH, SEARCH_WEB, TOOLS, ToolSettings
from heredity.engine.actor import Programs, ProvidedTool, ProvidedTools
from heredity.engine.kind import TaskTools
from heredity.sandbox.bubblewrap_root import available
from heredity.tasks import Task
from heredity.team.tools.documents import Corpus, DocumentReader
from heredity.team.tools.mcp import McpServer, installed
from heredity.team.tools.mcp_settings import OwnWay, granted
from heredity.team.tools.own_tools import python_tool
from heredity.team.tools.web import browser, client
from heredity.team.tools.web.client import WebSearch
from heredity.team.tools.web.door import WebDoor, open_door

MOST_CALLS = 500
"""Limit on the calls of all tools in one attempt: search services may cost money."""

_NAMED = 20
_QUESTIONS = "questions.jsonl"
"""File written by `heredity sites write` next to the pages and documents of a site."""


@asynccontextmanager
async def open_task_tools(
    given: ToolSettings, programs: Programs, *, unsafe: bool = False
) -> AsyncGenerator[TaskTools]:
    """Open the resources of a configuration's tools, and close them afterwards.

    Args:
        given: the tools and their settings.
        programs: the sandbox (it reads documents and pages and runs code).
        unsafe: start servers with the isolation available here.

    Yields:
        The provider of a task's tools.

    Raises:
        ConfigError: if a folder, a variable or the browser is missing, a server lacks a tool, or two tools have one
            name.
        MissingExtraError: if a package that a tool needs is not installed.
        HostError: if a server does not answer.
        IsolationError: if a server or the browser cannot be confined here.
    """
    names = frozenset(given.names)
    folder = Path(given.corpus.folder) if given.corpus.folder and {SEARCH, READ} & given.used else None
    if folder:
        _check_folder(given.corpus.folder)
    async with AsyncExitStack() as stack:
        door = await stack.enter_async_context(open_door(given.web, given.search, names, programs))
        documents = _Documents(await Corpus.load(folder, DocumentReader(programs)), programs, folder)
        opened = _Opened(given, programs, documents, door, await _servers(given, unsafe=unsafe), unsafe)
        opened.check_names()
        yield opened.of_task


def task_documents(programs: Programs, folder: Path | None = None) -> TaskTools:
    """Return the provider of the tools `search` and `read` for a task's documents.

    Documents are the files listed under `files` in the question's metadata, as in GAIA, and no others: neither a
    question's text nor a candidate can add a file. A task without files has no tools.

    Args:
        programs: the sandbox, which reads documents other than plain text.
        folder: base of relative file paths (by default the folder of this process).

    Raises:
        ConfigError: when a task's tools are requested, if one of its files does not exist, or two have one name.
        MissingExtraError: then, if the reader of one of them is not installed.
    """
    documents = _Documents(Corpus({}), programs, folder)

    async def tools(task: Task | None) -> ProvidedTools:
        return ProvidedTools(await documents.tools(task))

    return tools


def lacking(given: ToolSettings, *, unsafe: bool = False) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the requirements of tools, each with a check that raises an error, without starting or contacting anything."""
    folder = given.corpus.folder
    if folder and {SEARCH, READ} & given.used:
        yield "documents", partial(_check_folder, folder)
    if BROWSE in given.names:
        yield "tool browse", partial(browser.check, given.web.browser)
    if FETCH in given.names:
        yield "tool fetch", client.check
    if SEARCH_WEB in given.names:
        yield "tool search-web", partial(WebSearch, given.search.service, given.search.url, given.search.key)
    for name in given.servers:
        yield f"server {name}", partial(_check_server, name, given, unsafe)


@dataclass(frozen=True, slots=True)
class _Opened:
    given: ToolSettings
    programs: Programs
    documents: _Documents
    door: WebDoor
    servers: Sequence[tuple[McpServer, tuple[str, ...]]]
    unsafe: bool

    async def of_task(self, task: Task | None) -> ProvidedTools:
        """Return the tools of an attempt at a task, or of work without a task."""
        fixed = await self.fixed(task)
        stack = AsyncExitStack()
        for probed, only in self.servers:
            way = OwnWay(probed.name, self.given.mcp[probed.name], self.unsafe)
            # A server at an address is outside every attempt; the agent of a whole run gets the error, and may continue
            # without.
            server = probed.another(way, elsewhere=bool(task and self.given.mcp[probed.name].url))
            stack.push_async_callback(way.close)
            stack.push_async_callback(server.close)
            fixed += _tools_of(server, only)

        # An outside agent works for hours; an attempt with this many calls is a runaway program.
        counted = _Counted(MOST_CALLS if task else None)

        def conversation() -> ProvidedTools:
            own = _Conversation()
            close = partial(self.door.close, own)
            # Closed a second time if its end was not reached, which is harmless.
            stack.push_async_callback(close)
            return ProvidedTools([counted(tool) for tool in (*fixed, *self.reaching(own))], conversation, close)

        return ProvidedTools(conversation(), conversation, stack.aclose)

    async def fixed(self, task: Task | None) -> list[ProvidedTool]:
        """Return the stateless tools."""
        names = self.given.names
        tools = [python_tool(self.programs).tool] if PYTHON in names else []
        if {SEARCH, READ} & set(names):
            tools += [tool for tool in await self.documents.tools(task) if tool.spec.name in names]
        return tools

    def check_names(self) -> None:
        """Check that tool names are unique; a server's are composed of its name and its tools'."""
        made = [tool for server, only in self.servers for tool in _tools_of(server, only)]
        names = [*TOOLS, *(tool.spec.name for tool in (*made, *self.reaching(_Conversation())))]
        twice = next((name for at, name in enumerate(names) if name in names[:at] and name not in TOOLS), "")
        if twice:
            raise ConfigError(
                f"{self.given.key}: two tools would be called {twice!r}; give a server of [mcp] another name"
            )

    def reaching(self, conversation: _Conversation) -> list[ProvidedTool]:
        """Return the web tools."""
        return [
            made.tool for name in self.given.names for made in self.door.tools(name, conversation, sees=self.given.sees)
        ]


class _Counted:
    """Counts the calls of an attempt, and stops answering at the limit.

    Args:
        most: the limit; None for no limit.
    """

    def __init__(self, most: int | None) -> None:
        self._left, self._most = most, most

    def __call__(self, tool: ProvidedTool) -> ProvidedTool:
        """Return a tool with counted calls."""

        async def run(arguments: Mapping[str, Any]) -> str:
            if self._left is not None:
                if self._left <= 0:
                    return f"error: no more than {self._most} calls of these tools are answered in an attempt"
                self._left -= 1
            return await tool.run(arguments)

        return replace(tool, run=run)


class _Conversation:
    """State of tools for one conversation: nothing but the conversation."""

    async def keep(self, data: bytes) -> str:
        """Keep nothing."""
        del data
        return ""


async def _servers(given: ToolSettings, *, unsafe: bool) -> list[tuple[McpServer, tuple[str, ...]]]:
    """Return the named servers, each started once to list its tools, with the tools named individually."""
    servers: list[tuple[McpServer, tuple[str, ...]]] = []
    for name, section in given.servers.items():
        own = OwnWay(name, section, unsafe)
        server = McpServer(name, own, only=section.tools, seconds=section.seconds)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(own.close)
            await stack.enter_async_context(server)
            named = [called for called in given.names if called.partition(".")[0] == name]
            only = () if name in named else tuple(called.partition(".")[2] for called in named)
            _tools_of(server, only)
        servers.append((server, only))
    return servers


def _tools_of(server: McpServer, only: Sequence[str]) -> list[ProvidedTool]:
    return [made.tool for own in only or ("",) for made in server.tools(own)]


class _Documents:
    """Available documents: those of a corpus, and of each task, which are read once.

    Args:
        corpus: documents for all tasks.
        programs: reads formats other than plain text.
        folder: base of relative file paths; None for the folder of this process.
    """

    def __init__(self, corpus: Corpus, programs: Programs, folder: Path | None) -> None:
        self._corpus, self._reader, self._folder = corpus, DocumentReader(programs), folder or Path()
        self._read: dict[tuple[str, ...], Corpus] = {}

    async def tools(self, task: Task | None) -> list[ProvidedTool]:
        """Return the tools of a task's documents; empty without documents."""
        named = tuple(map(str, (task.spec.get("metadata") or {}).get("files", ()))) if task else ()
        corpus = self._corpus.joined(await self._of(named, task.id)) if task and named else self._corpus
        if not corpus.documents:
            return []
        listing = f" With the question come: {', '.join(Path(n).name for n in named[:_NAMED])}" if named else ""
        made = [tool.tool for tool in corpus.tools()]
        return [
            replace(tool, spec=replace(tool.spec, description=f"{tool.spec.description}{listing}")) for tool in made
        ]

    async def _of(self, named: tuple[str, ...], task: str) -> Corpus:
        files = {Path(name).name: self._folder / name for name in named}
        if len(files) < len(named):
            raise ConfigError(f"{task} comes with two files of one name ({', '.join(named)}); rename one of them")
        for path in files.values():
            if not path.is_file():
                raise ConfigError(f"{task} comes with {path}, which is not there; put the files where the taskset says")
        if named not in self._read:
            self._read[named] = await Corpus.load(None, self._reader, files)
        return self._read[named]


def _check_folder(folder: str) -> None:
    if not Path(folder).is_dir():
        raise ConfigError(f"corpus.folder: {folder} is no folder; make it, or name another")
    if (answers := Path(folder) / _QUESTIONS).exists():
        raise ConfigError(
            f"corpus.folder: {answers} holds questions with their answers, which would be found; move it away"
        )


def _check_server(name: str, given: ToolSettings, unsafe: bool) -> None:
    if not installed():
        raise MissingExtraError("tools of servers of the Model Context Protocol", "mcp")
    granted(name, given.mcp[name])
    if given.mcp[name].command and not unsafe and (reason := available()) is not None:
        raise IsolationError(f"mcp.{name}: it is started by a command, which cannot be confined: {reason}")
