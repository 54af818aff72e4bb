"""A browser whose start is cancelled is neither lost nor started twice; steps that wait for others give way."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from heredity.sandbox.hosts import AllowedHosts
from heredity.team.bus import Bus
from heredity.team.lending import Seats, Step, waiting
from heredity.team.participant import Context, Message, Participant
from heredity.team.tools.documents import DocumentReader
from heredity.team.tools.web.browser import MOST_CONTEXTS, WebBrowser, WebProxy
from heredity.team.tools.web.door import open_session


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


class Page:
    """A page that shows its address."""

    url = "about:blank"
    mouse: Any = None

    def is_closed(self) -> bool:
        return False

    def on(self, *_: Any) -> None:
        pass

    async def goto(self, address: str, **_: Any) -> None:
        self.url = address

    async def wait_for_load_state(self, *_: Any, **__: Any) -> None:
        pass

    async def aria_snapshot(self, **_: Any) -> str:
        return f"- document [ref=e1]: {self.url}"

    async def title(self) -> str:
        return ""

    async def screenshot(self, **_: Any) -> bytes:
        return b""


class Pages:
    """A context, which counts how many are open at once."""

    browser: Any = None
    open, most = set[Any](), list[int]()

    def __init__(self) -> None:
        self.pages = list[Page]()
        self.open.add(self)
        self.most.append(len(self.open))

    def on(self, *_: Any) -> None:
        pass

    async def new_page(self) -> Page:
        self.pages.append(Page())
        return self.pages[-1]

    async def storage_state(self) -> dict[str, Any]:
        return {}

    async def close(self) -> None:
        self.open.discard(self)


class Ready(Slow):
    async def _started(self) -> Any:
        return self

    async def new_context(self, **_: Any) -> Pages:
        return Pages()


async def test_steps_that_hold_a_context_and_ask_others_that_need_one_do_not_wait_for_each_other(
    tmp_path: Path,
) -> None:
    browser, reader = Ready(tmp_path), DocumentReader(cast("Any", None))
    asked_by_all = asyncio.Barrier(MOST_CONTEXTS)

    async def surf(message: Message, context: Context) -> str:
        async with open_session(browser, reader) as session:
            opened = await session.open(f"http://127.0.0.1/{message.id}")
            if depth := message.body["depth"]:
                if depth == 2:
                    await asked_by_all.wait()  # Each of them holds a context by now.
                answer = await context.request("surfer", {"depth": depth - 1}, timeout=20)
                assert answer.ok, answer.error
            return opened if not depth else await session.read()

    async with Bus(timeout=30) as bus:
        bus.register(Participant("surfer", surf, concurrency=MOST_CONTEXTS))
        asking = [bus.outside.request("surfer", {"depth": 2}, key=f"s{n}") for n in range(MOST_CONTEXTS)]
        answers = await asyncio.gather(*asking)
    assert [answer.outcome for answer in answers] == ["ok"] * MOST_CONTEXTS
    assert all(f"http://127.0.0.1/s{n}" in str(answer.value) for n, answer in enumerate(answers))
    assert all("opened again at its address" in str(answer.value) for answer in answers)
    assert max(Pages.most) == MOST_CONTEXTS
    assert not Pages.open
    await browser.close()


async def test_a_step_that_waits_for_nobody_keeps_its_context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seats, left = Seats(1), list[str]()

    async def give_up() -> None:
        left.append("given up")
        seat.leave()

    step = Step()
    step.begin()
    seat = await seats.take(give_up)
    other = asyncio.ensure_future(seats.take(give_up))
    cancelled = asyncio.ensure_future(seats.take(give_up))
    await asyncio.sleep(0)
    assert not left
    cancelled.cancel()
    with waiting():
        await asyncio.sleep(0)
    await asyncio.wait_for(other, 5)
    assert left == ["given up"]
    other.result().leave()
    (await seats.take(give_up)).leave()
