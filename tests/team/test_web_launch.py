"""A browser whose start is cancelled with the step that asked for it: it is neither lost nor started twice."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from heredity.sandbox.hosts import AllowedHosts
from heredity.team.tools.web.browser import WebBrowser
from heredity.team.tools.web.proxy import WebProxy


class Chromium:
    def __init__(self) -> None:
        self.closed = False

    def is_connected(self) -> bool:
        return not self.closed

    async def close(self) -> None:
        self.closed = True


class Slow(WebBrowser):
    """A browser that starts when it is told to; `fails` is how often it does not."""

    def __init__(self, folder: Path, fails: int = 0) -> None:
        allowed = AllowedHosts(["127.0.0.1"])
        super().__init__(allowed, WebProxy(allowed), folder, folder / "script", 1 << 30)
        self.started, self.fails, self.go, self.begun = list[Chromium](), fails, asyncio.Event(), asyncio.Event()
        self.watched: list[int] = []
        (folder / "pid").write_text("7")

    async def _launch(self) -> Any:
        self.begun.set()
        await self.go.wait()
        if self.fails:
            self.fails -= 1
            raise OSError("no memory")
        self.started.append(Chromium())
        return self.started[-1]

    async def _watch(self, pid: int) -> None:
        self.watched.append(pid)
        await asyncio.Event().wait()


async def cancelled_step(browser: Slow) -> None:
    step = asyncio.ensure_future(browser._started())
    await browser.begun.wait()
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step


async def test_the_next_step_has_the_browser_that_a_cancelled_one_asked_for(tmp_path: Path) -> None:
    browser = Slow(tmp_path)
    await cancelled_step(browser)
    browser.go.set()
    first, second = await asyncio.gather(browser._started(), browser._started())
    assert first is second is browser.started[0]
    await asyncio.sleep(0)
    assert (len(browser.started), browser.watched) == (1, [7])
    await browser.close()
    assert browser.started[0].closed


async def test_a_browser_that_nobody_waits_for_any_more_is_ended_with_the_team(tmp_path: Path) -> None:
    browser = Slow(tmp_path)
    await cancelled_step(browser)
    browser.go.set()
    await browser.close()
    assert [chromium.closed for chromium in browser.started] == [True]


async def test_a_start_that_fails_is_told_and_tried_again(tmp_path: Path) -> None:
    browser = Slow(tmp_path, fails=1)
    browser.go.set()
    with pytest.raises(OSError, match="no memory"):
        await browser._started()
    assert await browser._started() is browser.started[0]
    await browser.close()
