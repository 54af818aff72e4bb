"""How often one of two evolvers of equal mean is falsely called better, for pairs of unlike shapes, and the power.

    python benchmarks/pairs.py [--json] [--simulations 2000] [--seed 0]

Scores of each evolver have one of sixteen shapes: normal of three spreads, skewed to either side, long tails, constant, failing
now and then, at a ceiling, of one, two or few values. All pairs have equal means, on 1 to 16 tasksets, with 3 to 32 seeds. The
tables have:

- pairs: for each number of seeds and tasksets the pair that is falsely called better most often, and over all pairs the mean,
  and how often there is no verdict;
- unseen: pairs in which one evolver fails now and then, and else varies as little as the other. As long as no failure is seen,
  nothing distinguishes them from pairs that do differ, so no rule can hold: these figures are the chance of that;
- power: how often a difference of the stated detectable size is found, and one of four standard deviations of a seed;
- decide: how often the number of seeds that pages propose decides, if the true difference is the one seen.

The simulation judges many suites at once; a sample of each is judged by `heredity.analysis.claims` too, and must agree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import simulation
from numpy.typing import NDArray
from simulation import given as known

from heredity._core.ids import generator
from heredity.analysis.claims import of_evolvers
from heredity.analysis.paired import (
    LEAST_PAIRED,
    LEVEL,
    UNLIKE,
    Comparison,
    compare_runs,
    enough_seeds,
    shape_factor,
    verdict,
)
from heredity.analysis.power import seeds_to_decide
from heredity.analysis.samples import differences
from heredity.analysis.statistics import student_quantile
from heredity.results.base import Unknown
from heredity.results.run import Verdict

Rng = np.random.Generator
Floats = NDArray[np.float64]
Size = tuple[int, ...]

SEEDS = (3, 4, 5, 6, 8, 12, 16, 32)
TASKSETS = (1, 2, 4, 16)
CHECKED = 2
"""Suites of each pair that the product judges too."""


def _ceiling(rng: Rng, size: Size) -> Floats:
    return np.minimum(rng.normal(0.0, 1.0, size), 0.5)


_CEILING = float(_ceiling(generator(0, "ceiling"), (4_000_000,)).mean())

SHAPES: dict[str, Callable[[Rng, Size], Any]] = {
    "normal": lambda rng, size: rng.normal(0.0, 1.0, size),
    "narrow normal": lambda rng, size: rng.normal(0.0, 0.2, size),
    "wide normal": lambda rng, size: rng.normal(0.0, 5.0, size),
    "uniform": lambda rng, size: rng.uniform(-1.7, 1.7, size),
    "exponential": lambda rng, size: rng.exponential(1.0, size) - 1.0,
    "left exponential": lambda rng, size: 1.0 - rng.exponential(1.0, size),
    "lognormal": lambda rng, size: rng.lognormal(0.0, 1.0, size) - np.exp(0.5),
    "left lognormal": lambda rng, size: np.exp(0.5) - rng.lognormal(0.0, 1.0, size),
    "long tails": lambda rng, size: rng.standard_t(3.0, size),
    "constant": lambda rng, size: np.zeros(size),
    "fails in 1 of 20": lambda rng, size: 0.05 - (rng.random(size) < 0.05),
    "fails in 1 of 5": lambda rng, size: 0.2 - (rng.random(size) < 0.2),
    "ceiling": lambda rng, size: _ceiling(rng, size) - _CEILING,
    "binary": lambda rng, size: (rng.random(size) < 0.5) - 0.5,
    "bimodal": lambda rng, size: np.where(rng.random(size) < 0.5, -1.0, 1.0) + rng.normal(0.0, 0.1, size),
    "five values": lambda rng, size: rng.binomial(4, 0.7, size) / 4.0 - 0.7,
}

UNSEEN: dict[str, float] = {"fails in 1 of 20": 0.05, "fails in 1 of 10": 0.1, "fails in 1 of 4": 0.25}
"""Chance of a failure, which costs 1; otherwise scores vary by 0.02, as those of the other evolver do."""


@lru_cache(maxsize=64)
def _quantiles(factor: float) -> tuple[Floats, Floats]:
    freedoms = np.geomspace(1.0, 600.0, 400)
    return np.log(freedoms), np.array([student_quantile(1.0 - LEVEL / factor / 2, float(f)) for f in freedoms])


def judged(first: Floats, second: Floats) -> NDArray[np.int8]:
    """Return 1 where the first is called better, -1 where worse, 0 where neither, and 2 where nobody can tell.

    Args:
        first: mean score of each run, shape (suites, tasksets, seeds); each has one case.
        second: likewise.
    """
    suites, tasksets, seeds = first.shape
    if not enough_seeds([seeds] * tasksets):
        return np.full(suites, 2, np.int8)
    gap = (first - second).mean(axis=(1, 2))
    one, two = (t.var(axis=2, ddof=1) / seeds / tasksets**2 for t in (first, second))
    a, b = one.sum(axis=1), two.sum(axis=1)
    alike = np.array([np.ptp(t, axis=2) <= 1e-9 * np.abs(t).max(axis=2) for t in (first, second)]).any(axis=0)
    unknown = np.all(alike, axis=1)
    if tasksets * seeds <= LEAST_PAIRED:
        tied = np.array([(np.diff(np.sort(t, axis=2), axis=2) <= 1e-9).any(axis=(1, 2)) for t in (first, second)])
        unknown |= tied.any(axis=0) | (np.maximum(a, b) > UNLIKE**2 * np.minimum(a, b))
    between = np.where(unknown, 1.0, one.sum(axis=1) + two.sum(axis=1))
    error = 2.0 * np.maximum(a, b) / np.sqrt(between)
    freedom = between**2 / np.where(unknown, 1.0, ((one + two) ** 2).sum(axis=1) / (seeds - 1))
    reach = (
        np.interp(np.log(np.maximum(freedom, 1.0)), *_quantiles(shape_factor(tasksets * seeds, marked=False))) * error
    )
    found = np.where(np.abs(gap) > reach, np.sign(gap), 0.0)
    equal = (np.ptp(first, axis=2) + np.ptp(second, axis=2)).sum(axis=1) + np.abs(gap) <= 1e-9
    return np.where(equal, 0, np.where(unknown, 2, found)).astype(np.int8)


def compared(first: Floats, second: Floats) -> Comparison:
    """Compare two evolvers by one suite, shape (tasksets, seeds), as a report does."""
    sides = [(a[:, None], b[:, None]) for a, b in zip(first, second, strict=True)]
    return known(compare_runs([differences(a, b) for a, b in sides], sides=sides))


_CODES = {Verdict.BETTER: 1, Verdict.WORSE: -1, Verdict.WITHIN_NOISE: 0, Verdict.CANNOT_TELL: 2}


def suites(first: str, second: str, shape: Size, seed: int) -> NDArray[np.int8]:
    """Return the verdicts on simulated suites of a pair of shapes; a few are judged by the product too.

    Raises:
        AssertionError: if the product judges one of them otherwise.
    """
    rng = generator(seed, "pairs", first, second, *map(str, shape[1:]))
    a, b = SHAPES[first](rng, shape), SHAPES[second](rng, shape)
    verdicts = judged(a, b)
    for i in range(CHECKED):
        own = compared(a[i], b[i])
        few = None if own.enough else Unknown.FEW_SEEDS
        said = verdict(own.difference, own.p, untold=own.untold or few)
        assert _CODES[Verdict(said)] == verdicts[i], (first, second, shape, said, int(verdicts[i]))
    return verdicts


def pairs(seeds: int, tasksets: int, simulations: int, seed: int) -> dict[str, Any]:
    """Return the worst pair of shapes for so many seeds and tasksets."""
    count = max(400, simulations // tasksets)
    rows = {(a, b): suites(a, b, (count, tasksets, seeds), seed) for a in SHAPES for b in SHAPES}
    # The largest of 256 shares is large by chance too, so the worst few are simulated again.
    better = {pair: float((row == 1).mean()) for pair, row in rows.items()}
    worst = sorted(better, key=lambda pair: -better[pair])[:8]
    again = {p: float((suites(*p, (4 * simulations, tasksets, seeds), seed + 1) == 1).mean()) for p in worst}
    first, second = max(again, key=lambda pair: again[pair])
    return {
        "seeds": seeds,
        "tasksets": tasksets,
        "worst": f"{first} against {second}",
        "false_better": again[first, second],
        "pairs_above_6_percent": sum(share > 0.06 for share in again.values()),
        "mean_of_pairs": float(np.mean(list(better.values()))),
        "cannot_tell": float(np.mean([(row == 2).mean() for row in rows.values()])),
    }


def unseen(name: str, chance: float, seeds: int, simulations: int, seed: int) -> dict[str, Any]:
    """Return how often an evolver that fails now and then is falsely called better than one that never does."""
    rng = generator(seed, "unseen", name, seeds)
    shape = simulations, 1, seeds
    first = chance - (rng.random(shape) < chance) + rng.normal(0.0, 0.02, shape)
    return {
        "shape": name,
        "seeds": seeds,
        "no_failure_seen": (1.0 - chance) ** seeds,
        "false_better": float((judged(first, rng.normal(0.0, 0.02, shape)) == 1).mean()),
    }


def power(seeds: int, tasksets: int, simulations: int, seed: int) -> dict[str, Any]:
    """Return how often differences of the stated size, and of four standard deviations of a seed, are found."""
    rng = generator(seed, "pairs, power", seeds, tasksets)
    first, second = (rng.normal(0.0, 1.0, (simulations, tasksets, seeds)) for _ in range(2))
    stated = [compared(first[i], second[i]).mde for i in range(min(simulations, 600))]
    effect = float(np.mean([mde for mde in stated if mde is not None]))
    return {
        "seeds": seeds,
        "tasksets": tasksets,
        "detectable": effect,
        "power": float((judged(first + effect, second) == 1).mean()),
        "power_at_4_sd": float((judged(first + 4.0, second) == 1).mean()),
    }


def decide(seeds: int, effect: float, simulations: int, seed: int, spread: float = 1.0) -> dict[str, Any]:
    """Return how often the proposed number of seeds decides, if the difference seen in an undecided suite is the true one."""
    rng = generator(seed, "decide", seeds, str(effect))
    numbers: list[int] = []
    decided: list[float] = []
    while len(decided) < simulations:
        own = compared(rng.normal(effect, 1.0, (1, seeds)), rng.normal(0.0, spread, (1, seeds)))
        total = seeds_to_decide(own)
        if total is None or of_evolvers(own, own.p).verdict in (Verdict.BETTER, Verdict.WORSE):
            continue
        first, second = rng.normal(own.difference, 1.0, (20, 1, total)), rng.normal(0.0, spread, (20, 1, total))
        numbers.append(total)
        decided.append(float(np.isin(judged(first, second), (1, -1)).mean()))
    return {
        "seeds": seeds,
        "true_difference": effect,
        "spread_of_second": spread,
        "proposed": float(np.median(numbers)),
        "decided": float(np.mean(decided)),
    }


def measure(simulations: int, seed: int) -> dict[str, Any]:
    """Return all figures."""
    rows: list[dict[str, Any]] = []
    for seeds in SEEDS:
        print(f"pairs: {seeds} seeds", file=sys.stderr, flush=True)
        rows += [pairs(seeds, tasksets, simulations, seed) for tasksets in TASKSETS]
    found = [power(n, t, 4 * simulations, seed) for n in SEEDS for t in TASKSETS if enough_seeds([n] * t)]
    few = max(20, simulations // 20)
    proposed = [decide(n, e, few, seed, s) for n, e, s in ((3, 1.5, 1.0), (4, 1.0, 1.0), (5, 1.5, 0.5), (8, 0.8, 1.0))]
    single = {row["seeds"]: row for row in found if row["tasksets"] == 1}
    return {
        "simulations": simulations,
        "shapes": len(SHAPES),
        "pairs": rows,
        "unseen": [unseen(s, p, n, 4 * simulations, seed) for s, p in UNSEEN.items() for n in SEEDS],
        "power": found,
        "decide": proposed,
        "false_better_max": max(row["false_better"] for row in rows),
        "false_better_max_from_5_seeds": max(row["false_better"] for row in rows if row["seeds"] >= 5),
        "power_min_from_6_seeds": min(row["power"] for row in found if row["seeds"] >= 6),
        "power_max_from_6_seeds": max(row["power"] for row in found if row["seeds"] >= 6),
        "power_at_4_sd_with_4_seeds": single[4]["power_at_4_sd"],
        "decided_min": min(row["decided"] for row in proposed),
    }


def shown(figures: dict[str, Any]) -> str:
    """Return the figures as tables."""
    return simulation.tables(figures, ("pairs", "unseen", "power", "decide"))


if __name__ == "__main__":
    simulation.run(__doc__, 2000, measure, shown)
