"""Whether intervals hold and verdicts are right as often as they say, in simulations in which the truth is known.

    python benchmarks/coverage.py [--json] [--simulations 4000] [--seed 0]

Every simulated suite has two sources of chance: seeds, of one of several shapes, and held-out cases, which all runs share
and whose effect is as large as that of seeds, or none. The tables have:

- cells: how often the interval that a page prints holds what it is about (the evolver's mean; below six seeds, the mean of these
  candidates over new cases), and how often none is printed because nobody can tell;
- comparisons of two evolvers that are alike, and of one with a mark that is its own mean: coverage, and what is called better
  or worse falsely;
- means of independent scores of each shape, without and with declared bounds, as for a reference or a single run;
- standings of three evolvers on three tasksets: coverage of rank scores, interquartile means, profiles and probabilities of
  improvement (one simulation for each 32);
- candidates that are alike, on documents of ten questions each: how often one is called better falsely;
- families, for evolvers of one shape (`pairs.py` has unlike shapes): how often a suite of
  evolvers that are alike calls any better or worse.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import simulation
from simulation import given as known

from heredity._core.ids import generator
from heredity.analysis import statistics as stats
from heredity.analysis.claims import LEVEL
from heredity.analysis.paired import Comparison, compare_cases, compare_runs, holm, verdict
from heredity.analysis.samples import LEAST_RUNS, SHARE, Interval
from heredity.analysis.suite_results import THRESHOLDS, suite_spread
from heredity.analysis.suite_table import REFERENCE, Cell, TasksetScores
from heredity.results.base import Unknown
from heredity.results.run import Verdict
from heredity.results.suite import Unit

SHAPES = ("normal", "exponential", "clustered", "lognormal", "left lognormal", "bimodal", "rare failures")
PLAIN = SHAPES[:3]
RUNS = (1, 2, 3, 5, 6, 8, 16, 32)
CASES = 16
CASE_EFFECTS = (1.0, 0.0)
LEVELS = {"a": 3.0, "b": 2.0, "c": 1.0}
"""True means of the evolvers of the standings; the reference has 0."""

CLASSIC, DEMO = (4, 3, 4), (3, 2, 4)
"""Tasksets, seeds and evolvers of the suites of these names."""

Rng = np.random.Generator


def seeds(rng: Rng, shape: str, size: int | tuple[int, ...]) -> np.ndarray:
    """Return what each seed adds to a score, of mean 0 and a spread of about 1."""
    match shape:
        case "exponential":
            return rng.exponential(1.0, size) - 1.0
        case "lognormal":
            return rng.lognormal(0.0, 1.0, size) - np.exp(0.5)
        case "left lognormal":
            return np.exp(0.5) - rng.lognormal(0.0, 1.0, size)
        case "bimodal":
            return np.where(rng.random(size) < 0.5, -1.0, 1.0) + rng.normal(0.0, 0.1, size)
        case "rare failures":
            return 0.05 - (rng.random(size) < 0.05)
        case _:
            return rng.normal(0.0, 1.0, size)


def table(rng: Rng, shape: str, runs: int, effect: float) -> tuple[np.ndarray, np.ndarray]:
    """Return scores of an evolver less their mean, shape (runs, cases), and each run's own."""
    levels = seeds(rng, shape, runs)
    if not effect:
        return np.repeat(levels[:, None], CASES, axis=1), levels
    if shape == "clustered":
        # Cases of one world or document go up and down together: the world is what was drawn.
        worlds = CASES // 4
        noise = rng.normal(0.0, 0.5, (runs, CASES)).reshape(runs, worlds, 4).mean(axis=2)
        return levels[:, None] + rng.normal(0.0, effect, worlds) + noise, levels
    return levels[:, None] + rng.normal(0.0, effect, CASES) + rng.normal(0.0, 0.5, (runs, CASES)), levels


def two(rng: Rng, shape: str, runs: int, effect: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores of two evolvers that are alike, shape (runs, cases), and the difference of each pair of runs."""
    first, levels = table(rng, shape, runs, effect)
    others = seeds(rng, shape, runs)
    return first, np.repeat(others[:, None], first.shape[1], axis=1), levels - others


def of_runs(compared: Comparison) -> Verdict:
    """Return the verdict about evolvers."""
    few = None if compared.enough else Unknown.FEW_SEEDS
    return verdict(compared.difference, compared.p, LEVEL, untold=compared.untold or few)


def held(interval: Interval | None, truth: float) -> float:
    """Return whether an interval holds a value, NaN without an interval."""
    return np.nan if interval is None else float(interval[0] - 1e-12 <= truth <= interval[1] + 1e-12)


def share(values: Sequence[float]) -> float | None:
    """Return the mean of the values that are known."""
    known = [v for v in values if not np.isnan(v)]
    return float(np.mean(known)) if known else None


def cell(shape: str, runs: int, effect: float, simulations: int, seed: int) -> dict[str, Any]:
    """Simulate cells, comparisons and comparisons with a mark of one shape with so many seeds."""
    rng = generator(seed, "coverage", shape, runs, str(effect))
    hits, pairs, candidates, marks = [], [], [], []
    verdicts: list[Verdict] = []
    chosen: list[Verdict] = []
    marked: list[Verdict] = []
    for _ in range(simulations):
        alone, levels = table(rng, shape, runs, effect)
        estimate, unit = known(stats.evolver_mean([alone]))
        hits.append(held(estimate.interval, 0.0 if unit is Unit.RUN else float(levels.mean())))
        first, second, levels = two(rng, shape, runs, effect)
        gaps = first - second
        between, given = known(compare_runs([gaps], sides=[(first, second)])), known(compare_cases([gaps]))
        against = known(compare_runs([alone]))
        pairs.append(held(between.interval if between.enough else None, 0.0))
        candidates.append(held(given.interval, float(levels.mean())))
        marks.append(held(against.interval if against.enough else None, 0.0))
        verdicts.append(of_runs(between))
        own = None if given.p is None else compare_cases([gaps - levels.mean()])
        chosen.append(Verdict.CANNOT_TELL if own is None else verdict(own.difference, own.p, LEVEL))
        marked.append(of_runs(against))
    return {
        "shape": shape,
        "runs": runs,
        "case_effect": effect,
        "cell_coverage": share(hits),
        "cell_unknown": float(np.isnan(hits).mean()),
        "coverage": share(pairs),
        "false_better": verdicts.count(Verdict.BETTER) / simulations,
        "false_worse": verdicts.count(Verdict.WORSE) / simulations,
        "candidate_coverage": share(candidates),
        "false_better_candidates": chosen.count(Verdict.BETTER) / simulations if effect else 0.0,
        "mark_coverage": share(marks),
        "false_better_than_mark": marked.count(Verdict.BETTER) / simulations,
    }


def independent(shape: str, values: int, simulations: int, seed: int, bounds: Interval | None) -> dict[str, Any]:
    """Simulate means of so many independent scores; with bounds, of shares that fail once in twenty."""
    rng = generator(seed, "independent", shape, values, str(bounds))
    draws = seeds(rng, shape, (simulations, values)) + (0.95 if bounds else 0.0)
    hits = [held(stats.mean_interval(row, bounds=bounds), 0.95 if bounds else 0.0) for row in draws]
    return {
        "shape": f"{shape}, 0 to 1" if bounds else shape,
        "values": values,
        "coverage": share(hits),
        "unknown": float(np.isnan(hits).mean()),
    }


def standing(shape: str, runs: int, simulations: int, seed: int, tasksets: int = 3) -> dict[str, Any]:
    """Simulate suites of three evolvers that differ, and a reference."""
    rng = generator(seed, "standing", shape, runs)
    population = {
        e: np.clip((level + seeds(rng, shape, 200_000)) / LEVELS["a"], 0.0, 1.0) for e, level in LEVELS.items()
    }
    truth = {e: float(stats.interquartile_means(p)) for e, p in population.items()}
    at = len(THRESHOLDS) // 2
    above = {e: float((p > THRESHOLDS[at]).mean()) for e, p in population.items()}
    gap = seeds(rng, shape, 200_000) + LEVELS["a"] - seeds(rng, shape, 200_000) - LEVELS["b"]
    improves = float((gap > 0.0).mean() + 0.5 * (gap == 0.0).mean())
    hits: dict[str, list[float]] = {"rank_score": [], "iqm": [], "profile": [], "improvement": [], "p_best": []}
    for _ in range(simulations):
        suite = [_taskset(rng, shape, runs) for _ in range(tasksets)]
        spread = suite_spread(suite, [*LEVELS, REFERENCE], draws=1000)
        for i, entry in enumerate(LEVELS):
            own = None if spread is None else spread[entry]
            hits["rank_score"].append(held(own and own.rank_score, 1.0 - i / len(LEVELS)))
            hits["iqm"].append(held(own and own.iqm, truth[entry]))
            hits["profile"].append(held(own and own.profile[at], above[entry]))
        hits["p_best"].append(np.nan if spread is None else spread["a"].p_best)
        runs_of = {e: [t.cells[e].run_means for t in suite] for e in LEVELS}
        estimate = stats.probability_of_improvement(runs_of["a"], runs_of["b"])
        hits["improvement"].append(held(estimate and estimate.interval, improves))
    return {"shape": shape, "runs": runs, **{name: share(values) for name, values in hits.items()}}


def _taskset(rng: Rng, shape: str, runs: int) -> TasksetScores:
    cases = rng.normal(0.0, 0.5, CASES)
    scores = {
        e: level + seeds(rng, shape, runs)[:, None] + cases + rng.normal(0.0, 0.2, (runs, CASES))
        for e, level in LEVELS.items()
    }
    cells = {e: Cell([], table) for e, table in scores.items()}
    return TasksetScores("t", "", "", cells, {REFERENCE: cases + rng.normal(0.0, 0.2, CASES)}, returns=True)


def family(tasksets: int, runs: int, evolvers: int, shape: str, simulations: int, seed: int) -> float:
    """Return how often any evolver is called better or worse falsely in a suite of evolvers that are alike.

    Both families of a suite are tested as it tests them: every pair over the whole suite, and every pair on every taskset.
    """
    rng = generator(seed, "family", tasksets, runs, evolvers, shape)
    pairs = [(a, b) for a in range(evolvers) for b in range(a)]
    wrong = 0
    for _ in range(simulations):
        levels = seeds(rng, shape, (evolvers, tasksets, runs, 1)) + rng.normal(0.0, 1.0, (1, tasksets, 1, CASES))
        scores = levels + rng.normal(0.0, 0.5, (evolvers, tasksets, runs, CASES))
        sides = [list(zip(scores[a], scores[b], strict=True)) for a, b in pairs]
        whole = [known(compare_runs([x - y for x, y in s], sides=s)) for s in sides]
        single = [known(compare_runs([x - y], sides=[(x, y)])) for s in sides for x, y in s]
        families = [holm([c.p if c.enough else None for c in tests]) for tests in (whole, single)]
        wrong += max(any(p is not None and p <= LEVEL for p in tests) for tests in families)
    return wrong / simulations


def power(runs: int, simulations: int, seed: int) -> float:
    """Return how often a true difference of the size that is stated as detectable is found."""
    rng = generator(seed, "power", runs)
    drawn = [two(rng, "normal", runs, 0.5)[:2] for _ in range(simulations)]
    effect = float(np.mean([known(known(compare_runs([a - b], sides=[(a, b)])).mde) for a, b in drawn]))
    found = [known(compare_runs([a + effect - b], sides=[(a, b)])).p for a, b in drawn]
    return float(np.mean([known(p) <= LEVEL for p in found]))


def documents(count: int, simulations: int, seed: int) -> dict[str, Any]:
    """Compare candidates that are alike on so many documents of ten questions, as one draw each and as if all were drawn apart."""
    rng = generator(seed, "documents", count)
    labels = np.repeat(np.arange(count), 10)
    rows: dict[str, list[float]] = {name: [] for name in ("together", "apart", "cannot_tell", "covered")}
    for _ in range(simulations):
        gaps = rng.normal(0.0, 1.0, count)[labels] + rng.normal(0.0, 1.0, labels.size)
        together, apart = known(compare_cases([gaps], clusters=[labels.tolist()])), known(compare_cases([gaps]))
        for name, compared in (("together", together), ("apart", apart)):
            judged = verdict(compared.difference, compared.p, LEVEL, untold=compared.untold)
            rows[name].append(float(judged is Verdict.BETTER))
        rows["cannot_tell"].append(float(together.few_clusters))
        rows["covered"].append(held(together.interval, 0.0))
    return {
        "documents": count,
        "false_better": share(rows["together"]),
        "coverage": share(rows["covered"]),
        "cannot_tell": share(rows["cannot_tell"]),
        "false_better_if_questions_were_drawn_apart": share(rows["apart"]),
    }


def progress(line: str) -> None:
    """Say on stderr what is being done."""
    print(line, file=sys.stderr, flush=True)


def measure(simulations: int, seed: int) -> dict[str, Any]:
    """Return all figures."""
    few = max(20, simulations // 32)
    cells: list[dict[str, Any]] = []
    for shape in SHAPES:
        progress(f"seeds: {shape}")
        cells += [cell(shape, n, 1.0, simulations // 4, seed) for n in RUNS if n < LEAST_RUNS]
        cells += [cell(shape, n, effect, simulations, seed) for effect in CASE_EFFECTS for n in RUNS if n >= LEAST_RUNS]
    progress("independent scores")
    shapes: list[tuple[str, Interval | None]] = [*((s, None) for s in SHAPES if s != "clustered"), (SHAPES[-1], SHARE)]
    means = [independent(s, n, simulations, seed, bounds) for s, bounds in shapes for n in RUNS[1:]]
    progress("standings")
    standings = [standing(s, n, few, seed) for s in SHAPES if s != "clustered" for n in (5, 6, 8, 16)]
    progress("documents")
    clusters = [documents(n, simulations, seed) for n in (5, 6, 10, 20)]
    progress("families")
    drawn = ("normal", "bimodal")
    return {
        "simulations": simulations,
        "confidence": stats.CONFIDENCE,
        "cells": cells,
        "means": means,
        "standings": standings,
        "documents": clusters,
        "coverage_min_from_8_seeds": min(
            r[key] for r in cells if r["runs"] >= 8 and r["shape"] in PLAIN for key in ("cell_coverage", "coverage")
        ),
        "coverage_min_of_long_tails_from_8_seeds": min(
            r[key]
            for r in cells
            if r["runs"] >= 8 and r["shape"] not in PLAIN
            for key in ("cell_coverage", "coverage")
            if r[key] is not None
        ),
        "coverage_min_of_means_from_6_values": min(r["coverage"] for r in means if r["values"] >= 6 and r["coverage"]),
        "coverage_min_of_standings_from_6_runs": min(
            r[key] for r in standings if r["runs"] >= 6 for key in ("rank_score", "iqm", "profile", "improvement")
        ),
        "false_better_of_documents": max(r["false_better"] for r in clusters),
        "false_better_max": max(
            r[key] for r in cells for key in ("false_better", "false_better_than_mark", "false_better_candidates")
        ),
        "demo_family_false_better": max(family(*DEMO, s, few * 8, seed) for s in drawn),
        "classic_family_false_better": max(family(*CLASSIC, s, few * 8, seed) for s in drawn),
        "power_at_mde": power(8, simulations, seed),
    }


def shown(figures: dict[str, Any]) -> str:
    """Return the figures as tables."""
    return simulation.tables(figures, ("cells", "means", "standings", "documents"))


if __name__ == "__main__":
    simulation.run(__doc__, 4000, measure, shown)
