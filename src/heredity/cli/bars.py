"""What takes long says so on stderr: bars and spinners in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

_SILENT_S = 6.0
"""Seconds without a word. With the start of Python on a busy machine they stay under ten."""
_QUIET = threading.Event()
"""Set while a command runs that was told to show no progress."""
_ACTIVITIES: list[Callable[[], str]] = []
"""What is going on, the innermost last: each gives the line that says so, `""` where something else shows it."""


@contextmanager
def heartbeat(name: str, *, quiet: bool = False) -> Generator[None]:
    """Say every few seconds what a command is at, so that none is silent for long.

    Args:
        name: the command's, for what has no activity of its own.
        quiet: say nothing.
    """
    ended, started = threading.Event(), time.monotonic()

    def say() -> None:
        while not ended.wait(_SILENT_S):
            if line := _ACTIVITIES[-1]() if _ACTIVITIES else f"{name}: at work, {_since(started)}":
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
    """Name what is going on for the heartbeat.

    Args:
        line: gives what it says; without one, nothing: for what shows itself how far it is, or waits to be used.
    """
    _ACTIVITIES.append(line)
    try:
        yield
    finally:
        _ACTIVITIES.remove(line)


def ask_person(question: str, default: str = "") -> str:
    """Return what a person answers, without a word until then."""
    import typer

    with activity():
        return typer.prompt(question, default=default, show_default=bool(default), err=True)


@contextmanager
def working(what: str) -> Generator[None]:
    """Say what is being done while it takes, and for how long: a spinner in a terminal, lines elsewhere."""
    started = time.monotonic()
    if not _watched():
        with activity(lambda: f"{what}, {_since(started)}"):
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
    """Show how far something is; call what this gives once for each part that is done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    done, started, watched = [0], time.monotonic(), _watched()
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

        with activity(lambda: "" if watched else f"{what}: {done[0]} of {total}, {_since(started)}"):
            yield advance


def _watched() -> bool:
    return sys.stderr.isatty() and not _QUIET.is_set()


def _since(started: float) -> str:
    return f"{time.monotonic() - started:.0f} s"
