"""Published results of papers next to those of a suite, labelled as published: facts for orientation that no test uses."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatch
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from heredity._core.outside import toml_table
from heredity.results.page import Column, Number, Part, Row, Section, Table, Text
from heredity.results.run import RunResults


class PublishedRow(BaseModel):
    """One row: its name, and a figure for each column."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str
    values: list[float]


class PublishedTable(BaseModel):
    """A table of a paper.

    Attributes:
        source: the paper and the number of the table.
        about: the meaning of the figures (one or two sentences).
        columns: heads of the figures.
        rows: the rows.
        tasksets: patterns of tasksets; the table is shown next to their results.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    source: str
    about: str
    columns: list[str]
    rows: list[PublishedRow]
    tasksets: list[str]


def published_tables(package: str) -> list[PublishedTable]:
    """Return the tables in the `published.toml` of a protocol's package, such as `heredity.protocols.post_training`."""
    data = toml_table((files(package) / "published.toml").read_text(encoding="utf-8"))
    return [PublishedTable.model_validate(table) for table in data["tables"]]


def published_section(package: str, runs: Iterable[RunResults]) -> list[Section]:
    """Return a section with a protocol's published tables for the tasksets of a suite; empty if there are none."""
    names = {run.taskset or "" for run in runs}
    shown = [
        table
        for table in published_tables(package)
        if any(fnmatch(name, pattern) for name in names for pattern in table.tasksets)
    ]
    parts: list[Part] = []
    for table in shown:
        columns = (Column(table.source), *(Column(head, "right") for head in table.columns))
        rows = tuple(Row((row.name, *(Number(value, 2) for value in row.values))) for row in table.rows)
        about = f"As published ({table.source}). {table.about} Other models, prompts and runs than those here: not a comparison."
        parts += [Text(about, "about"), Table(columns, rows, table.source)]
    return [Section("published", "As published", tuple(parts), "detail")] if parts else []
