from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from heredity.sandbox import memory
from heredity.sandbox.memory import family, machine_memory, memory_of, nameless_files

MIB = 1 << 20
HOLD = f"held = b'x' * {100 * MIB}; print(flush=True); time.sleep(60)"


@contextmanager
def running(script: str) -> Iterator[int]:
    """Run a program of Python until the block ends; it has started once it has printed a line."""
    command = [sys.executable, "-c", f"import os, time, mmap, subprocess, sys\n{script}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        members = [*family(process.pid)]
        try:
            yield process.pid
        finally:
            for pid in {process.pid, *members, *family(process.pid)}:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def mib(pid: int, bound: int = 0, files: int = 0) -> int:
    return round(memory_of(pid, bound, files) / MIB)


def test_a_process_holds_what_it_has_filled() -> None:
    with running(HOLD) as pid:
        assert 100 <= mib(pid) <= 120
        assert 100 <= mib(pid, bound=1 << 40) <= 120


def test_what_was_only_asked_for_does_not_count() -> None:
    with running(f"held = mmap.mmap(-1, {500 * MIB}); print(flush=True); time.sleep(60)") as pid:
        assert mib(pid) < 30


def test_pages_of_files_on_disk_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(b"x" * 100 * MIB)
    script = f"held = mmap.mmap(os.open('{tmp_path}/model', 0), 0, prot=mmap.PROT_READ); held.find(b'y')"
    with running(f"{script}; print(flush=True); time.sleep(60)") as pid:
        assert mib(pid) < 30


def test_children_and_their_children_belong_to_the_family() -> None:
    script = f"""
if os.fork() == 0:
    if os.fork() == 0:
        {HOLD}
    time.sleep(60)
time.sleep(60)
"""
    with running(script) as pid:
        assert len(family(pid)) == 3
        assert mib(pid) >= 100


def test_who_stays_in_the_session_belongs_to_the_family_without_its_parent() -> None:
    script = f"""
if os.fork() == 0:
    if os.fork() == 0:
        {HOLD}
    os._exit(0)
os.wait()
time.sleep(60)
"""
    with running(script) as pid:
        assert 100 <= mib(pid) <= 130


def test_pages_that_several_processes_share_are_shared_out_when_it_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_YOUNG_S", 0.0)
    script = f"held = b'x' * {100 * MIB}\nfor _ in range(4):\n  if os.fork() == 0: time.sleep(60)\n"
    with running(f"{script}print(flush=True); time.sleep(60)") as pid:
        until(lambda: len(family(pid)) == 5)
        assert 100 <= mib(pid, bound=0) <= 140
        assert mib(pid, bound=1 << 40) >= 500


def test_a_child_that_was_just_started_counts_by_what_it_has_beyond_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_YOUNG_S", 1000.0)
    script = f"held = b'x' * {100 * MIB}\nif os.fork() == 0:\n  more = b'y' * {50 * MIB}\n  print(flush=True)\n"
    with running(f"{script}time.sleep(60)") as pid:
        assert 150 <= mib(pid, bound=1 << 40) <= 170


def test_memory_that_processes_share_counts_once_with_the_file_it_is() -> None:
    script = f"held = mmap.mmap(-1, {100 * MIB}); held.write(b'x' * {100 * MIB}); print(flush=True); time.sleep(60)"
    with running(script) as pid:
        assert 100 <= mib(pid) <= 130
        assert 100 <= mib(pid, files=50 * MIB) <= 130
        assert 300 <= mib(pid, files=300 * MIB) <= 330


def test_open_files_without_a_name_are_found(tmp_path: Path) -> None:
    script = f"""
file = open('{tmp_path}/gone', 'wb'); file.write(b'x' * {5 * MIB}); file.flush(); os.unlink('{tmp_path}/gone')
again = os.dup(file.fileno())
there = open('{tmp_path}/there', 'wb'); there.write(b'x' * {5 * MIB}); there.flush()
memory = os.memfd_create('m'); os.write(memory, b'x' * {7 * MIB})
os.set_inheritable(memory, True)
child = subprocess.Popen(['sleep', '60'], close_fds=False)
print(flush=True); time.sleep(60)
"""
    with running(script) as pid:
        sizes = nameless_files(family(pid))
        assert sizes[tmp_path.stat().st_dev] == 5 * MIB
        assert sorted(sizes.values()) == [5 * MIB, 7 * MIB]


def test_a_process_that_is_gone_holds_nothing() -> None:
    with running("print(flush=True); time.sleep(60)") as pid:
        pass
    assert family(pid) == {}
    assert memory_of(pid, 0) == 0


def test_a_name_with_parentheses_and_spaces_misleads_nobody(tmp_path: Path) -> None:
    program = tmp_path / ") R 1 1 1 ("
    program.symlink_to(sys.executable)
    with running(
        f"process = subprocess.Popen(['{program}', '-c', 'input()']); print(flush=True); time.sleep(60)"
    ) as pid:
        until(lambda: len(family(pid)) == 2)


def test_the_memory_of_a_control_group_is_the_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = machine_memory()
    assert whole <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    own = tmp_path / "a" / "b"
    own.mkdir(parents=True)
    (own / "memory.max").write_text("max\n")
    (tmp_path / "a" / "memory.max").write_text(f"{100 * MIB}\n")
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    monkeypatch.setattr(memory, "_OWN_GROUPS", tmp_path / "cgroup")
    (tmp_path / "cgroup").write_text("3:cpu,cpuacct:/x\n0::/a/b\n")
    assert machine_memory() == 100 * MIB
    (tmp_path / "memory" / "c").mkdir(parents=True)
    (tmp_path / "memory" / "c" / "memory.limit_in_bytes").write_text(f"{90 * MIB}\n")
    (tmp_path / "cgroup").write_text("9:name=systemd:/y\n4:memory:/c\n0::/\n")
    assert machine_memory() == 90 * MIB
