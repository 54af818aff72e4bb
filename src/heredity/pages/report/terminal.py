"""Pages for the terminal, as rich renderables: findings, key figures, and the sections meant for it."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text as RichText

from heredity.pages.report import values
from heredity.pages.report.fitted import Content, FittedTable, Head, Line
from heredity.results.page import Cell, Code, Mean, Page, Part, Table, Text, Value, Verdict
from heredity.results.text import clean

_STYLES = {"better": "green", "worse": "red"}


def render(page: Page) -> RenderableType:
    """Return a command's output for a page: findings, tables, then limits; without tables, the key figures."""
    tables = [shown for section in page.sections if section.media == "all" for shown in _render(section.parts)]
    first, *rest = [_text(line.text) for line in page.summary] or [RichText()]
    warnings = [_text(part.text, style="red") for part in page.warnings if isinstance(part, Text | Code)]
    title = _text(page.title, style="bold")
    if tables:
        return Group(title, first, RichText(), *tables, *rest, *warnings)
    facts = RichTable.grid(padding=(0, 2))
    for fact in page.facts.facts:
        note = "" if fact.note is None else f"  {values.line(fact.note)}"
        facts.add_row(_text(fact.name, style="dim"), RichText(values.line(fact.value) + note))
    return Group(title, first, _text(page.subtitle, style="dim"), *rest, *warnings, facts)


def table(part: Table) -> FittedTable:
    """Return a table that fits the terminal; an interval is next to its mean, or below it on a narrow screen."""
    heads = [Head(clean(column.name), column.align == "right") for column in part.columns]
    rows = [
        Line(tuple(map(_content, row.cells)), "dim" if row.role == "reference" else "") for row in values.rows_of(part)
    ]
    return FittedTable(heads, rows, clean(part.caption))


def _render(parts: tuple[Part, ...]) -> list[RenderableType]:
    tables = [part for part in values.flat(parts) if isinstance(part, Table) and part.rows and not part.page_only]
    return [shown for content in tables for shown in (table(content), RichText())]


def _content(value: Value | Cell) -> Content:
    cell = values.as_cell(value)
    style = _STYLES.get(cell.value.word or "", "dim") if isinstance(cell.value, Verdict) else ""
    shown, beside = values.written(cell.value)
    notes = tuple(map(values.line, cell.notes))
    if isinstance(cell.value, Mean):
        return Content(RichText(shown, style=style), beside, notes)
    return Content(RichText(shown, style=style), notes=(*filter(None, [beside.strip("()")]), *notes))


def _text(content: str, style: str = "") -> RichText:
    """Return text without markup and terminal control characters."""
    return RichText(clean(content), style=style)
