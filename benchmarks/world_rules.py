"""How fast worlds in rules alone are beside those of the library that they repeat: steps with what is seen, in processor time.

    python benchmarks/world_rules.py [--json] [--rounds 7] [--worlds NAME …]

Both play the same actions on the same levels, in turn, so that they do the same and other work on the machine slows both. A step
reads an action, follows the rules and renders the text. `ratio` is the median over rounds of the rules' speed over the library's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heredity.ids import generator
from heredity.worlds.actions import sample_action
from heredity.worlds.skins import look
from heredity.worlds.world import World, world

EXAMPLES = Path(__file__).parents[1] / "examples" / "worlds"
EPISODES = 30
"""In a round."""


def measure(rounds: int, names: Sequence[str] = ()) -> dict[str, Any]:
    """Time every world of the examples, or those named."""
    rows = {name: compare(name, rounds) for name in names or sorted(folder.name for folder in EXAMPLES.iterdir())}
    ratios = [row["ratio"] for row in rows.values()]
    return {
        "worlds": len(rows),
        "ratio_min": min(ratios),
        "ratio_median": round(statistics.median(ratios), 2),
        "by_world": rows,
    }


def compare(name: str, rounds: int) -> dict[str, Any]:
    """Time one world in both forms."""
    own, twin = world(name), World(EXAMPLES / name)
    levels, rng = own.shipped["test"], generator(0, "world-rules", name)
    kinds, most = own.description.actions, own.description.max_steps
    scripts = [[sample_action(rng, kinds).to_json() for _ in range(most)] for _ in range(EPISODES)]
    times: list[tuple[float, float]] = []
    steps = 0
    for _ in range(rounds + 1):  # the first warms up
        steps, by_hand = play(own, levels, scripts)
        again, by_rules = play(twin, levels, scripts)
        assert steps == again, f"{name}: the two end differently"
        times.append((by_hand, by_rules))
    one, other = (statistics.median(column) for column in zip(*times[1:], strict=True))
    folder = Path(str(own.folder))
    return {
        "lines_of_python": sum(lines_of((folder / f"{part}.py").read_text()) for part in ("dynamics", "levels")),
        "lines_of_rules": lines_of((EXAMPLES / name / "world.yaml").read_text().split("\nrules:\n")[1]),
        "steps_per_s_python": round(steps / one),
        "steps_per_s_rules": round(steps / other),
        "ratio": round(statistics.median(a / b for a, b in times[1:]), 2),
    }


def lines_of(text: str) -> int:
    """Return how many lines are not empty."""
    return sum(bool(line.strip()) for line in text.splitlines())


def play(played: World, levels: Sequence[Any], scripts: Sequence[Sequence[Any]]) -> tuple[int, float]:
    """Return the steps of some episodes and the seconds of the processor that they took."""
    skin, steps, spent = played.description.skin, 0, 0.0
    for number, script in enumerate(scripts):
        episode = played.start(levels[number % len(levels)].data)
        began = time.process_time()
        for action in script:
            episode.step(action)
            look(skin, "text", episode.observe())
            steps += 1
            if episode.done:
                break
        spent += time.process_time() - began
    return steps, spent


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of each world (default 7)")
    parser.add_argument("--worlds", nargs="*", default=(), help="only these")
    given = parser.parse_args()
    found = measure(given.rounds, given.worlds)
    if given.json:
        print(json.dumps(found, indent=2))
        return
    print(
        "| world | lines of Python | lines of rules | steps/s, Python | steps/s, rules | ratio |\n|---|--:|--:|--:|--:|--:|"
    )
    for name, row in found["by_world"].items():
        print(f"| `{name}` | " + " | ".join(f"{value:,}" for value in row.values()) + " |")
    print(f"\nleast ratio {found['ratio_min']}, median {found['ratio_median']}, {found['worlds']} worlds")


if __name__ == "__main__":
    main()
