"""Values of cells and facts as text, the same in every renderer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heredity.results import text
from heredity.results.page import Cell, Folded, Group, Mean, Mono, Named, Number, Part, Row, Table, Value, Verdict

SIGNS = {"better": "▲", "worse": "▼", "within noise": "≈", "cannot tell yet": "?"}
TONES = {"better": "better", "worse": "worse", "good": "better", "bad": "worse"}


def as_cell(value: Value | Cell) -> Cell:
    """Return a cell for any value of a row."""
    return value if isinstance(value, Cell) else Cell(value)


def written(value: Value) -> tuple[str, str]:
    """Return a value as text, and its interval or ""; an unknown value is a dash."""
    match value:
        case Mean():
            places = value.decimals
            if places is None:
                places = text.decimals_for(text.spread_of([value.bounds]), value.value)
            shown = text.signed(value.value, places) if value.signed else text.number(value.value, places)
            return shown, "" if value.low is None or value.high is None else text.interval(*value.bounds, places)
        case Number():
            return text.write(value.value, value.form, value.decimals), ""
        case Verdict():
            return (text.clean(value.word) if value.word else text.DASH), f"({value.because})" if value.because else ""
        case Named():
            return text.clean(value.name) or text.DASH, ""
        case Mono():
            shown = text.clean(value.text or "")
            return (shown[: value.length] if value.length else shown) or text.DASH, ""
        case str():
            return text.clean(value) or text.DASH, ""
        case _:
            return text.number(value), ""


def line(value: Value) -> str:
    """Return a value with its interval in one line."""
    return " ".join(part for part in written(value) if part)


def cell_line(value: Value | Cell) -> str:
    """Return a cell with its notes in one line."""
    cell = as_cell(value)
    notes = "; ".join(line(note) for note in cell.notes)
    return f"{line(cell.value)} ({notes})" if notes else line(cell.value)


def raw(value: Value) -> list[str]:
    """Return a value for a spreadsheet: figures unrounded, a mean with the ends of its interval."""
    match value:
        case Mean():
            return ["" if v is None else repr(v) for v in (value.value, value.low, value.high)]
        case Number():
            return ["" if value.value is None else repr(value.value)]
        case int() | float():
            return [repr(value)]
        case Mono():
            return [text.clean(value.text or "")]
        case _:
            shown = written(value)[0]
            return ["" if shown == text.DASH else shown]


def rows_of(table: Table) -> list[Row]:
    """Return the rows of a table that hold cells; the heading of their group, if any, goes into the first cell."""
    rows: list[Row] = []
    group = ""
    for row in table.rows:
        if row.role == "group":
            group = line(as_cell(row.cells[0]).value)
        elif group:
            first = as_cell(row.cells[0])
            rows.append(Row((f"{group}: {line(first.value)}", *row.cells[1:]), row.role))
        else:
            rows.append(row)
    return rows


def flat(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield parts, with the content of groups and folded parts in their place, without folded parts for HTML only."""
    for part in parts:
        if isinstance(part, Group) or (isinstance(part, Folded) and not part.page_only):
            yield from flat(part.parts)
        elif not isinstance(part, Folded):
            yield part
