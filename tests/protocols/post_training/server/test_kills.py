"""Runs of post-training whose process, or whose agent, is killed from outside."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heredity.agents.launchers import available
from heredity.kinds.checkpoint.models.checkpoint import inspect
from heredity.records import read_journal

from .tiny import LONG, SUBMIT, Rig, until

REASON = available()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(REASON is not None, reason=f"agents cannot be confined here: {REASON}"),
]
CHILD = Path(__file__).parent / "kill_child.py"
BEAT = "setsid sh -c 'while :; do date +%N > output/beat; sleep 0.02; done' & "
GRADING = "submission.admitted"


def start(rig: Rig, script: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": str(CHILD.parents[4] / "src")}
    return subprocess.Popen([sys.executable, str(CHILD), str(rig.root), script], env=environment)


def kinds(rig: Rig) -> list[str]:
    path = rig.run / "journal.jsonl"
    return [event.kind for event in read_journal(path)] if path.exists() else []


def beats(rig: Rig) -> bool:
    """Whether anything that the agent started is still running."""
    before = (rig.output / "beat").read_text()
    time.sleep(0.3)
    return (rig.output / "beat").read_text() != before


def processes(root: Path) -> list[int]:
    """The processes whose command line names a folder."""
    pids: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(root) in line:
            pids.append(int(entry.name))
    return pids


@pytest.mark.parametrize("moment", ["while it grades", "while its agent works"])
async def test_a_run_that_is_killed_goes_on_as_if_it_had_not_been(tmp_path: Path, moment: str) -> None:
    rig = Rig(tmp_path, LONG)
    script = BEAT + SUBMIT + ("submit a; submit b; sleep 800" if "grades" in moment else "submit a; sleep 800")
    child = start(rig, script)
    until(lambda: kinds(rig).count(GRADING) == (2 if "grades" in moment else 1))
    if "works" in moment:
        until(lambda: "checkpoint.kept" in kinds(rig))
    child.kill()
    child.wait()
    until(lambda: not beats(rig))
    assert "session.closed" not in kinds(rig)
    rig.save(a=0.5, b=0.75)
    ended = await rig.train(SUBMIT + "submit a; submit b; exit 5")
    assert ended is not None
    assert ended.code == 5
    assert len(rig.events(GRADING)) == len(rig.events("submission.completed")) == 2
    assert rig.events("judging.selected")[0]["submit_id"] == 2
    assert [p.name for p in (rig.run / "models").iterdir()] == [inspect(rig.output / "b").digest]
    clocks = [e["clock_s"] for e in rig.events("heartbeat")] + [e["at_s"] for e in rig.events(GRADING)]
    assert max(clocks) < rig.seconds


async def test_a_run_that_is_killed_over_and_over_loses_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path, LONG)
    script = SUBMIT + "submit a; submit b"
    for delay in (0.3, 0.9, 1.3, 1.7, 2.2):
        child = start(rig, script)
        await asyncio.sleep(delay)
        child.kill()
        child.wait()
    rig.save(a=0.5, b=0.75)
    await rig.train(script)
    assert [e["submit_id"] for e in rig.events("submission.completed")] == [1, 2]
    assert kinds(rig).count("run.finished") == 1


def test_an_agent_that_is_killed_from_outside_ends_alone(tmp_path: Path) -> None:
    rig = Rig(tmp_path, LONG)
    child = start(rig, BEAT + SUBMIT + "submit a; sleep 800")
    until(lambda: "submission.completed" in kinds(rig))
    for pid in processes(rig.run / "workspace"):
        with contextlib.suppress(ProcessLookupError):  # it went with one before it
            os.kill(pid, signal.SIGKILL)
    assert child.wait(timeout=LONG) == 0
    assert not beats(rig)
    assert [(e["code"], e["reason"]) for e in rig.events("agent.ended")] == [(137, "exited")]
    assert rig.events("judging.selected")[0]["submit_id"] == 1
