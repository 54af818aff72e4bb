"""The rules of `quantum_doors`.

Doors come in entangled families. A family is undecided until one of its doors is observed. It then takes the observer's
spin, and all its doors are settled: each is open under one (hidden) spin and shut under the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import DIRECTIONS, Cell, cells_of, moved, window

RADIUS = 2
UNDECIDED = -1
SPINS = ("down", "up")
_WORDS = {"?": "undecided", "/": "open", "=": "shut"}


class Door(NamedTuple):
    """A door: its letter, the place of its family in `Now.settled`, and the spin under which it is open."""

    letter: str
    family: int
    opens: int


@dataclass(frozen=True, slots=True)
class Maze:
    """Immutable part of the state: the plan, its doors, the cells of turning plates, and the exit."""

    plan: tuple[str, ...]
    doors: dict[Cell, Door]
    plates: frozenset[Cell]
    out: Cell


class Now(NamedTuple):
    """Mutable part of the state: position of the walker, its spin, the settled spin of each family, and the blurs left."""

    at: Cell
    spin: int
    settled: tuple[int, ...]
    blurs: int


@dataclass(slots=True)
class State:
    """A maze, and its current state."""

    maze: Maze
    now: Now

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; the maze is shared."""
        return State(self.maze, self.now)


def read_level(level: LevelData) -> State:
    """Return the initial state of a level."""
    plan: tuple[str, ...] = tuple(level["plan"])
    letters = sorted({plan[r][c] for r, c, _ in level["doors"]})
    doors = {(r, c): Door(plan[r][c], letters.index(plan[r][c]), opens) for r, c, opens in level["doors"]}
    maze = Maze(plan, doors, frozenset(cells_of(plan, "%")), cells_of(plan, "E")[0])
    return State(
        maze, Now((level["at"][0], level["at"][1]), level["spin"], (UNDECIDED,) * len(letters), level["blurs"])
    )


def after(maze: Maze, now: Now, verb: str, direction: str) -> Now:
    """Return the state after an action.

    Raises:
        RefusedError: if the action is impossible.
    """
    cell = moved(now.at, direction)
    door = maze.doors.get(cell)
    if verb == "move":
        return _walk(maze, now, cell, door, direction)
    if door is None:
        raise RefusedError(f"There is no door to the {direction}.")
    settled = now.settled[door.family]
    if verb == "look":
        if settled != UNDECIDED:
            raise RefusedError(f"Door {door.letter} is settled already.")
        return now._replace(settled=_with(now.settled, door.family, now.spin))
    if settled == UNDECIDED:
        raise RefusedError(f"Door {door.letter} is undecided as it is.")
    if not now.blurs:
        raise RefusedError("You have no blur left.")
    return now._replace(settled=_with(now.settled, door.family, UNDECIDED), blurs=now.blurs - 1)


def _walk(maze: Maze, now: Now, cell: Cell, door: Door | None, direction: str) -> Now:
    if maze.plan[cell[0]][cell[1]] == "#":
        raise RefusedError("A wall stops you.")
    if door is not None:
        settled = now.settled[door.family]
        if settled == UNDECIDED:
            raise RefusedError(f"Door {door.letter} is open and shut at once; nobody gets through until it is settled.")
        if settled != door.opens:
            raise RefusedError(f"Door {door.letter} is shut.")
    at = moved(cell, direction)
    return now._replace(at=at, spin=1 - now.spin if at in maze.plates else now.spin)


def _with(values: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    return (*values[:index], value, *values[index + 1 :])


class QuantumDoors(Dynamics[State]):
    """A maze of rooms with entangled doors in some passages."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        return read_level(level)

    def act(self, state: State, action: Action) -> Outcome:
        """Walk, look at a door, or blur one."""
        verb, direction = action.name, action.params["direction"]
        before, now = state.now, after(state.maze, state.now, verb, direction)
        state.now = now
        if now.at == state.maze.out:
            return Outcome(1.0, done=True, message="You step out into the daylight.")
        if verb == "move":
            turned = now.spin != before.spin
            return Outcome(message=f"The plate in the floor turns your spin {SPINS[now.spin]}." if turned else "")
        door = state.maze.doors[moved(now.at, direction)]
        if verb == "blur":
            return Outcome(message=f"Door {door.letter} shimmers again, and so do all doors marked {door.letter}.")
        fell = "open" if now.spin == door.opens else "shut"
        return Outcome(message=f"Door {door.letter} settles: {fell}. Elsewhere, other hinges answer.")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the rooms around, and the four sides."""
        maze, now = state.maze, state.now
        rows = [list(row) for row in window(maze.plan, now.at, RADIUS)]
        top, left = now.at[0] - RADIUS, now.at[1] - RADIUS
        for (r, c), door in maze.doors.items():
            if 0 <= r - top <= 2 * RADIUS and 0 <= c - left <= 2 * RADIUS:
                rows[r - top][c - left] = _symbol(door, now)
        rows[RADIUS][RADIUS] = "@"
        sides = ", ".join([f"{d}: {_side(maze, now, moved(now.at, d))}" for d in DIRECTIONS])
        return {
            "grid": ["".join(row) for row in rows],
            "sides": sides,
            "room": f"row {now.at[0] // 2 + 1}, column {now.at[1] // 2 + 1}",
            "out": f"row {maze.out[0] // 2 + 1}, column {maze.out[1] // 2 + 1}",
            "spin": SPINS[now.spin],
            "blurs": now.blurs,
        }


def _symbol(door: Door, now: Now) -> str:
    settled = now.settled[door.family]
    return "?" if settled == UNDECIDED else "/" if settled == door.opens else "="


def _side(maze: Maze, now: Now, cell: Cell) -> str:
    door = maze.doors.get(cell)
    if door is None:
        return "wall" if maze.plan[cell[0]][cell[1]] == "#" else "way"
    return f"door {door.letter} ({_WORDS[_symbol(door, now)]})"


DYNAMICS = QuantumDoors()
