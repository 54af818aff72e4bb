"""What a hook costs: steps per second of a world in rules, and of the same world with one function in Python in the sandbox.

    python benchmarks/world_hooks.py [--json] [--rounds 7] [--steps 400]

Four forms play the same actions on the same levels, in turn, by the clock, since part of the work is another process's: the
function in rules (the baseline), as a hook that is asked anew at every step, as a hook whose answers are remembered, and as one
that is called eight times a step, which shows what a call costs apart from the step. `ratio` is the median over rounds of a
form's speed over the baseline's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from heredity._core.ids import generator
from heredity.kinds.world.world import World
from heredity.sandbox.zygote import shared

YAML = """
meta: {name: NAME, title: Mill, reward: accumulative, observation: full, semantics: aligned, capabilities: [planning],
  summary: Grind.}
instruction: Grind.
state: {flour: sacks}
actions: {grind: {description: Grind a sack.}}
observation: the sacks
reward: a coin a sack
termination: never
max_steps: 20
skin: {text: "{flour}"}
generator: other winds
rules:
  HOW
  state:
    flour: {type: integer, low: 0, high: 1000000, start: "0"}
    winds: {type: list, start: level.winds, fixed: true}
  actions:
    grind: |
      flour += CALLS
      pay(1)
  observe: {flour: flour}
  levels: {make: 'return {"winds": [draw(0, 9) for i in below(8)]}', bound: {value: 20, reason: x}, solve: "return []"}
"""
RULES = """functions: {turn: {takes: [winds, flour], do: "return (total(winds) + flour) % 7"}}"""
HOOK = """hooks: {turn: {takes: [winds, flour], returns: {type: integer, low: 0, high: 6}}}"""
PYTHON = "def turn(winds, flour):\n    return (sum(winds) + flour) % 7\n"
FORMS = {"rules": 1, "hook": 1, "hook, remembered": 1, "hook, eight calls": 8}


def made(parent: Path, form: str) -> World:
    """Return the world in one form."""
    name = form.replace(",", "").replace(" ", "-")
    (parent / name).mkdir()
    calls = " + ".join(f"turn(winds, flour + {number})" for number in range(FORMS[form]))
    text = YAML.replace("NAME", name).replace("HOW", RULES if form == "rules" else HOOK).replace("CALLS", calls)
    (parent / name / "world.yaml").write_text(text)
    (parent / name / "hooks.py").write_text(PYTHON)
    return World(parent / name)


def play(world: World, levels: list[dict[str, Any]]) -> float:
    """Return the steps per second of episodes on levels."""
    steps, began = 0, time.perf_counter()
    for level in levels:
        episode = world.start(level)
        while not episode.done:
            episode.step({"action": "grind"})
            episode.observe()
            steps += 1
    return steps / (time.perf_counter() - began)


def measure(rounds: int, steps: int) -> dict[str, Any]:
    """Time all forms."""
    rng = generator(0, "world-hooks")
    speeds: dict[str, list[float]] = {form: [] for form in FORMS}
    with tempfile.TemporaryDirectory() as folder:
        worlds = {form: made(Path(folder), form) for form in FORMS}
        began = time.perf_counter()
        play(worlds["hook"], [{"winds": [1]}])
        first = time.perf_counter() - began
        for _ in range(rounds):
            # Winds that no round before had, so that nothing is remembered of it.
            levels = [{"winds": [int(wind) for wind in rng.integers(0, 10**9, 8)]} for _ in range(steps // 20)]
            play(worlds["hook, remembered"], levels)
            for form, world in worlds.items():
                speeds[form].append(play(world, levels))
    shared().close()
    base = speeds["rules"]
    forms = {
        form: {
            "steps_per_s": round(statistics.median(own)),
            "us_per_step": round(1e6 / statistics.median(own), 1),
            "ratio": round(statistics.median(a / b for a, b in zip(own, base, strict=True)), 3),
        }
        for form, own in speeds.items()
    }
    return {"baseline": "rules", "rounds": rounds, "first_call_ms": round(1000 * first, 1), "forms": forms}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--rounds", type=int, default=7, help="rounds (default 7)")
    parser.add_argument("--steps", type=int, default=400, help="steps of a form in a round (default 400)")
    given = parser.parse_args()
    rates = measure(given.rounds, given.steps)
    if given.json:
        print(json.dumps(rates, indent=2))
        return
    print("| form | steps/s | µs a step | ratio to rules |\n|---|--:|--:|--:|")
    for form, row in rates["forms"].items():
        print(f"| {form} | {row['steps_per_s']:,} | {row['us_per_step']} | {row['ratio']} |")
    print(f"\nthe first call of a process, the sandbox's start included: {rates['first_call_ms']} ms")


if __name__ == "__main__":
    main()
