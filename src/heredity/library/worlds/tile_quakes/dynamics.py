"""The rules of `tile_quakes`.

A sliding puzzle with a disordered goal. Every few steps a quake rotates one row by a cell, and a few times the next
quake can be called early. A tile pays its value when it first rests in its goal cell; the whole pattern ends the
episode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import DIRECTIONS

SIZE = 3
PRIZE = 10
Board = tuple[int, ...]
"""Nine numbers, row by row; 0 is the gap."""


@dataclass(frozen=True, slots=True)
class Puzzle:
    """Immutable part of the state: the wanted pattern, the values of tiles, and the cycle of quakes.

    Attributes:
        goal: the wanted pattern.
        worth: values of the tiles 1 to 8.
        period: steps from quake to quake.
        quakes: row and shift (1 right, -1 left) of each quake; they repeat in a cycle.
        steps: the horizon.
    """

    goal: Board
    worth: tuple[int, ...]
    period: int
    quakes: tuple[tuple[int, int], ...]
    steps: int

    @property
    def round(self) -> int:
        """Steps until the cycle of quakes repeats."""
        return self.period * len(self.quakes)


class Now(NamedTuple):
    """State that determines movement: the board, the position in the cycle of quakes, and the jolts left."""

    board: Board
    phase: int
    jolts: int


@dataclass(slots=True)
class State:
    """A puzzle, its current state, the tiles that have paid, and the steps taken."""

    puzzle: Puzzle
    now: Now
    paid: tuple[bool, ...]
    t: int

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; the puzzle is shared."""
        return State(self.puzzle, self.now, self.paid, self.t)


def read_level(level: LevelData) -> State:
    """Return the initial state of a level; tiles that are in place, or get there by quakes alone, pay nothing."""
    quakes = tuple((row, shift) for row, shift in level["quakes"])
    puzzle = Puzzle(tuple(level["goal"]), tuple(level["worth"]), level["period"], quakes, level["steps"])
    board = tuple(level["board"])
    now = Now(board, 0, level["jolts"])
    paid, waiting = tuple(map(int.__eq__, board, puzzle.goal)), now
    for _ in range(puzzle.steps):
        waiting = passed(puzzle, waiting)
        paid = tuple(map(bool.__or__, paid, map(int.__eq__, waiting.board, puzzle.goal)))
    return State(puzzle, now, paid, 0)


def slid(board: Board, direction: str) -> Board | None:
    """Return the board after a tile slid in a direction into the gap; None without such a tile."""
    gap = board.index(0)
    down, right = DIRECTIONS[direction]
    row, column = gap // SIZE - down, gap % SIZE - right
    if not (0 <= row < SIZE and 0 <= column < SIZE):
        return None
    cells, tile = list(board), row * SIZE + column
    cells[gap], cells[tile] = cells[tile], 0
    return tuple(cells)


def turned(board: Board, row: int, shift: int) -> Board:
    """Return the board after a row rotated by one cell."""
    cells = board[row * SIZE : (row + 1) * SIZE]
    return board[: row * SIZE] + cells[-shift:] + cells[:-shift] + board[(row + 1) * SIZE :]


def next_quake(puzzle: Puzzle, phase: int) -> tuple[int, int]:
    """Return row and shift of the next quake."""
    return puzzle.quakes[phase // puzzle.period]


def moved(puzzle: Puzzle, now: Now, verb: str, direction: str = "") -> Now:
    """Return the state after an action, before time passes.

    Raises:
        RefusedError: if the action is impossible.
    """
    if verb == "wait":
        return now
    if verb == "jolt":
        if not now.jolts:
            raise RefusedError("No jolt is left.")
        return now._replace(board=turned(now.board, *next_quake(puzzle, now.phase)), jolts=now.jolts - 1)
    board = slid(now.board, direction)
    if board is None:
        raise RefusedError(f"No tile can slide {direction} into the gap.")
    return now._replace(board=board)


def passed(puzzle: Puzzle, now: Now) -> Now:
    """Return the state after one time step, with a quake if it is due."""
    phase = now.phase + 1
    board = now.board if phase % puzzle.period else turned(now.board, *next_quake(puzzle, now.phase))
    return Now(board, phase % puzzle.round, now.jolts)


class TileQuakes(Dynamics[State]):
    """A sliding puzzle on shaking ground."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        return read_level(level)

    def act(self, state: State, action: Action) -> Outcome:
        """Slide a tile, call a quake, or wait; then pay for tiles in place for the first time."""
        puzzle = state.puzzle
        done = moved(puzzle, state.now, action.name, action.params.get("direction", ""))
        jolt = f"Jolt: {_quake(next_quake(puzzle, state.now.phase))}. " if action.name == "jolt" else ""
        shaken = jolt + _shakes(state)
        state.now = passed(puzzle, done)
        state.t += 1
        in_place = tuple(map(int.__eq__, state.now.board, puzzle.goal))
        fresh = sorted(
            tile
            for tile, right, paid in zip(puzzle.goal, in_place, state.paid, strict=True)
            if right and not paid and tile
        )
        state.paid = tuple(map(bool.__or__, state.paid, in_place))
        pay = sum(puzzle.worth[tile - 1] for tile in fresh)
        message = shaken + "".join(f" Tile {tile} is in place: {puzzle.worth[tile - 1]}." for tile in fresh)
        if all(in_place):
            prize = PRIZE + puzzle.steps - state.t
            return Outcome(float(pay + prize), done=True, message=f"{message} The pattern is whole: {prize}.".strip())
        return Outcome(float(pay), message=message.strip())

    def refuse(self, state: State) -> Outcome:
        """Let time pass and the quake come; tiles it puts in place pay at the end of the next action if still there."""
        message = _shakes(state)
        state.now = passed(state.puzzle, state.now)
        state.t += 1
        return Outcome(message=message)

    def observe(self, state: State) -> dict[str, Any]:
        """Show both patterns, the values of tiles, and the next quake."""
        puzzle, now = state.puzzle, state.now
        open_ = [t for t, paid in zip(puzzle.goal, state.paid, strict=True) if t and not paid]
        to_come = puzzle.quakes[now.phase // puzzle.period :] + puzzle.quakes[: now.phase // puzzle.period]
        return {
            "grid": _rows(now.board),
            "goal": _rows(puzzle.goal),
            "worth": ", ".join([f"{tile} pays {puzzle.worth[tile - 1]}" for tile in sorted(open_)]) or "none",
            "due": puzzle.period - now.phase % puzzle.period,
            "quakes": ", then ".join([_quake(quake) for quake in to_come]),
            "period": puzzle.period,
            "jolts": now.jolts,
        }


def _shakes(state: State) -> str:
    due = (state.now.phase + 1) % state.puzzle.period == 0
    return f"Quake: {_quake(next_quake(state.puzzle, state.now.phase))}." if due else ""


def _quake(quake: tuple[int, int]) -> str:
    return f"row {quake[0] + 1} turns {'right' if quake[1] > 0 else 'left'}"


def _rows(board: Board) -> list[str]:
    text = "".join(map(str, board)).replace("0", ".")
    return [text[i : i + SIZE] for i in range(0, SIZE * SIZE, SIZE)]


DYNAMICS = TileQuakes()
