"""What a team or a solver has of the web: a browser and the rules that hold for it, handed out as tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol

from heredity.actors.contract import Programs
from heredity.configuration.tools import BROWSE, FETCH, SEARCH_WEB, SearchSection, WebSection
from heredity.sandbox.hosts import AllowedHosts
from heredity.team.agent import TeamTool
from heredity.team.tools.documents import DocumentReader
from heredity.team.tools.web.browser import WebBrowser, open_browser
from heredity.team.tools.web.browsing import browser_tools
from heredity.team.tools.web.client import WebClient
from heredity.team.tools.web.fetching import Fetcher
from heredity.team.tools.web.page import Session
from heredity.team.tools.web.searching import WebSearch


class Step(Protocol):
    """What pages and files are opened for: a message that an agent handles, or a conversation."""

    async def keep(self, data: bytes) -> str:
        """Keep bytes, and return the name by which they are found; empty where they are not kept."""
        ...


class WebDoor:
    """Makes the tools that lead to the web; made by `open_door`."""

    def __init__(
        self,
        browser: WebBrowser | None,
        fetcher: Fetcher | None,
        search: WebSearch | None,
        reader: DocumentReader,
    ) -> None:
        self._browser, self._fetcher, self._search, self._reader = browser, fetcher, search, reader
        self._sessions: dict[int, Session] = {}

    def tools(self, name: str, step: Step, *, sees: bool = False) -> list[TeamTool]:
        """Return the tools that somebody has by a name of the configuration, for a step; `sees` if its model does."""
        if name == FETCH and self._fetcher:
            return [self._fetcher.tool(step.keep)]
        if name == SEARCH_WEB and self._search:
            return [self._search.tool()]
        if name != BROWSE or self._browser is None:
            return []
        session = self._sessions.setdefault(id(step), Session(self._browser, self._reader, step.keep))
        return browser_tools(session, sees=sees)

    async def close(self, step: Step) -> None:
        """Close what was opened for a step that is over."""
        if session := self._sessions.pop(id(step), None):
            await session.close()


@asynccontextmanager
async def open_door(
    settings: WebSection, search: SearchSection, names: frozenset[str], programs: Programs
) -> AsyncGenerator[WebDoor]:
    """Open what the named tools need, after a check that it is there.

    Args:
        settings: the hosts that may be reached, and by what.
        search: the service that searches.
        names: the tools that agents name.
        programs: what reads documents and pages.

    Raises:
        MissingExtraError, ConfigError, IsolationError: if something that a tool needs is missing.
    """
    async with AsyncExitStack() as stack:
        allowed, browser = AllowedHosts(settings.allow, private=settings.private), None
        fetcher = Fetcher(WebClient(allowed), programs) if FETCH in names else None
        searching = WebSearch(search.service, search.url, search.key) if SEARCH_WEB in names else None
        if BROWSE in names:
            opened = open_browser(allowed, settings.browser, settings.memory_mib << 20)
            browser = await stack.enter_async_context(opened)
        yield WebDoor(browser, fetcher, searching, DocumentReader(programs))
