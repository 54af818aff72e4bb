"""Speed of worlds written only in rules against their originals in the library: steps with observations, in CPU time.

Both play the same actions on the same levels, alternating, so that other load on the machine slows both. A step reads
an action, applies the rules and renders the text. `ratio` is the median over rounds of the rules' speed over the
library's.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from heredity._core.ids import generator
from heredity.kinds.world.actions import sample_action
from heredity.kinds.world.skins import look
from heredity.kinds.world.world import World, world

RULES = Path(str(files("heredity.library") / "rules"))
"""Worlds of the library rewritten only in rules, a folder each."""
EPISODES = 30
"""Steps in a round."""


def measure(rounds: int = 7, names: Sequence[str] = ()) -> dict[str, Any]:
    """Time worlds in both forms.

    Args:
        rounds: number of timings of each side; ratios are medians of pairs.
        names: the worlds (default all rewritten ones).
    """
    rows = {name: _compare(name, rounds) for name in names or sorted(folder.name for folder in RULES.iterdir())}
    ratios = [row["ratio"] for row in rows.values()]
    return {
        "worlds": len(rows),
        "ratio_min": min(ratios),
        "ratio_median": round(statistics.median(ratios), 2),
        "ratio_max": max(ratios),
        "by_world": rows,
    }


def _compare(name: str, rounds: int) -> dict[str, Any]:
    own, twin = world(name), World(RULES / name)
    levels, rng = own.shipped["test"], generator(0, "world-rules", name)
    kinds, most = own.description.actions, own.description.max_steps
    scripts = [[sample_action(rng, kinds).to_json() for _ in range(most)] for _ in range(EPISODES)]
    times: list[tuple[float, float]] = []
    steps = 0
    for _ in range(rounds + 1):  # the first round warms up
        steps, by_hand = _play(own, levels, scripts)
        again, by_rules = _play(twin, levels, scripts)
        assert steps == again, f"{name}: the two end differently"
        times.append((by_hand, by_rules))
    python, rules = (statistics.median(column) for column in zip(*times[1:], strict=True))
    folder = Path(str(own.folder))
    return {
        "lines_of_python": sum(_lines((folder / f"{part}.py").read_text()) for part in ("dynamics", "levels")),
        "lines_of_rules": _lines((RULES / name / "world.yaml").read_text().split("\nrules:\n")[1]),
        "steps_per_s_python": round(steps / python),
        "steps_per_s_rules": round(steps / rules),
        "ratio": round(statistics.median(a / b for a, b in times[1:]), 2),
    }


def _lines(text: str) -> int:
    """Return the number of nonempty lines."""
    return sum(bool(line.strip()) for line in text.splitlines())


def _play(played: World, levels: Sequence[Any], scripts: Sequence[Sequence[Any]]) -> tuple[int, float]:
    """Return the steps of some episodes and their CPU seconds."""
    skin, steps, spent = played.description.skin, 0, 0.0
    for number, script in enumerate(scripts):
        episode = played.start(levels[number % len(levels)].data)
        started = time.process_time()
        for action in script:
            episode.step(action)
            look(skin, "text", episode.observe())
            steps += 1
            if episode.done:
                break
        spent += time.process_time() - started
    return steps, spent
