from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import HostError
from heredity.engine.programs import SandboxedPrograms
from heredity.resources import SourceTree

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOOL = SourceTree({"tool.py": "def run(a):\n    return a + 1\nclass Box:\n    pass\n"})
HANG = SourceTree({"tool.py": "def run():\n    while True: pass\n"})


async def test_more_programs_wait_at_once_than_one_zygote_holds() -> None:
    together, arrived = 18, 0
    everyone = asyncio.Event()

    async def meet(value: Any) -> Any:
        nonlocal arrived
        arrived += 1
        if arrived == together:
            everyone.set()
        await everyone.wait()

    tree = SourceTree({"tool.py": "from heredity_guest import ask\ndef run():\n    ask('meet')\n    return 1\n"})
    async with SandboxedPrograms(2) as programs:
        calls = [programs.call(tree, "tool:run", {}, seconds=60, services={"meet": meet}) for _ in range(together)]
        assert [r.value for r in await asyncio.gather(*calls)] == [1] * together


async def test_no_more_programs_run_at_once_than_there_are_places(programs: SandboxedPrograms) -> None:
    tree = SourceTree({"tool.py": "import time\ndef run():\n    time.sleep(0.2)\n"})
    started = time.monotonic()
    await asyncio.gather(*(programs.call(tree, "tool:run", {}, seconds=60) for _ in range(6)))
    assert time.monotonic() - started >= 0.6


def guests(top: int | None = None) -> list[int]:
    """Return the processes below this one, or `top` and those below it."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(stat.parent.name)] = int(fields[1])
    pids = {top or os.getpid()}
    while more := {p for p, parent in parents.items() if parent in pids} - pids:
        pids |= more
    return sorted(pids - {os.getpid()})


def children() -> set[int]:
    """Return the processes that this one started itself: one for each sandbox that stands."""
    listed = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(child) for path in listed for child in path.read_text().split()}


async def steady() -> int:
    """Wait until a sandbox has started what it keeps ready; return how many processes there are."""
    count = -1
    while count != len(guests()):
        count = len(guests())
        await asyncio.sleep(0.3)
    return count


async def gone(processes: set[int]) -> bool:
    for _ in range(250):
        if not processes & set(guests()):
            return True
        await asyncio.sleep(0.02)
    return False


async def settled(count: int) -> bool:
    for _ in range(100):
        if len(guests()) <= count:
            return True
        await asyncio.sleep(0.02)
    return False


async def test_a_cancelled_call_ends_its_process_and_the_next_one_works(programs: SandboxedPrograms) -> None:
    assert (await programs.call(TOOL, "tool:run", {"a": 1}, seconds=60)).value
    before = await steady()
    calls = [asyncio.create_task(programs.call(HANG, "tool:run", {}, seconds=30)) for _ in range(4)]
    await asyncio.sleep(0.2)
    assert len(guests()) > before
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert await settled(before)
    assert (await programs.call(TOOL, "tool:run", {"a": 1}, seconds=60)).value


async def test_the_event_loop_goes_on_while_programs_run(programs: SandboxedPrograms) -> None:
    slow = SourceTree({"tool.py": "import time\ndef run():\n    time.sleep(0.5)\n    return 'x' * 60000\n"})
    calls = asyncio.gather(*(programs.call(slow, "tool:run", {}, seconds=3) for _ in range(2)))
    ticks = 0
    while not calls.done():
        await asyncio.sleep(0.01)
        ticks += 1
    assert ticks > 20


async def test_closing_ends_everything_and_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = children()
    programs = SandboxedPrograms(2)
    call = asyncio.create_task(programs.call(HANG, "tool:run", {}, seconds=30))
    kept = programs.open(TOOL, "tool:Box", {})
    await kept.__aenter__()
    started = {process for top in children() - before for process in guests(top)}
    assert started
    await programs.close()
    with pytest.raises(HostError, match=r"the sandbox ended|these programs are closed"):
        await call
    assert not kept.alive
    await kept.__aexit__()
    await programs.close()
    assert await gone(started)
    assert os.listdir(tmp_path) == []
    with pytest.raises(HostError, match="closed"):
        await programs.call(TOOL, "tool:run", {"a": 1}, seconds=1)


async def test_a_dead_zygote_is_the_hosts_fault_and_another_one_is_started() -> None:
    others = set(guests())
    async with SandboxedPrograms(1) as programs:
        call = asyncio.create_task(programs.call(HANG, "tool:run", {}, seconds=30))
        await asyncio.sleep(0.5)
        for guest in set(guests()) - others:
            with contextlib.suppress(ProcessLookupError):  # it went with one before it
                os.kill(guest, signal.SIGKILL)
        with pytest.raises(HostError):
            await call
        assert (await programs.call(TOOL, "tool:run", {"a": 1}, seconds=60)).value == 2


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_guests_end_when_their_host_is_killed() -> None:
    code = (
        "import asyncio\n"
        "from heredity.resources import SourceTree\n"
        "from heredity.engine.programs import SandboxedPrograms\n"
        "tree = SourceTree({'tool.py': 'def run():\\n    print(1)\\n    while True: pass\\n'})\n"
        "async def main():\n"
        "    programs = SandboxedPrograms(1)\n"
        "    call = asyncio.create_task(programs.call(tree, 'tool:run', {}, seconds=60))\n"
        "    await asyncio.sleep(0.8)\n"
        "    print('running', flush=True)\n"
        "    await call\n"
        "asyncio.run(main())\n"
    )
    before = set(guests())
    host = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert host.stdout is not None
    assert host.stdout.readline() == b"running\n"
    spawned = set(guests()) - before
    assert len(spawned) >= 3
    host.kill()
    host.wait()
    host.stdout.close()
    for _ in range(100):
        if not any(runs(pid) for pid in spawned):
            return
        time.sleep(0.02)
    pytest.fail("processes of a killed host are still there")
