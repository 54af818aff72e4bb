"""Progress on stderr: bars and spinners in a terminal, otherwise an occasional line."""

from __future__ import annotations

import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

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
    last column but one pushes the rest of its row onto the next line. If the table is still too wide, the columns in
    `less` are left out, in that order, and listed below. As a last resort each row becomes a block with one value per
    line.
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


_SILENT_S = 6.0
"""Seconds between heartbeats. With Python's start-up on a busy machine, the first comes within ten."""
_QUIET = threading.Event()
"""Set while a command runs with progress turned off."""
_ACTIVITIES: list[Callable[[], str]] = []
"""Current activities, innermost last. Each returns its status line, or `""` if something else displays it."""


@contextmanager
def heartbeat(name: str, *, quiet: bool = False) -> Generator[None]:
    """Print a status line every few seconds, so that no command is silent for long.

    Args:
        name: the command's name, for commands without an activity.
        quiet: print nothing.
    """
    ended, started = threading.Event(), time.monotonic()

    def say() -> None:
        while not ended.wait(_SILENT_S):
            if line := _ACTIVITIES[-1]() if _ACTIVITIES else f"{name}: at work, {_elapsed(started)}":
                sys.stderr.write(line + "\n")
                sys.stderr.flush()

    if quiet:
        _QUIET.set()
        try:
            yield
        finally:
            _QUIET.clear()
        return
    speaker = threading.Thread(target=say, daemon=True)
    speaker.start()
    try:
        yield
    finally:
        ended.set()
        speaker.join(timeout=1.0)


@contextmanager
def activity(line: Callable[[], str] = lambda: "") -> Generator[None]:
    """Set the status line of the heartbeat.

    Args:
        line: returns the line. By default nothing is printed: the activity displays progress itself, or waits for
            requests.
    """
    _ACTIVITIES.append(line)
    try:
        yield
    finally:
        _ACTIVITIES.remove(line)


def ask_person(question: str, default: str = "") -> str:
    """Ask a person and return the answer; the heartbeat pauses meanwhile."""
    import typer

    with activity():
        return typer.prompt(question, default=default, show_default=bool(default), err=True)


@contextmanager
def working(what: str) -> Generator[None]:
    """Show an activity and its elapsed time: a spinner in a terminal, otherwise lines."""
    started = time.monotonic()
    if not _in_terminal():
        with activity(lambda: f"{what}, {_elapsed(started)}"):
            yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with activity(), Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(what, total=None)
        yield


@contextmanager
def bar(what: str, total: int) -> Generator[Callable[[], None]]:
    """Show a progress bar; call the yielded function once for each finished part."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    done, started, watched = [0], time.monotonic(), _in_terminal()
    columns = (
        TextColumn("{task.description}", table_column=Column()),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not watched, expand=True) as progress:
        task = progress.add_task(what, total=total)

        def advance() -> None:
            done[0] += 1
            progress.advance(task)

        with activity(lambda: "" if watched else f"{what}: {done[0]} of {total}, {_elapsed(started)}"):
            yield advance


def _in_terminal() -> bool:
    return sys.stderr.isatty() and not _QUIET.is_set()


def _elapsed(started: float) -> str:
    return f"{time.monotonic() - started:.0f} s"
