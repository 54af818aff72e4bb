"""Ranks of accepted programs (average runtime beats, average memory beats: ARB and AMB of Autogenesis' table 6).

A program is placed among the accepted solutions that are stored with its problem, which are measured on the same machine in the
same run: the share of them that take more, interpolated in measured processor seconds or bytes. So a rank compares with
our solutions, and not with people's.

What is measured are the cases that are heaviest for the reference, each several times, less what the language takes to start.
"""

from __future__ import annotations

import asyncio
import statistics
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from heredity.rollouts.code.judge import Judge
from heredity.rollouts.code.verdicts import Tests, limit_s
from heredity.sandbox.native import Bounds
from heredity.tasks.code.languages import LANGUAGES, Language
from heredity.tasks.code.problem import Problem

LEAST = 12
"""How many solutions in a language make a rank in it."""

HEAVIEST = 3
"""How many cases are measured."""

REPEATS = 3

_LEAST_S, _LEAST_BYTES = 1e-4, 1 << 12  # below, nothing can be told from nothing


@dataclass(frozen=True)
class Usage:
    """What a program took: a figure for each repeat.

    Attributes:
        seconds: processor seconds of all measured cases.
        bytes: the most memory on any of them.
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
    """Where a program stands.

    Attributes:
        arb: percent of the stored solutions that take more processor time; higher is better.
        amb: likewise of memory.
        arb_range: the least and the greatest that single repeats give.
        amb_range: likewise.
        among: how many solutions it is placed among.
        transferred: whether those are in Python, and ratios to the reference in either language are compared.
        seconds: processor seconds of the program itself in each repeat, less what the language takes to start.
        bytes: likewise of memory.
        noise: how steady the ranks of those are that it is placed among: by time, and by memory.
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
    """How steady ranks are, over the single repeats of all stored solutions.

    Attributes:
        moved: the share of repeats in which a solution has another place than by the medians of all repeats.
        typical: the median of how far a rank is moved then, in percent points.
        furthest: the most.
    """

    moved: float
    typical: float
    furthest: float


@dataclass(frozen=True)
class Pool:
    """The measured solutions of a problem.

    Attributes:
        cases: what is measured.
        usages: by language, then by path.
        starts: what a language takes to start, by its name: seconds and bytes.
        failed: stored solutions that failed a measured case, as on a machine that is much too busy; they are left out.
    """

    cases: tuple[int, ...]
    usages: dict[str, dict[str, Usage]] = field(default_factory=dict[str, dict[str, Usage]])
    starts: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    failed: dict[str, str] = field(default_factory=dict[str, str])

    def noise(self, language: str) -> tuple[Noise, Noise]:
        """Return how steady ranks in a language are: by time, and by memory."""
        usages = self.usages[language]
        return (
            _noise({path: usage.seconds for path, usage in usages.items()}),
            _noise({path: usage.bytes for path, usage in usages.items()}),
        )


class Ranker:
    """Measures stored solutions once and places programs among them, one after the other.

    Args:
        judge: who runs programs.
        repeats: how often each case is measured.
        heaviest: how many cases are measured: those that are heaviest for the reference.
    """

    def __init__(self, judge: Judge, repeats: int = REPEATS, heaviest: int = HEAVIEST) -> None:
        self._judge, self._repeats, self._heaviest = judge, repeats, heaviest
        self._pools: dict[tuple[str, tuple[int, ...]], Pool] = {}
        self._turn = asyncio.Lock()

    async def pool(self, problem: Problem, tests: Tests, language: Language) -> Pool:
        """Return the measured solutions that ranks in a language take: those in it, and where they are few those in Python.

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
        """Place an accepted program; None if there is nothing to place it among, or it fails where it is measured.

        It is measured in turns with the reference in its language, whose seconds now and when the others were measured say how much
        faster or slower the machine has become.

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
        """Measure programs in turns, so that what slows the machine for a while slows all of them; what fails is left out."""
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
    """Return the percent of others that are more than a value, interpolated between them.

    The i-th of n others by size (from 0) is itself at (i + 1/2) / n; between two of them, ranks go linearly with the value, and
    beyond the ends towards 0 and 1 with the ratio to the last.
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
