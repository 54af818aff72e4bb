from __future__ import annotations

import asyncio
import signal
import socket
import stat
import time
from importlib import import_module
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from tests.agents.fakes import FakeSession, make_terms

from heredity._core.errors import ConfigError
from heredity._core.http import serve
from heredity.agents import SessionApp, Workspace
from heredity.protocols.policy_evolution.protocol import BRIEFING


async def _echo(request: Request) -> Response:
    return PlainTextResponse(request.url.path + " " + (await request.body()).decode())


async def _slow(request: Request) -> Response:
    await asyncio.sleep(0.2)
    return PlainTextResponse("done")


APP = Starlette(routes=[Route("/echo", _echo, methods=["GET", "POST"]), Route("/slow", _slow)])


async def test_the_token_opens_the_port_and_nothing_else_does() -> None:
    async with serve(APP) as endpoints, httpx.AsyncClient() as client:
        assert (await client.post(f"{endpoints.url}/echo", content="hi")).text == "/echo hi"
        base, _, token = endpoints.url.rpartition("/")
        for path in ("/echo", f"/{token[:-1]}/echo", f"/{token}x/echo", "/", f"//{token}/echo", f"/%2e/{token}/echo"):
            answer = await client.get(base + path)
            assert answer.status_code == 404, path
            assert token not in answer.text


async def test_the_unix_socket_needs_no_token_and_belongs_to_its_owner() -> None:
    async with serve(APP) as endpoints:
        assert stat.S_IMODE(endpoints.unix.stat().st_mode) == 0o600
        assert stat.S_IMODE(endpoints.unix.parent.stat().st_mode) == 0o700
        async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(endpoints.unix))) as client:
            assert (await client.get("http://run/echo")).text == "/echo "
    assert not endpoints.unix.parent.exists()


async def test_two_runs_are_served_at_once_under_their_own_tokens() -> None:
    async with serve(APP) as one, serve(APP) as two, httpx.AsyncClient() as client:
        assert one.url != two.url
        port, token = two.url.rpartition("/")[0], one.url.rpartition("/")[2]
        assert (await client.get(f"{port}/{token}/echo")).status_code == 404


async def test_a_port_in_use_is_one_clear_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"port {port} .* choose another"):
            async with serve(APP, port=port):
                pass


async def test_a_port_is_free_again_after_the_block() -> None:
    async with serve(APP) as endpoints:
        port = int(endpoints.url.split(":")[2].split("/")[0])
    async with serve(APP, port=port) as again, httpx.AsyncClient() as client:
        assert (await client.get(f"{again.url}/echo")).status_code == 200


async def test_a_request_in_flight_is_answered_before_the_server_ends() -> None:
    async with httpx.AsyncClient() as client:
        async with serve(APP) as endpoints:
            answer = asyncio.create_task(client.get(f"{endpoints.url}/slow"))
            await asyncio.sleep(0.05)
        assert (await answer).text == "done"


async def test_signals_stay_with_the_program_that_owns_the_loop() -> None:
    before = signal.getsignal(signal.SIGINT)
    async with serve(APP):
        assert signal.getsignal(signal.SIGINT) is before


async def test_a_submission_over_a_real_socket(tmp_path: Path) -> None:
    session = FakeSession(make_terms())
    workspace = Workspace(tmp_path / "workspace", session.terms, BRIEFING)
    workspace.prepare()
    async with serve(SessionApp(session, workspace).asgi) as endpoints, httpx.AsyncClient() as client:
        started = time.perf_counter()
        body = (await client.post(f"{endpoints.url}/submit", json={"env_instances": [0]})).json()
        assert time.perf_counter() - started < 30
    assert body["status"] == "ok"
    assert (workspace.feedback / "submit_000" / "summary.json").exists()


@pytest.mark.parametrize(
    "said", [b"", b"GET /echo HT", b"POST /echo HTTP/1.1\r\nHost: run\r\nContent-Length: 9\r\n\r\nhalf"]
)
async def test_connections_that_ask_nothing_do_not_keep_others_out(
    said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("heredity._core.http"), "MOST_CONNECTIONS", 8)
    held: list[asyncio.StreamWriter] = []
    async with serve(APP) as endpoints:
        async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(endpoints.unix))) as client:
            slow = asyncio.create_task(client.get("http://run/slow"))
            for _ in range(40):
                reader, writer = await asyncio.open_unix_connection(str(endpoints.unix))
                writer.write(said)
                held.append(writer)
                if len(held) == 1:
                    first = reader
            assert await asyncio.wait_for(first.read(), 30) == b"", "the oldest was closed"
            assert (await client.get("http://run/echo")).text == "/echo "
            assert (await slow).text == "done"
        for writer in held:
            writer.close()
