"""Ranks of accepted programs (average runtime beats, average memory beats: ARB and AMB of Autogenesis' table 6).

A program is ranked among the accepted solutions stored with its problem, measured on the same machine in the same
run: the share of them that take more, interpolated in measured CPU seconds or bytes. So a rank compares with our
solutions, not with people's.

Measured are the heaviest cases for the reference, each several times, minus the language's startup.
"""

from __future__ import annotations

import asyncio
import statistics
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from heredity.kinds.code.judge import Judge, Tests, limit_s
from heredity.kinds.code.languages import LANGUAGES, Language
from heredity.kinds.code.problem import Problem
from heredity.sandbox.native import Bounds

LEAST = 12
"""Minimum solutions in a language for a rank in it."""

HEAVIEST = 3
"""Number of cases to measure."""

REPEATS = 3

_LEAST_S, _LEAST_BYTES = 1e-4, 1 << 12  # smaller values are indistinguishable from zero


@dataclass(frozen=True)
class Usage:
    """Resources used by a program: one figure per repeat.

    Attributes:
        seconds: CPU seconds of all measured cases.
        bytes: peak memory over them.
    """

    seconds: tuple[float, ...]
    bytes: tuple[float, ...]

    def scaled(self, by: float) -> Usage:
        """Return it with its seconds multiplied."""
        return Usage(tuple(s * by for s in self.seconds), self.bytes)

    def over(self, other: Usage) -> Usage:
        """Return its ratio to another."""
        s, b = statistics.median(other.seconds), statistics.median(other.bytes)
        return Usage(tuple(own / s for own in self.seconds), tuple(own / b for own in self.bytes))


@dataclass(frozen=True)
class Rank:
    """A program's rank.

    Attributes:
        arb: percent of the stored solutions that take more CPU time; higher is better.
        amb: likewise for memory.
        arb_range: the minimum and the maximum over single repeats.
        amb_range: likewise.
        among: number of solutions in the comparison.
        transferred: true if those are in Python, and ratios to the reference in either language are compared.
        seconds: CPU seconds of the program itself in each repeat, minus the language's startup.
        bytes: likewise for memory.
        noise: stability of the ranks of the compared solutions: by time, and by memory.
    """

    arb: float
    amb: float
    arb_range: tuple[float, float]
    amb_range: tuple[float, float]
    among: int
    transferred: bool
    seconds: tuple[float, ...] = ()
    bytes: tuple[float, ...] = ()
    noise: tuple[Noise, Noise] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        noise = dict(zip(("time", "memory"), map(asdict, self.noise), strict=True)) if self.noise else None
        ranges = {"arb_range": list(self.arb_range), "amb_range": list(self.amb_range)}
        return {**asdict(self), **ranges, "seconds": list(self.seconds), "bytes": list(self.bytes), "noise": noise}


@dataclass(frozen=True)
class Noise:
    """Stability of ranks, over the single repeats of all stored solutions.

    Attributes:
        moved: share of repeats in which a solution has another position than by the medians of all repeats.
        typical: median change of a rank in those repeats, in percentage points.
        furthest: the maximum.
    """

    moved: float
    typical: float
    furthest: float


@dataclass(frozen=True)
class Pool:
    """The measured solutions of a problem.

    Attributes:
        cases: the measured cases.
        usages: by language, then by path.
        starts: startup of each language, by its name: seconds and bytes.
        failed: stored solutions that failed a measured case, as on an overloaded machine; they are left out.
    """

    cases: tuple[int, ...]
    usages: dict[str, dict[str, Usage]] = field(default_factory=dict[str, dict[str, Usage]])
    starts: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    failed: dict[str, str] = field(default_factory=dict[str, str])

    def noise(self, language: str) -> tuple[Noise, Noise]:
        """Return the stability of ranks in a language: by time, and by memory."""
        usages = self.usages[language]
        return (
            _noise({path: usage.seconds for path, usage in usages.items()}),
            _noise({path: usage.bytes for path, usage in usages.items()}),
        )


class Ranker:
    """Measures stored solutions once and ranks programs among them, one after the other.

    Args:
        judge: runs programs.
        repeats: measurements per case.
        heaviest: number of cases to measure: the heaviest for the reference.
    """

    def __init__(self, judge: Judge, repeats: int = REPEATS, heaviest: int = HEAVIEST) -> None:
        self._judge, self._repeats, self._heaviest = judge, repeats, heaviest
        self._pools: dict[tuple[str, tuple[int, ...]], Pool] = {}
        self._turn = asyncio.Lock()

    async def pool(self, problem: Problem, tests: Tests, language: Language) -> Pool:
        """Return the measured solutions for ranks in a language: those in it, or if they are few those in Python.

        Raises:
            ConfigError: if the language is not installed.
        """
        async with self._turn:
            return await self._pool(problem, tests, language)

    async def _pool(self, problem: Problem, tests: Tests, language: Language) -> Pool:
        heaviest = sorted(range(len(tests.seconds)), key=lambda i: -tests.seconds[i])[: self._heaviest]
        pool = self._pools.setdefault((problem.digest, tuple(heaviest)), Pool(tuple(heaviest)))
        wanted = [language] if len(_stored(problem, language)) >= LEAST else [language, LANGUAGES["python3"]]
        for one in wanted:
            if one.name not in pool.usages and (stored := _stored(problem, one)):
                pool.starts[one.name] = await self._start(problem, tests, one, next(iter(stored.values())))
                pool.usages[one.name] = await self._measured(problem, tests, one, pool, stored)
        return pool

    async def rank(self, problem: Problem, tests: Tests, language: Language, source: str) -> Rank | None:
        """Rank an accepted program (None if there is nothing to compare it with, or it fails while measured).

        It is measured in turns with the reference in its language, whose change in seconds since the others were
        measured shows how much faster or slower the machine has become.

        Raises:
            ConfigError: if the language is not installed.
        """
        python, few = LANGUAGES["python3"].name, len(_stored(problem, language)) < LEAST
        port = _port(problem, language)
        if port is None or (few and len(_stored(problem, LANGUAGES["python3"])) < LEAST):
            return None
        async with self._turn:
            pool = await self._pool(problem, tests, language)
            own, name = pool.usages[language.name], python if few else language.name
            among = pool.usages[name]
            if len(among) < LEAST or port not in own or (few and "reference.py" not in among):
                return None
            pair = {"": source, port: _stored(problem, language)[port]}
            now = await self._measured(problem, tests, language, pool, pair)
        if len(now) < len(pair):
            return None
        drift = statistics.median(own[port].seconds) / statistics.median(now[port].seconds)
        if few:
            reference = among["reference.py"]
            placed = _placed(now[""].over(now[port]), [one.over(reference) for one in among.values()], transferred=True)
        else:
            placed = _placed(now[""].scaled(drift), list(among.values()), transferred=False)
        return replace(placed, seconds=now[""].seconds, bytes=now[""].bytes, noise=pool.noise(name))

    async def _start(self, problem: Problem, tests: Tests, language: Language, source: str) -> tuple[float, float]:
        lightest = min(range(len(tests.seconds)), key=lambda i: tests.seconds[i])
        taken = [await self._run(problem, tests, language, source, lightest) for _ in range(self._repeats)]
        figures = [one for one in taken if not isinstance(one, str)]
        return min((s for s, _ in figures), default=0.0), min((b for _, b in figures), default=0.0)

    async def _measured(
        self, problem: Problem, tests: Tests, language: Language, pool: Pool, sources: Mapping[str, str]
    ) -> dict[str, Usage]:
        """Measure programs in turns, so that a temporary slowdown of the machine affects all of them; failures are left out."""
        start_s, start_bytes = pool.starts[language.name]
        usages: dict[str, list[tuple[float, float]]] = {path: [] for path in sources}
        for _ in range(self._repeats):
            for path in list(usages):
                taken = [await self._run(problem, tests, language, sources[path], case) for case in pool.cases]
                if failed := [one for one in taken if isinstance(one, str)]:
                    del usages[path]
                    if path:
                        pool.failed[path] = failed[0]
                    continue
                figures = [one for one in taken if not isinstance(one, str)]
                seconds = sum(max(s - start_s, _LEAST_S) for s, _ in figures)
                usages[path].append((seconds, max(max(b for _, b in figures) - start_bytes, _LEAST_BYTES)))
        return {path: Usage(tuple(s for s, _ in rows), tuple(b for _, b in rows)) for path, rows in usages.items()}

    async def _run(
        self, problem: Problem, tests: Tests, language: Language, source: str, case: int
    ) -> tuple[float, float] | str:
        limit = 4 * limit_s(language, tests)  # it was accepted, on a machine that may have become slower
        bounds = Bounds(limit, 4 * limit + 60, problem.memory_bytes)
        [answer] = await self._judge.answers(problem, language, source, [tests.cases[case]], bounds)
        return answer if isinstance(answer, str) else (answer[1].cpu_s, float(answer[1].peak_bytes))


def beats(value: float, others: Sequence[float]) -> float:
    """Return the percentage of others that exceed a value, interpolated between them.

    The i-th of n others by size (from 0) is at (i + 1/2) / n; between two of them, ranks are linear in the value, and
    beyond the ends they approach 0 and 1 with the ratio to the last.
    """
    ordered, count = sorted(others), len(others)
    if value <= ordered[0]:
        below = 0.5 * value / ordered[0]
    elif value >= ordered[-1]:
        below = count - 0.5 * ordered[-1] / value
    else:
        right = bisect_left(ordered, value)
        low, high = ordered[right - 1], ordered[right]
        below = right - 0.5 + (value - low) / (high - low)
    return 100.0 * (1.0 - below / count)


def _port(problem: Problem, language: Language) -> str | None:
    """Return the path of the reference in a language."""
    return next((p for p in _stored(problem, language) if p.rpartition("/")[2].startswith("reference.")), None)


def _stored(problem: Problem, language: Language) -> dict[str, str]:
    return {path: source for path, (one, source) in problem.accepted.items() if one.name == language.name}


def _placed(own: Usage, others: Sequence[Usage], *, transferred: bool) -> Rank:
    ranks: list[tuple[float, tuple[float, float]]] = []
    for mine, theirs in (
        (own.seconds, [one.seconds for one in others]),
        (own.bytes, [one.bytes for one in others]),
    ):
        middle = [statistics.median(values) for values in theirs]
        single = [beats(value, middle) for value in mine]
        ranks.append((beats(statistics.median(mine), middle), (min(single), max(single))))
    (arb, arb_range), (amb, amb_range) = ranks
    return Rank(arb, amb, arb_range, amb_range, len(others), transferred)


def _noise(figures: Mapping[str, Sequence[float]]) -> Noise:
    medians = {path: statistics.median(values) for path, values in figures.items()}
    places = _places(medians)
    moved, distances = 0, list[float]()
    repeats = min(map(len, figures.values()))
    for number in range(repeats):
        single = {path: values[number] for path, values in figures.items()}
        again = _places(single)
        for path in figures:
            moved += again[path] != places[path]
            others = [[by[other] for other in figures if other != path] for by in (medians, single)]
            if others[0]:
                distances.append(abs(beats(single[path], others[1]) - beats(medians[path], others[0])))
    return Noise(
        moved / (repeats * len(figures)),
        statistics.median(distances) if distances else 0.0,
        max(distances, default=0.0),
    )


def _places(figures: Mapping[str, float]) -> dict[str, int]:
    return {path: rank for rank, path in enumerate(sorted(figures, key=lambda path: figures[path]))}
