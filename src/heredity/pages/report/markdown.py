"""report.md: the page in short, for pull requests and diffs. Tables also line up as plain text."""

from __future__ import annotations

from collections.abc import Sequence

from heredity.pages.report import values
from heredity.results import text
from heredity.results.page import Cell, Code, Fact, Facts, Page, Part, Section, Table, Text, Value, Verdict

_ESCAPES = str.maketrans(
    {"|": "\\|", "<": "&lt;", ">": "&gt;", "&": "&amp;", "`": "\\`", "[": "\\[", "*": "\\*", "_": "\\_"}
)


def render(page: Page) -> str:
    """Return a page as Markdown, without charts and parts that are for HTML only."""
    parts = [f"# {escaped(page.title)}", *(escaped(line.text) for line in page.summary)]
    parts += [escaped(page.subtitle)] if page.subtitle else []
    parts += _facts(page.facts)
    for part in page.warnings:
        parts += [f"**Note:** {escaped(part.text)}"] if isinstance(part, Text) else _part(part)
    return "\n\n".join([*parts, *_sections(page.sections)]) + "\n"


def render_sections(title: str, sections: Sequence[Section]) -> str:
    """Return sections as a separate document."""
    return "\n\n".join([f"# {escaped(title)}", *_sections(sections)]) + "\n"


def escaped(value: str) -> str:
    """Return untrusted text as one line that Markdown shows literally."""
    return " ".join(text.clean(value).split()).translate(_ESCAPES)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[bool]) -> str:
    """Return a Markdown table with aligned columns.

    Args:
        head: names of the columns, safe text.
        rows: cells, safe text, one per column.
        left: whether each column is aligned to the left, rather than to the right.
    """
    widths = [max(3, *(len(row[i]) for row in [head, *rows])) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        placed = [c.ljust(w) if to_left else c.rjust(w) for c, w, to_left in zip(cells, widths, left, strict=True)]
        return f"| {' | '.join(placed)} |"

    rule = ["-" * w if to_left else "-" * (w - 1) + ":" for w, to_left in zip(widths, left, strict=True)]
    return "\n".join([line(head), f"| {' | '.join(rule)} |", *map(line, rows)])


def _sections(sections: Sequence[Section]) -> list[str]:
    parts: list[str] = []
    for section in sections:
        body = [] if section.media == "page" else [line for part in values.flat(section.parts) for line in _part(part)]
        parts += [f"## {escaped(section.title)}", *body] if body else []
    return parts


def _part(part: Part) -> list[str]:
    match part:
        case Text() if part.role in ("about", "note"):
            return []
        case Text():
            return [f"- {escaped(part.text)}" if part.role == "item" else escaped(part.text)]
        case Facts():
            return _facts(part)
        case Table():
            return _table(part)
        case Code():
            return _code(part)
        case _:
            return []


def _facts(facts: Facts) -> list[str]:
    rows = [[escaped(fact.name), _fact(fact)] for fact in facts.facts]
    return [table(["", "value"], rows, [True, True])] if rows else []


def _fact(fact: Fact) -> str:
    note = "" if fact.note is None else f" ({_value(fact.note)})"
    return _value(fact.value) + note


def _table(part: Table) -> list[str]:
    if part.page_only:
        return []
    if not part.rows:
        return [escaped(part.empty)] if part.empty else []
    rows = [[_cell(value) for value in row.cells] for row in values.rows_of(part)]
    head = [escaped(column.name) for column in part.columns]
    caption = [f"{escaped(part.caption)}:"] if part.caption else []
    return [*caption, table(head, rows, [column.align == "left" for column in part.columns])]


def _cell(value: Value | Cell) -> str:
    cell = values.as_cell(value)
    shown = _value(cell.value)
    notes = "; ".join(_value(note) for note in cell.notes)
    return (f"**{shown}**" if cell.strong else shown) + (f" ({notes})" if notes else "")


def _value(value: Value) -> str:
    shown = " ".join(part if i else escaped(part) for i, part in enumerate(values.written(value)) if part)
    return f"**{shown}**" if isinstance(value, Verdict) and value.word in ("better", "worse") else shown


def _code(code: Code) -> list[str]:
    title = [escaped(code.title) + (f" ({escaped(code.note)})" if code.note else "")] if code.title else []
    # Indented, since a text may contain any fence.
    return [*title, "\n".join(f"    {line}" for line in text.clean(code.text).rstrip("\n").split("\n"))]
