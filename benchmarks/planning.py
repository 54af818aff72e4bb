"""Whether plans keep what they promise: power and variance components, in simulations in which the truth is known.

    python benchmarks/planning.py [--json] [--simulations 1000] [--seed 0]

For each mixture of seed, case and residual variance, for one taskset and three, one test and ten, the cheapest number of seeds is
planned for a power of 80%, and suites of this size are compared as the product compares them. Then pilots are drawn, their
components estimated, and plans made by these, whose true power is known.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import simulation

from heredity._core.ids import generator
from heredity.analysis.anytime import components
from heredity.analysis.paired import compare_runs
from heredity.analysis.planning import variances
from heredity.analysis.power import MOST_SEEDS, Question, Variances, power, seeds_needed
from heredity.analysis.statistics import CONFIDENCE

WANTED = 0.8
NAMES = ("seed", "case", "residual")
MIXTURES: dict[str, Variances] = {
    "seeds": (1.0, 0.04, 0.25),
    "seeds and cases": (1.0, 1.0, 0.25),
    "cases": (0.1, 1.0, 0.25),
    "noise": (0.01, 0.01, 1.0),
    "all alike": (0.3, 0.3, 0.3),
}
PILOTS = (4, 8, 16)
CASES = 32


def table(rng: np.random.Generator, mixture: Variances, seeds: int, cases: int) -> np.ndarray:
    """Return differences of mean 0, shape (seeds, cases)."""
    seed, case, residual = map(math.sqrt, mixture)
    noise = rng.normal(0.0, residual, (seeds, cases))
    return rng.normal(0.0, seed, (seeds, 1)) + rng.normal(0.0, case, (1, cases)) + noise


def half(rng: np.random.Generator, mixture: Variances, seeds: int) -> np.ndarray:
    """Return scores of one of two entries whose differences have these components."""
    seed, case, residual = mixture
    return table(rng, (seed / 2, case / 2, residual / 2), seeds, CASES)


def effect_of(mixture: Variances, tests: int = 1) -> float:
    """Return a difference that takes some ten to twenty seeds."""
    seed, case, residual = mixture
    return (3.2 + 0.5 * math.log(tests)) * math.sqrt(seed / 12 + case / CASES + residual / (12 * CASES))


def share_of_hits(mixture: Variances, tasksets: int, tests: int, simulations: int, seed: int) -> dict[str, Any]:
    """Plan a suite, and return how often such suites find the difference."""
    question = Question([mixture] * tasksets, effect_of(mixture, tests) / math.sqrt(tasksets), tests)
    seeds = seeds_needed(question, CASES, WANTED)
    assert seeds is not None
    rng, hits = generator(seed, "planning", tasksets, tests, seeds), 0
    for _ in range(simulations):
        sides = [(question.effect + half(rng, mixture, seeds), half(rng, mixture, seeds)) for _ in range(tasksets)]
        compared = compare_runs([a - b for a, b in sides], sides=sides)
        hits += compared is not None and compared.p is not None and compared.p <= (1.0 - CONFIDENCE) / tests
    return {
        "tasksets": tasksets,
        "tests": tests,
        "seeds": seeds,
        "promised": power(question, seeds, CASES),
        "power": hits / simulations,
    }


def estimated(mixture: Variances, seeds: int, simulations: int, seed: int) -> dict[str, Any]:
    """Estimate components by pilots; return their error, how often intervals hold them, and the power of plans by them."""
    rng = generator(seed, "pilots", seeds, *map(str, mixture))
    question = Question([mixture], effect_of(mixture))
    total, powers, estimates = sum(mixture), list[float](), list[Variances]()
    held = np.zeros(3)
    for i in range(simulations):
        parts = components(table(rng, mixture, seeds, CASES))
        assert parts is not None
        estimates.append(variances(parts))
        intervals = map(parts.interval, NAMES)
        held += [low <= true <= high for (low, high), true in zip(intervals, mixture, strict=True)]
        if i < simulations // 5:
            planned = seeds_needed(Question([variances(parts)], question.effect), CASES, WANTED)
            powers.append(power(question, planned or MOST_SEEDS, CASES))
    return {
        "pilot_seeds": seeds,
        "component_error": float(np.abs(np.mean(estimates, axis=0) - mixture).max() / total),
        "interval_coverage": float((held / simulations).min()),
        "power_mean": float(np.mean(powers)),
        "power_10th": float(np.quantile(powers, 0.1)),
    }


def measure(simulations: int, seed: int) -> dict[str, Any]:
    """Return all figures."""
    designs: list[dict[str, Any]] = [
        {"mixture": name, **share_of_hits(mixture, tasksets, tests, simulations, seed)}
        for name, mixture in MIXTURES.items()
        for tasksets, tests in ((1, 1), (1, 10), (3, 3))
    ]
    pilots: list[dict[str, Any]] = [
        {"mixture": name, **estimated(mixture, seeds, simulations, seed)}
        for name, mixture in MIXTURES.items()
        for seeds in PILOTS
    ]
    return {
        "simulations": simulations,
        "wanted": WANTED,
        "designs": designs,
        "pilots": pilots,
        "power_min": min(d["power"] for d in designs),
        "power_max": max(d["power"] for d in designs),
        "worst_power_error": max(abs(d["power"] - d["promised"]) for d in designs),
        "worst_component_error": max(p["component_error"] for p in pilots),
        "interval_coverage_min": min(p["interval_coverage"] for p in pilots),
        "power_of_plans_from_8_seeds": min(p["power_mean"] for p in pilots if p["pilot_seeds"] == 8),
    }


def shown(figures: dict[str, Any]) -> str:
    """Return the figures as two tables."""
    lines = [f"{'mixture':17s} {'tasksets':>8s} {'tests':>5s} {'seeds':>5s} {'promised':>8s} {'power':>6s}"]
    lines += [
        f"{d['mixture']:17s} {d['tasksets']:8d} {d['tests']:5d} {d['seeds']:5d} {d['promised']:8.3f} {d['power']:6.3f}"
        for d in figures["designs"]
    ]
    lines += ["", f"{'mixture':17s} {'pilot':>5s} {'error':>6s} {'coverage':>8s} {'power':>6s} {'10th':>6s}"]
    lines += [
        f"{p['mixture']:17s} {p['pilot_seeds']:5d} {p['component_error']:6.3f} {p['interval_coverage']:8.3f} "
        f"{p['power_mean']:6.3f} {p['power_10th']:6.3f}"
        for p in figures["pilots"]
    ]
    summary = [f"{k.replace('_', ' ')}: {v:.3f}" for k, v in figures.items() if isinstance(v, float)]
    return "\n".join([*lines, "", *summary])


if __name__ == "__main__":
    simulation.run(__doc__, 1000, measure, shown)
