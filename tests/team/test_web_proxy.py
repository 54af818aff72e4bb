"""The one way out of the browser's sandbox: which hosts it lets through, and what gets past it."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity.sandbox.hosts import AllowedHosts, ForbiddenHostError, UnreachableHostError, _public
from heredity.team.tools.web import browser as proxies
from heredity.team.tools.web.browser import WebProxy, open_proxy


class Site:
    """A server that keeps what it was sent and answers with `answer`."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
        self.port = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append(b"")
        while data := await reader.read(65536):
            self.heard[-1] += data
            if b"\r\n\r\n" in self.heard[-1]:
                writer.write(self.answer)
                await writer.drain()
                break
        writer.close()


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    made = Site()
    server = await asyncio.start_server(made.handle, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()


@asynccontextmanager
async def proxied(tmp_path: Path, *, private: bool = False) -> AsyncIterator[tuple[WebProxy, Site, Site]]:
    """Run a proxy beside a site that is allowed and one that is not."""
    async with site() as good, site() as other:
        allowed = AllowedHosts([f"127.0.0.1:{good.port}"], private=private)
        async with open_proxy(allowed, tmp_path / "proxy.sock") as proxy:
            yield proxy, good, other


async def say(tmp_path: Path, request: bytes) -> bytes:
    reader, writer = await asyncio.open_unix_connection(tmp_path / "proxy.sock")
    writer.write(request)
    async with asyncio.timeout(5):
        answer = await reader.read()
    writer.close()
    return answer


def get(target: str, *headers: str, host: str = "x") -> bytes:
    return "\r\n".join([f"GET {target} HTTP/1.1", f"Host: {host}", *headers, "", ""]).encode()


async def test_a_request_to_an_allowed_host_is_written_anew(tmp_path: Path) -> None:
    async with proxied(tmp_path) as (_, good, other):
        address = f"127.0.0.1:{good.port}"
        headers = ("Proxy-Authorization: Basic x", "Connection: X-Hop, close", "X-Hop: 1", "Accept: a", "Upgrade: h2c")
        answer = await say(tmp_path, get(f"http://{address}/a?b=1#c", *headers, host=f"127.0.0.1:{other.port}"))
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert answer.endswith(b"\r\n\r\nhi")
        assert b"connection: close" in answer.lower()
        assert good.heard[0].decode().splitlines()[0] == "GET /a?b=1 HTTP/1.1"
        sent = good.heard[0].lower()
        # The host is the one that was connected to, whatever the request said.
        assert f"host: {address}\r\n".encode() in sent
        assert b"accept: a" in sent
        assert not [word for word in (b"x-hop", b"proxy-", b"upgrade", str(other.port).encode()) if word in sent]


async def test_a_tunnel_leads_to_an_allowed_host_alone(tmp_path: Path) -> None:
    async with proxied(tmp_path) as (proxy, good, other):
        request = b"CONNECT 127.0.0.1:%d HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n"
        opened = await say(tmp_path, request % good.port)
        assert opened == b"HTTP/1.1 200 Connection Established\r\n\r\n" + good.answer
        assert good.heard == [b"GET / HTTP/1.1\r\n\r\n"]
        refused = await say(tmp_path, request % other.port)
        assert refused.startswith(b"HTTP/1.1 403 ")
        assert f"127.0.0.1:{other.port} is not allowed; allowed hosts: 127.0.0.1:{good.port}".encode() in refused
        assert proxy.refused == {f"127.0.0.1:{other.port}": 1}
        assert other.heard == []


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:{other}/",
        "http://localhost:{good}/",
        "http://127.0.0.1/",
        "http://127.1:{other}/",
        "http://2130706433:{other}/",
        "http://0x7f000001:{other}/",
        "http://[::ffff:127.0.0.1]:{other}/",
        "http://127.0.0.1:{good}@127.0.0.1:{other}/",
        "http://127.0.0.1:{other}#@127.0.0.1:{good}/",
        "http://127.0.0.1:{other}\\@127.0.0.1:{good}/",
        "http://127.0.0.1:{good}.evil.example/",
        "https://127.0.0.1:{good}/",
        "ftp://127.0.0.1:{good}/",
        "file:///etc/passwd",
        "//127.0.0.1:{other}/",
        "/relative",
        "*",
        "http:///x",
        "http://127.0.0.1:99999/",
        "http://[::1/",
    ],
)
async def test_no_spelling_of_a_target_leads_elsewhere(tmp_path: Path, target: str) -> None:
    async with proxied(tmp_path) as (_, good, other):
        answer = await say(tmp_path, get(target.format(good=good.port, other=other.port)))
        assert answer[:12] in (b"HTTP/1.1 403", b"HTTP/1.1 400")
        assert good.heard == other.heard == []


async def test_what_follows_a_request_is_not_sent_on(tmp_path: Path) -> None:
    async with proxied(tmp_path) as (_, good, _):
        first, second = (get(f"http://127.0.0.1:{good.port}/{n}") for n in (1, 2))
        answer = await say(tmp_path, first + second)
        assert answer.count(b"HTTP/1.1 200") == 1
        assert len(good.heard) == 1
        assert b"/2" not in good.heard[0]


@pytest.mark.parametrize(
    "request_",
    [
        b"POST http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 60\r\n\r\nGET / ",
        b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost : x\r\nA: b\r\n\r\n",
        b"GET http://127.0.0.1:%d/\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nA: b\r\n\r\n",
        b"nonsense %d\r\n\r\n",
        b"CONNECT 127.0.0.1 %d HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT [::1%d HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
async def test_what_could_be_read_in_two_ways_is_refused(tmp_path: Path, request_: bytes) -> None:
    async with proxied(tmp_path) as (_, good, _):
        assert (await say(tmp_path, request_ % good.port)).startswith(b"HTTP/1.1 400")
        assert good.heard == []


async def test_a_body_of_two_lengths_is_framed_by_the_proxy(tmp_path: Path) -> None:
    async with proxied(tmp_path) as (_, good, _):
        body = b"4\r\nabcd\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
        head = (
            b"POST http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 90\r\n\r\n"
        )
        await say(tmp_path, head % good.port + body)
        assert b"smuggled" not in b"".join(good.heard)


async def test_a_redirect_is_for_the_browser_to_follow_and_its_target_is_refused(tmp_path: Path) -> None:
    async with proxied(tmp_path) as (_, good, other):
        there = f"http://127.0.0.1:{other.port}/"
        good.answer = f"HTTP/1.1 302 Found\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n".encode()
        answer = await say(tmp_path, get(f"http://127.0.0.1:{good.port}/"))
        assert answer.startswith(b"HTTP/1.1 302")
        assert (await say(tmp_path, get(there))).startswith(b"HTTP/1.1 403")
        assert other.heard == []


async def test_bounds_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxies, "MOST_BYTES", 1000)
    monkeypatch.setattr(proxies, "MOST_CONNECTIONS", 1)
    async with proxied(tmp_path) as (_, good, _):
        target = f"http://127.0.0.1:{good.port}/"
        assert (await say(tmp_path, get(target, "X: " + "y" * 70_000))).startswith(b"HTTP/1.1 400")
        good.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"x" * 5000
        assert len(await say(tmp_path, get(target))) < 1500
        _, held = await asyncio.open_unix_connection(tmp_path / "proxy.sock")
        await asyncio.sleep(0.05)
        assert (await say(tmp_path, b"")).startswith(b"HTTP/1.1 503")
        held.close()
        assert (tmp_path / "proxy.sock").stat().st_mode & 0o777 == 0o600


async def test_a_host_that_does_not_answer_is_said_to(tmp_path: Path) -> None:
    async with site() as gone:
        port = gone.port
    async with open_proxy(AllowedHosts([f"127.0.0.1:{port}"]), tmp_path / "proxy.sock"):
        answer = await say(tmp_path, get(f"http://127.0.0.1:{port}/"))
        assert answer.startswith(b"HTTP/1.1 502")
        assert b"cannot be reached: Connect" in answer


def test_hosts_are_listed_by_name_port_and_domain() -> None:
    allowed = AllowedHosts(["Example.org", "*.wiki.example:8443", "[::1]:80", "bücher.example:443", "10.0.0.7"])
    for host, port in [
        *(("example.org", 443), ("EXAMPLE.ORG.", 80), ("de.wiki.example", 8443), ("a.b.wiki.example", 8443)),
        *(("0:0::1", 80), ("[::1]", 80), ("xn--bcher-kva.example", 443), ("10.0.0.7", 443)),
    ]:
        assert allowed.permits(host, port), host
    for host, port in [
        *(("example.org", 8080), ("www.example.org", 80), ("notexample.org", 80), ("wiki.example", 8443)),
        *(("evilwiki.example", 8443), ("example.org.evil", 80), ("", 80), ("de.wiki.example", 443)),
    ]:
        assert not allowed.permits(host, port), host
    assert AllowedHosts(["*"]).permits("anything.example", 443)
    assert not AllowedHosts(["*"]).permits("anything.example", 22)
    for wrong in (
        "http://example.org",
        "example.org/path",
        "example.org:0",
        "a b",
        "*x.org",
        "",
        "user@host",
        "host:99999",
    ):
        with pytest.raises(ConfigError, match=r"web\.allow: .* is no host; write host:port"):
            AllowedHosts([wrong])


async def test_a_name_does_not_lead_into_the_local_network(monkeypatch: pytest.MonkeyPatch) -> None:
    leads_to: dict[str, list[str]] = {
        "inner.example": ["127.0.0.1", "10.1.2.3"],
        "mixed.example": ["192.168.0.1", "93.184.216.34"],
    }

    async def looked_up(_: Any, host: str, port: int, **__: Any) -> Any:
        if host not in leads_to:
            raise socket.gaierror(-2, "Name or service not known")
        return [(0, 0, 0, "", (address, port)) for address in leads_to[host]]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", looked_up)
    everything = AllowedHosts(["*"])
    with pytest.raises(ForbiddenHostError, match=r"leads to 127\.0\.0\.1, which is not a public address"):
        await everything.addresses("inner.example", 80)
    assert await everything.addresses("mixed.example", 80) == ["93.184.216.34"]
    assert await AllowedHosts(["*"], private=True).addresses("inner.example", 80) == ["127.0.0.1", "10.1.2.3"]
    with pytest.raises(ForbiddenHostError):
        await everything.addresses("127.0.0.1", 80)
    assert await AllowedHosts(["127.0.0.1"]).addresses("127.0.0.1", 80) == ["127.0.0.1"]
    with pytest.raises(UnreachableHostError, match="not known to any name server"):
        await everything.addresses("nobody.example", 80)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "10.0.0.1",
            "169.254.169.254",
            "192.168.1.1",
            "172.16.0.1",
            "0.0.0.0",
            "100.64.0.1",
            "224.0.0.1",
        ),
        *(
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "ff02::1",
        ),
    ],
)
def test_addresses_of_networks_of_ones_own_are_not_public(address: str) -> None:
    assert not _public(ipaddress.ip_address(address))


def test_public_addresses_are_public() -> None:
    for address in ("93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::5db8:d822"):
        assert _public(ipaddress.ip_address(address))
