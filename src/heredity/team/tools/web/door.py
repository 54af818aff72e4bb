"""What a team has of the web: its browser and the rules that hold for it, handed to agents as tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from heredity.actors.contract import Programs
from heredity.team.agent import TeamTool
from heredity.team.participant import Context
from heredity.team.settings import SearchSection, WebSection
from heredity.team.tools.documents import DocumentReader
from heredity.team.tools.web.browser import WebBrowser, open_browser
from heredity.team.tools.web.browsing import browser_tools
from heredity.team.tools.web.client import WebClient
from heredity.team.tools.web.fetching import Fetcher
from heredity.team.tools.web.page import Session
from heredity.team.tools.web.rules import AllowedHosts
from heredity.team.tools.web.searching import WebSearch

BROWSE, FETCH, SEARCH = "browse", "fetch", "search-web"


class WebDoor:
    """Makes the tools of a team that lead to the web; made by `open_door`."""

    def __init__(
        self,
        browser: WebBrowser | None,
        fetcher: Fetcher | None,
        search: WebSearch | None,
        reader: DocumentReader,
    ) -> None:
        self._browser, self._fetcher, self._search, self._reader = browser, fetcher, search, reader
        self._sessions: dict[int, Session] = {}

    def tools(self, name: str, context: Context, *, sees: bool = False) -> list[TeamTool]:
        """Return the tools that an agent has by a name of `team.toml`, for a message that it handles; `sees` if its model does."""
        if name == FETCH and self._fetcher:
            return [self._fetcher.tool(context.keep)]
        if name == SEARCH and self._search:
            return [self._search.tool()]
        if name != BROWSE or self._browser is None:
            return []
        session = self._sessions.setdefault(id(context), Session(self._browser, self._reader, context.keep))
        return browser_tools(session, sees=sees)

    async def close(self, context: Context) -> None:
        """Close what was opened for a message that has been handled."""
        if session := self._sessions.pop(id(context), None):
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
        searching = WebSearch(search.service, search.url, search.key) if SEARCH in names else None
        if BROWSE in names:
            opened = open_browser(allowed, settings.browser, settings.memory_mib << 20)
            browser = await stack.enter_async_context(opened)
        yield WebDoor(browser, fetcher, searching, DocumentReader(programs))
