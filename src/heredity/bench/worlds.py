"""Speed of worlds: steps and resets of `WorldEnv` with the text skin, against a trivial loop.

A step checks an action, applies the rules, and renders the observation. The actions are drawn in advance, well typed
but random. The baseline is the same loop over an environment of a few lines (count, compare, format a text), timed
alternately with every world. `ratio` is the time of a world's step over the baseline's.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from heredity._core.ids import generator
from heredity.kinds.world.env import WorldEnv
from heredity.kinds.world.episode import sample_action
from heredity.kinds.world.skins import look
from heredity.kinds.world.world import World, sound_worlds, world

SECONDS = 0.3
_ACTIONS = 512
RULES = Path(str(files("heredity.library") / "rules"))
"""Worlds of the library rewritten only in rules, a folder each."""
EPISODES = 30
"""Steps in a round."""


def measure(seconds: float = SECONDS, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Time every world.

    Args:
        seconds: time for steps, and again for resets, of each world.
        names: the worlds (default all).
    """
    results = {name: _world(name, seconds) for name in names or sound_worlds()[0]}
    rows = list(results.values())
    return {
        "baseline": "one bare loop: an environment that counts its steps and formats one line",
        "median_steps_per_s": round(statistics.median(row["steps_per_s"] for row in rows)),
        "median_reset_ms": round(statistics.median(row["reset_ms"] for row in rows), 4),
        "median_ratio": round(statistics.median(row["ratio"] for row in rows), 2),
        "slowest": min(results, key=lambda name: results[name]["steps_per_s"]),
        "results": results,
    }


def _world(name: str, seconds: float) -> dict[str, float]:
    env = WorldEnv(name)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(_ACTIONS)]
    levels = [{"level": level.id} for level in env.world.shipped["test"]]
    bare = _steps(_Bare(), actions, levels, seconds / 4)
    step = _steps(env, actions, levels, seconds)
    resets = _resets(env, levels, seconds / 4)
    return {
        "steps_per_s": round(1 / step),
        "reset_ms": round(resets * 1e3, 4),
        "bare_steps_per_s": round(1 / bare),
        "ratio": round(step / bare, 2),
    }


def _steps(env: Any, actions: Sequence[Any], levels: Sequence[dict[str, Any]], seconds: float) -> float:
    """Return the seconds of one step, excluding resets."""
    count, elapsed, episode = 0, 0.0, 0
    while elapsed < seconds:
        env.reset(options=levels[episode % len(levels)])
        episode += 1
        done = False
        started = time.perf_counter()
        while not done:
            _, _, terminated, truncated, _ = env.step(actions[count % len(actions)])
            count += 1
            done = terminated or truncated
        elapsed += time.perf_counter() - started
    return elapsed / count


def _resets(env: WorldEnv, levels: Sequence[dict[str, Any]], seconds: float) -> float:
    count, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        env.reset(options=levels[count % len(levels)])
        count += 1
    return (time.perf_counter() - started) / count


class _Bare:
    """A minimal environment."""

    def __init__(self) -> None:
        self._t = 0

    def reset(self, *, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        self._t = 0
        return "step 0", {}

    def step(self, action: dict[str, Any]) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self._t += 1
        paid = 1.0 if action["action"] == "" else 0.0
        return f"step {self._t}", paid, False, self._t >= 50, {}


def measure_rules(rounds: int = 7, names: Sequence[str] = ()) -> dict[str, Any]:
    """Time worlds written only in rules against their originals: steps with observations, in CPU time.

    Both play the same actions on the same levels, alternating, so that other load on the machine slows both.
    `ratio` is the median over rounds of the rules' speed over the library's.

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
