"""Neutral parts of pages: protocols provide the content, renderers in `reports/` draw it.

Example:
    Section("gains", "Gains", parts=(
        Text("Paired by task; positive is better.", "about"),
        Table(
            columns=(Column("Method"), Column("Gain", "right")),
            rows=(Row((Named("ace", 0), Mean(0.12, 0.02, 0.22, signed=True))),),
            caption="Means over runs",
        ),
    ))

Nothing here is escaped or formatted: a cell holds the number and its format. Unknown values are None and become a
dash,
never a zero. Charts are in `results/charts.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from heredity.results.charts import Chart, Tone
from heredity.results.text import Form

Place = Literal["head", "lead", "main", "detail"]
"""Place of a section: in the head of the page, before the general leaderboard (or a run's product), after the comparisons,
near the end.
"""

Media = Literal["all", "files", "page"]
"""Media of a section: pages, Markdown and terminal; pages and Markdown; pages only."""


@dataclass(frozen=True, slots=True)
class Number:
    """Number and its format: `decimals` (by its size if None), and `form`, see `heredity.results.text.write`."""

    value: float | None
    decimals: int | None = None
    form: Form = "plain"


@dataclass(frozen=True, slots=True)
class Mean:
    """Mean with its interval, None if unknown; `decimals` follow from the interval if None; `signed` for differences."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    decimals: int | None = None
    signed: bool = False

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """Ends of the interval."""
        return (self.low, self.high)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of a test or a rule, in words.

    The words of `heredity.results.run.Verdict` have their signs, others the given `tone`. `because` is the reason, in small
    print.
    """

    word: str | None
    tone: Tone = None
    because: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """Name.

    Attributes:
        name: the text.
        tone: its colour in charts.
        run: the run whose page it links to, if any.
        title: full name, if `name` is short.
        swatch: whether its colour is shown even for a reference.
    """

    name: str
    tone: Tone = None
    run: str | None = None
    title: str = ""
    swatch: bool = False


@dataclass(frozen=True, slots=True)
class Mono:
    """Digest, path or line of code; the first `length` characters are shown, all if 0."""

    text: str | None
    length: int = 0


Value = str | int | float | Number | Mean | Verdict | Named | Mono | None
"""Value of a cell or a fact. A bare float is written with four significant digits, "" and None as a dash."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Value with notes and emphasis.

    Attributes:
        value: the value.
        notes: small lines below it.
        tone: `good` or `bad` for emphasis.
        strong: whether it stands out, like the best of a column.
        shaded: whether its background is shaded, like the home column of a matrix.
        heat: intensity of its colour, -1 (bad) to 1 (good); None for none.
    """

    value: Value = None
    notes: tuple[Value, ...] = ()
    tone: Tone = None
    strong: bool = False
    shaded: bool = False
    heat: float | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """Column: its head, whether it is aligned `left` or `right`, and whether it holds prose, which may wrap."""

    name: str
    align: Literal["left", "right"] = "left"
    prose: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of a table, one per column; `role` shades a selected row, fades a reference, or heads a group (one cell)."""

    cells: tuple[Value | Cell, ...]
    role: Literal["", "chosen", "reference", "group"] = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Table.

    Attributes:
        columns: from left to right; the first names the row.
        rows: from top to bottom.
        caption: text above it; "" for none.
        empty: text shown instead of a table without rows; "" to leave it out.
        csv: name of a CSV file to write as well, such as `runs.csv`; "" for none.
        folded: whether the page folds it under its caption; long tables always fold.
        page_only: whether Markdown leaves it out.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str = ""
    empty: str = ""
    csv: str = ""
    folded: bool = False
    page_only: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """Paragraph.

    `summary` states the findings at the top of page, Markdown and terminal, and `caution` their limits. `warning` is
    set apart;
    `about` explains a section and `note` a part of it, on pages only; `item` is a line of a list.
    """

    text: str
    role: Literal["paragraph", "summary", "caution", "warning", "about", "note", "item"] = "paragraph"


@dataclass(frozen=True, slots=True)
class Fact:
    """Name with its value, and a note in small print."""

    name: str
    value: Value
    note: Value = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with values: key figures (about six) in the head of a page, a list in sections."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Source text.

    Attributes:
        text: the full text; shortened, with a note, if it is long.
        language: `python`, `sh`, `toml`, `text`, or `diff` for a coloured unified diff.
        title: file name or description; "" for none.
        note: small print next to the title.
        folded: whether the page folds it.
    """

    text: str
    language: str = "text"
    title: str = ""
    note: str = ""
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Parts side by side if there is room: in a `grid` of cards, as a `pair` of a wide and a narrow one, or a `stack`."""

    parts: tuple[Part, ...]
    layout: Literal["grid", "pair", "stack"] = "grid"


@dataclass(frozen=True, slots=True)
class Folded:
    """Parts under a line that opens them, initially open or not; `page_only` to leave them out of Markdown."""

    title: str
    parts: tuple[Part, ...]
    note: str = ""
    open: bool = False
    page_only: bool = True


@dataclass(frozen=True, slots=True)
class File:
    """File written next to the report, such as `results.csv` or `reports/summary.md`; pages do not show it.

    Attributes:
        name: its path in the folder of the report.
        content: text as it is, a table as CSV, or sections as Markdown.
        title: heading of the Markdown.
    """

    name: str
    content: str | Table | tuple[Section, ...]
    title: str = ""


Part = Text | Facts | Table | Code | Chart | Group | Folded | File


@dataclass(frozen=True, slots=True)
class Section:
    """Section of a page.

    In the head (`place="head"`), a `summary` and `Facts` replace the general ones, and a `caution` or `warning` is
    added.

    Attributes:
        id: letters and hyphens, unique on the page (a section replaces a general one of the same id).
        title: its heading.
        parts: from top to bottom; a section without parts is left out.
        place: its place on the page.
        media: where it is shown.
        navigation: its name in the list of sections; the title if "".
    """

    id: str
    title: str
    parts: tuple[Part, ...] = ()
    place: Place = "main"
    media: Media = "files"
    navigation: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Report.

    Attributes:
        title: the experiment, in words.
        summary: sentences on the findings and their limits.
        facts: key figures.
        sections: in order, without those of the head.
        subtitle: run id, seed and the like.
        warnings: reasons for which the result is not final.
        foot: how to read the result.
        name: name of the window; the title if "".
    """

    title: str
    summary: tuple[Text, ...]
    facts: Facts
    sections: tuple[Section, ...]
    subtitle: str = ""
    warnings: tuple[Part, ...] = ()
    foot: str = ""
    name: str = ""


def columns_of(*names: str, left: int | Collection[str] = 1) -> tuple[Column, ...]:
    """Return columns aligned to the right, except the first ones or those named in `left`."""
    named = names[:left] if isinstance(left, int) else left
    return tuple(Column(name, "left" if name in named else "right") for name in names)


def of_rows(
    columns: Sequence[str], rows: Sequence[Sequence[Value | Cell]], *, left: int = 1, caption: str = ""
) -> Table:
    """Return a plain table whose first `left` columns are aligned to the left, and the others to the right."""
    named = tuple(Column(name, "left" if i < left else "right") for i, name in enumerate(columns))
    return Table(named, tuple(Row(tuple(row)) for row in rows), caption)
