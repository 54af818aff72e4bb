"""Durability and its price: speed of stores synced to disk at every operation, and runs killed at random instants.

The stores are the version store, and messages on a team's bus.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import HostError
from heredity._core.ids import generator
from heredity.methods.registry import METHODS
from heredity.records import read_journal
from heredity.records.events import MODEL_CALLED, SUBMISSION_ADMITTED, SUBMISSION_COMPLETED
from heredity.resources import Draft, Number, Registry, SourceTree, Store, Version
from heredity.resources.store import connect
from heredity.team import Bus, Context, Kind, Message, Participant, open_record
from heredity.team.participant import Outcome

_TEXT = "a line of what one agent tells another, of about the usual length of a status or a short finding " * 3


def measure_bus(participants: int = 50, messages: int = 10_000, repeats: int = 3) -> dict[str, Any]:
    """Return messages per second of the bus and of bare queues, and the participants that finished despite faulty ones.

    The baseline is the same conversation over bare `asyncio.Queue`s without recording, in the same run: each
    participant asks its neighbour, which answers. On the bus each request and answer is synced to disk before
    delivery.

    Args:
        participants: number of participants (each has several requests in flight).
        messages: requests and answers per repeat.
        repeats: number of timings of each side, alternating.

    Returns:
        `messages_per_s`, the median; `queues_per_s`, of the baseline; `ratio_to_queues`, the median over pairs; and
        `faults`: the number of neighbours of a hanging, a raising and a flooding participant that got all their
        answers.
    """
    pairs = [
        (asyncio.run(_bus(participants, messages)), asyncio.run(_queues(participants, messages)))
        for _ in range(repeats)
    ]
    return {
        "baseline": "the same conversation over asyncio queues, nothing recorded",
        "participants": participants,
        "messages": messages,
        "messages_per_s": round(statistics.median(bus for bus, _ in pairs)),
        "queues_per_s": round(statistics.median(queues for _, queues in pairs)),
        "ratio_to_queues": round(statistics.median(bus / queues for bus, queues in pairs), 4),
        "faults": asyncio.run(_faults(participants)),
    }


async def _bus(participants: int, messages: int) -> float:
    with EngineFolder() as folder, open_record(folder / "team") as record:
        async with Bus(record) as bus:

            async def reply(message: Message, _: Context) -> str:
                return message.body["text"]

            for i in range(participants):
                bus.register(Participant(f"p{i}", reply, concurrency=8))
            asks = messages // 2

            async def asker(i: int) -> None:
                for _ in range(i, asks, participants * 8):
                    result = await bus.outside.request(f"p{i % participants}", {"text": _TEXT})
                    assert result.ok

            started = time.perf_counter()
            await asyncio.gather(*(asker(i) for i in range(participants * 8)))
            return 2 * asks / (time.perf_counter() - started)


async def _queues(participants: int, messages: int) -> float:
    boxes: list[asyncio.Queue[tuple[dict[str, str], asyncio.Future[str]]]] = [
        asyncio.Queue(64) for _ in range(participants)
    ]

    async def worker(box: asyncio.Queue[tuple[dict[str, str], asyncio.Future[str]]]) -> None:
        while True:
            body, reply = await box.get()
            reply.set_result(body["text"])

    workers = [asyncio.create_task(worker(box)) for box in boxes for _ in range(8)]
    asks = messages // 2

    async def asker(i: int) -> None:
        for _ in range(i, asks, participants * 8):
            reply: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            await boxes[i % participants].put(({"text": _TEXT}, reply))
            await reply

    started = time.perf_counter()
    await asyncio.gather(*(asker(i) for i in range(participants * 8)))
    seconds = time.perf_counter() - started
    for task in workers:
        task.cancel()
    return 2 * asks / seconds


async def _faults(participants: int) -> dict[str, Any]:
    """Make one hang, one raise and one flood, and count the others that got all answers."""
    with EngineFolder() as folder, open_record(folder / "team") as record:
        async with Bus(record, timeout=60) as bus:
            good = [f"p{i}" for i in range(participants - 3)]
            _register(bus, good)
            flood = asyncio.create_task(bus.outside.request("floods", {"of": good[0]}))
            hung = bus.outside.request("hangs", {"text": _TEXT}, timeout=0.5)
            raised = bus.outside.request("raises", {"text": _TEXT})

            async def rounds(name: str) -> bool:
                answers = [await bus.outside.request(name, {"text": f"{i}"}, timeout=30) for i in range(20)]
                return all(answer.ok for answer in answers)

            finished = await asyncio.gather(*map(rounds, good))
            outcomes = [(await hung).outcome, (await raised).outcome]
            flood.cancel()
            return {
                "others": len(good),
                "finished": sum(finished),
                "hung": str(outcomes[0]),
                "raised": str(outcomes[1]),
                "as_expected": outcomes == [Outcome.TIMED_OUT, Outcome.FAILED],
            }


def _register(bus: Bus, good: list[str]) -> None:
    async def echo(message: Message, _: Context) -> str:
        return message.body.get("text", "")

    async def hangs(_: Message, __: Context) -> None:
        await asyncio.Event().wait()

    async def raises(_: Message, __: Context) -> None:
        raise RuntimeError("a fault of this participant")

    async def floods(message: Message, context: Context) -> None:
        while True:
            await asyncio.gather(*(context.send(message.body["of"], {"text": _TEXT}) for _ in range(200)))

    accepts = frozenset({Kind.TASK, Kind.NOTE})
    for name in good:
        bus.register(Participant(name, echo, accepts=accepts))
    for name, handler in (("hangs", hangs), ("raises", raises), ("floods", floods)):
        bus.register(Participant(name, handler))


SIZES = (1_000, 10_000, 100_000)
OPERATIONS = ("register", "update", "get", "list")
_RESOURCES = 100
_WORDS = 60


def measure_registry(sizes: tuple[int, ...] = SIZES, operations: int = 200) -> dict[str, Any]:
    """Return operations per second for each number of versions, spread over 100 prompts of some 400 characters.

    The baseline is a bare SQLite insert of the same content in the same run, on the same disk, in WAL mode with
    `synchronous=FULL`. Both sides, at every size, alternate by single operations, so a slow disk is slow for all.

    Args:
        sizes: numbers of versions in the store before timing, in ascending order.
        operations: number of timings of each operation.

    Returns:
        `results.<size>` with `registers_per_s`, `updates_per_s`, `gets_per_s`, `lists_per_s` (of all 100) and
        `bare_inserts_per_s` (operations over total time), `register_ratio`, registers over bare inserts (higher is
        better), and `median_register_ratio`, the same for median times; `register_ratio`, the lowest of all sizes;
        `slowdown`, the rate at the largest size over that at the smallest, as the median over consecutive pairs.
    """
    with EngineFolder() as folder, ExitStack() as stack:
        stores = [stack.enter_context(_opened(folder / str(size), size)) for size in sizes]
        times = _times(stores, operations)
    results = {str(size): _figures(timings) for size, timings in zip(sizes, times, strict=True)}
    least, most = times[0], times[-1]
    return {
        "baseline": "a bare SQLite insert of the same content, WAL, synchronous=FULL",
        "resources": _RESOURCES,
        "operations": operations,
        "results": results,
        "register_ratio": min(row["register_ratio"] for row in results.values()),
        "slowdown": {
            f"{name}s": round(statistics.median(s / m for s, m in zip(least[name], most[name], strict=True)), 3)
            for name in OPERATIONS
        },
    }


@contextmanager
def _opened(folder: Path, size: int) -> Generator[dict[str, Callable[[int], Any]]]:
    """Make a store with a number of versions and a bare database; yield the timed operations by name."""
    with Store(folder / "resources.sqlite") as store, closing(connect(folder / "bare.db")) as bare:
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute("CREATE TABLE contents (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
        registry = Registry(store)
        _fill(store, size)
        names = [f"p{i}" for i in range(_RESOURCES)]
        yield {
            "list": lambda _: registry.list("prompt"),
            "bare_insert": lambda i: bare.execute(
                "INSERT INTO contents (data) VALUES (?)", (_text(size + i).encode(),)
            ),
            "register": lambda i: registry.register("prompt", f"new{i}", _text(size + i)),
            "update": lambda i: registry.update("prompt", names[i % _RESOURCES], _text(2 * size + i)),
            "get": lambda i: registry.get("prompt", names[i % _RESOURCES]),
        }


def _times(stores: Sequence[Mapping[str, Callable[[int], Any]]], operations: int) -> list[dict[str, list[float]]]:
    """Time every operation of every store, alternating the order, so that a busy disk affects all equally."""
    times = [{name: list[float]() for name in calls} for calls in stores]
    places = range(len(stores))
    # Before the registers, which lengthen the list.
    for names in (["list"], ["bare_insert", "register", "update", "get"]):
        for i in range(operations):
            for name in names:
                for index in reversed(places) if i % 2 else places:
                    times[index][name].append(_timed(stores[index][name], i))
    return times


def _figures(times: Mapping[str, Sequence[float]]) -> dict[str, float]:
    rates = {f"{name}s_per_s": round(len(durations) / sum(durations), 1) for name, durations in times.items()}
    return {
        **rates,
        "register_ratio": round(rates["registers_per_s"] / rates["bare_inserts_per_s"], 3),
        "median_register_ratio": round(
            statistics.median(times["bare_insert"]) / statistics.median(times["register"]), 3
        ),
    }


def _fill(store: Store, size: int) -> None:
    heads: dict[str, Version] = {}

    def history() -> Iterator[tuple[Version, SourceTree]]:
        for i in range(size):
            name = f"p{i % _RESOURCES}"
            before = heads.get(name)
            draft = Draft("prompt", name, SourceTree({"prompt.md": _text(i)}))
            version = Version.of(draft, Number(1, 0, i // _RESOURCES), (before.digest,) if before else ())
            heads[name] = version
            yield version, draft.tree

    def branches() -> Iterator[tuple[str, Version, bool]]:
        yield from (("main", version, False) for version in heads.values())

    store.adopt(history(), branches())


def _text(i: int) -> str:
    return f"{i} " + " ".join(map(str, generator(i, "bench", "registry").integers(10_000, 99_999, _WORDS)))


def _timed(call: Callable[[int], Any], argument: int) -> float:
    started = time.perf_counter()
    call(argument)
    return time.perf_counter() - started


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


def measure_kills(
    kills: int = 200,
    method: str = "parametric",
    seed: int = 0,
    notify: Callable[[str], object] = len,
    suite_text: str = SUITE,
) -> dict[str, Any]:
    """Kill a deterministic run with SIGKILL at random instants, resume it, and compare it with an undisturbed one.

    Both runs are real `heredity run` processes on the same hidden cases. All submissions with their scores, charges,
    validation scores, the selected checkpoint and the held-out scores must be equal. Times and the number of resumes
    differ.

    Kills happen `kills` times in total (each killed run is resumed until it is done).

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
