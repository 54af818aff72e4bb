"""Agents in the sandbox that take more memory or disk than they may, in every way that leaves the ordinary path."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from heredity.agents.launchers import AgentExit, CommandAgent, available, command, run_agent
from heredity.sandbox import watch

MIB = 1 << 20
REASON = available()
confined = pytest.mark.skipif(REASON is not None, reason=f"agents cannot be confined here: {REASON}")
either = pytest.mark.parametrize("unsafe", [pytest.param(False, marks=confined), True], ids=["confined", "unsafe"])


class Run:
    """An agent that is a program of Python, in a workspace of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.workspace = folder, folder / "workspace"
        self.workspace.mkdir(parents=True)
        (folder / "session.sock").touch()

    async def agent(self, script: str, memory: int = 4096, disk: int = 4096, **options: Any) -> AgentExit:
        """Run it, with bounds in MiB; it is stopped after 30 seconds."""
        whole = ["python3", "-c", f"import mmap, os, signal, subprocess, sys, time\nMIB = {MIB}\n{script}"]
        given = {"time_limit_s": 30.0, "memory_bytes": memory * MIB, "disk_bytes": disk * MIB, **options}
        return await run_agent(
            CommandAgent(whole, **given),
            workspace=self.workspace,
            socket=self.folder / "session.sock",
            url="http://127.0.0.1:9",
            logs=self.folder / "logs",
        )

    @property
    def log(self) -> str:
        return (self.folder / "logs" / "agent.log").read_text()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(watch, "MEMORY_S", 0.05)
    monkeypatch.setattr(watch, "DISK_S", 0.05)
    monkeypatch.setattr(command, "KILL_AFTER_S", 0.5)
    return Run(tmp_path / "run")


HOLD = "held = b'x' * (300 * MIB); time.sleep(60)"
DETACHED = f"""
if os.fork():
    time.sleep(60)
os.setsid()
if os.fork():
    os._exit(0)
{HOLD}
"""
HOLDING = {
    "in one process": HOLD,
    "in a child": f"subprocess.run([sys.executable, '-c', '''MIB = {MIB}; import time; {HOLD}'''])",
    "in many processes": "[os.fork() for _ in range(4)]; held = b'x' * (20 * MIB); time.sleep(60)",
    "in a process that has detached itself": DETACHED,
    "in memory that is shared": "held = mmap.mmap(-1, 300 * MIB); held.write(b'x' * (300 * MIB)); time.sleep(60)",
    "in /dev/shm": "open('/dev/shm/x', 'wb').write(b'x' * (200 * MIB)); time.sleep(60)",
    "in /tmp, removed": "f = open('/tmp/x', 'wb'); f.write(b'x' * (200 * MIB)); os.unlink('/tmp/x'); time.sleep(60)",
    "in a file without a name": "f = os.memfd_create('x'); [os.write(f, b'x' * MIB) for _ in range(300)]; time.sleep(60)",
}


@confined
@pytest.mark.parametrize("how", HOLDING)
async def test_an_agent_that_holds_too_much_memory_is_ended(run: Run, how: str) -> None:
    end = await run.agent(HOLDING[how], memory=120)
    assert end.reason == "memory_limit", run.log
    assert end.code in (137, 143)
    assert end.memory_bytes > 120 * MIB
    assert end.seconds < 20


async def test_an_agent_without_a_sandbox_is_ended_as_well(run: Run) -> None:
    end = await run.agent(f"if os.fork(): time.sleep(60)\n{HOLD}", memory=120, unsafe=True)
    assert (end.reason, end.code) == ("memory_limit", 143)


@either
async def test_an_agent_within_its_bounds_is_left_alone(run: Run, unsafe: bool) -> None:
    script = "held = b'x' * (50 * MIB); open('file', 'wb').write(held); time.sleep(0.6)"
    end = await run.agent(script, memory=120, disk=60, unsafe=unsafe)
    assert (end.code, end.reason) == (0, "exited"), run.log
    assert 50 * MIB < end.memory_bytes < 120 * MIB
    assert 50 * MIB <= end.disk_bytes <= 60 * MIB


@confined
async def test_a_model_that_is_mapped_and_pages_that_are_shared_harm_nobody(run: Run) -> None:
    script = """
open('model', 'wb').truncate(200 * MIB)
model = mmap.mmap(os.open('model', os.O_RDONLY), 0, prot=mmap.PROT_READ)
model.find(b'x')
held = b'x' * (50 * MIB)
children = [os.fork() for _ in range(2)]
held.count(b'y')
time.sleep(1.5)
"""
    end = await run.agent(script, memory=110)
    assert end.reason == "exited", (end, run.log)


@either
async def test_a_program_that_starts_others_while_it_holds_much_is_not_counted_twice(run: Run, unsafe: bool) -> None:
    script = (
        "held = b'x' * (80 * MIB)\nend = time.monotonic() + 1.0\nwhile time.monotonic() < end: subprocess.run(['true'])"
    )
    end = await run.agent(script, memory=120, unsafe=unsafe)
    assert (end.code, end.reason) == (0, "exited"), run.log


@confined
async def test_who_goes_on_growing_while_it_ends_is_killed_at_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "KILL_AFTER_S", 60.0)
    script = """
held = []
def grow(*_):
    while True:
        held.append(b'x' * (10 * MIB)); time.sleep(0.05)
signal.signal(signal.SIGTERM, grow)
first = b'x' * (125 * MIB)
while True: time.sleep(0.1)
"""
    end = await run.agent(script, memory=120)
    assert (end.code, end.reason) == (137, "memory_limit")
    assert end.memory_bytes > 150 * MIB


@confined
async def test_an_agent_may_clean_up_before_it_ends(run: Run) -> None:
    script = """
def clean(*_):
    os.truncate('large', 0); print('cleaned'); sys.exit(3)
signal.signal(signal.SIGTERM, clean)
open('large', 'wb').write(b'x' * (23 * MIB))
while True: time.sleep(0.05)
"""
    end = await run.agent(script, disk=20)
    assert (end.code, end.reason, run.log) == (3, "disk_limit", "cleaned\n")
    assert end.disk_bytes > 20 * MIB


WRITING = {
    "in one file": "open('large', 'wb').write(b'x' * (50 * MIB)); time.sleep(60)",
    "in many files": "[open(f'f{i}', 'wb').write(b'x' * MIB) for i in range(50)]; time.sleep(60)",
    "by a process that has detached itself": DETACHED.replace(
        HOLD, "open('x', 'wb').write(b'x' * (50 * MIB)); time.sleep(60)"
    ),
    "deeper than any path": """
for _ in range(300):
    os.mkdir('d' * 40); os.chdir('d' * 40)
open('large', 'wb').write(b'x' * (50 * MIB)); time.sleep(60)
""",
    "in a file without a name": "f = open('x', 'wb'); os.unlink('x'); f.write(b'x' * (50 * MIB)); f.flush(); time.sleep(60)",
    "in a hidden folder": "open('.home/large', 'wb').write(b'x' * (50 * MIB)); time.sleep(60)",
    "in a folder that is shut": """
os.mkdir('shut'); open('shut/large', 'wb').write(b'x' * (50 * MIB)); os.chmod('shut', 0); time.sleep(60)
""",
}


@confined
@pytest.mark.parametrize("how", WRITING)
async def test_an_agent_that_takes_too_much_disk_is_ended(run: Run, how: str) -> None:
    end = await run.agent(WRITING[how], disk=20)
    assert end.reason == "disk_limit", run.log
    assert end.code in (137, 143)
    assert end.disk_bytes > 20 * MIB
    assert end.seconds < 20


@confined
async def test_too_many_files_are_too_much(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "MOST_FILES", 1000)
    end = await run.agent("[open(f'f{i}', 'w').close() for i in range(3000)]; time.sleep(60)")
    assert end.reason == "disk_limit"


@confined
async def test_what_takes_no_room_does_not_count(run: Run) -> None:
    (run.workspace / "models").mkdir()
    (run.workspace / "models" / "base").write_bytes(b"x" * 30 * MIB)
    script = """
open('sparse', 'wb').truncate(900 * MIB)
open('linked', 'wb').write(b'x' * (5 * MIB))
for i in range(50): os.link('linked', f'name-{i}')
os.symlink('/usr', 'usr'); os.symlink('.', 'round')
time.sleep(0.5)
"""
    end = await run.agent(script, disk=20, host_files=("models",))
    assert (end.code, end.reason) == (0, "exited"), run.log
    assert 5 * MIB <= end.disk_bytes < 10 * MIB


@confined
async def test_a_workspace_that_is_full_already_ends_the_agent(run: Run) -> None:
    (run.workspace / "left").write_bytes(b"x" * 30 * MIB)
    end = await run.agent("time.sleep(60)", disk=20)
    assert end.reason == "disk_limit"


@confined
async def test_nothing_but_the_bounded_folders_takes_files_in_memory(run: Run) -> None:
    script = """
for folder in ('/', '/dev', '/dev/pts', '/usr', '/run', '/opt', '/proc', '/sys', '/etc', '/run/heredity'):
    try: open(folder + '/x', 'wb').write(b'x'); print('WROTE', folder)
    except OSError: pass
for folder in ('/tmp', '/dev/shm'):
    try: open(folder + '/x', 'wb').write(b'x' * (300 * MIB)); print('UNBOUNDED', folder)
    except OSError: os.truncate(folder + '/x', 0)
os.open('/dev/null', os.O_RDWR); os.openpty()
"""
    end = await run.agent(script)
    assert (end.code, run.log) == (0, "")


@confined
async def test_the_kernel_ends_an_agent_before_its_host(run: Run) -> None:
    await run.agent("print(open('/proc/self/oom_score_adj').read(), open('/proc/1/oom_score_adj').read())")
    own, relay = map(int, run.log.split())
    assert own == 1000 > relay


async def test_a_watch_that_fails_ends_the_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(watch, "memory_of", broken)
    began = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        await run.agent("time.sleep(60)", unsafe=True)
    assert time.monotonic() - began < 50


async def test_a_look_that_fails_ends_no_watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "MEMORY_S", 0.0)
    monkeypatch.setattr(watch, "DISK_S", 3600.0)
    looks = iter(
        [OSError(24, "no descriptor is free"), RuntimeError("can't start new thread"), 10, OSError(24), 2 * MIB]
    )

    def look(_root: int, _bound: int, _files: int) -> int:
        seen = next(looks)
        if isinstance(seen, Exception):
            raise seen
        return seen

    monkeypatch.setattr(watch, "memory_of", look)
    with watch.Watch(watch.Bounds(MIB, MIB), tmp_path, (), os.getpid()) as watching:
        assert await watching.exceeded() == "memory_limit"
        monkeypatch.setattr(watch, "memory_of", lambda *_: (_ for _ in ()).throw(OSError(24)))
        with pytest.raises(OSError, match="24"):
            await watching.exceeded()


@confined
async def test_a_file_may_be_as_large_as_the_run_allows(run: Run) -> None:
    script = "open('big', 'wb').truncate(1500 * MIB)\nopen('bigger', 'wb').truncate(2500 * MIB)"
    await run.agent(script, file_bytes=2000 * MIB)
    assert "File too large" in run.log
    assert {path.name: path.stat().st_size // MIB for path in run.workspace.glob("big*")} == {"big": 1500, "bigger": 0}
