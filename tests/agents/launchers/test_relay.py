from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from heredity._core.engine_folder import EngineFolder
from heredity._core.http import serve
from heredity.sandbox.agent_bubblewrap import RELAY


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


_HALF_OPEN = """
import os, resource, socket, sys, urllib.parse, urllib.request
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2048), hard))
url = os.environ["EVOPOLICYGYM_SUBMIT_URL"]
door, said = ("127.0.0.1", urllib.parse.urlsplit(url).port), sys.argv[1].encode()
held = []
for _ in range(400):
    held.append(socket.create_connection(door, timeout=30))
    held[-1].sendall(said)
print(urllib.request.urlopen(url, data=b"still", timeout=60).read().decode())
print(len(os.listdir(f"/proc/{os.getppid()}/task")))
"""


@pytest.mark.parametrize("said", ["", "POST /submit HTTP/1.1\r\nContent-Le"])
@pytest.mark.parametrize("descriptors", [64, 1024])
async def test_the_session_answers_beside_hundreds_of_half_open_connections(said: str, descriptors: int) -> None:
    async with serve(APP) as endpoints:
        relay = ("-I", str(RELAY), "--socket", str(endpoints.unix), "--", sys.executable, "-c", _HALF_OPEN, said)
        bounded = ("/bin/sh", "-c", f'ulimit -Sn {descriptors}; exec "$0" "$@"', sys.executable, *relay)
        process = await asyncio.create_subprocess_exec(*bounded, stdout=PIPE, stderr=PIPE)
        out, err = await process.communicate()
    assert out.split() == [b"STILL", b"1"], err


async def test_a_connection_that_is_cut_ends_alone() -> None:
    code = (
        "import os, socket, struct, urllib.parse, urllib.request as u\n"
        "url = os.environ['EVOPOLICYGYM_SUBMIT_URL']\n"
        "for i in range(50):\n"
        "    s = socket.create_connection(('127.0.0.1', urllib.parse.urlsplit(url).port))\n"
        "    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))\n"
        "    s.sendall(b'POST /submit HTTP/1.1\\r\\n' if i % 2 else b'')\n"
        "    s.close()\n"
        "print(u.urlopen(url, data=b'after').read().decode())"
    )
    async with serve(APP) as endpoints:
        process = await start(str(endpoints.unix), sys.executable, "-c", code)
        out, err = await process.communicate()
    assert out == b"AFTER\n", err


async def test_an_answer_reaches_a_command_that_says_no_more() -> None:
    code = (
        "import os, socket, urllib.parse\n"
        "s = socket.create_connection(('127.0.0.1', urllib.parse.urlsplit(os.environ['HEREDITY_URL']).port))\n"
        "s.sendall(b'whole')\n"
        "s.shutdown(socket.SHUT_WR)\n"
        "answer = b''\n"
        "while data := s.recv(1 << 16): answer += data\n"
        "print(len(answer))"
    )

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(len(await reader.read()) * b"x" * 400_000)
        await writer.drain()
        writer.close()

    with EngineFolder() as folder:
        async with await asyncio.start_unix_server(answer, folder / "own.sock"):
            process = await start(str(folder / "own.sock"), sys.executable, "-c", code)
            out, err = await process.communicate()
    assert out == b"2000000\n", err
