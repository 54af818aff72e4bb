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

from heredity.experiments.progress import RunProgress

_STYLES = {
    "done": "green",
    "failed": "red",
    "stopped": "yellow",
    "evolving": "cyan",
    "judging": "blue",
    "waiting": "dim",
}
_ROWS = 24


class Live:
    """A table of the runs, refreshed four times a second."""

    def __init__(self, runs: Sequence[RunProgress], folder: Path) -> None:
        self._runs, self._folder = runs, folder
        self._started = time.monotonic()
        self._live = RichLive(
            get_renderable=self._render, console=Console(stderr=True), refresh_per_second=4, transient=True
        )

    @staticmethod
    def suits() -> bool:
        """Return whether somebody is watching: stderr is a terminal."""
        return sys.stderr.isatty()

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def changed(self, run: RunProgress) -> None:
        """Leave it to the next refresh."""

    def _render(self) -> RenderableType:
        done = sum(r.state in ("done", "failed") for r in self._runs)
        attempts = sum(r.attempts for r in self._runs)
        seconds = time.monotonic() - self._started
        table = Table(box=None, pad_edge=False, header_style="dim")
        for name in ("environment", "evolver", "budget", "", "seed"):
            table.add_column(name, no_wrap=True)
        table.add_column("episodes run", justify="right")
        table.add_column("held-out", justify="right")
        for run in self._visible():
            heldout = "" if run.heldout is None else f"{run.heldout:.4g}"
            name = run.taskset.removeprefix("gymnasium/")
            bar = ProgressBar(total=run.episodes, completed=run.used, width=20)
            state = Text(run.state, style=_STYLES[run.state])
            table.add_row(name, run.label, bar, state, str(run.seed), str(run.attempts), heldout)
        hidden = len(self._runs) - min(len(self._runs), _ROWS)
        more = f" ({hidden} more not shown)" if hidden else ""
        head = f"{self._folder}: {done} of {len(self._runs)} runs, {attempts} episodes, {seconds:.0f} s{more}"
        return Group(Text(head, style="bold"), table)

    def _visible(self) -> Sequence[RunProgress]:
        if len(self._runs) <= _ROWS:
            return self._runs
        busy = [r for r in self._runs if r.state in ("evolving", "judging", "failed")]
        rest = [r for r in self._runs if r not in busy]
        rest.sort(key=lambda r: r.state != "done")
        return [*busy, *rest][:_ROWS]


class Lines:
    """One line on stderr for each run that ends."""

    def __init__(self, runs: Sequence[RunProgress]) -> None:
        self._runs = runs

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def changed(self, run: RunProgress) -> None:
        """Say that a run has ended."""
        if run.state in ("done", "failed"):
            ended = sum(r.state in ("done", "failed") for r in self._runs)
            heldout = "" if run.heldout is None else f"  held-out {run.heldout:.6g}"
            line = f"[{ended}/{len(self._runs)}] {run.id}  {run.state}  {run.seconds:.1f} s{heldout}  {run.message}"
            sys.stderr.write(line.rstrip() + "\n")
