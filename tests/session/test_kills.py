from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heredity._core.ids import generator
from heredity.records import read_journal

from .test_run import facts

_CHILD = Path(__file__).parent / "kill_child.py"
_ENVIRONMENT = os.environ | {"PYTHONPATH": str(_CHILD.parents[2] / "src")}


def _start(folder: Path) -> subprocess.Popen[bytes]:
    child = subprocess.Popen([sys.executable, str(_CHILD), str(folder)], stdout=subprocess.PIPE, env=_ENVIRONMENT)
    assert child.stdout is not None
    assert child.stdout.readline() == b"begun\n"
    return child


def _finish(folder: Path) -> float:
    child = _start(folder)
    began = time.monotonic()
    assert child.communicate()[0] == b"done\n"
    assert child.returncode == 0
    return time.monotonic() - began


@pytest.mark.parametrize("times", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_a_run_killed_at_random_instants_ends_as_one_that_was_not(tmp_path: Path, times: int) -> None:
    seconds = _finish(tmp_path / "whole")
    expected = facts(tmp_path / "whole")
    instants = generator(0, "kills").uniform(0, 1, size=times)
    folder, kills, runs = tmp_path / "killed0", 0, 1
    while kills < times:
        child = _start(folder)
        time.sleep(instants[kills] * seconds * 0.6)
        child.kill()
        output, _ = child.communicate()
        kills += 1
        if output == b"done\n":
            assert facts(folder) == expected
            folder, runs = tmp_path / f"killed{runs}", runs + 1
    _finish(folder)
    assert facts(folder) == expected
    charged = [e.data["charge"] for e in read_journal(folder / "journal.jsonl") if e.kind == "submission.admitted"]
    assert sum(charged) == 64
