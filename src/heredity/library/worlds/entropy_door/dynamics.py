"""The rules of `entropy_door`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

COST = {"wait": 0, "hold": 1, "open": 2, "rightward": 1, "leftward": 1}
"""Energy that each action takes."""
DEEPEST = 6
"""The farthest that a particle gets from the door, in cells."""


@dataclass(frozen=True, slots=True)
class Particle:
    """A particle on a separate track: hot ones belong right. It reaches the door every `2 * depth` steps.

    Attributes:
        hot: whether it belongs in the right chamber.
        weight: its weight in the order, 1 to 3.
        depth: cells from the door to the wall, the same on both sides.
        phase: the first step at which it is at the door.
    """

    hot: int
    weight: int
    depth: int
    phase: int

    def __deepcopy__(self, memo: object) -> Particle:
        return self

    def distance(self, t: int) -> int:
        """Return its distance from the door in cells, 0 to `depth`."""
        past = (t - self.phase) % (2 * self.depth)
        return min(past, 2 * self.depth - past)

    def away(self, t: int) -> bool:
        """Return True if it moves away from the door."""
        return (t - self.phase) % (2 * self.depth) < self.depth


@dataclass(slots=True)
class State:
    """The particles on the right, the step, the energy left, and the door's automatic openings."""

    particles: tuple[Particle, ...]
    right: list[int]
    clock: int
    energy: int
    leak: int


def leaks(t: int, leak: int) -> bool:
    """Return True if the door springs open in a step without being worked: every `leak` steps."""
    return t % leak == leak - 1


def crossing(name: str, t: int, leak: int) -> tuple[bool, bool]:
    """Return whether particles at the door pass rightward and leftward in a step, given the action taken in it."""
    if name == "hold":
        return False, False
    everybody = name == "open" or leaks(t, leak)
    return everybody or name == "rightward", everybody or name == "leftward"


class EntropyDoor(Dynamics[State]):
    """Two chambers, and a door worked by an agent that sees every particle."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        particles = tuple(Particle(*particle) for particle in level["particles"])
        return State(particles, list(level["right"]), 0, level["energy"], level["leak"])

    def act(self, state: State, action: Action) -> Outcome:
        """Work the door for one step, and let the particles at it pass."""
        cost = COST[action.name]
        if cost > state.energy:
            raise RefusedError(f"That takes {cost} energy, and {state.energy} is left.")
        state.energy -= cost
        return self._pass(state, action.name)

    def refuse(self, state: State) -> Outcome:
        """Let the step pass without working the door."""
        return self._pass(state, "wait")

    @staticmethod
    def _pass(state: State, name: str) -> Outcome:
        allowed = crossing(name, state.clock, state.leak)
        gain, passed = 0, list[str]()
        for number, particle in enumerate(state.particles):
            from_right = state.right[number]
            if allowed[from_right] and particle.distance(state.clock) == 0:
                state.right[number] = 1 - from_right
                gain += particle.weight if state.right[number] == particle.hot else -particle.weight
                passed.append(str(number + 1))
        sprung = name not in ("hold", "open") and leaks(state.clock, state.leak)
        state.clock += 1
        notice = "The door springs open by itself. " if sprung else ""
        return Outcome(
            float(gain), message=f"{notice}Passed: {', '.join(passed) or 'nobody'}; order changes by {gain:+d}."
        )

    def observe(self, state: State) -> dict[str, Any]:
        """Show every particle on its track, and the remaining energy and steps."""
        rows: list[str] = []
        lines: list[str] = []
        for number, particle in enumerate(state.particles):
            distance, right = particle.distance(state.clock), state.right[number]
            track = ["#"] * (2 * DEEPEST + 3)
            middle = DEEPEST + 1
            track[middle - particle.depth : middle + particle.depth + 1] = "." * (2 * particle.depth + 1)
            track[middle] = "|"
            track[middle + (distance if right else -distance)] = "H" if particle.hot else "c"
            rows.append("".join(track))
            away = "leaving" if particle.away(state.clock) else "coming"
            where = f"{distance} of {particle.depth} cells from the door, {away}" if distance else "at the door"
            side = "right" if right else "left"
            lines.append(f"{number + 1}: weight {particle.weight}, {side}, {where}")
        return {
            "grid": rows,
            "particles": lines,
            "energy": state.energy,
            "leak": state.leak,
            "until_leak": state.leak - 1 - state.clock % state.leak,
            "gauges": {"energy": [state.energy, 0, 20]},
        }


DYNAMICS = EntropyDoor()
