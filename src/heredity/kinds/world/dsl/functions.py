"""Built-in functions of rules: pure functions over numbers, texts, lists (as tuples) and tables, with bounded results.

Cells are [row, column] from the top left; grids are lists of texts of equal length.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from heredity.kinds.world.dsl.bounded import MAX_LENGTH, RuleError, bounded_number, listed, text_of, value_text, whole
from heredity.kinds.world.mechanics import grids


def number(value: Any) -> float:
    """Convert a text or a flag to a number."""
    made = bounded_number(float(value))
    return int(made) if made.is_integer() else made


def numbers(low: int, high: int) -> tuple[int, ...]:
    """Return the integers from `low` to `high`, both included."""
    if high - low >= MAX_LENGTH:
        raise RuleError(f"{value_text(low)} to {value_text(high)} are more than {MAX_LENGTH} numbers")
    return tuple(range(low, high + 1))


def below(count: int) -> tuple[int, ...]:
    """Return the integers from 0 to `count` - 1."""
    return numbers(0, count - 1)


def pairs(one: Sequence[Any], other: Sequence[Any]) -> tuple[tuple[Any, Any], ...]:
    """Return the pairs of values at the same index in two lists."""
    return listed(list(zip(one, other, strict=False)))


def numbered(values: Sequence[Any]) -> tuple[tuple[int, Any], ...]:
    """Return values with their indices, from 0."""
    return listed(list(enumerate(values)))


def place(values: Sequence[Any], value: Any) -> int:
    """Return the first index of a value; -1 if it is missing."""
    return values.index(value) if value in values else -1


def slid(values: Any, by: int) -> Any:
    """Return a list or text rotated right by `by`."""
    by = by % len(values) if values else 0
    return values[len(values) - by :] + values[: len(values) - by]


def without(values: Sequence[Any], value: Any) -> tuple[Any, ...]:
    """Return a list without the first occurrence of a value."""
    at = place(values, value)
    return tuple(values) if at < 0 else (*values[:at], *values[at + 1 :])


def how_often(values: Sequence[Any], value: Any) -> int:
    """Return the number of occurrences of a value in a list, or of a character in a text."""
    return values.count(value)


def joined(values: Iterable[Any], between: str) -> str:
    """Join texts with a separator."""
    try:
        return whole(between.join(values))
    except TypeError:
        return whole(between.join(map(text_of, values)))


def ordered(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values sorted in ascending order."""
    return tuple(sorted(values))


def reverse(values: Any) -> Any:
    """Return a list or text backwards."""
    return values[::-1]


def total(values: Iterable[Any]) -> Any:
    """Return the sum of numbers."""
    return sum(values)


def least(*values: Any) -> Any:
    """Return the least of a list, or of the arguments."""
    return min(*values)


def greatest(*values: Any) -> Any:
    """Return the greatest of a list, or of the arguments."""
    return max(*values)


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def padded(text: str, width: int, filling: str) -> str:
    """Return a text padded on its right."""
    return text.ljust(min(width, MAX_LENGTH), filling)


def reduced(above: int, under: int) -> tuple[int, int]:
    """Return a fraction in lowest terms, the sign in the numerator."""
    if under == 0:
        raise RuleError("a fraction over 0")
    divisor = math.gcd(above, under) * (1 if under > 0 else -1)
    return above // divisor, under // divisor


def turned(text: str, table: Mapping[str, str]) -> str:
    """Return a text with characters replaced by a table."""
    return "".join(table.get(character, character) for character in text)


# --- grids


def symbols(lines: Sequence[Sequence[Any]], table: Mapping[Any, str], other: str) -> tuple[str, ...]:
    """Return a grid of the symbols of values in a list of lists; values not in the table get `other`."""
    return tuple(whole("".join([table.get(value, other) for value in line])) for line in lines)


def step(cell: Sequence[int], direction: str, by: int = 1) -> tuple[int, int]:
    """Return the cell one step away, or several."""
    down, right = grids.DIRECTIONS[direction]
    return cell[0] + by * down, cell[1] + by * right


def symbol(grid: Sequence[Any], cell: Sequence[int], beyond: Any) -> Any:
    """Return the symbol in a cell of a grid; `beyond` off the grid."""
    row, column = cell
    return grid[row][column] if 0 <= row < len(grid) and 0 <= column < len(grid[row]) else beyond


def window(grid: Sequence[str], cell: Sequence[int], radius: int, beyond: str) -> tuple[str, ...]:
    """Return the square around a cell, 2 `radius` + 1 wide."""
    return tuple(grids.window(grid, (cell[0], cell[1]), min(radius, 20), beyond))


def drawn(grid: Sequence[str], cell: Sequence[int], mark: str) -> Sequence[str]:
    """Return a grid with another symbol in a cell; the grid itself if the cell is off it."""
    row, column = cell
    if not 0 <= row < len(grid) or not 0 <= column < len(grid[row]):
        return grid
    if len(mark) != 1:
        raise RuleError(f"{value_text(mark)} is not a single character")
    line = grid[row]
    return (*grid[:row], line[:column] + mark + line[column + 1 :], *grid[row + 1 :])


def cells(grid: Sequence[str], symbols: str) -> tuple[tuple[int, int], ...]:
    """Return the cells with any of some symbols, row by row."""
    return tuple((r, c) for r, row in enumerate(grid) for c, s in enumerate(row) if s in symbols)


def beside(cell: Sequence[int], rows: int, columns: int) -> tuple[tuple[str, tuple[int, int]], ...]:
    """Return the directions to neighbouring cells, each with its cell."""
    return tuple(grids.neighbours((cell[0], cell[1]), rows, columns))


def way(grid: Sequence[str], start: Sequence[int], goal: Sequence[int], free: str) -> tuple[str, ...] | None:
    """Return the directions of a shortest path over some symbols; None if there is none."""

    def enters(cell: grids.Cell) -> bool:
        there = symbol(grid, cell, "")
        return there != "" and there in free

    path = grids.shortest_path((start[0], start[1]), (goal[0], goal[1]), enters)
    return None if path is None else tuple(path)


def distances(grid: Sequence[str], start: Sequence[int], free: str) -> Mapping[tuple[int, int], int]:
    """Return the distance of every cell that can be reached over some symbols."""
    first = (start[0], start[1])
    far, queue = {first: 0}, deque([first])
    while queue:
        cell = queue.popleft()
        for _, other in grids.neighbours(cell, len(grid), len(grid[0])):
            if other not in far and grid[other[0]][other[1]] in free:
                far[other] = far[cell] + 1
                queue.append(other)
    return far


# --- paths and matchings


def route(moves: Mapping[Any, Mapping[Any, Any]], start: Any, goals: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the names of the moves on a shortest path to one of some goals; None if there is none.

    Args:
        moves: the moves from each place: name to destination.
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
    """Return the matching with the greatest sum; everybody is in at most one pair.

    Args:
        worths: value of each pair, row by row; pairs worth nothing stay apart.
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
"""Functions whose cost doubles with each entry of their list; they are charged for it."""

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
"""Functions whose time grows with their input; they are charged for it."""

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
