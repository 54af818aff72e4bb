"""Whether intervals hold and verdicts are right as often as they say, in simulations in which the truth is known.

    python benchmarks/coverage.py [--json] [--simulations 1000] [--seed 0]

Every simulated suite has two sources of chance: seeds, of one of several shapes, and held-out cases, which all runs share
and whose effect is as large as that of seeds, or a fifth of it. Two evolvers that are alike are compared, as a suite compares
them; an evolver is compared with a mark that is its own mean. The table has, for each shape and number of seeds, how often
the interval of the difference holds 0, how often evolvers are called better or worse falsely, by the product's rule (below
six paired runs it does not tell) and by flipping the signs of whole runs, and the same against the mark.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from heredity.analysis import statistics as stats
from heredity.analysis.paired import LEAST_RUNS, compare_runs, holm, sign_flip_p, verdict
from heredity.analysis.suite_comparisons import LEVEL, MARK_LEVEL
from heredity.ids import generator
from heredity.results.run import Verdict

SHAPES = ("normal", "exponential", "clustered", "lognormal", "left lognormal", "bimodal", "rare failures")
PLAIN = SHAPES[:3]
RUNS = (2, 3, 5, 6, 8, 16, 32)
CASES = 16
CASE_EFFECTS = {"cases": 1.0, "few cases' effect": 0.2}


def seeds(rng: np.random.Generator, shape: str, count: int) -> np.ndarray:
    """Return what each seed adds to a score, of mean 0 and a spread of about 1."""
    match shape:
        case "exponential":
            return rng.exponential(1.0, count) - 1.0
        case "lognormal":
            return rng.lognormal(0.0, 1.0, count) - np.exp(0.5)
        case "left lognormal":
            return np.exp(0.5) - rng.lognormal(0.0, 1.0, count)
        case "bimodal":
            return np.where(rng.random(count) < 0.5, -1.0, 1.0) + rng.normal(0.0, 0.1, count)
        case "rare failures":
            return 0.05 - (rng.random(count) < 0.05) + rng.normal(0.0, 0.001, count)
        case _:
            return rng.normal(0.0, 1.0, count)


def table(rng: np.random.Generator, shape: str, runs: int, effect: float, *, mark: bool = False) -> np.ndarray:
    """Return differences of two evolvers that are alike, or of one and its own mean, shape (runs, cases)."""
    levels = seeds(rng, shape, runs) - (0.0 if mark else seeds(rng, shape, runs))
    cases = rng.normal(0.0, effect, CASES)
    if shape == "clustered":
        cases = np.repeat(rng.normal(0.0, effect, CASES // 4), 4)
        # Cases of one world or document go up and down together: the world is what was drawn.
        return (levels[:, None] + cases + rng.normal(0.0, 0.5, (runs, CASES))).reshape(runs, -1, 4).mean(axis=2)
    return levels[:, None] + cases + rng.normal(0.0, 0.5, (runs, CASES))


def row(shape: str, runs: int, effect: float, simulations: int, seed: int) -> dict[str, Any]:
    """Simulate one shape with so many seeds."""
    rng = generator(seed, "coverage", shape, runs, str(effect))
    pairs = [table(rng, shape, runs, effect) for _ in range(simulations)]
    marks = [table(rng, shape, runs, effect, mark=True) for _ in range(simulations)]
    found, against = [compare_runs([t]) for t in pairs], [compare_runs([t]) for t in marks]
    tells = runs >= LEAST_RUNS
    judged = [verdict(c.difference, c.p, LEVEL) if tells else Verdict.CANNOT_TELL for c in found if c]
    marked = [verdict(c.difference, c.p, MARK_LEVEL) if tells else Verdict.CANNOT_TELL for c in against if c]
    return {
        "shape": shape,
        "runs": runs,
        "case_effect": effect,
        "coverage": float(np.mean([c.interval[0] <= 0.0 <= c.interval[1] for c in found if c and c.interval])),
        "false_better": judged.count(Verdict.BETTER) / simulations,
        "false_worse": judged.count(Verdict.WORSE) / simulations,
        "by_signs": float(np.mean([sign_flip_p(t.mean(axis=1)) <= LEVEL for t in pairs])),
        "coverage_of_mean": float(
            np.mean([c.interval[0] <= 0.0 <= c.interval[1] for c in against if c and c.interval])
        ),
        "false_better_than_mark": marked.count(Verdict.BETTER) / simulations,
    }


def family(tasksets: int, runs: int, evolvers: int, shape: str, simulations: int, seed: int) -> float:
    """Return how often anything is called better or worse falsely in a suite in which all evolvers are alike."""
    rng = generator(seed, "family", tasksets, runs, evolvers, shape)
    wrong = 0
    for _ in range(simulations):
        scores = [
            [
                seeds(rng, shape, runs)[:, None]
                + rng.normal(0.0, 1.0, (1, CASES))
                + rng.normal(0.0, 0.5, (runs, CASES))
                for _ in range(tasksets)
            ]
            for _ in range(evolvers)
        ]
        pairs = [(a, b) for a in range(evolvers) for b in range(a)]
        tests = [compare_runs([x - y for x, y in zip(scores[a], scores[b], strict=True)], len(pairs)) for a, b in pairs]
        wrong += any(p is not None and p <= LEVEL for p in holm([c.p if c and c.enough else None for c in tests]))
    return wrong / simulations


def power(runs: int, simulations: int, seed: int) -> float:
    """Return how often a true difference of the size that is stated as detectable is found."""
    rng = generator(seed, "power", runs)
    tables = [table(rng, "normal", runs, 0.5) for _ in range(simulations)]
    effect = float(np.mean([c.mde for t in tables if (c := compare_runs([t])) and c.mde is not None]))
    return float(np.mean([c.p <= LEVEL for t in tables if (c := compare_runs([t + effect])) and c.p is not None]))


def measure(simulations: int, seed: int) -> dict[str, Any]:
    """Return all figures."""
    rows = [row(s, n, effect, simulations, seed) for effect in CASE_EFFECTS.values() for s in SHAPES for n in RUNS]
    return {
        "simulations": simulations,
        "confidence": stats.CONFIDENCE,
        "rows": rows,
        "coverage_min_from_8_seeds": min(r["coverage"] for r in rows if r["runs"] >= 8 and r["shape"] in PLAIN),
        "false_better_max": max(max(r["false_better"], r["false_better_than_mark"]) for r in rows),
        "demo_family_false_better": max(
            family(3, 2, 4, shape, simulations // 4, seed) for shape in ("normal", "bimodal")
        ),
        "power_at_mde": power(8, simulations, seed),
    }


def shown(figures: dict[str, Any]) -> str:
    """Return the figures as a table."""
    keys = ("coverage", "false_better", "false_worse", "by_signs", "coverage_of_mean", "false_better_than_mark")
    lines = [
        f"{'seeds':15s} {'runs':>4s} {'case effect':>11s}  " + "  ".join(f"{k.replace('_', ' '):>10s}" for k in keys)
    ]
    for r in figures["rows"]:
        values = "  ".join(f"{r[k]:{max(10, len(k))}.3f}" for k in keys)
        lines.append(f"{r['shape']:15s} {r['runs']:4d} {r['case_effect']:11.1f}  {values}")
    summary: Sequence[str] = (
        "coverage_min_from_8_seeds",
        "false_better_max",
        "demo_family_false_better",
        "power_at_mde",
    )
    return "\n".join([*lines, "", *(f"{name.replace('_', ' ')}: {figures[name]:.3f}" for name in summary)])


def main() -> None:
    """Simulate, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    figures = measure(options.simulations, options.seed)
    print(json.dumps(figures, indent=1) if options.json else shown(figures))


if __name__ == "__main__":
    main()
