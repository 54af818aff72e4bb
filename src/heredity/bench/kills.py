"""Kills a deterministic run with SIGKILL at random instants, resumes it until done, and compares it with an undisturbed one.

Both are real `heredity run` processes on the same hidden cases. All submissions with their scores, charges, validation
scores, the selected checkpoint and the held-out scores must be equal. Times and the number of resumes differ.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import HostError
from heredity._core.ids import generator
from heredity.methods.registry import METHODS
from heredity.records import read_journal
from heredity.records.events import MODEL_CALLED, SUBMISSION_ADMITTED, SUBMISSION_COMPLETED

SUITE = """
[run]
tasksets = ["gymnasium/CartPole-v1"]
name = "kills"
[evolver]
method = "{method}"
[budget]
episodes = 48
[views]
validation = 6
heldout = 8
[engine]
workers = 1
"""
"""The suite to kill."""
_TIMED = frozenset({"seconds", "times", "wall_seconds", "resumes", "at_s", "clock_s", "suite_id", "packages"})
"""Fields that depend on the clock."""


def measure(
    kills: int = 200,
    method: str = "parametric",
    seed: int = 0,
    notify: Callable[[str], object] = len,
    suite_text: str = SUITE,
) -> dict[str, Any]:
    """Kill runs `kills` times in total, resuming each until it is done.

    Args:
        kills: total number of SIGKILLs.
        method: the deterministic method to run.
        seed: seed of the instants.
        notify: called with a line after every run.
        suite_text: the suite to run, as TOML that contains `{method}`.

    Returns:
        kills, runs, differing (number of runs that ended differently from the undisturbed one), differences (the first
        of each), episodes_charged and seconds_left_alone.

    Raises:
        UnknownNameError: if the method is unknown.
        HostError: if a run fails without being killed.
    """
    METHODS.load(method)
    rng = generator(seed, "kills")
    with EngineFolder() as root:
        config = root / "kills.toml"
        config.write_text(suite_text.format(method=method))
        calm = root / "calm" / "runs" / "kills"
        seconds = _time(lambda: _check(_start(config, calm), calm))
        expected = facts(calm)
        dealt = runs = 0
        differences: list[str] = []
        while dealt < kills:
            runs += 1
            suite = root / f"run{runs}" / "runs" / "kills"
            shutil.copytree(root / "calm" / "sealed", root / f"run{runs}" / "sealed")
            dealt += _kill_until_done(config, suite, rng, seconds, min(20, kills - dealt))
            actual = facts(suite)
            if actual != expected:
                differences.append(first_difference(expected, actual))
            notify(f"{dealt} of {kills} kills, {runs} runs, {len(differences)} differ")
            shutil.rmtree(root / f"run{runs}")
    charged = sum(event["charge"] for event in expected["charges"])
    return {
        "baseline": "the same run, left alone",
        "kills": dealt,
        "runs": runs,
        "differing": len(differences),
        "differences": differences,
        "episodes_charged": charged,
        "seconds_left_alone": round(seconds, 2),
    }


def facts(suite: Path) -> dict[str, Any]:
    """Return the results that kills must not change: metrics without times, charges, and model calls with their counts."""
    runs = sorted((suite / "runs").iterdir())
    events = [event for run in runs for event in read_journal(run / "journal.jsonl")]
    admitted = [e.data for e in events if e.kind == SUBMISSION_ADMITTED.name]
    charges = [{k: d[k] for k in ("submit_id", "key", "candidate", "tasks", "charge", "remaining")} for d in admitted]
    return {
        "charges": charges,
        "asked": [[e.data["request"], e.data["place"]] for e in events if e.kind == MODEL_CALLED.name],
        "completed": sorted(e.data["submit_id"] for e in events if e.kind == SUBMISSION_COMPLETED.name),
        "metrics": [_without_times(json.loads((run / "metrics.json").read_bytes())) for run in runs],
    }


def _kill_until_done(config: Path, suite: Path, rng: np.random.Generator, seconds: float, limit: int) -> int:
    dealt = 0
    while True:
        process = _start(config, suite)
        if dealt < limit:
            try:
                process.wait(rng.uniform(0.0, seconds * rng.choice((0.3, 0.8))))
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
                dealt += 1
                continue
        _check(process, suite)
        return dealt


def _start(config: Path, suite: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "heredity", "run", str(config), "--out", str(suite), "--json"]
    # Temporary files of killed processes are deleted with the benchmark's folder.
    scratch = config.parent / "tmp"
    scratch.mkdir(exist_ok=True)
    log = config.parent / f"{suite.parent.parent.name}.log"
    with log.open("wb") as file:
        environment = {**os.environ, "TMPDIR": str(scratch)}
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=file, env=environment)


def _check(process: subprocess.Popen[bytes], suite: Path) -> None:
    if process.wait() != 0:
        log = (suite.parent.parent.parent / f"{suite.parent.parent.name}.log").read_text(errors="replace").strip()
        raise HostError(
            f"the run in {suite} ended with {process.returncode} without having been killed: "
            f"{log.splitlines()[-1] if log else 'it said nothing'}"
        )


def _time(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_times(v) for k, v in value.items() if k not in _TIMED}
    return [_without_times(v) for v in value] if isinstance(value, list) else value


def first_difference(expected: Any, actual: Any, where: str = "") -> str:
    """Return the first difference of two JSON values."""
    if isinstance(expected, dict) and isinstance(actual, dict) and expected.keys() == actual.keys():
        for key in expected:
            if expected[key] != actual[key]:
                return first_difference(expected[key], actual[key], f"{where}.{key}")
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
            if one != other:
                return first_difference(one, other, f"{where}[{index}]")
    return f"{where}: {str(expected)[:200]} became {str(actual)[:200]}"
