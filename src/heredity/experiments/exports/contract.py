"""Exporters: one object for each format, found by name.

EXPORTER = Exporter("a table for my laboratory", write)

def write(export: Export) -> Written:
    ...

[project.entry-points."heredity.exporters"]
my-format = "my_package.export:EXPORTER"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heredity._core.errors import RecordError
from heredity._core.plugins import Group
from heredity.experiments.exports.reading import RunReading


@dataclass(slots=True)
class Written:
    """Result of an export.

    Attributes:
        counts: what was written: name to number, such as `{"samples": 1200}`.
        files: the files, relative to the destination.
        left_out: what could not be represented, to the ids of the runs that have it.
    """

    counts: dict[str, int] = field(default_factory=dict[str, int])
    files: list[str] = field(default_factory=list[str])
    left_out: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def leave_out(self, run: str, what: str) -> None:
        """Note something of a run that is not exported."""
        runs = self.left_out.setdefault(what, [])
        if run not in runs:
            runs.append(run)

    @property
    def notes(self) -> list[str]:
        """One line for everything left out, with the run, or the number of runs."""
        return [
            f"{what} ({runs[0] if len(runs) == 1 else f'{len(runs)} runs'})" for what, runs in self.left_out.items()
        ]

    def count(self, **amounts: int) -> None:
        """Add to the counts."""
        for name, amount in amounts.items():
            self.counts[name] = self.counts.get(name, 0) + amount


@dataclass(frozen=True, slots=True)
class Export:
    """An export to make.

    Attributes:
        folders: folders of the runs.
        out: folder to write to; it exists and is empty.
        organisation: who ran the evaluation; None if nobody says.
        source: folder of the suite or the run.
    """

    folders: Sequence[Path]
    out: Path
    organisation: str | None
    source: Path

    def runs(self, written: Written) -> Iterator[RunReading]:
        """Yield the runs, one in memory at a time, and note what is not exported: unreadable runs, hidden material."""
        for folder in self.folders:
            try:
                reading = RunReading.of(folder)
            except RecordError as error:
                written.leave_out(folder.name, f"the run: {error}")
                continue
            if not reading.started:
                written.leave_out(folder.name, "the run: it has not started")
                continue
            for reason in reading.hidden:
                written.leave_out(reading.id, reason)
            yield reading


@dataclass(frozen=True, slots=True)
class Exporter:
    """An exporter.

    Attributes:
        summary: a one-line description.
        write: writes the files of an export; raises a `HeredityError` if the format cannot hold these runs.
    """

    summary: str
    write: Callable[[Export], Written]


def _conforms(offered: Any) -> bool:
    return isinstance(offered, Exporter)


EXPORTERS: Group[Exporter] = Group(
    "heredity.exporters", "exporter", "a heredity.experiments.exports.contract.Exporter", _conforms
)
"""The names accepted by `heredity export --to`."""
