"""Runs that are told to end, or are killed: what is said, and that no process is left."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.experiments.sample import SOURCE, command, heredity, isolated, write_suite

from heredity.cli.signals import InterruptedRunError, run_interruptibly
from heredity.records import read_journal

needs_sandbox = pytest.mark.skipif(not isolated(), reason="policies cannot be confined on this machine")

LONG = """
[run]
tasksets = ["gymnasium/Pendulum-v1"]
seeds = 2
[matrix]
"evolver.method" = ["parametric", "structural"]
[budget]
episodes = 128
[engine]
workers = 2
"""


def children(pid: int) -> set[int]:
    """Every process below one, however deep."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    descendants, new = set[int](), {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - descendants
        descendants |= new
    return descendants


def alive(pids: set[int]) -> set[int]:
    """Those that run; one that has ended and is not reaped yet does not."""
    running: set[int] = set()
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state not in "ZX":
            running.add(pid)
    return running


def wait_until_none(pids: set[int], seconds: float) -> set[int]:
    end = time.monotonic() + seconds
    while alive(pids) and time.monotonic() < end:
        time.sleep(0.05)
    return alive(pids)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], set[int], Path]]:
    """A suite at work: its process, the processes below it, and its folder."""
    suite, folder = tmp_path / "long.toml", tmp_path / "runs" / "long"
    suite.write_text(LONG)
    process = subprocess.Popen(
        command("run", suite, "--out", folder, "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        end = time.monotonic() + 300
        while not any("submission.completed" in p.read_text() for p in folder.glob("runs/*/journal.jsonl")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.05)
        yield process, children(process.pid), folder
    finally:
        process.kill()
        process.communicate()


@needs_sandbox
@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, *(pytest.param(other, marks=pytest.mark.slow) for other in (signal.SIGINT, signal.SIGHUP))],
)
def test_a_suite_that_is_told_to_end_says_how_to_go_on_and_leaves_no_process(
    running: tuple[subprocess.Popen[str], set[int], Path], number: signal.Signals
) -> None:
    process, below, folder = running
    assert len(below) >= 4, "environment workers and their zygotes"
    process.send_signal(number)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 128 + number
    assert (out, err) == ("", f"interrupted; nothing is lost: heredity resume {folder}\n")
    assert wait_until_none(below, 30) == set()
    for journal in folder.glob("runs/*/journal.jsonl"):
        read_journal(journal)


@pytest.mark.slow
@needs_sandbox
def test_a_killed_suite_leaves_no_process(running: tuple[subprocess.Popen[str], set[int], Path]) -> None:
    process, below, _ = running
    process.kill()
    process.communicate(timeout=300)
    assert wait_until_none(below, 30) == set()


@needs_sandbox
def test_what_was_interrupted_goes_on(tmp_path: Path) -> None:
    suite, folder = write_suite(tmp_path, run="seeds = 3"), tmp_path / "runs" / "one"
    process = subprocess.Popen(
        command("run", suite, "--out", folder, "--jobs", "1"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    assert process.stderr
    first = process.stderr.readline()
    assert first.startswith("[1/")
    process.terminate()
    process.communicate(timeout=300)
    assert process.returncode == 143
    resumed = heredity("resume", folder, "--json")
    assert resumed.returncode == 0, resumed.stderr


def test_a_signal_cancels_and_lets_the_work_clean_up() -> None:
    cleaned: list[str] = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(10)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(0.01)
            cleaned.append("cleaned")

    with pytest.raises(InterruptedRunError) as caught:
        run_interruptibly(work())
    assert (caught.value.code, cleaned) == (143, ["cleaned"])


def test_work_that_is_left_alone_gives_its_result() -> None:
    async def work() -> int:
        return 7

    assert run_interruptibly(work()) == 7
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_work_that_cancels_itself_was_not_interrupted() -> None:
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run_interruptibly(work())
