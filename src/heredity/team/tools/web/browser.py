"""One browser for a whole team: Chromium in a sandbox, driven through its pipe, with a context of its own for each step.

It is started when it is first needed, and started anew when it has ended or held more than it may.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from heredity.errors import HostError, IsolationError, MissingExtraError
from heredity.sandbox.browser_bubblewrap import DOWNLOADS, PORT, find_browser, nests, write_script
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.engine_folder import EngineFolder
from heredity.sandbox.hosts import AllowedHosts
from heredity.sandbox.watch import Bounds, Watch
from heredity.team.lending import Seats
from heredity.team.tools.web.proxy import WebProxy, open_proxy

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, Playwright, StorageState

MOST_CONTEXTS = 16
"""Steps that use the browser at once; others wait, for those that wait for another agent to give way."""

_DISK_BYTES = 1 << 30
_LAUNCH_S = 60.0
_VIEW = {"width": 1280, "height": 800}
_ARGUMENTS = (
    # Also what is on 127.0.0.1 is asked for through the proxy: of its own the browser's network has nothing.
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-gpu",
    "--no-first-run",
)


class BrowserEndedError(HostError):
    """The browser cannot be started here."""


class WebBrowser:
    """A team's browser; made by `open_browser`.

    Attributes:
        allowed: the hosts that its pages may reach.
        proxy: its way out.
        ended: why the last browser was ended by the host; empty if it was not.
    """

    def __init__(self, allowed: AllowedHosts, proxy: WebProxy, folder: Path, script: Path, memory_bytes: int) -> None:
        self.allowed = allowed
        self.proxy = proxy
        self.ended = ""
        self.downloads = folder / DOWNLOADS
        self._script, self._pid, self._bounds = script, folder / "pid", Bounds(memory_bytes, _DISK_BYTES)
        self._starting = asyncio.Lock()
        self._seats = Seats(MOST_CONTEXTS)
        self._driver: Playwright | None = None
        self._chromium: Chromium | None = None
        self._launching: asyncio.Task[Chromium] | None = None
        self._watching: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def context(
        self, give_up: Callable[[], Awaitable[None]], state: StorageState | None = None
    ) -> AsyncGenerator[BrowserContext]:
        """Open a context, with cookies, storage and pages of its own; it is closed afterwards.

        Args:
            give_up: leaves it; called while the step waits for another agent and others need a context.
            state: the cookies and storage that it begins with.

        Raises:
            BrowserEndedError: if the browser cannot be started.
        """
        from playwright.async_api import Error

        seat = await self._seats.take(give_up)
        try:
            try:
                context = await (await self._started()).new_context(
                    viewport={"width": _VIEW["width"], "height": _VIEW["height"]},
                    service_workers="block",
                    accept_downloads=True,
                    locale="en-US",
                    timezone_id="UTC",
                    storage_state=state,
                )
            except Error as error:
                raise BrowserEndedError(f"the browser opens no pages: {self.ended or error.message[:500]}") from error
            try:
                yield context
            finally:
                with contextlib.suppress(Error):
                    await context.close()
        finally:
            seat.leave()

    async def close(self) -> None:
        """End the browser."""
        from playwright.async_api import Error

        await self._seats.close()
        if self._launching:
            # Whoever asked for it was cancelled meanwhile.
            await asyncio.gather(self._launching, return_exceptions=True)
            self._take_launched()
        if self._watching:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        with contextlib.suppress(Error):
            if self._chromium:
                await self._chromium.close()
        with contextlib.suppress(Error):
            if self._driver:
                await self._driver.stop()

    async def _started(self) -> Chromium:
        async with self._starting:
            if self._chromium is None or not self._chromium.is_connected():
                if self._watching:
                    self._watching.cancel()
                self.ended = ""
                # A step that is cancelled leaves the start to whoever asks next: a browser that nobody knows of is not watched.
                self._launching = self._launching or asyncio.ensure_future(self._launch())
                await asyncio.wait({self._launching})
                launched = self._launching
                self._take_launched()
                launched.result()
            assert self._chromium is not None
            return self._chromium

    def _take_launched(self) -> None:
        launched, self._launching = self._launching, None
        if launched and not launched.cancelled() and launched.exception() is None:
            self._chromium = launched.result()
            self._watching = asyncio.ensure_future(self._watch(int(self._pid.read_text())))

    async def _launch(self) -> Chromium:
        from playwright.async_api import async_playwright

        if self._driver is None:
            self._driver = await async_playwright().start()
        return await self._driver.chromium.launch(
            executable_path=self._script,
            chromium_sandbox=nests(),
            proxy={"server": f"http://127.0.0.1:{PORT}"},
            downloads_path=self.downloads,
            args=_ARGUMENTS,
            # Of this process's variables, which may hold keys, the browser is told none.
            env={"PATH": "/usr/bin:/bin"},
            timeout=_LAUNCH_S * 1000,
        )

    async def _watch(self, pid: int) -> None:
        with Watch(self._bounds, self.downloads, (), pid, _child(pid)) as watch:
            reason = await watch.exceeded()
        bound = self._bounds.memory_bytes if reason == "memory_limit" else self._bounds.disk_bytes
        what = "memory" if reason == "memory_limit" else "downloads"
        self.ended = f"the browser held more than {bound >> 20} MiB of {what} and was ended"
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@asynccontextmanager
async def open_browser(
    allowed: AllowedHosts, program: str = "", memory_bytes: int = 4 << 30
) -> AsyncGenerator[WebBrowser]:
    """Prepare a browser, after a check that there can be one; it starts when it is first needed.

    Args:
        allowed: hosts that its pages may reach.
        program: the path of Chromium; empty to look for it.
        memory_bytes: how much memory all of its processes may hold.

    Raises:
        MissingExtraError: if Playwright is not installed.
        ConfigError: if no Chromium is installed.
        IsolationError: if it cannot be confined here.
    """
    path = check(program)
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(EngineFolder())
        proxy = await stack.enter_async_context(open_proxy(allowed, folder / "proxy.sock"))
        script = await asyncio.to_thread(write_script, folder, path, folder / "proxy.sock")
        browser = WebBrowser(allowed, proxy, folder, script, memory_bytes)
        stack.push_async_callback(browser.close)
        yield browser


def check(program: str = "") -> Path:
    """Check that a browser can be used here, without starting one, and return its program (raises as `open_browser`)."""
    if importlib.util.find_spec("playwright") is None:
        raise MissingExtraError("the tool 'browse'", "browser")
    path = find_browser(program)
    if (reason := available()) is not None:
        raise IsolationError(f"a browser cannot be confined: {reason}")
    return path


def _child(pid: int) -> int | None:
    """Return the first process of a sandbox, given bubblewrap's."""
    try:
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
    except (OSError, IndexError, ValueError):
        return None
