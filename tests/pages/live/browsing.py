"""A real browser for tests of pages: served from a thread, looked at in the system's Chromium, checked by axe."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heredity.pages.live.actions import Actions
from heredity.pages.live.app import ViewApp, serve_view
from heredity.pages.live.place import Place

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = Path(os.environ.get("HEREDITY_TEST_CHROMIUM", "/usr/bin/chromium"))
PATIENCE_MS = 120_000
"""How long a page may take to show what is waited for; nothing is timed by it."""

WIDE, PHONE = (1280, 900), (390, 844)


def missing() -> str:
    """Say what is missing for tests in a browser; "" if nothing is."""
    packages = [name for name in ("playwright", "axe_playwright_python") if importlib.util.find_spec(name) is None]
    if packages:
        return f"needs the packages {', '.join(packages)} (make .venv/.local)"
    return "" if CHROMIUM.exists() else f"needs a browser at {CHROMIUM}"


@contextmanager
def served(folder: Path, installed: dict[str, str] | None = None, *, acting: bool = False) -> Generator[str]:
    """Serve the pages of a folder from a thread, and give their address."""
    ready, ended, addresses = threading.Event(), threading.Event(), list[str]()

    async def serve() -> None:
        app = ViewApp(Place.of(folder), Actions(folder) if acting else None, installed or {})
        try:
            async with serve_view(app) as address:
                addresses.append(address)
                ready.set()
                await asyncio.to_thread(ended.wait)
        finally:
            ready.set()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield addresses[0].rstrip("/")
    finally:
        ended.set()
        thread.join(60)


@dataclass
class Seen:
    """A page in the browser, and what went wrong on it."""

    page: Page
    root: str
    problems: list[str] = field(default_factory=list[str])

    def go(self, path: str) -> Page:
        """Open a page of the server."""
        self.page.goto(self.root + path, wait_until="load")
        return self.page

    def faults(self) -> list[str]:
        """Return the faults that axe calls serious or critical, as `rule: first element`."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [
            f"{v['id']}: {v['nodes'][0]['html'][:160]} {v['nodes'][0]['failureSummary'][:300]}"
            for v in found
            if v["impact"] in ("serious", "critical")
        ]

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than the screen."""
        return self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


@contextmanager
def chromium() -> Generator[Browser]:
    """Give the system's Chromium, without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def looking(browser: Browser, root: str, size: tuple[int, int] = WIDE, scheme: Any = "light") -> Generator[Seen]:
    """Open a page of a size and colour scheme; at the end nothing of elsewhere was asked for, and no script has failed.

    Args:
        browser: where.
        root: the address of the server.
        size: width and height.
        scheme: light or dark.
    """
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,
        has_touch=size == PHONE,
        accept_downloads=True,
    )
    context.set_default_timeout(PATIENCE_MS)
    context.set_default_navigation_timeout(PATIENCE_MS)
    page = context.new_page()
    seen = Seen(page, root)
    page.on("pageerror", lambda error: seen.problems.append(f"error: {error}"))
    page.on("request", lambda request: root in request.url or seen.problems.append(f"asked elsewhere: {request.url}"))
    page.on("dialog", lambda dialog: (seen.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    try:
        yield seen
        assert seen.problems == []
        assert page.title() != "owned"
    finally:
        context.close()
