"""CSV tables for spreadsheets: figures are not rounded, and a mean has columns for the ends of its interval."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from heredity.pages.report import values
from heredity.results.page import File, Folded, Group, Mean, Part, Section, Table


def render(table: Table) -> str:
    """Return a table as CSV; unknown values are empty."""
    kinds = [
        any(isinstance(values.as_cell(row.cells[i]).value, Mean) for row in table.rows if row.role != "group")
        for i in range(len(table.columns))
    ]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    head = [
        ([c.name, f"{c.name} low", f"{c.name} high"] if mean else [c.name])
        for c, mean in zip(table.columns, kinds, strict=True)
    ]
    writer.writerow([name for names in head for name in names])
    for row in values.rows_of(table):
        fields = [values.raw(values.as_cell(value).value) for value in row.cells]
        padded = [[*f, "", ""][:3] if mean else f for f, mean in zip(fields, kinds, strict=True)]
        writer.writerow([field for cell in padded for field in cell])
    return buffer.getvalue()


def tables(sections: Sequence[Section]) -> Iterator[Table]:
    """Yield the tables to write as files."""
    for section in sections:
        for part in everything(section.parts):
            if isinstance(part, Table) and part.csv and part.rows:
                yield part


def everything(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield parts, each followed by the parts inside it if it is a group or folded."""
    for part in parts:
        yield part
        if isinstance(part, Group | Folded):
            yield from everything(part.parts)


def files(sections: Sequence[Section]) -> Iterator[File]:
    """Yield the files to write next to the report."""
    for section in sections:
        yield from (part for part in everything(section.parts) if isinstance(part, File))
