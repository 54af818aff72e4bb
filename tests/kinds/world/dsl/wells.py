"""A world in rules with hooks, for tests: its folder is written with whatever a test changes."""

from __future__ import annotations

from pathlib import Path

YAML = """
meta: {name: well, title: A well, reward: accumulative, observation: full, semantics: aligned, capabilities: [planning],
  summary: Draw water.}
instruction: Draw water. Every bucket is a coin for each litre in it.
state: {water: litres in the well, buckets: how many were drawn}
actions:
  draw: {description: Draw a bucket of some litres., params: {litres: {type: integer, low: 1, high: 3}}}
  wait: {description: Wait for rain to come.}
observation: the water in the well, and the sky
reward: a coin for every litre
termination: after five buckets
max_steps: 8
skin: {text: "{water} litres of water, {buckets} buckets drawn, sky {sky}. {message}"}
generator: deeper wells
rules:
  hooks:
    rain: {reads: [water, clouds, day], returns: {type: integer, low: 0, high: 2}}
    dig: {takes: [seed, difficulty], returns: {type: integer, low: 1, high: 9}}
  state:
    water: {type: integer, low: 0, high: 20, start: level.water}
    clouds: {type: list, start: level.clouds, fixed: true}
    day: {type: integer, low: 0, high: 8, start: "0"}
    buckets: {type: integer, low: 0, high: 5, start: "0"}
  actions:
    draw: |
      if litres > water:
        refuse(f"There are only {water} litres.")
      water -= litres
      buckets += 1
      pay(litres)
      if buckets == 5:
        end("The rope is worn.")
    wait: say("It may rain.")
  after: |
    water = least(20, water + rain())
    day += 1
  refused: day += 1
  observe: {water: water, sky: "clouds[day] if day < 8 else 0", buckets: buckets}
  levels:
    make: |
      return {"water": dig(draw(0, 1000000), difficulty), "clouds": [draw(0, 2) for i in below(8)]}
"""

RAIN = """
def rain(water, clouds, day):
    return clouds[day] * round(1 + math.sin(water)) // 2
"""

HOOKS = f"""
import math
import random

{RAIN}

def dig(seed, difficulty):
    return random.Random(seed).randint(2, 4) + difficulty
"""


def well(place: Path, rain: str = RAIN, *, start: str = "", **changed: str) -> Path:
    """Write the folder.

    Args:
        place: where.
        rain: the hook `rain`, and `start` what stands before it.
        start: see `rain`.
        changed: texts of the `world.yaml` by what they stand for.
    """
    folder = place / "well"
    folder.mkdir(parents=True, exist_ok=True)
    text = YAML
    for old, new in changed.items():
        assert old in text, old
        text = text.replace(old, new)
    (folder / "world.yaml").write_text(text)
    (folder / "hooks.py").write_text(HOOKS.replace(RAIN, f"{start}\n{rain}"))
    return folder
