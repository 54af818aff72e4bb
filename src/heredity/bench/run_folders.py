"""Speed of reading a run's folder: recomputing its metrics from many task results, and viewing many rollouts."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import RecordError
from heredity._core.ids import generator
from heredity.experiments.suite import keeping_index
from heredity.pages.live.index import Index, open_index
from heredity.protocols.harness_evolution.analysis import (
    harness_metrics,
    inspect_split,
    read_rows,
    read_split,
    read_task_index,
)
from heredity.records import RunFolder
from heredity.records.events import CANDIDATE, RUN_STARTED, SUBMISSION_ADMITTED, SUBMISSION_COMPLETED, OutcomeData
from heredity.records.journal import Line
from heredity.resources import Candidate, SourceTree

if TYPE_CHECKING:
    import polars as pl

ROWS = 1_000_000
TASKS = 20_000
_SPLITS = {"train": 12_000, "val": 3_000, "test": 5_000}
_BATCH = 100
_ASSESSED_EVERY = 30
_DOMAINS = ("code", "shell", "data", "text")
_SOURCES = ("terminal-bench", "hle", "gsm8k")
FORMATS = ("parquet", "jsonl")


def measure_metrics(rows: int = ROWS, repeats: int = 3) -> dict[str, Any]:
    """Return the speed of recomputing a run's metrics from each format.

    The run is synthetic, from a named seed: a split of 20,000 tasks, train batches of a hundred tasks, and occasional
    assessments of update-validation and replay. Each measurement runs in a separate process for a separate memory
    peak. In the same process, a plain polars group-by reads the same file and computes the mean score and success
    rate of each view at each evaluation point.

    Args:
        rows: number of task results of the run.
        repeats: number of measurements of each; figures are medians.

    Returns:
        For each format in `results`: `rows_per_s`, from opening the file to the last metric; `bytes_per_row`, the
        increase to peak resident memory per row; `read_share`, the share of time spent reading; `baseline_rows_per_s`,
        the plain group-by; `ratio`, its time over ours (higher is better). At the top level: the figures of Parquet;
        `inspect_s`, reading and checking a split of 20,000 tasks; `load`, machine load before and after (waiting
        processes per core).
    """
    load = [_load()]
    with EngineFolder() as folder:
        sizes = _write_run(folder, rows)
        measured = {form: [_child(folder / f"rows.{form}") for _ in range(repeats)] for form in FORMATS}
        inspect_s = _inspect(folder)
    load.append(_load())
    results = {
        form: {key: _rounded(statistics.median(run[key] for run in runs)) for key in runs[0]}
        for form, runs in measured.items()
    }
    return {
        "baseline": "a polars group-by of the same file: mean score and success rate by view and evaluation point",
        "rows": rows,
        "repeats": repeats,
        "file_bytes_per_row": {form: round(size / rows, 1) for form, size in sizes.items()},
        "rows_per_s": results["parquet"]["rows_per_s"],
        "bytes_per_row": results["parquet"]["bytes_per_row"],
        "ratio": results["parquet"]["ratio"],
        "results": results,
        "inspect_s": round(inspect_s, 3),
        "load": load,
        "cores": os.cpu_count(),
    }


def _load() -> float:
    return round(os.getloadavg()[0] / (os.cpu_count() or 1), 2)


def _rounded(value: float) -> float:
    return round(value, 3 if value < 100 else 0)


def _child(path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", __name__, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measure_file(path: Path) -> dict[str, float]:
    """Recompute every metric of a file of task results, and measure its time and memory and the plain group-by."""
    _plain(path, head=1)
    before = _resident("VmRSS")
    started = time.perf_counter()
    rows = read_rows(path)
    read = time.perf_counter() - started
    metrics = harness_metrics(rows)
    taken = time.perf_counter() - started
    peak = _resident("VmHWM")
    count = metrics.rows.read
    del rows, metrics
    started = time.perf_counter()
    _plain(path)
    plain = time.perf_counter() - started
    return {
        "rows_per_s": count / taken,
        "bytes_per_row": max(peak - before, 0) / count,
        "read_share": read / taken,
        "baseline_rows_per_s": count / plain,
        "ratio": plain / taken,
    }


def _resident(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024


def _plain(path: Path, head: int | None = None) -> None:
    import polars as pl

    scan = pl.scan_parquet(path) if path.suffix == ".parquet" else pl.scan_ndjson(path)
    scan = scan if head is None else scan.head(head)
    scan.group_by("view_name", "evaluation_point_id").agg(pl.col("score", "success").mean()).collect()


def _inspect(folder: Path) -> float:
    started = time.perf_counter()
    inspect_split(read_task_index(folder / "index.json"), read_split(folder / "split.json"))
    return time.perf_counter() - started


def _write_run(folder: Path, rows: int) -> dict[str, int]:
    """Write the run in each format, and its task index and split; return the sizes of the run's files."""
    import polars as pl

    ids = [f"task_{i:05d}" for i in range(TASKS)]
    ends = np.cumsum(list(_SPLITS.values())).tolist()
    splits = {name: ids[end - size : end] for (name, size), end in zip(_SPLITS.items(), ends, strict=True)}
    tasks = [
        {
            "task_id": task_id,
            "source": {"type": "harbor", "task_name": task_id},
            "attributes": _attributes(i),
            "scoring": {},
        }
        for i, task_id in enumerate(ids)
    ]
    (folder / "index.json").write_text(json.dumps({"version": "1", "tasks": tasks}))
    (folder / "split.json").write_text(json.dumps({"split_id": "bench", "seed": 0, "splits": splits}))
    parts = folder / "parts"
    parts.mkdir()
    with (folder / "rows.jsonl").open("wb") as lines:
        for i, part in enumerate(run_parts(rows)):
            part.write_ndjson(lines)
            part.write_parquet(parts / f"{i:06d}.parquet")
    pl.scan_parquet(parts / "*.parquet").sink_parquet(folder / "rows.parquet")
    return {form: (folder / f"rows.{form}").stat().st_size for form in FORMATS}


def _attributes(task: int) -> dict[str, str]:
    return {
        "domain": _DOMAINS[task % len(_DOMAINS)],
        "source_benchmark": _SOURCES[task % len(_SOURCES)],
        "difficulty": "hard",
    }


def run_parts(rows: int) -> Iterator[pl.DataFrame]:
    """Yield the task results of a run with SEAGym's fields: validation, training, replay, held-out views."""
    left = rows
    for part in _run_parts():
        yield part.head(left)
        left -= part.height
        if left <= 0:
            return


def _run_parts() -> Iterator[pl.DataFrame]:
    """Yield an endless run; held-out views come first, so that short runs include them."""
    draws = generator(0, "bench", "metrics")
    train, val, test = (np.arange(*ends) for ends in ((0, 12_000), (12_000, 15_000), (15_000, TASKS)))
    for view, tasks in (("id_test", test[:4_000]), ("ood_test", test[4_000:])):
        for role, skill in (("A_0", 0.35), ("A_T", 0.45)):
            yield _part(draws, tasks, skill, view=view, mode="final", point="E_T", role=role, batch=10_000)
    order = draws.permutation(train)
    batch = 0
    while True:
        if batch % _ASSESSED_EVERY == 0:
            skill, seen = 0.35 + 0.1 * (1 - np.exp(-batch / 300)), np.sort(order[: batch * _BATCH])
            yield _part(draws, val, skill, view="update_validation", mode="validation", point=f"E_{batch}", batch=batch)
            replayed = seen if batch else train
            yield _part(draws, replayed, skill, view="replay", mode="replay", point=f"E_{batch}", batch=batch)
        batch += 1
        dealt = np.take(order, np.arange((batch - 1) * _BATCH, batch * _BATCH), mode="wrap")
        yield _part(draws, dealt, 0.4, view="train", mode="train", batch=batch, update=batch)


def _part(
    draws: np.random.Generator, tasks: np.ndarray[Any, Any], skill: float, *, point: str | None = None, **labels: Any
) -> pl.DataFrame:
    import polars as pl

    count = len(tasks)
    solved = draws.random(count) < skill
    failed = draws.random(count) < 0.03
    tokens = draws.integers(2_000, 60_000, count).astype(float)
    attributes = [_attributes(int(task)) for task in tasks]

    def same(value: Any, kind: Any) -> pl.Series:
        return pl.Series([value], dtype=kind).new_from_index(0, count)

    return pl.DataFrame(
        {
            "run_id": same("bench", pl.String),
            "experiment_id": same("bench", pl.String),
            "evaluation_point_id": same(point, pl.String),
            "agent_checkpoint_id": same(point, pl.String),
            "baseline_role": same(labels.get("role"), pl.String),
            "task_id": [f"task_{task:05d}" for task in tasks],
            "attributes": attributes,
            "view_name": same(labels["view"], pl.String),
            "mode": same(labels["mode"], pl.String),
            "score": (solved & ~failed).astype(float),
            "success": solved & ~failed,
            "rewards": pl.DataFrame({"reward": (solved & ~failed).astype(float)}).to_struct(),
            "cost": pl.DataFrame(
                {
                    "tokens": tokens,
                    "input_tokens": np.floor(tokens * 0.9),
                    "output_tokens": tokens - np.floor(tokens * 0.9),
                    "tool_calls": draws.integers(1, 40, count).astype(float),
                    "wall_time": draws.random(count).round(3) * 300,
                    "cost_usd": tokens * 1e-6,
                }
            ).to_struct(),
            "error": pl.Series(np.where(failed, "RuntimeError: no answer", ""), dtype=pl.String),
            "refs": pl.DataFrame({"job_dir": [f"jobs/{point}/task_{task:05d}" for task in tasks]}).to_struct(),
            "train_batch_index": same(labels["batch"], pl.Int32),
            "update_repeat_index": same(None, pl.Int32),
            "global_update_index": same(labels.get("update"), pl.Int32),
        }
    )


RUNS, OUTCOMES = 10, 50
_ASKED = 60


def measure_view(rollouts: int, repeats: int = 5) -> dict[str, Any]:
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


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure_file(Path(sys.argv[1]))))
