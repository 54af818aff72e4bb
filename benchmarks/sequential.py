"""How often peeking after every seed decides falsely, and how many seeds a true difference takes, in simulations.

    python benchmarks/sequential.py [--json] [--simulations 1000] [--seed 0]

Two entries are alike: their paired differences are those of two seeds of one law, shared cases favour one or the other, and one
looks after every seed. Beside it stands what the test for a fixed number of seeds would say if one looked as often. `one-sided`
differences have mean 0 without being as likely as their opposites, which the test does not promise to bear.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import simulation

from heredity._core.ids import generator
from heredity.analysis.anytime import LEAST_SEEDS, LEVEL, look
from heredity.analysis.paired import compare_runs
from heredity.analysis.samples import LEAST_RUNS

LAWS = ("normal", "skewed", "heavy", "Bernoulli", "bimodal", "one-sided")
ALIKE = LAWS[:-1]
CASE_EFFECTS = (0.0, 0.2, 1.0)
EFFECTS = (0.5, 1.0, 2.0)
CASES = 16
MOST = 40
_NEAR = 1.5
"""Below so many standard errors no look decides: there the test is not asked, which saves most of the time."""


def gaps(rng: np.random.Generator, law: str) -> np.ndarray:
    """Return what each pair of seeds differs by, of spread about 1."""
    match law:
        case "skewed":
            return (rng.lognormal(size=MOST) - rng.lognormal(size=MOST)) / 3.0
        case "heavy":
            return rng.standard_t(1.5, MOST) / 2.0
        case "Bernoulli":
            return (rng.random(MOST) < 0.2).astype(float) - (rng.random(MOST) < 0.2)
        case "bimodal":
            return rng.choice([-1.0, 1.0], MOST) + rng.normal(0.0, 0.1, MOST)
        case "one-sided":
            return rng.exponential(1.0, MOST) - 1.0
        case _:
            return rng.normal(size=MOST)


def table(rng: np.random.Generator, law: str, effect_of_cases: float, effect: float = 0.0) -> np.ndarray:
    """Return differences, shape (seeds, cases)."""
    own = rng.normal(0.0, effect_of_cases, (1, CASES)) + rng.normal(0.0, 0.5, (MOST, CASES))
    return effect + gaps(rng, law)[:, None] + own


def stops(tables: Sequence[np.ndarray]) -> int | None:
    """Return after how many seeds somebody who looks after each stops; None if never."""
    means = np.mean([t.mean(axis=1) for t in tables], axis=0)
    for seeds in range(LEAST_SEEDS, MOST + 1):
        head = means[:seeds]
        if abs(head.mean()) > _NEAR * head.std(ddof=1) / np.sqrt(seeds):
            seen = look([t[:seeds] for t in tables])
            if seen is not None and seen.decided:
                return seeds
    return None


def fixed_stops(scores: np.ndarray) -> bool:
    """Say whether the test for a fixed number of seeds finds something at any look."""
    compared = (compare_runs([scores[:seeds]]) for seeds in range(LEAST_RUNS, MOST + 1))
    return any(c is not None and c.p is not None and c.p <= LEVEL for c in compared)


def false(law: str, effect_of_cases: float, tasksets: int, simulations: int, seed: int) -> dict[str, Any]:
    """Return how often entries that are alike are told apart."""
    rng = generator(seed, "sequential", law, str(effect_of_cases), tasksets)
    suites = [[table(rng, law, effect_of_cases) for _ in range(tasksets)] for _ in range(simulations)]
    few = suites[: simulations // 5] if tasksets == 1 else []
    return {
        "law": law,
        "case_effect": effect_of_cases,
        "tasksets": tasksets,
        "decided": sum(stops(suite) is not None for suite in suites) / simulations,
        "fixed_test": float(np.mean([fixed_stops(suite[0]) for suite in few])) if few else None,
    }


def true(effect: float, simulations: int, seed: int) -> dict[str, Any]:
    """Return how soon a difference of so many spreads of seeds is decided, and how often the interval then holds it."""
    rng = generator(seed, "sequential", "true", str(effect))
    ends, held = list[int](), list[bool]()
    for _ in range(simulations // 4):
        scores = table(rng, "normal", 0.2, effect)
        end = stops([scores])
        ends.append(end or MOST + 1)
        seen = look([scores[: end or MOST]])
        assert seen is not None
        held.append(seen.interval is not None and seen.interval[0] <= effect <= seen.interval[1])
    decided = float(np.mean([end <= MOST for end in ends]))
    return {"effect": effect, "decided": decided, "seeds": float(np.median(ends)), "coverage": float(np.mean(held))}


def measure(simulations: int, seed: int) -> dict[str, Any]:
    """Return all figures."""
    rows = [false(law, of_cases, 1, simulations, seed) for law in LAWS for of_cases in CASE_EFFECTS]
    rows += [false(law, 0.2, 3, simulations // 2, seed) for law in ("normal", "skewed")]
    powers = [true(effect, simulations, seed) for effect in EFFECTS]
    return {
        "simulations": simulations,
        "most_seeds": MOST,
        "rows": rows,
        "true": powers,
        "false_max": max(r["decided"] for r in rows if r["law"] in ALIKE),
        "false_max_one_sided": max(r["decided"] for r in rows if r["law"] not in ALIKE),
        "false_max_of_fixed_test": max(r["fixed_test"] or 0.0 for r in rows if r["law"] in ALIKE),
        "coverage_min": min(r["coverage"] for r in powers),
    }


def shown(figures: dict[str, Any]) -> str:
    """Return the figures as tables."""
    lines = [f"{'seeds':10s} {'case effect':>11s} {'tasksets':>8s} {'decided':>8s} {'fixed test, peeked':>18s}"]
    for r in figures["rows"]:
        fixed = "" if r["fixed_test"] is None else f"{r['fixed_test']:.3f}"
        lines.append(f"{r['law']:10s} {r['case_effect']:11.1f} {r['tasksets']:8d} {r['decided']:8.3f} {fixed:>18s}")
    lines += ["", f"{'effect':>6s} {'decided':>8s} {'median seeds':>12s} {'coverage':>8s}"]
    lines += [
        f"{t['effect']:6.1f} {t['decided']:8.3f} {t['seeds']:12.0f} {t['coverage']:8.3f}" for t in figures["true"]
    ]
    summary = [f"{k.replace('_', ' ')}: {v:.3f}" for k, v in figures.items() if isinstance(v, float)]
    return "\n".join([*lines, "", *summary])


if __name__ == "__main__":
    simulation.run(__doc__, 1000, measure, shown)
