"""Worker processes end with the process that began them, and everybody takes these."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from heredity._core.workers import computed, process_pool

SOURCE = Path(__file__).parents[1] / "src" / "heredity"
PARENT = """
import os, sys, threading, time
sys.path.insert(0, sys.argv[1])
from heredity._core.workers import process_pool

if __name__ == "__main__":
    pool = process_pool(2)
    # Begun in a thread that ends at once: workers must outlive it, and not their process.
    starter = threading.Thread(target=lambda: [pool.submit(time.sleep, 0.2) for _ in range(2)])
    starter.start()
    starter.join()
    idle = pool.submit(os.getpid).result()
    pids = sorted({pool.submit(os.getpid).result() for _ in range(20)} | {idle})
    busy = [pool.submit(time.sleep, 600) for _ in range(1)]
    print(*pids, flush=True)
    time.sleep(600)
"""


def _alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_workers_of_a_killed_process_end_busy_or_idle(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    command = [sys.executable, str(script), str(SOURCE.parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert pids
        assert all(map(_alive, pids))
        parent.send_signal(signal.SIGKILL)
    until = time.monotonic() + 60
    while any(map(_alive, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    assert [pid for pid in pids if _alive(pid)] == []


def test_workers_are_initialised_and_give_what_they_compute() -> None:
    with process_pool(1, os.putenv, ("HEREDITY_WORKER", "1")) as pool:
        assert pool.submit(pow, 2, 10).result() == 1024
        assert pool.submit(threading.active_count).result() > 1


@pytest.mark.parametrize("folder", ["src/heredity", "benchmarks"])
def test_nobody_has_a_pool_of_processes_of_another_kind(folder: str) -> None:
    own = SOURCE / "_core" / "workers.py"
    others = [
        path for path in (SOURCE.parents[1] / folder).rglob("*.py") if path != own and "attacks" not in path.parts
    ]
    assert [path.name for path in others if "ProcessPoolExecutor" in path.read_text()] == []


async def test_what_is_computed_beside_the_event_loop_is_given_raised_or_left_when_it_is_not_wanted() -> None:
    assert await computed(lambda: 6 * 7) == 42
    with pytest.raises(ZeroDivisionError):
        await computed(lambda: 1 // 0)
    begun, end = threading.Event(), threading.Event()
    task = asyncio.create_task(computed(lambda: (begun.set(), end.wait())))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    end.set()
