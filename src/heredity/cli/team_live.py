"""Live display of a task in a terminal: plan with states, active agents, messages, cost and time left."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live as RichLive
from rich.table import Table
from rich.text import Text

from heredity.models.gateway import Gateway
from heredity.results.text import clean, duration
from heredity.team.plan import Plan
from heredity.team.team import Team
from heredity.team.view import View

_STYLES = {"done": "green", "failed": "red", "running": "yellow", "pending": "dim", "skipped": "dim"}
_SAID = 8
_LEAST_TASK = 12
"""Minimum width of the column of tasks, in characters."""


class TeamLive:
    """Picture of a task, redrawn four times a second until the block ends.

    Args:
        seconds: time limit of the task.
        console: the console to draw on (default: stderr).
    """

    def __init__(self, seconds: float, console: Console | None = None) -> None:
        self._seconds = seconds
        self._view, self._plan = View(), Plan("")
        self._console = console or Console(stderr=True)
        self._live = RichLive(get_renderable=self.picture, console=self._console, refresh_per_second=4, transient=True)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def opened(self, team: Team, _: Gateway) -> None:
        """Follow a team at work."""
        record = team.bus.record
        record.follow(lambda: self._view.take(record.events))
        self._view.take(record.events)

    def planned(self, plan: Plan) -> None:
        """Take the current plan."""
        self._plan = plan

    def picture(self) -> RenderableType:
        """Return the picture."""
        view, now = self._view, time.time()
        used = now - (view.started or now)
        cost = "cost unknown" if view.used.cost_usd is None else f"${view.used.cost_usd:.4f}"
        left = duration(max(0.0, self._seconds - used))
        head = f"round {len(self._plan.rounds)}, {view.calls} model calls, {cost}, {used:.0f} s, {left} of budget left"
        times = {span.step: (span.end or now) - span.start for span in view.spans.values()}
        table = Table(box=None, pad_edge=False, header_style="dim")
        rows = [
            (
                *(Text(step.id), Text(clean(step.agent)), Text(step.state, style=_STYLES[step.state])),
                Text(duration(times[step.id]) if step.id in times else ""),
                Text(" ".join(clean(step.task).split())),
            )
            for step in self._plan.steps
        ]
        heads = ("step", "agent", "state", "time", "task")
        widths = [max([len(head), *(len(row[i].plain) for row in rows)]) for i, head in enumerate(heads)]
        # On a narrow screen tasks are dropped first, then agents' names are cut; states and times stay whole.
        room = self._console.width - sum(widths[:4]) - 2 * 4
        shown = 5 if room >= _LEAST_TASK else 4
        widths[4] = room
        widths[1] = max(len("agent"), min(widths[1], widths[1] + room + 2)) if shown == 4 else widths[1]
        for name, size in zip(heads[:shown], widths, strict=False):
            table.add_column(name, overflow="ellipsis", no_wrap=True, width=size)
        for row in rows:
            table.add_row(*row[:shown])
        recent = [
            f"{message.sender} {'→ ' + message.to if message.to else ''} [{message.kind}] {message.text}"
            for message in view.since(0)
        ]
        lines = [Text(clean(line), style="dim", no_wrap=True, overflow="ellipsis") for line in recent[-_SAID:]]
        return Group(Text(head, style="bold"), table, *lines)
