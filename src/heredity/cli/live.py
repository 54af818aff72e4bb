"""Progress of a suite: a live table in a terminal, otherwise one line per change."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live as RichLive
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from heredity.cli.bars import activity
from heredity.experiments.progress import RunProgress, seconds_left
from heredity.results.report import POLICIES, Words
from heredity.results.text import duration, short_task

_STYLES = {
    "done": "green",
    "failed": "red",
    "paused": "yellow",
    "stopped": "yellow",
    "evolving": "cyan",
    "judging": "blue",
    "waiting": "dim",
}
_BAR = 12
_FRAME = 2
"""Screen lines that hold no run, below the header: the column names and the cursor."""
_LEAST_FOLDER = 14
"""Minimum width for the folder next to the header, in characters."""
_ENDED = ("done", "failed", "paused")


class Live:
    """Table of the runs, refreshed four times a second."""

    def __init__(self, runs: Sequence[RunProgress], folder: Path, words: Words = POLICIES) -> None:
        self._runs, self._folder, self._words = runs, folder, words
        self._started, self._activity = time.monotonic(), activity()
        self._console = Console(stderr=True)
        self._live = RichLive(get_renderable=self._render, console=self._console, refresh_per_second=4, transient=True)

    @staticmethod
    def suits() -> bool:
        """Report whether stderr is a terminal."""
        return sys.stderr.isatty()

    def __enter__(self) -> Self:
        self._activity.__enter__()
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)
        self._activity.__exit__(kind, error, trace)

    def changed(self, run: RunProgress) -> None:
        """No-op; the next refresh shows the change."""

    def _render(self) -> RenderableType:
        seconds = time.monotonic() - self._started
        if not self._runs:
            return _name(f"preparing, {seconds:.0f} s  {self._folder}", style="bold")
        width = self._console.width
        above = len(textwrap.wrap(self._head(len(self._runs), seconds), width))
        wait = self._wait()
        visible = self._visible(max(1, self._console.height - _FRAME - above - bool(wait)))
        head = self._head(len(self._runs) - len(visible), seconds)
        one_line = len(head) + _LEAST_FOLDER <= width
        title = _name(f"{head}  {self._folder}", style="bold") if one_line else Text(head, style="bold")
        columns = [
            _Column(self._words.taskset, [_name(short_task(run.taskset)) for run in visible], names=True),
            _Column("evolver", [_name(run.label) for run in visible], names=True),
            _Column("seed", [Text(str(run.seed)) for run in visible], gives_way=2, right=True),
            _Column("budget", [ProgressBar(run.episodes, run.used, _BAR) for run in visible], _BAR, gives_way=4),
            _Column("", [Text(run.state, style=_STYLES[run.state]) for run in visible]),
            _Column("best so far", [_figure(run.best) for run in visible], gives_way=3, right=True),
            _Column("held-out", [_figure(run.heldout) for run in visible], right=True),
        ]
        return Group(title, _table(columns, width), *([_name(wait, "yellow")] if wait else []))

    def _wait(self) -> str:
        """Return the reason for which a run waits, or `""`."""
        waits = [run.wait for run in self._runs if run.wait and run.wait_ends > time.monotonic()]
        return " ".join(waits[0].split()) if waits else ""

    def _head(self, rest: int, seconds: float) -> str:
        """Return the progress of all runs, with the number of hidden ones, `rest`."""
        done = sum(r.state in _ENDED for r in self._runs)
        more = f", {rest} not shown" if rest else ""
        counted = f"{done} of {len(self._runs)} runs{more}, {_count_rollouts(self._runs, self._words)}"
        return f"{counted}, {seconds:.0f} s{_time_left(self._runs, seconds)}"

    def _visible(self, room: int) -> Sequence[RunProgress]:
        """Return the runs that fit on the screen: all, or first active, then failed, last ended and waiting ones."""
        if len(self._runs) <= room:
            return self._runs
        order = {"evolving": 0, "judging": 0, "failed": 1, "paused": 1, "stopped": 1, "done": 2, "waiting": 3}
        return sorted(self._runs, key=lambda r: (order[r.state], -r.started))[:room]


@dataclass(frozen=True, slots=True)
class _Column:
    """Column of the table.

    Attributes:
        head: its name.
        cells: from top to bottom.
        least: minimum width if the cells have none.
        gives_way: order in which columns are left out on a narrow screen, highest number first (0 for those that stay).
        names: whether cells may be cut.
        right: whether it holds figures.
    """

    head: str
    cells: Sequence[Text | ProgressBar]
    least: int = 8
    gives_way: int = 0
    names: bool = False
    right: bool = False

    @property
    def width(self) -> int:
        """Minimum width that shows its head and its figures whole."""
        cells = () if self.names else (len(cell.plain) for cell in self.cells if isinstance(cell, Text))
        return max([len(self.head), *cells, *((self.least,) if self.names or self.gives_way == 4 else ())])

    @property
    def wanted(self) -> int:
        """Width that cuts nothing."""
        return max([self.width, *(len(cell.plain) for cell in self.cells if isinstance(cell, Text))])


def _table(columns: Sequence[_Column], width: int) -> Table:
    """Return the columns that fit, the most important first; names are cut at the end."""
    shown = list(columns)
    while sum(column.width + 2 for column in shown) - 2 > width and any(column.gives_way for column in shown):
        shown.remove(max(shown, key=lambda column: column.gives_way))
    gap = 2 if sum(column.width + 2 for column in shown) - 2 <= width else 1
    spare = width - sum(column.width + gap for column in shown) + gap
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, gap, 0, 0), collapse_padding=True)
    for column in shown:
        more = min(column.wanted - column.width, max(0, spare))
        spare -= more
        justify = "right" if column.right else "left"
        table.add_column(column.head, justify=justify, no_wrap=True, width=column.width + more)
    for row in zip(*(column.cells for column in shown), strict=True):
        table.add_row(*row)
    return table


def _figure(value: float | None) -> Text:
    return Text("" if value is None else f"{value:.4g}")


def _time_left(runs: Sequence[RunProgress], elapsed: float) -> str:
    left = seconds_left(runs, elapsed)
    return "" if left is None or all(run.seconds for run in runs) else f", about {duration(left)} left"


def _count_rollouts(runs: Sequence[RunProgress], words: Words) -> str:
    """Format the number of rollouts, with judging ones counted apart."""
    trained = sum(run.trained for run in runs)
    judging = sum(run.rollouts for run in runs) - trained
    return f"{trained} {words.rollouts}{f' + {judging} judging' if judging else ''}"


def _name(text: str, style: str = "") -> Text:
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


class Lines:
    """Prints to stderr: one line for each run that ends and each wait, and the overall progress with every heartbeat."""

    def __init__(self, runs: Sequence[RunProgress], words: Words = POLICIES) -> None:
        self._runs, self._words = runs, words
        self._started = time.monotonic()
        self._activity = activity(self._line)

    def __enter__(self) -> Self:
        self._activity.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._activity.__exit__(kind, error, trace)

    def _line(self) -> str:
        seconds = time.monotonic() - self._started
        if not self._runs:
            return f"preparing, {seconds:.0f} s"
        ended = sum(run.state in _ENDED for run in self._runs)
        rollouts = _count_rollouts(self._runs, self._words)
        return f"{ended} of {len(self._runs)} runs, {rollouts}, {seconds:.0f} s{_time_left(self._runs, seconds)}"

    def changed(self, run: RunProgress) -> None:
        """Report a run that has ended or waits."""
        if run.wait:
            sys.stderr.write(f"{run.id}: {' '.join(run.wait.split())}\n")
            run.wait = ""
        if run.state in _ENDED:
            ended = sum(r.state in _ENDED for r in self._runs)
            heldout = "" if run.heldout is None else f"  held-out {run.heldout:.6g}"
            left = _time_left(self._runs, time.monotonic() - self._started)
            line = (
                f"[{ended}/{len(self._runs)}] {run.id}  {run.state}  {run.seconds:.1f} s{heldout}{left}  {run.message}"
            )
            sys.stderr.write(line.rstrip() + "\n")


def watcher_for(runs: Sequence[RunProgress], folder: Path, words: Words) -> Live | Lines:
    """Return the display of a suite's runs: a live table in a terminal, otherwise lines."""
    return Live(runs, folder, words) if Live.suits() else Lines(runs, words)
