"""Plain-text tables that remain readable in pipes and on narrow screens."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence

LEAST_ROOM = 20
"""Minimum width of a text column, in characters."""


def columns(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int | None = None,
    most: int | None = None,
    less: Sequence[str] = (),
) -> str:
    """Format a table. A column whose cells begin like numbers is right-aligned, any other left-aligned.

    If the table is wider than `width`, the last column wraps between words. The default width is the terminal's, or
    unlimited without a terminal. No other column wraps, so copied cells are whole. With `most`, a longer cell of the
    last
    column but one pushes the rest of its row onto the next line. If the table is still too wide, the columns in `less`
    are
    left out, in that order, and listed below. As a last resort each row becomes a block with one value per line.
    """
    width = width or _terminal()
    left_out: list[str] = []
    while width is not None and len(left_out) < len(less) and _extent(heads, rows) > width:
        left_out.append(less[len(left_out)])
        position = heads.index(left_out[-1])
        heads, *rows = [[*line[:position], *line[position + 1 :]] for line in (heads, *rows)]
    table = _blocks(heads, rows, width) if _too_wide(heads, rows, width, most) else _table(heads, rows, width, most)
    if not left_out or width is None:
        return table
    note = f"(too narrow for: {', '.join(left_out)})"
    return f"{table}\n{textwrap.fill(note, max(width, LEAST_ROOM), break_long_words=False)}"


def wrapped(text: str) -> str:
    """Wrap a text between words at the terminal's width; without a terminal, return one line."""
    width = _terminal()
    return text if width is None else textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def _terminal() -> int | None:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _extent(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the width of a table without line breaks."""
    return sum(max(len(line[column]) for line in (heads, *rows)) for column in range(len(heads))) + 2 * (len(heads) - 1)


def _too_wide(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None, most: int | None) -> bool:
    """Report whether a table is too wide even if its last column wraps, which only a column of words does."""
    if width is None or not rows:
        return False
    lines = [heads, *rows]
    lengths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    if most is not None:
        lengths[-2] = min(lengths[-2], most)
    words = max(len(word) for line in lines for word in line[-1].split() or [""])
    last = lengths[-1] if _numbers(rows, len(heads) - 1) else min(lengths[-1], max(LEAST_ROOM, words))
    return sum(lengths[:-1]) + 2 * (len(heads) - 1) + last > width


def _numbers(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Report whether the cells of a column begin like numbers."""
    return any(row[column] for row in rows) and all(row[column][:1] in "-±.0123456789" for row in rows)


def _blocks(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> str:
    """Format each row as a block: its first cell, then one line for each other cell that is not empty."""
    assert width is not None
    lines: list[str] = []
    for row in rows:
        lines.append(row[0])
        for head, cell in zip(heads[1:], row[1:], strict=True):
            line = f"  {head}: {cell}" if head else f"  {cell}"
            lines += (
                textwrap.wrap(
                    line,
                    max(width, LEAST_ROOM),
                    subsequent_indent="    ",
                    break_long_words=False,
                    break_on_hyphens=False,
                )
                if cell
                else []
            )
    return "\n".join(lines)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None, most: int | None) -> str:
    lines = [list(heads), *(part for row in rows for part in _on_lines(list(row), most))]
    lengths = [[len(cell) for cell in line] for line in lines]
    widths = [max(line[column] for line in lengths) for column in range(len(heads))]
    if most is not None:
        widths[-2] = max(line[-2] for line in lengths if line[-2] <= most)
    rows = lines[1:]
    right = [_numbers(rows, column) for column in range(len(heads))]
    indent = sum(widths[:-1]) + 2 * (len(heads) - 1)
    room = max(widths) if width is None or right[-1] else max(LEAST_ROOM, width - indent)
    broken = [textwrap.wrap(line[-1], room, break_long_words=False, break_on_hyphens=False) or [""] for line in lines]
    lines = [[*line[:-1], texts[0]] for line, texts in zip(lines, broken, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, right, strict=True)
        ).rstrip()
        + "".join(f"\n{' ' * indent}{text}" for text in texts[1:])
        for line, texts in zip(lines, broken, strict=True)
    )


def _on_lines(row: list[str], most: int | None) -> list[list[str]]:
    if most is None or len(row[-2]) <= most:
        return [row]
    return [[*row[:-1], ""], [*[""] * (len(row) - 1), row[-1]]]
