"""Progress of a suite in a terminal: a live table, or one line per change where nobody is watching live."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
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
from heredity.results.text import duration, short_task
from heredity.results.words import POLICIES, Words

_STYLES = {
    "done": "green",
    "failed": "red",
    "stopped": "yellow",
    "evolving": "cyan",
    "judging": "blue",
    "waiting": "dim",
}
_BAR = 12
_FRAME = 3
"""Lines of the screen that are not runs."""


class Live:
    """A table of the runs, refreshed four times a second."""

    def __init__(self, runs: Sequence[RunProgress], folder: Path, words: Words = POLICIES) -> None:
        self._runs, self._folder, self._words = runs, folder, words
        self._started, self._activity = time.monotonic(), activity()
        self._console = Console(stderr=True)
        self._live = RichLive(get_renderable=self._render, console=self._console, refresh_per_second=4, transient=True)

    @staticmethod
    def suits() -> bool:
        """Return whether somebody is watching: stderr is a terminal."""
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
        """Leave it to the next refresh."""

    def _render(self) -> RenderableType:
        done = sum(r.state in ("done", "failed") for r in self._runs)
        rollouts = sum(r.rollouts for r in self._runs)
        seconds = time.monotonic() - self._started
        if not self._runs:
            return _name(f"preparing, {seconds:.0f} s  {self._folder}", style="bold")
        table = Table(box=None, pad_edge=False, header_style="dim")
        # Only names give way on a narrow screen.
        for name in (self._words.taskset, "evolver"):
            table.add_column(name, min_width=8)
        table.add_column("seed", justify="right", no_wrap=True)
        table.add_column("budget", no_wrap=True)
        table.add_column("", no_wrap=True)
        table.add_column("best so far", justify="right", no_wrap=True)
        table.add_column("held-out", justify="right", no_wrap=True)
        visible = self._visible()
        for run in visible:
            heldout = "" if run.heldout is None else f"{run.heldout:.4g}"
            best = "" if run.best is None else f"{run.best:.4g}"
            bar = ProgressBar(total=run.episodes, completed=run.used, width=_BAR)
            state = Text(run.state, style=_STYLES[run.state])
            table.add_row(_name(short_task(run.taskset)), _name(run.label), str(run.seed), bar, state, best, heldout)
        rest = len(self._runs) - len(visible)
        more = f", {rest} not shown" if rest else ""
        time_left = _left(self._runs, seconds)
        head = (
            f"{done} of {len(self._runs)} runs{more}, {rollouts} {self._words.rollouts}, {seconds:.0f} s{time_left}  "
        )
        head += str(self._folder)
        return Group(_name(head, style="bold"), table)

    def _visible(self) -> Sequence[RunProgress]:
        """Return the runs that fit on the screen: all, or those at work, then failed, ended last, and waiting ones."""
        room = max(1, self._console.height - _FRAME)
        if len(self._runs) <= room:
            return self._runs
        order = {"evolving": 0, "judging": 0, "failed": 1, "stopped": 1, "done": 2, "waiting": 3}
        return sorted(self._runs, key=lambda r: (order[r.state], -r.started))[:room]


def _left(runs: Sequence[RunProgress], elapsed: float) -> str:
    left = seconds_left(runs, elapsed)
    return "" if left is None or all(run.seconds for run in runs) else f", about {duration(left)} left"


def _name(text: str, style: str = "") -> Text:
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


class Lines:
    """One line on stderr for each run that ends, and with every heartbeat how far all are."""

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
        ended = sum(run.state in ("done", "failed") for run in self._runs)
        rollouts = f"{sum(run.rollouts for run in self._runs)} {self._words.rollouts}"
        return f"{ended} of {len(self._runs)} runs, {rollouts}, {seconds:.0f} s{_left(self._runs, seconds)}"

    def changed(self, run: RunProgress) -> None:
        """Say that a run has ended."""
        if run.state in ("done", "failed"):
            ended = sum(r.state in ("done", "failed") for r in self._runs)
            heldout = "" if run.heldout is None else f"  held-out {run.heldout:.6g}"
            left = _left(self._runs, time.monotonic() - self._started)
            line = (
                f"[{ended}/{len(self._runs)}] {run.id}  {run.state}  {run.seconds:.1f} s{heldout}{left}  {run.message}"
            )
            sys.stderr.write(line.rstrip() + "\n")


def watcher_for(runs: Sequence[RunProgress], folder: Path, words: Words) -> Live | Lines:
    """Return what shows the runs of a suite here: a live table in a terminal, lines elsewhere."""
    return Live(runs, folder, words) if Live.suits() else Lines(runs, words)
