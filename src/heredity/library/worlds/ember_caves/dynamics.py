"""The rules of `ember_caves`: gentle signs indicate danger and grim ones safety, with different weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import Cell, inside, moved, neighbours

SIGNS = ("lamplight", "birdsong", "blossoms", "bones", "growling", "stench")
GENTLE = 3
"""The first three signs are gentle, the others grim."""


@dataclass(frozen=True)
class Cave:
    """Constants of an episode."""

    signs: tuple[tuple[str, ...], ...]
    perilous: tuple[tuple[bool, ...], ...]
    mouth: Cell
    ember: Cell

    def __deepcopy__(self, memo: object) -> Cave:
        return self


@dataclass(slots=True)
class State:
    """Position of the explorer, and remaining supplies."""

    cave: Cave
    at: Cell
    hearts: int
    pebbles: int
    torches: int
    marks: list[list[str]]
    carried: bool = False


def perilous(pair: Sequence[int], weights: Sequence[int]) -> bool:
    """Return True if gentle signs outweigh grim ones; all weights differ, so ties cannot occur."""
    return sum(weights[sign] if sign < GENTLE else -weights[sign] for sign in pair) > 0


class EmberCaves(Dynamics[State]):
    """A cave whose safest-looking chambers are the most dangerous."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        signs = tuple(tuple(" and ".join(SIGNS[s] for s in pair) for pair in row) for row in level["signs"])
        risky = tuple(tuple(perilous(pair, level["weights"]) for pair in row) for row in level["signs"])
        mouth, ember = tuple(level["mouth"]), tuple(level["ember"])
        marks = [["?"] * len(signs) for _ in signs]
        marks[mouth[0]][mouth[1]], marks[ember[0]][ember[1]] = "M", "E"
        cave = Cave(signs, risky, mouth, ember)
        return State(cave, mouth, level["hearts"], level["pebbles"], level["torches"], marks)

    def act(self, state: State, action: Action) -> Outcome:
        """Walk, toss a pebble, or kindle a torch."""
        if action.name == "kindle":
            if not state.torches:
                raise RefusedError("You have no torches left.")
            state.torches -= 1
            return Outcome(message=f"The torch shows {'; '.join(_lit(state))}.")
        target = moved(state.at, action.params["direction"])
        if not inside(target, len(state.marks), len(state.marks)):
            raise RefusedError("There is solid rock.")
        if action.name == "walk":
            return self._walk(state, target)
        if not state.pebbles:
            raise RefusedError("You have no pebbles left.")
        state.pebbles -= 1
        perils = state.cave.perilous[target[0]][target[1]]
        return Outcome(message="Something snaps the pebble up." if perils else "The pebble clatters, and lies still.")

    @staticmethod
    def _walk(state: State, target: Cell) -> Outcome:
        row, column = target
        if state.cave.perilous[row][column]:
            state.hearts -= 1
            state.marks[row][column] = "x"
            message = "You are wounded and driven back."
            return Outcome(message=message) if state.hearts else Outcome(done=True, message=f"{message} You die.")
        state.at = target
        if state.carried and target == state.cave.mouth:
            return Outcome(1.0, True, "You carry the ember out of the cave.")
        if target == state.cave.ember and not state.carried:
            state.carried = True
            state.marks[row][column] = "o"
            return Outcome(message="You pick up the ember. Now back to the mouth.")
        if state.marks[row][column] == "?":
            state.marks[row][column] = "o"
        return Outcome(message="Nothing stirs.")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the explorer's knowledge, and the adjacent signs."""
        row, column = state.at
        rows = ["".join(line) for line in state.marks]
        rows[row] = rows[row][:column] + "@" + rows[row][column + 1 :]
        size = len(rows)
        return {
            "grid": rows,
            "row": row + 1,
            "column": column + 1,
            "hearts": state.hearts,
            "pebbles": state.pebbles,
            "torches": state.torches,
            "ember": "with you"
            if state.carried
            else f"at row {state.cave.ember[0] + 1}, column {state.cave.ember[1] + 1}",
            "beside": [f"{way}: {state.cave.signs[r][c]}" for way, (r, c) in neighbours(state.at, size, size)],
            "gauges": {"hearts": [state.hearts, 0, 3], "pebbles": [state.pebbles, 0, 4]},
        }


def _lit(state: State) -> Iterator[str]:
    row, column = state.at
    for r, line in enumerate(state.cave.signs):
        for c, signs in enumerate(line):
            if 0 < abs(r - row) + abs(c - column) <= 2:
                yield f"row {r + 1}, column {c + 1}: {signs}"


DYNAMICS = EmberCaves()
