"""`heredity bench view`: time to open a folder with many rollouts and to query its lists."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import RecordError
from heredity.experiments.suite import keeping_index
from heredity.pages.live.index import Index, open_index
from heredity.records import RunFolder
from heredity.records.events import CANDIDATE, RUN_STARTED, SUBMISSION_ADMITTED, SUBMISSION_COMPLETED, OutcomeData
from heredity.records.journal import Line
from heredity.resources import Candidate, SourceTree

RUNS, OUTCOMES = 10, 50
_ASKED = 60


def measure(rollouts: int, repeats: int = 5) -> dict[str, Any]:
    """Write a suite and measure a viewer's waiting times.

    Args:
        rollouts: number of rollouts in the suite, split over ten runs.
        repeats: number of openings; the figure is the median.

    Returns:
        rollouts; `open_ms`, from a fresh server to the full page of runs and the first rows of a run's rollouts, by
        requests, with the index kept while the suite ran; `open_slowest_ms`; `open_cpu_ms`, the CPU time in it;
        `rows_ms` and `rows_p95_ms`, a hundred rows from random places, in any order; `catch_up_ms`, after one more
        submission; `index_s` and `index_cpu_s`, to index a folder without an index; `start_ms`, from the command to the
        printed address; `index_mb` and `journals_mb`, sizes; `load`, load of the machine.
    """
    with EngineFolder() as home:
        folder = home / "many"
        with keeping_index(folder):
            write_suite(folder, rollouts)
            while _indexed(folder) < rollouts:
                time.sleep(0.1)
        opened = [asyncio.run(_opened(folder)) for _ in range(repeats)]
        rows = sorted(asyncio.run(_rows(folder, rollouts)))
        write_submission(folder / "runs" / "run-0", 10**6)
        began = time.perf_counter()
        with open_index(folder) as index:
            index.update()
        caught_up = time.perf_counter() - began
        journals = sum(file.stat().st_size for file in folder.glob("runs/*/journal.jsonl"))
        size = index.path.stat().st_size
        began = time.perf_counter(), time.process_time()
        with Index(folder, home / "foreign.sqlite") as foreign:
            foreign.update()
        made = time.perf_counter() - began[0], time.process_time() - began[1]
        return {
            "rollouts": rollouts,
            "open_ms": round(1000 * statistics.median(wall for wall, _ in opened), 1),
            "open_slowest_ms": round(1000 * max(wall for wall, _ in opened), 1),
            "open_cpu_ms": round(1000 * statistics.median(cpu for _, cpu in opened), 1),
            "rows_ms": round(1000 * statistics.median(rows), 1),
            "rows_p95_ms": round(1000 * rows[int(0.95 * len(rows))], 1),
            "catch_up_ms": round(1000 * caught_up, 1),
            "index_s": round(made[0], 2),
            "index_cpu_s": round(made[1], 2),
            "start_ms": round(1000 * _started(folder), 1),
            "index_mb": round(size / 1e6, 1),
            "journals_mb": round(journals / 1e6, 1),
            "load": round(os.getloadavg()[0], 1),
        }


def _indexed(folder: Path) -> int:
    """Return the number of rollouts in the index of a folder."""
    with contextlib.suppress(RecordError), open_index(folder) as index:
        return index.rows("SELECT count(*) FROM rollouts")[0][0]
    return 0


def write_suite(folder: Path, rollouts: int) -> None:
    """Write the journals of a suite with a number of rollouts, as runs do, without trajectories."""
    for number in range(RUNS):
        share = rollouts // RUNS + (number < rollouts % RUNS)
        run = folder / "runs" / f"run-{number}"
        lines: list[Line] = [RUN_STARTED.line(_started_data(number))]
        with RunFolder.open(run) as opened:
            program = Candidate.program(SourceTree({"policy.py": f"class Policy: seed = {number}\n"}))
            blob = opened.blobs.put(program.to_bytes())
            lines.append(CANDIDATE.line({"digest": program.digest, "blob": blob, "parents": [], "note": "start"}))
            for submission, first in enumerate(range(0, share, OUTCOMES), 1):
                lines += _submission(program.digest, submission, min(OUTCOMES, share - first))
            opened.journal.append_many(lines)
            opened.journal.sync()


def write_submission(run: Path, number: int) -> None:
    """Append one more submission to a run."""
    with RunFolder.open(run) as opened:
        digest = next(event.data["digest"] for event in opened.journal.events if event.kind == CANDIDATE.name)
        opened.journal.append_many(_submission(digest, number, OUTCOMES))


def _submission(digest: str, number: int, count: int) -> list[Line]:
    draw = random.Random(f"heredity-bench-view-{number}")
    outcomes: list[OutcomeData] = [
        {
            "task": i,
            "score": round(draw.gauss(number**0.5, 3.0), 4),
            "length": draw.randrange(10, 500),
            "status": "ok",
            "failure": None,
        }
        for i in range(count)
    ]
    admitted = SUBMISSION_ADMITTED.line(
        {
            "submit_id": number,
            "key": f"method/{number}",
            "request": f"{number:064x}",
            "position": [0, 1],
            "candidate": digest,
            "tasks": list(range(count)),
            "charge": count,
            "remaining": None,
            "at_s": float(number),
        }
    )
    completed = SUBMISSION_COMPLETED.line(
        {
            "submit_id": number,
            "key": f"method/{number}",
            "candidate": digest,
            "status": "ok",
            "failure": None,
            "outcomes": outcomes,
            "blob": None,
            "seconds": 0.5,
            "invalid_steps": [0] * count,
        }
    )
    return [admitted, completed]


def _started_data(number: int) -> Any:
    texts = dict.fromkeys(("taskset_version", "execution", "commitment", "config_digest", "group", "family"), "")
    columns = {
        "run_id": f"run-{number}",
        "suite_id": "many",
        "protocol": "bench",
        "isolation": "none",
        "seed": number,
    }
    evolver = {"name": f"evolver-{number % 3}", "kind": "method"}
    bounds = {"budget": {"episodes": 10**7}, "views": {}, "failure_return": 0.0, "packages": {}, "conditions": {}}
    return {**texts, **columns, **bounds, "evolver": evolver, "taskset": "gymnasium/CartPole-v1"}


async def _opened(folder: Path) -> tuple[float, float]:
    """Return the wall and CPU seconds from a fresh server to both pages."""
    from heredity.pages.live.app import ViewApp, serve_view
    from heredity.pages.live.place import Place

    began = time.perf_counter(), time.process_time()
    async with serve_view(ViewApp(Place.of(folder), None, {})) as address:
        for page in ("s/many", "s/many/r/run-0/rollouts"):
            await asyncio.to_thread(_get, address, page)
        return time.perf_counter() - began[0], time.process_time() - began[1]


async def _rows(folder: Path, count: int) -> list[float]:
    """Return the seconds for a hundred rows from random places of a list, in each sort order."""
    from heredity.pages.live.app import ViewApp, serve_view
    from heredity.pages.live.place import Place

    draw, times = random.Random("heredity-bench-view-rows"), list[float]()
    async with serve_view(ViewApp(Place.of(folder), None, {})) as address:
        await asyncio.to_thread(_get, address, "s/many")
        for number in range(_ASKED):
            order = ("", "Score", "-Score", "Steps")[number % 4]
            query = f"rows=1&offset={draw.randrange(max(1, count // RUNS)) // 100 * 100}&sort={order}"
            began = time.perf_counter()
            await asyncio.to_thread(_get, address, f"s/many/r/run-{number % RUNS}/rollouts?{query}")
            times.append(time.perf_counter() - began)
    return times


def _get(address: str, page: str) -> bytes:
    split = urlsplit(address)
    connection = http.client.HTTPConnection("127.0.0.1", split.port or 0, timeout=60)
    connection.request("GET", split.path + page)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"{page}: {answer.status} {body[:200]!r}")
    return body


def _started(folder: Path, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds from the command to its printed address."""
    began = clock()
    command = [sys.executable, "-m", "heredity", "view", str(folder), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        taken = clock() - began
        process.terminate()
    return taken
