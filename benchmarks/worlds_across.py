"""Whether what is learned in 50 composed worlds helps in 50 others: the suite `worlds-across`, beside a control that has to gain.

    python benchmarks/worlds_across.py [--json] [--seeds 8] [--rounds 5] [--out FOLDER]

Two agents are evolved on levels of the one half and judged on levels of the other, by seed, each against the agent it began with on
the same levels. `explorer` is that of the suite. `stuck` is the same with a fault that no world needs, the only constant of it that
the optimizer can change: it does again and again what it did first. Who mends that plays better anywhere; if no gain were shown for
it, none could be expected of the measurement. The optimizer's model is a program (`offline/world-learner`).

A gain is stated with two 95% intervals: by seed, for new runs on these worlds, and by seed and world, for new runs on new worlds.
It is beyond noise where both are above 0. Where every seed gained the same on each level there is nothing to tell seeds by, and
worlds alone are the chance. With `--out` a measurement that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from heredity.analysis.paired import compare_runs
from heredity.analysis.samples import Interval
from heredity.analysis.statistics import case_mean, mean_interval
from heredity.experiments.config import read_toml, resolve, suite_file
from heredity.experiments.suite import open_suite, run_suite
from heredity.kinds.world.taskset import seeds_of
from heredity.results.run import RunResults

EXPLORER = Path(str(files("heredity.library"))) / "harnesses" / "explorer"
CONSTANT = re.compile(r"^([A-Z_]+) = (?=\d|False)", re.MULTILINE)
FIRST = "        for kind, words, action in self.rules:\n"
STUCK = "        if STUCK and self.last is not None:\n            return self.last\n"


def stuck(folder: Path) -> Path:
    """Write the explorer with its fault; its own constants get a form that the optimizer does not read."""
    shutil.copytree(EXPLORER, folder, dirs_exist_ok=True)
    program = folder / "agent" / "player" / "agent.py"
    text = CONSTANT.sub(r"\1: object = ", program.read_text())
    program.write_text(text.replace("\n\n\nclass ", "\nSTUCK = True\n\n\nclass ", 1).replace(FIRST, STUCK + FIRST, 1))
    return folder


def configuration(seeds: int, rounds: int, starts: Sequence[Path]) -> dict[str, Any]:
    """Return the suite's configuration with its runs from each start."""
    data = read_toml(suite_file("worlds-across"))
    data["run"] |= {"seeds": seeds, "name": "worlds-across"}
    options = data["evolver"]["options"]
    options["rounds"] = rounds
    data["budget"]["rollouts"] = (rounds + 1) * options["batch"]
    return data | {"matrix": {"evolver.initial": [str(start) for start in starts]}}


def gain_of(runs: Sequence[RunResults], worlds: int) -> dict[str, Any]:
    """Return what runs gained on held-out levels over what they began with: shape (seeds, levels)."""
    before, after = (np.array(scores, dtype=float) for scores in zip(*map(scores_of, runs), strict=True))
    gains = after - before
    by_seed = gains.mean(axis=1)
    clusters = [[i % worlds for i in range(gains.shape[1])]]
    if alike := bool((gains == gains[0]).all()):
        across, intervals = case_mean([gains[:1]], clusters=clusters), list[Interval | None]()
    else:
        across, intervals = compare_runs([gains], clusters=clusters), [mean_interval(by_seed)]
    intervals.append(None if across is None else across.interval)
    beyond = all(interval is not None and interval[0] > 0.0 for interval in intervals)
    return {
        "before": round(float(before.mean()), 4),
        "after": round(float(after.mean()), 4),
        "gain": round(float(by_seed.mean()), 4),
        **{
            name: interval and [round(end, 4) for end in interval]
            for name, interval in zip(("by_seed", "by_seed_and_world")[alike:], intervals, strict=True)
        },
        "gains": [round(float(gain), 4) for gain in by_seed],
        "beyond_noise": beyond,
    }


def scores_of(run: RunResults) -> tuple[list[float | None], list[float | None]]:
    """Return the held-out scores of what a run began with, and of what it ended with."""
    assert run.reference is not None
    assert run.heldout is not None
    return run.reference.heldout_scores, run.heldout.scores


def measure(seeds: int, rounds: int, out: Path) -> dict[str, Any]:
    """Evolve both agents and return all figures."""
    starts = {"explorer": EXPLORER, "stuck": stuck(out / "stuck")}
    config = resolve(configuration(seeds, rounds, list(starts.values())))
    suite = asyncio.run(run_suite(out / "suite", open_suite(out / "suite", config)))
    if suite.failures:
        sys.exit(f"not all runs ended: {suite.failures}; the same command with --out goes on")
    name = config.run.tasksets[0]
    train, heldout = (
        len(seeds_of(match[1]))
        for match in (re.search(rf"{key}=([^&]*)", name) for key in ("seeds", "heldout"))
        if match
    )
    figures = {
        start: gain_of([run for run in suite.runs if start in str(run.evolver.name)], heldout) for start in starts
    }
    return {"seeds": seeds, "rounds": rounds, "train_worlds": train, "heldout_worlds": heldout, **figures}


def verdict(figures: dict[str, Any]) -> str:
    """Say plainly what was shown."""
    if not figures["stuck"]["beyond_noise"]:
        return "The control shows no gain beyond noise, so that nothing can be said of the agent."
    gains = figures["explorer"]["beyond_noise"]
    return f"The agent {'gains' if gains else 'shows no gain'} beyond noise in worlds that it has not seen; the control does."


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of evolution in each run")
    parser.add_argument("--out", type=Path, help="a folder to keep the runs in, and to go on from")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(given.seeds, given.rounds, (given.out or Path(folder)).absolute())
    figures["verdict"] = verdict(figures)
    if given.json:
        print(json.dumps(figures, indent=1))
        return
    print(f"{figures['train_worlds']} worlds to learn on, {figures['heldout_worlds']} others, {given.seeds} seeds")
    for start in ("explorer", "stuck"):
        row = figures[start]
        by_seed = row.get("by_seed", "all the same")
        intervals = f"by seed {by_seed}, by seed and world {row['by_seed_and_world']}"
        print(f"{start:9} {row['before']:.3f} to {row['after']:.3f}: {row['gain']:+.3f}, {intervals}")
    print(figures["verdict"])


if __name__ == "__main__":
    main()
