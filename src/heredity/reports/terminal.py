"""Pages for the terminal, as rich renderables: what was found, the figures that count, and the sections meant for it."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text as RichText

from heredity.reports import values
from heredity.results.page import Cell, Code, Page, Part, Table, Text, Value, Verdict
from heredity.results.text import clean

_STYLES = {"better": "green", "worse": "red"}


def render(page: Page) -> RenderableType:
    """Return what a command prints of a page: what was run and found, tables, then limits; a page without tables its figures."""
    tables = [shown for section in page.sections if section.media == "all" for shown in _shown(section.parts)]
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


def table(part: Table) -> RichTable:
    """Return a table; an interval is a column of its own beside its mean, so that both line up."""
    title = _text(part.caption) if part.caption else None
    made = RichTable(
        title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim"
    )
    wide = [any(_interval(row.cells[i]) for row in part.rows if row.role != "group") for i in range(len(part.columns))]
    for column, split in zip(part.columns, wide, strict=True):
        right = column.align == "right"
        made.add_column(_text(column.name), justify="right" if right else "left", no_wrap=right)
        if split:
            made.add_column("interval", justify="right", no_wrap=True)
    for row in values.rows_of(part):
        cells: list[RichText] = []
        for value, split in zip(row.cells, wide, strict=True):
            cells.append(_cell(value))
            if split:
                cells.append(RichText(_interval(value)))
        made.add_row(*cells, style="dim" if row.role == "reference" else None)
    return made


def _shown(parts: tuple[Part, ...]) -> list[RenderableType]:
    tables = [part for part in values.flat(parts) if isinstance(part, Table) and part.rows and not part.page_only]
    return [shown for content in tables for shown in (table(content), RichText())]


def _interval(value: Value | Cell) -> str:
    return values.written(values.as_cell(value).value)[1]


def _cell(value: Value | Cell) -> RichText:
    cell = values.as_cell(value)
    style = _STYLES.get(cell.value.word or "", "dim") if isinstance(cell.value, Verdict) else ""
    notes = "; ".join(values.line(note) for note in cell.notes)
    shown = values.written(cell.value)[0]
    return RichText(f"{shown} ({notes})" if notes else shown, style=style)


def _text(content: str, style: str = "") -> RichText:
    """Return text that is neither markup nor control characters to a terminal."""
    return RichText(clean(content), style=style)
