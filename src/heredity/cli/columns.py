"""Tables as plain lines, which stay whole in a pipe and on a narrow screen."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence

LEAST_ROOM = 20
"""Fewer characters than these are no room for a text."""


def columns(
    heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None, most: int | None = None
) -> str:
    """Return a table: words to the left, numbers to the right; a column of numbers is one whose cells begin like numbers.

    The last column is broken between words where the table is wider than `width` characters: by default those of the
    terminal, and any number where there is none. No other column is broken, so what is copied from one is whole; with `most`,
    one that is longer in the last but one has what follows on the next line.
    """
    if width is None and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
    lines = [list(heads), *(part for row in rows for part in _on_lines(list(row), most))]
    lengths = [[len(cell) for cell in line] for line in lines]
    widths = [max(line[column] for line in lengths) for column in range(len(heads))]
    if most is not None:
        widths[-2] = max(line[-2] for line in lengths if line[-2] <= most)
    rows = lines[1:]
    right = [
        any(row[column] for row in rows) and all(row[column][:1] in "-±.0123456789" for row in rows)
        for column in range(len(heads))
    ]
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
