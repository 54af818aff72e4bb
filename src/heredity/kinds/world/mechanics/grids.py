"""Grids of single characters: directions, neighbours, shortest paths, and mazes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

Cell = tuple[int, int]
"""(row, column), from the top left."""

DIRECTIONS: Mapping[str, Cell] = {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}


def moved(cell: Cell, direction: str) -> Cell:
    """Return the cell one step away."""
    step = DIRECTIONS[direction]
    return cell[0] + step[0], cell[1] + step[1]


def inside(cell: Cell, rows: int, columns: int) -> bool:
    """Return True if a cell is on the grid."""
    return 0 <= cell[0] < rows and 0 <= cell[1] < columns


def neighbours(cell: Cell, rows: int, columns: int) -> Iterator[tuple[str, Cell]]:
    """Yield the directions to neighbouring cells, each with its cell."""
    for direction in DIRECTIONS:
        other = moved(cell, direction)
        if inside(other, rows, columns):
            yield direction, other


def shortest_path(start: Cell, goal: Cell, free: Callable[[Cell], bool]) -> list[str] | None:
    """Return the directions of a shortest path over free cells (None if there is none).

    Args:
        start: the first cell.
        goal: the last cell.
        free: returns True if a cell may be entered; it must return False off the grid.
    """
    before: dict[Cell, tuple[Cell, str]] = {}
    queue, seen = deque([start]), {start}
    while queue:
        cell = queue.popleft()
        if cell == goal:
            path: list[str] = []
            while cell != start:
                cell, direction = before[cell]
                path.append(direction)
            return path[::-1]
        for direction in DIRECTIONS:
            other = moved(cell, direction)
            if other not in seen and free(other):
                seen.add(other)
                before[other] = (cell, direction)
                queue.append(other)
    return None


def maze(rng: np.random.Generator, rows: int, columns: int, loops: float = 0.1) -> list[str]:
    """Return a maze of `#` and `.` with walls around it, in which all free cells are connected.

    Args:
        rng: the only source of chance.
        rows: odd, 5 or more.
        columns: odd, 5 or more.
        loops: share of the inner walls that are opened afterwards, to create several paths.
    """
    grid = [["#"] * columns for _ in range(rows)]
    stack: list[Cell] = [(1, 1)]
    grid[1][1] = "."
    while stack:
        row, column = stack[-1]
        ways = [
            (row + 2 * dr, column + 2 * dc, row + dr, column + dc)
            for dr, dc in DIRECTIONS.values()
            if 0 < row + 2 * dr < rows - 1
            and 0 < column + 2 * dc < columns - 1
            and grid[row + 2 * dr][column + 2 * dc] == "#"
        ]
        if not ways:
            stack.pop()
            continue
        next_row, next_column, wall_row, wall_column = ways[int(rng.integers(len(ways)))]
        grid[wall_row][wall_column] = grid[next_row][next_column] = "."
        stack.append((next_row, next_column))
    inner = [(r, c) for r in range(1, rows - 1) for c in range(1, columns - 1) if grid[r][c] == "#" and (r + c) % 2]
    for index in rng.permutation(len(inner))[: int(loops * len(inner))]:
        row, column = inner[int(index)]
        grid[row][column] = "."
    return ["".join(row) for row in grid]


def cells_of(grid: Sequence[str], symbol: str) -> list[Cell]:
    """Return the cells with a symbol, row by row."""
    return [(r, c) for r, row in enumerate(grid) for c, s in enumerate(row) if s == symbol]


def window(grid: Sequence[str], centre: Cell, radius: int, beyond: str = " ") -> list[str]:
    """Return the square around a cell, `2 * radius + 1` wide; cells off the grid are shown as `beyond`."""
    (row, column), width = centre, 2 * radius + 1
    blank = beyond * width
    before = beyond * max(0, radius - column)
    first = max(0, column - radius)
    seen: list[str] = []
    for r in range(row - radius, row + radius + 1):
        line = grid[r][first : max(0, column + radius + 1)] if 0 <= r < len(grid) else ""
        seen.append((before + line + blank)[:width])
    return seen
