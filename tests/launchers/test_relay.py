from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from heredity.sandbox.agent_bubblewrap import RELAY
from heredity.server import serve


async def _echo(request: Request) -> Response:
    return PlainTextResponse((await request.body()).decode().upper())


APP = Starlette(routes=[Route("/submit", _echo, methods=["POST"])])


async def start(socket: str, *command: str, options: tuple[str, ...] = ()) -> Process:
    arguments = ("-I", str(RELAY), "--socket", socket, *options, "--", *command)
    return await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=PIPE, stderr=PIPE)


async def test_a_command_reaches_the_socket_through_its_urls() -> None:
    code = (
        "import os, urllib.request as u\n"
        "for i in range(3):\n"
        "    print(u.urlopen(os.environ['EVOPOLICYGYM_SUBMIT_URL'], data=b'x' * 300_000).read() == b'X' * 300_000)"
    )
    async with serve(APP) as endpoints:
        process = await start(str(endpoints.unix), sys.executable, "-c", code)
        out, err = await process.communicate()
    assert out == b"True\n" * 3, err
    assert process.returncode == 0


async def test_the_exit_code_is_the_commands() -> None:
    assert await (await start("/none", "/bin/sh", "-c", "exit 7")).wait() == 7
    assert await (await start("/none", "/bin/sh", "-c", "kill -KILL $$")).wait() == 128 + signal.SIGKILL


async def test_a_command_that_is_not_there_says_so() -> None:
    process = await start("/none", "/no/such/program")
    _, err = await process.communicate()
    assert process.returncode == 127
    assert b"/no/such/program" in err


async def test_a_signal_is_passed_on_to_the_command() -> None:
    process = await start(
        "/none", "/bin/sh", "-c", "trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.02; done"
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGTERM)
    assert await process.stdout.readline() == b"asked\n"
    assert await process.wait() == 3


async def test_limits_bind_the_command_and_not_the_relay() -> None:
    code = "ulimit -f; ulimit -u"
    process = await start("/none", "/bin/bash", "-c", code, options=("--processes", "77", "--file-bytes", "1048576"))
    out, _ = await process.communicate()
    assert out.split() == [b"1024", b"77"]


async def test_an_unreachable_host_closes_the_connection() -> None:
    code = "import os, urllib.request as u\ntry: u.urlopen(os.environ['HEREDITY_URL'], timeout=5)\nexcept OSError: print('closed')"
    process = await start(f"/tmp/no-such-socket-{os.getpid()}", sys.executable, "-c", code)
    out, _ = await process.communicate()
    assert out == b"closed\n"
