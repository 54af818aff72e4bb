"""Progress on stderr: bars and spinners in a terminal, an occasional line elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

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
        line: returns the line. By default nothing is printed: the activity displays its own progress, or waits for
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
    """Show an activity and its elapsed time: a spinner in a terminal, lines elsewhere."""
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
