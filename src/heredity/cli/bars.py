"""A progress bar on stderr for those who watch; nothing where nobody does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def bar(what: str, total: int) -> Generator[Callable[[], None]]:
    """Show how far something is; call what this gives once for each part that is done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    columns = (
        TextColumn("{task.description}", table_column=Column()),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    watched = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not watched, expand=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)
