"""What takes long says so on stderr: bars and spinners in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

_SILENT_S = 8.0


@contextmanager
def bar(what: str, total: int) -> Generator[Callable[[], None]]:
    """Show how far something is; call what this gives once for each part that is done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    done, started = [0], time.monotonic()

    def line() -> str:
        return f"{what}: {done[0]} of {total}, {time.monotonic() - started:.0f} s"

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    watched = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not watched) as progress:
        task = progress.add_task(what, total=total)

        def advance() -> None:
            done[0] += 1
            progress.advance(task)

        with saying(line, quiet=watched):
            yield advance


@contextmanager
def working(what: str, *, quiet: bool = False) -> Generator[None]:
    """Say what is being done while it takes, and for how long: a spinner in a terminal, lines elsewhere.

    Args:
        what: such as `"checking the machine"`.
        quiet: say nothing.
    """
    if sys.stderr.isatty() and not quiet:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            progress.add_task(what, total=None)
            yield
        return
    started = time.monotonic()
    with saying(lambda: f"{what}, {time.monotonic() - started:.0f} s", quiet=quiet):
        yield


@contextmanager
def saying(line: Callable[[], str], *, quiet: bool = False) -> Generator[None]:
    """Write a line to stderr every few seconds while something goes on.

    Args:
        line: gives what it says then.
        quiet: say nothing.
    """
    ended = threading.Event()

    def say() -> None:
        while not ended.wait(_SILENT_S):
            sys.stderr.write(line() + "\n")
            sys.stderr.flush()

    thread = threading.Thread(target=say, daemon=True)
    if not quiet:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if not quiet:
            thread.join()
