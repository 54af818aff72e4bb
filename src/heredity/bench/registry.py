"""Speed of the version store, synced to disk at every operation, and its slowdown with size.

The baseline is a bare SQLite insert of the same content in the same run, on the same disk, in WAL mode with
`synchronous=FULL`. Both sides, at every size, alternate by single operations, so a slow disk is slow for all.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity._core.ids import generator
from heredity.resources import Draft, Number, Registry, SourceTree, Store, Version
from heredity.resources.store import connect

SIZES = (1_000, 10_000, 100_000)
OPERATIONS = ("register", "update", "get", "list")
_RESOURCES = 100
_WORDS = 60


def measure(sizes: tuple[int, ...] = SIZES, operations: int = 200) -> dict[str, Any]:
    """Return operations per second for each number of versions, spread over 100 prompts of some 400 characters.

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
