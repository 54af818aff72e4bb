"""What rules may call: pure functions over numbers, texts, lists (as tuples) and tables, each bounded in what it returns.

Cells are [row, column] from the top left; grids are lists of texts of equal length.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from heredity.worlds.dsl.bounded import MAX_LENGTH, RuleError, bounded_number, listed, shown, text_of, whole
from heredity.worlds.mechanics import grids


def number(value: Any) -> float:
    """Return a number of a text or a flag."""
    made = bounded_number(float(value))
    return int(made) if made.is_integer() else made


def numbers(low: int, high: int) -> tuple[int, ...]:
    """Return the whole numbers from `low` to `high`, both included."""
    if high - low >= MAX_LENGTH:
        raise RuleError(f"{shown(low)} to {shown(high)} are more than {MAX_LENGTH} numbers")
    return tuple(range(low, high + 1))


def below(count: int) -> tuple[int, ...]:
    """Return the whole numbers from 0 to below `count`."""
    return numbers(0, count - 1)


def pairs(one: Sequence[Any], other: Sequence[Any]) -> tuple[tuple[Any, Any], ...]:
    """Return what stands at the same place in two lists, together."""
    return listed(list(zip(one, other, strict=False)))


def numbered(values: Sequence[Any]) -> tuple[tuple[int, Any], ...]:
    """Return values with their places, from 0."""
    return listed(list(enumerate(values)))


def place(values: Sequence[Any], value: Any) -> int:
    """Return the first place of a value; -1 if it is not there."""
    return values.index(value) if value in values else -1


def slid(values: Any, by: int) -> Any:
    """Return a list or text whose last `by` come first."""
    by = by % len(values) if values else 0
    return values[len(values) - by :] + values[: len(values) - by]


def without(values: Sequence[Any], value: Any) -> tuple[Any, ...]:
    """Return a list without the first of a value."""
    at = place(values, value)
    return tuple(values) if at < 0 else (*values[:at], *values[at + 1 :])


def how_often(values: Sequence[Any], value: Any) -> int:
    """Return how often a value is in a list, or a character in a text."""
    return values.count(value)


def joined(values: Iterable[Any], between: str) -> str:
    """Return texts one after the other, with a text between."""
    try:
        return whole(between.join(values))
    except TypeError:
        return whole(between.join(map(text_of, values)))


def ordered(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values sorted, the least first."""
    return tuple(sorted(values))


def reverse(values: Any) -> Any:
    """Return a list or text backwards."""
    return values[::-1]


def total(values: Iterable[Any]) -> Any:
    """Return the sum of numbers."""
    return sum(values)


def least(*values: Any) -> Any:
    """Return the least of a list, or of the values given."""
    return min(*values)


def greatest(*values: Any) -> Any:
    """Return the greatest of a list, or of the values given."""
    return max(*values)


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def padded(text: str, width: int, filling: str) -> str:
    """Return a text filled up on its right."""
    return text.ljust(min(width, MAX_LENGTH), filling)


def reduced(above: int, under: int) -> tuple[int, int]:
    """Return a fraction in lowest terms, the sign above."""
    if under == 0:
        raise RuleError("a fraction over 0")
    divisor = math.gcd(above, under) * (1 if under > 0 else -1)
    return above // divisor, under // divisor


def turned(text: str, table: Mapping[str, str]) -> str:
    """Return a text with characters exchanged."""
    return "".join(table.get(character, character) for character in text)


# --- grids


def symbols(lines: Sequence[Sequence[Any]], table: Mapping[Any, str], other: str) -> tuple[str, ...]:
    """Return a grid in which every value of some lists stands as its symbol, those not in the table as another."""
    return tuple(whole("".join([table.get(value, other) for value in line])) for line in lines)


def step(cell: Sequence[int], direction: str, by: int = 1) -> tuple[int, int]:
    """Return the cell one step away, or several."""
    down, right = grids.DIRECTIONS[direction]
    return cell[0] + by * down, cell[1] + by * right


def symbol(grid: Sequence[Any], cell: Sequence[int], beyond: Any) -> Any:
    """Return what stands in a cell of a grid; `beyond` off the grid."""
    row, column = cell
    return grid[row][column] if 0 <= row < len(grid) and 0 <= column < len(grid[row]) else beyond


def window(grid: Sequence[str], cell: Sequence[int], radius: int, beyond: str) -> tuple[str, ...]:
    """Return the square around a cell, 2 `radius` + 1 wide."""
    return tuple(grids.window(grid, (cell[0], cell[1]), min(radius, 20), beyond))


def drawn(grid: Sequence[str], cell: Sequence[int], mark: str) -> Sequence[str]:
    """Return a grid with another symbol in a cell; the grid itself where the cell is off it."""
    row, column = cell
    if not 0 <= row < len(grid) or not 0 <= column < len(grid[row]):
        return grid
    if len(mark) != 1:
        raise RuleError(f"{shown(mark)} is no single character")
    line = grid[row]
    return (*grid[:row], line[:column] + mark + line[column + 1 :], *grid[row + 1 :])


def cells(grid: Sequence[str], symbols: str) -> tuple[tuple[int, int], ...]:
    """Return where any of some symbols stands, row by row."""
    return tuple((r, c) for r, row in enumerate(grid) for c, s in enumerate(row) if s in symbols)


def beside(cell: Sequence[int], rows: int, columns: int) -> tuple[tuple[str, tuple[int, int]], ...]:
    """Return the directions in which there is a neighbour, each with it."""
    return tuple(grids.neighbours((cell[0], cell[1]), rows, columns))


def way(grid: Sequence[str], start: Sequence[int], goal: Sequence[int], free: str) -> tuple[str, ...] | None:
    """Return the directions of a shortest path over some symbols; None if there is none."""

    def enters(cell: grids.Cell) -> bool:
        there = symbol(grid, cell, "")
        return there != "" and there in free

    path = grids.shortest_path((start[0], start[1]), (goal[0], goal[1]), enters)
    return None if path is None else tuple(path)


def distances(grid: Sequence[str], start: Sequence[int], free: str) -> Mapping[tuple[int, int], int]:
    """Return how many steps every cell is away that can be reached over some symbols."""
    first = (start[0], start[1])
    far, queue = {first: 0}, deque([first])
    while queue:
        cell = queue.popleft()
        for _, other in grids.neighbours(cell, len(grid), len(grid[0])):
            if other not in far and grid[other[0]][other[1]] in free:
                far[other] = far[cell] + 1
                queue.append(other)
    return far


# --- ways and couples


def route(moves: Mapping[Any, Mapping[Any, Any]], start: Any, goals: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the names of a shortest chain of moves to one of some goals; None if there is none.

    Args:
        moves: what leads where from each place, by name.
        start: a place.
        goals: places.
    """
    before: dict[Any, tuple[Any, Any]] = {start: (None, None)}
    queue, wanted = deque([start]), frozenset(goals)
    while queue:
        at = queue.popleft()
        if at in wanted:
            names: list[Any] = []
            while before[at][1] is not None:
                at, name = before[at]
                names.append(name)
            return tuple(reversed(names))
        for name, other in moves.get(at, {}).items():
            if other not in before:
                before[other] = (at, name)
                queue.append(other)
    return None


def couples(worths: Sequence[Sequence[float]]) -> tuple[tuple[int, int], ...]:
    """Return the couples of greatest sum in which everybody is once at most.

    Args:
        worths: what each with each is worth, row by row; those worth nothing stay apart.
    """
    best: list[tuple[float, tuple[tuple[int, int], ...]]] = [(0, ())]
    for left in range(1, 1 << len(worths)):
        one = left.bit_length() - 1
        rest = left ^ (1 << one)
        top = best[rest]
        for other in range(one):
            if rest >> other & 1 and worths[other][one] > 0:
                total, chosen = best[rest ^ (1 << other)]
                if total + worths[other][one] > top[0]:
                    top = (total + worths[other][one], (*chosen, (other, one)))
        best.append(top)
    return best[-1][1]


DOUBLING = frozenset({"couples"})
"""Functions that do twice as much for each entry of their list: it is counted."""

LONG = frozenset(
    {
        "joined",
        "ordered",
        "total",
        "window",
        "symbols",
        "cells",
        "way",
        "distances",
        "turned",
        "pairs",
        "numbered",
        "without",
        "route",
        "how_often",
    }
)
"""Functions whose time grows with what they are given: it is counted."""

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        *(
            number,
            numbers,
            below,
            pairs,
            numbered,
            place,
            slid,
            without,
            joined,
            ordered,
            reverse,
            total,
            least,
            greatest,
        ),
        *(capital, padded, reduced, turned, symbols, step, symbol, window, drawn, cells, beside, way, distances),
        *(how_often, route, couples, abs, len, round, any, all),
    )
}
