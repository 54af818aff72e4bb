"""How far the best of k validation means is above what its candidate is worth, and what is left after correction.

Scores are 0 or 1; figures are points (hundredths), mean and standard deviation of 300 simulations. About half a minute.

    python benchmarks/selection.py
"""

from __future__ import annotations

import numpy as np

from heredity._core.ids import generator
from heredity.analysis.run_results import FOLDS, REPEATS, best_corrected

SIZES = ((32, 16), (32, 32), (16, 16))
WORLDS = ("alike", "spread", "climb", "one better")
SIMULATIONS = 300


def worth_of(world: str, candidates: int, draws: np.random.Generator) -> np.ndarray:
    """Return how probable each candidate is to solve a case."""
    if world == "spread":
        return np.clip(0.5 + 0.1 * draws.standard_normal(candidates), 0.02, 0.98)
    if world == "climb":
        return np.linspace(0.3, 0.7, candidates)
    return np.where(
        np.arange(candidates) == candidates // 2,
        0.6 if world == "one better" else 0.5,
        0.5 if world == "alike" else 0.4,
    )


def simulate(world: str, candidates: int, cases: int) -> dict[str, list[float]]:
    """Return the errors of each estimate of what the picked candidate is worth."""
    draws = generator(0, "benchmarks", "selection", world, candidates, cases)
    ways = {"fifths": (FOLDS, REPEATS), "halves": (2, REPEATS), "one out": (cases, 1)}
    errors: dict[str, list[float]] = {name: [] for name in ("naive", *ways)}
    for _ in range(SIMULATIONS):
        worth = worth_of(world, candidates, draws)
        scores = (draws.random((candidates, cases)) < worth[:, None]).astype(np.float64)
        means = scores.mean(axis=1)
        picked = int(means.argmax())
        errors["naive"].append(float(means[picked] - worth[picked]))
        for name, (folds, repeats) in ways.items():
            curve = best_corrected(scores, folds, repeats)
            assert curve is not None
            errors[name].append(curve[-1] - float(worth[picked]))
    return errors


def main() -> None:
    """Print a line for each world and size."""
    for candidates, cases in SIZES:
        for world in WORLDS:
            errors = simulate(world, candidates, cases)
            columns = (f"{name} {100 * np.mean(e):+5.1f} ({100 * np.std(e):4.1f})" for name, e in errors.items())
            print(f"{candidates:3} candidates, {cases:3} cases, {world:<10}  " + "   ".join(columns), flush=True)


if __name__ == "__main__":
    main()
