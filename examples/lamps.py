"""A minimal world: its description, dynamics and levels, verified."""

from pathlib import Path

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, Levels, Outcome, UpperBound
from heredity.kinds.world.verify import verify_level
from heredity.kinds.world.world import World

Path("lamps").mkdir()
Path("lamps/world.yaml").write_text("""
meta:
  name: lamps
  title: Lamps
  paper: [20, GridNavigation]
  reward: binary
  observation: full
  semantics: aligned
  capabilities: [planning]
  summary: Light every lamp; a switch turns its neighbours too.
instruction: Light every lamp. A switch turns its own lamp and both of its neighbours.
state:
  lamps: 4 to 8 lamps, each 0 or 1
actions:
  turn:
    description: Turn a switch.
    params:
      place: {type: integer, low: 0, high: 7, description: counted from 0}
observation: Everything.
reward: 1 when every lamp is lit.
termination: When every lamp is lit.
max_steps: 12
skin:
  text: "{grid}\\n{message}"
  legend: {"o": lit, ".": dark}
  colours: {"o": "#ffd34d", ".": "#444444"}
  swap: [["o", "."]]
generator: 4, 6 or 8 lamps.
""")


class Lamps(Dynamics):
    def start(self, level):
        return list(level["lamps"])

    def act(self, state, action):
        place = action.params["place"]
        if place >= len(state):
            raise RefusedError("There is no such lamp.")
        for near in {place - 1, place, place + 1} & set(range(len(state))):
            state[near] ^= 1
        return Outcome(float(all(state)), done=all(state))

    def observe(self, state):
        return {"grid": ["".join(".o"[lit] for lit in state)]}


class Rows(Levels):
    def generate(self, rng, difficulty):
        lamps = [1] * (2 + 2 * difficulty)
        turned = [place for place in range(len(lamps)) if rng.random() < 0.5] or [0]
        for place in turned:
            Lamps().act(lamps, Action.of("turn", place=place))
        return {"lamps": lamps, "turned": turned}

    def upper_bound(self, level):
        return UpperBound(1.0, "exact", "success pays once, and the switches that were turned can be turned back")

    def solve(self, level):
        return [Action.of("turn", place=place) for place in level["turned"]]


lamps = World(Path("lamps").resolve(), Lamps(), Rows())
report = verify_level(lamps, lamps.make(seed=3, difficulty=2), seconds=0.1)
assert report.faults == ()

print("reference:", report.reference)
