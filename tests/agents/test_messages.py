"""What agents are told names no path of the host; and sockets of killed processes do not stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.agents.fakes import FakeSession, make_terms

import heredity
from heredity._core.http import serve
from heredity.agents import Workspace
from heredity.agents.app import SessionApp
from heredity.agents.terms import for_agent
from heredity.protocols.policy_evolution.protocol import BRIEFING

SERVING = """
import asyncio
from heredity._core.http import serve
async def main():
    async with serve(None) as endpoints:
        print(endpoints.unix, flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


def test_an_agent_reads_its_own_names_of_files_and_no_others(tmp_path: Path) -> None:
    workspace = tmp_path / "runs" / "one" / "workspace"
    source = Path(heredity.__file__).parent / "session" / "session.py"
    said = f"{workspace}/system/policy.py is a link; see {workspace.parent}/journal.jsonl, {source}:3 and {Path.home()}/x.txt"
    assert for_agent(said, workspace) == (
        "/workspace/system/policy.py is a link; see …/journal.jsonl, …/session.py:3 and …/x.txt"
    )
    # Places that nobody has listed are places of the host too.
    assert for_agent("see '/mnt/data/suites/x.json' and (/srv/a b/c)", workspace) == "see '…/x.json' and (…/a b/c)"
    assert for_agent("GET http://127.0.0.1:80/submit, 1/2 of /workspace/a/b", workspace).endswith(
        "1/2 of /workspace/a/b"
    )
    assert for_agent("http://127.0.0.1:80/submit", workspace) == "http://127.0.0.1:80/submit"
    assert for_agent("/workspace-of/another/x", workspace) == "…/x"
    assert for_agent("no \u202ename\x1b[2J", workspace) == r"no \u202ename\x1b[2J"


async def test_no_answer_of_a_session_names_a_path_of_the_host(tmp_path: Path) -> None:
    terms = make_terms()
    workspace = Workspace(tmp_path / "workspace", terms, BRIEFING)
    workspace.prepare()
    (workspace.system / "link").symlink_to("/etc/passwd")
    os.mkfifo(workspace.system / "pipe")
    async with serve(SessionApp(FakeSession(terms), workspace).asgi) as endpoints, httpx.AsyncClient() as client:
        answers = [
            await client.post(f"{endpoints.url}/submit", json={"env_instances": [0]}),
            await client.post(f"{endpoints.url}/submit", json={"env_instances": [0], "note": 3}),
            await client.get(f"{endpoints.url}/nowhere"),
            await client.get(f"{endpoints.url}/info"),
        ]
    assert answers[0].status_code == 400
    for answer in answers:
        assert str(tmp_path) not in answer.text
        assert str(Path(heredity.__file__).parent) not in answer.text


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's name."""
    with tempfile.TemporaryDirectory(prefix="h", dir="/tmp") as name:
        yield Path(name)


def test_nothing_is_left_of_processes_that_were_killed(short: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(short)}
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", SERVING], env=environment, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert Path(process.stdout.readline().strip()).is_socket()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert len(list(short.iterdir())) == 1, "the one before was swept"
