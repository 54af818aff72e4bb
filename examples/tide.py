"""A world in rules with two hooks in Python, which run only in the sandbox."""

from pathlib import Path

from heredity.kinds.world.world import World

folder = Path("tide")
folder.mkdir()
(folder / "world.yaml").write_text(
    """
meta:
  {name: tide, title: Tide, reward: accumulative, observation: full, semantics: aligned, capabilities: [planning], summary: Shells.}
instruction: Gather shells where the sea has left them. Every shell is a coin.
state: {hour: hours that have passed, left: shells that are left}
actions:
  gather: {description: Gather the shells that lie bare.}
  wait: {description: Wait an hour.}
observation: the hour and the shells
reward: a coin for every shell
termination: after nine hours
max_steps: 9
skin: {text: "Hour {hour}, {left} shells are left. {message}"}
generator: another moon
rules:
  hooks:
    bare: {takes: [strength], reads: [hour, moon], returns: {type: integer, low: 0, high: 5}}
    moonrise: {file: sky.py, takes: [seed], returns: {type: number, low: 0, high: 12}}
  state:
    hour: {type: integer, low: 0, high: 9, start: "0"}
    moon: {type: number, low: 0, high: 12, start: level.moon, fixed: true}
    left: {type: integer, low: 0, high: 20, start: level.shells}
  actions:
    gather: |
      taken = least(left, bare(5))
      left -= taken
      pay(taken)
    wait: say("The water moves.")
  after: hour += 1
  refused: hour += 1
  observe: {hour: hour, left: left}
  levels:
    make: |
      return {"moon": moonrise(draw(0, 10 ** 9)), "shells": draw(6, 9) + difficulty}
""".replace("10 ** 9", "1000000000")
)
(folder / "hooks.py").write_text("""
import math

def bare(strength, hour, moon):
    return round(strength * max(0.0, math.sin((hour + moon) * math.pi / 6)))
""")
(folder / "sky.py").write_text("""
import random

def moonrise(seed):
    return round(random.Random(seed).uniform(0, 12), 2)
""")

made = World(folder)  # reads the text of the hooks, and runs none of it
level = made.make(seed=7, difficulty=2)
assert level.upper_bound.kind == "exact"  # the search has called the hooks
assert made.play(level.data) == level.upper_bound.value

print("bound:", level.upper_bound.kind)
