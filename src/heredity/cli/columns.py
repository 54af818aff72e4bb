"""Tables as plain lines, which stay whole in a pipe and on a narrow screen."""

from __future__ import annotations

from collections.abc import Sequence


def columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table: words to the left, numbers to the right; a column of numbers is one whose cells begin like numbers."""
    lines = [list(heads), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    right = [
        any(row[column] for row in rows) and all(row[column][:1] in "-±.0123456789" for row in rows)
        for column in range(len(heads))
    ]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    )
