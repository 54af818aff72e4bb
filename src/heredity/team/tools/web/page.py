"""One step's browser session: its pages and its downloaded files.

A page is shown as its accessibility tree, whose elements have numbers (`[ref=e5]`) for clicking and filling in;
content added by scripts is included. Each action returns the resulting page, with a recorded picture of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from heredity._core.errors import MissingExtraError
from heredity.sandbox.hosts import ForbiddenHostError
from heredity.team.agent import Traced
from heredity.team.tools.documents import DocumentReader, UnreadableDocumentError
from heredity.team.tools.web.browser import WebBrowser

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Dialog, Download, Locator, Page, Request, StorageState

PIECE = 6_000
"""Characters of a page or file shown at once."""

MOST_FILE_BYTES = 20 << 20


Keep = Callable[[bytes], Awaitable[str]]
"""Stores bytes and returns their name."""


class ActionError(Exception):
    """An impossible action; the message tells the model why."""


def taken(path: Path, folder: Path) -> bytes:
    """Read a file written by the browser, which may be anything."""
    descriptor = os.open(folder / path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        data = file.read(MOST_FILE_BYTES + 1)
    if len(data) > MOST_FILE_BYTES:
        raise ActionError(f"it is larger than {MOST_FILE_BYTES >> 20} MiB")
    return data


async def keep_nothing(_: bytes) -> str:
    """Keep nothing."""
    return ""


def piece(text: str, start: int, what: str = "") -> str:
    """Return the piece of a text from a character on."""
    end = start + PIECE
    if start == 0 and len(text) <= PIECE:
        return text
    more = f"; read on with browser_read and start={end}" if end < len(text) else ""
    return f"{text[start:end]}\n[{what}characters {start} to {min(end, len(text))} of {len(text)}{more}]"


def first_line(error: Exception) -> str:
    """Return the first line of an error: what follows in the driver's is a log of its attempts."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__


MOST_PAGES = 8
_LOAD_MS = 20_000
_ACT_MS = 5_000
_STATE_S = 5.0
_SETTLE_S = 2.0
_QUIET_S = 0.06
_NOTES = 10
_PICTURE = "image/jpeg"
_REF = re.compile(r"(?:f[0-9]+)*e[0-9]+")
_NAMED = re.compile(r'([a-z]{1,30}) "(.{1,500})"')
_MAIN_FRAME = re.compile(r"\[ref=((?:f[0-9]+)*)e[0-9]+\]")

_RESUMED = (
    "the browser was needed elsewhere while you waited for another agent: the page was opened again at its address, and what "
    "had been filled in is lost"
)


class Session:
    """Pages and files of one step, opened on first use.

    Args:
        browser: the team's browser.
        reader: reads downloaded files.
        keep: stores pictures and files.
    """

    def __init__(self, browser: WebBrowser, reader: DocumentReader, keep: Keep = keep_nothing) -> None:
        self._browser, self._reader, self._keep = browser, reader, keep
        self._stack = AsyncExitStack()
        self._acting = asyncio.Lock()
        self._context: BrowserContext | None = None
        self._page: Page | None = None
        self._under_way: set[Request] = set()
        self._notes: dict[str, None] = {}
        self._files: dict[str, str] = {}
        self._saving: set[asyncio.Task[None]] = set()
        self._frame = ""
        self._looked = False
        self._resume_at = self._resumed = ""
        self._state: StorageState | None = None

    async def close(self) -> None:
        """Close the pages."""
        for task in self._saving:
            task.cancel()
        await self._stack.aclose()

    def recalled(self, trace: dict[str, Any]) -> None:
        """Restore the address of an earlier process, from which the next action continues."""
        self._resume_at = str(trace.get("url", self._resume_at))

    async def set_aside(self) -> None:
        """Close the pages when other steps need the browser; the next action continues from the last address."""
        from playwright.async_api import Error

        async with self._acting:
            if self._context is None:
                return
            with contextlib.suppress(Error, TimeoutError):
                async with asyncio.timeout(_STATE_S):
                    self._state = await self._context.storage_state()
            if self._page and not self._page.is_closed():
                self._resume_at, self._resumed = self._page.url, _RESUMED
            await self._drop()

    async def open(self, address: str) -> Traced:
        """Go to an address."""

        async def act(page: Page) -> None:
            url = address if "//" in address else f"http://{address}"
            self._check(url)
            await page.goto(url, timeout=_LOAD_MS, wait_until="domcontentloaded")

        return await self._do(act, begin=True)

    async def click(self, element: str) -> Traced:
        """Click an element."""

        async def act(page: Page) -> None:
            await (await self._element(page, element)).click(timeout=_ACT_MS)

        return await self._do(act)

    async def type(self, element: str, text: str, *, enter: bool) -> Traced:
        """Fill in a field, and optionally press Enter."""

        async def act(page: Page) -> None:
            field = await self._element(page, element)
            await field.fill(text, timeout=_ACT_MS)
            if enter:
                await field.press("Enter", timeout=_ACT_MS)

        return await self._do(act)

    async def select(self, element: str, option: str) -> Traced:
        """Choose an option of a list, by its label or value."""

        async def act(page: Page) -> None:
            await (await self._element(page, element)).select_option(option, timeout=_ACT_MS)

        return await self._do(act)

    async def scroll(self, direction: str) -> Traced:
        """Scroll by most of a screen."""
        return await self._do(lambda page: page.mouse.wheel(0, -700 if direction == "up" else 700))

    async def back(self) -> Traced:
        """Go back to the previous page."""
        return await self._do(lambda page: page.go_back(timeout=_LOAD_MS, wait_until="domcontentloaded"))

    async def read(self, start: int = 0, file: str = "") -> Traced:
        """Show a piece of the page, or of a downloaded file."""
        if file:
            if file not in self._files:
                return Traced(f"error: there is no file {file!r:.120}; there is: {', '.join(self._files) or 'none'}")
            return Traced(piece(self._files[file], start, f"file {file!r}, "))
        return await self._do(_nothing, start=start)

    async def look(self) -> Traced:
        """Show the visible part of the page, as a picture."""
        return await self._do(_nothing, show=True)

    async def download(self, element: str) -> Traced:
        """Download the file behind a link or button."""

        async def act(page: Page) -> None:
            target = await self._element(page, element)
            # A file displayed in place of the page counts as well.
            await target.evaluate(
                "e => e.tagName === 'A' && e.setAttribute('download', e.download || '')", timeout=_ACT_MS
            )
            async with page.expect_download(timeout=_LOAD_MS) as expected:
                await target.click(timeout=_ACT_MS)
            await expected.value
            await asyncio.gather(*self._saving)

        return await self._do(act)

    async def _do(
        self, act: Callable[[Page], Awaitable[Any]], *, begin: bool = False, start: int = 0, show: bool = False
    ) -> Traced:
        """Do an action on the page and return the resulting page; errors are returned too."""
        from playwright.async_api import Error

        async with self._acting:
            try:
                page = await self._current(begin=begin)
                try:
                    await act(page)
                except (Error, ActionError, ForbiddenHostError) as error:
                    self._note(f"error: {first_line(error)}")
                await self._settled()
                return await self._page_text(start, show=show)
            except (Error, ActionError) as error:
                if self._connected():
                    return Traced(f"error: {first_line(error)}")
                await self._drop()
                return Traced(f"error: {self._browser.ended or 'the browser has ended'}; open the page again")

    def _connected(self) -> bool:
        browser = self._context and self._context.browser
        return browser is None or browser.is_connected()

    async def _current(self, *, begin: bool) -> Page:
        if not self._connected():
            if not begin:
                raise ActionError("the browser has ended")
            await self._drop()
        if self._context is None:
            opened = self._browser.context(self.set_aside, self._state)
            self._context = await self._stack.enter_async_context(opened)
            self._listen(self._context)
        if self._page is None or self._page.is_closed():
            self._page = self._context.pages[-1] if self._context.pages else None
        if self._page is None:
            if not begin and not self._resume_at:
                ended = self._browser.ended if self._looked else ""
                raise ActionError(f"{ended}; open the page again" if ended else "no page is open; open one first")
            self._page = await self._context.new_page()
            resume_at, self._resume_at = self._resume_at, ""
            if not begin:
                self._note(self._resumed)
                self._resumed = ""
                await self._page.goto(resume_at, timeout=_LOAD_MS, wait_until="domcontentloaded")
                await self._settled()
                await self._tree(self._page)  # Refs exist from now on.
        return self._page

    async def _element(self, page: Page, element: str) -> Locator:
        """Return an element by its ref, or by its role and name in the tree."""
        if named := _NAMED.fullmatch(element):
            locator = page.get_by_role(named[1], name=named[2], exact=True)  # pyright: ignore[reportArgumentType]
        elif _REF.fullmatch(element):
            locator = page.locator(f"aria-ref={self._frame if element[0] == 'e' else ''}{element}")
        else:
            raise ActionError(f'{element!r:.60} is no element; give its ref, such as e5, or role and name: link "Home"')
        if not await locator.count():
            raise ActionError(f"there is no {element} on the page now; look at what is there")
        return locator.first

    async def _drop(self) -> None:
        self._context = self._page = None
        self._under_way.clear()
        await self._stack.aclose()

    def _listen(self, context: BrowserContext) -> None:
        context.on("page", self._opened)
        context.on("request", self._on_request)
        context.on("requestfinished", self._done)
        context.on("requestfailed", self._done)
        context.on("dialog", self._answer)

    async def _opened(self, page: Page) -> None:
        from playwright.async_api import Error

        page.on("download", self._begin_saving)
        page.on("crash", self._crashed)
        if self._context and len(self._context.pages) > MOST_PAGES:
            self._note(f"no more than {MOST_PAGES} pages are open at once")
            with contextlib.suppress(Error):
                await page.close()
            return
        self._page = page

    async def _crashed(self, page: Page) -> None:
        self._note("the page has crashed")
        await page.close()

    def _on_request(self, request: Request) -> None:
        with contextlib.suppress(ValueError):
            url = urlsplit(request.url)
            port = url.port or {"https": 443, "wss": 443}.get(url.scheme, 80)
            if url.scheme in ("http", "https", "ws", "wss") and not self._browser.allowed.permits(
                url.hostname or "", port
            ):
                self._note(f"the page asked for {url.hostname}:{port}, which is not allowed")
        self._under_way.add(request)

    def _done(self, request: Request) -> None:
        self._under_way.discard(request)

    async def _answer(self, dialog: Dialog) -> None:
        from playwright.async_api import Error

        self._note(f"the page said ({dialog.type}): {dialog.message[:500]}")
        with contextlib.suppress(Error):
            await (dialog.accept() if dialog.type in ("alert", "beforeunload") else dialog.dismiss())

    def _begin_saving(self, download: Download) -> None:
        task = asyncio.ensure_future(self._save(download))
        self._saving.add(task)
        task.add_done_callback(self._saving.discard)

    async def _save(self, download: Download) -> None:
        from playwright.async_api import Error

        name = re.sub(r"[^\w.() -]", "_", download.suggested_filename)[-120:]
        try:
            path = Path(await download.path())
            data = await asyncio.to_thread(taken, path, self._browser.downloads)
            blob = await self._keep(data)
            self._files[name] = await self._reader.text(name, data)
        except (Error, OSError, ActionError, UnreadableDocumentError, MissingExtraError) as error:
            self._note(f"the file {name!r} could not be taken: {first_line(error)}")
            return
        finally:
            with contextlib.suppress(Error):
                await download.delete()
        kept = f", kept as {blob}" if blob else ""
        self._note(
            f"the file {name!r} was downloaded ({len(data)} bytes{kept}); read it with browser_read and file={name!r}"
        )

    async def _settled(self) -> None:
        """Wait until the page makes no more requests, for a few seconds at most."""
        from playwright.async_api import Error

        loop = asyncio.get_running_loop()
        end = loop.time() + _SETTLE_S
        with contextlib.suppress(Error):
            if self._page:
                await self._page.wait_for_load_state("load", timeout=_SETTLE_S * 1000)
        quiet = 0
        while quiet < 2 and loop.time() < end:
            await asyncio.sleep(_QUIET_S)
            quiet = 0 if self._under_way or self._saving else quiet + 1
        self._under_way.clear()

    async def _page_text(self, start: int, *, show: bool) -> Traced:
        page = self._page
        if page is None or page.is_closed():
            raise ActionError("the page has closed itself; open another")
        tree = await self._tree(page)
        title, url = (await page.title())[:200], page.url[:2000]
        seen = await page.screenshot(type="jpeg", quality=60, timeout=_ACT_MS)
        trace = {"url": url, "title": title, "picture": await self._keep(seen)}
        notes, self._notes = list(self._notes), {}
        head = "\n".join([*notes, f"page: {title}", f"address: {url}"])
        if show:
            return Traced(f"{head}\nits picture follows", {**trace, "shown": _PICTURE}, [(_PICTURE, seen)])
        return Traced(f"{head}\n\n{piece(tree, start)}", trace)

    async def _tree(self, page: Page) -> str:
        """Return the accessibility tree, with the driver's page prefix removed from the page's refs."""
        tree = await page.aria_snapshot(mode="ai", timeout=_ACT_MS)
        self._looked = True
        first = _MAIN_FRAME.search(tree)
        self._frame = first[1] if first else ""
        return tree.replace(f"[ref={self._frame}e", "[ref=e") if self._frame else tree

    def _note(self, text: str) -> None:
        if text and len(self._notes) < _NOTES:
            self._notes[" ".join(text.split())] = None

    def _check(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError as error:
            raise ActionError(f"{url!r:.200} is no address: {error}") from error
        if parts.scheme not in ("http", "https") or not host:
            raise ActionError(f"{url!r:.200} cannot be opened; only http:// and https:// can")
        self._browser.allowed.check(host, port or (443 if parts.scheme == "https" else 80))


@asynccontextmanager
async def open_session(
    browser: WebBrowser, reader: DocumentReader, keep: Keep = keep_nothing
) -> AsyncGenerator[Session]:
    """Open a session, and close its pages afterwards (arguments as for `Session`)."""
    session = Session(browser, reader, keep)
    try:
        yield session
    finally:
        await session.close()


async def _nothing(_: Page) -> None:
    return None
