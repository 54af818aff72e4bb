"""What a page is made of, in neutral parts: protocols say what there is to say, renderers in `reports/` draw it.

Example:
    Section("gains", "Gains", parts=(
        Text("Paired by task; positive is better.", "about"),
        Table(
            columns=(Column("Method"), Column("Gain", "right")),
            rows=(Row((Named("ace", 0), Mean(0.12, 0.02, 0.22, signed=True))),),
            caption="Means over runs",
        ),
    ))

Nothing here is escaped or formatted: a cell holds the number and says how it is to be written. Values that are unknown are
None and become a dash, never a zero. Charts are in `results/charts.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from heredity.results.charts import Chart, Tone
from heredity.results.text import Form

Place = Literal["head", "lead", "main", "detail"]
"""Where a section stands: in the head of the page, before the general leaderboard (or a run's product), after the comparisons,
near the end."""

Media = Literal["all", "files", "page"]
"""Who shows a section: pages, Markdown and terminal; pages and Markdown; pages alone."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number and how it is written: `decimals` (by its size if None), and `form`, see `heredity.results.text.write`."""

    value: float | None
    decimals: int | None = None
    form: Form = "plain"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its interval, None where unknown; `decimals` follow from the interval if None; `signed` for differences."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    decimals: int | None = None
    signed: bool = False

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The interval's ends."""
        return (self.low, self.high)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a test or a rule says, in words; what `heredity.results.run.Verdict` says has its sign, other words the `tone` given.

    `because` is the reason, in small print.
    """

    word: str | None
    tone: Tone = None
    because: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """A name.

    Attributes:
        name: as it is written.
        tone: the colour that it has in charts.
        run: the run whose page it links to, where there is one.
        title: the name in full, where `name` is short for it.
        swatch: whether its colour stands before it even if it is that of a reference.
    """

    name: str
    tone: Tone = None
    run: str | None = None
    title: str = ""
    swatch: bool = False


@dataclass(frozen=True, slots=True)
class Mono:
    """A digest, a path or a line of code; `length` characters of it are shown, all where 0."""

    text: str | None
    length: int = 0


Value = str | int | float | Number | Mean | Verdict | Named | Mono | None
"""What a cell or a fact holds; a bare float is written with four significant digits, "" and None as a dash."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A value with more to it.

    Attributes:
        value: what it shows.
        notes: small lines below it.
        tone: `good` or `bad` for what is to be noticed.
        strong: whether it stands out, as the best of a column does.
        shaded: whether its ground is shaded, as the home column of a matrix is.
        heat: how full its colour is, -1 (bad) to 1 (good); None for none.
    """

    value: Value = None
    notes: tuple[Value, ...] = ()
    tone: Tone = None
    strong: bool = False
    shaded: bool = False
    heat: float | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, whether it is aligned `left` or `right`, and whether it holds prose, which may wrap."""

    name: str
    align: Literal["left", "right"] = "left"
    prose: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of a table, one for each column; `role` shades what was chosen, fades a reference, or heads a group (one cell)."""

    cells: tuple[Value | Cell, ...]
    role: Literal["", "chosen", "reference", "group"] = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        columns: from left to right; the first names the row.
        rows: from top to bottom.
        caption: what it shows, over it; "" for none.
        empty: what is said in its place when it has no rows; "" to leave it out.
        csv: the name of the file it is written to as well, such as `runs.csv`; "" for none.
        folded: whether the page shows it folded under its caption; it folds by itself when it is long.
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
    """A paragraph.

    `summary` says what was found, at the top of page, Markdown and terminal; `caution` what limits it, there too; `warning`
    is set apart; `about` explains a section and `note` a part of it, on pages alone; `item` is a line of a list.
    """

    text: str
    role: Literal["paragraph", "summary", "caution", "warning", "about", "note", "item"] = "paragraph"


@dataclass(frozen=True, slots=True)
class Fact:
    """A name with its value, and what is added to it in small print."""

    name: str
    value: Value
    note: Value = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with values: in the head of a page the figures that count (about six), elsewhere a list."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Source text.

    Attributes:
        text: as it is; cut here if it is long, with a note.
        language: `python`, `sh`, `toml`, `text`, or `diff` for a unified diff, which is coloured.
        title: the file's name or what it is; "" for none.
        note: in small print beside the title.
        folded: whether the page shows it folded.
    """

    text: str
    language: str = "text"
    title: str = ""
    note: str = ""
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Parts side by side where there is room: in a `grid` of cards, as a `pair` of a wide and a narrow one, or a `stack`."""

    parts: tuple[Part, ...]
    layout: Literal["grid", "pair", "stack"] = "grid"


@dataclass(frozen=True, slots=True)
class Folded:
    """Parts under a line that opens them, open from the start or not; `page_only` to leave them out of Markdown."""

    title: str
    parts: tuple[Part, ...]
    note: str = ""
    open: bool = False
    page_only: bool = True


@dataclass(frozen=True, slots=True)
class File:
    """A file written beside the report, such as `results.csv` or `reports/summary.md`; pages do not show it.

    Attributes:
        name: its path in the folder of the report.
        content: text as it is, a table as CSV, or sections as Markdown.
        title: the heading of the Markdown.
    """

    name: str
    content: str | Table | tuple[Section, ...]
    title: str = ""


Part = Text | Facts | Table | Code | Chart | Group | Folded | File


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page.

    In the head (`place="head"`) a `summary` and `Facts` stand in the place of the general ones, a `caution` or `warning` is
    added to them.

    Attributes:
        id: letters and hyphens, one of its kind on the page; a section replaces a general one of the same id.
        title: its heading.
        parts: from top to bottom; a section without any is left out.
        place: where it stands.
        media: who shows it.
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
    """A report.

    Attributes:
        title: what was run, in words.
        summary: sentences on what was found and what limits it.
        facts: the figures that count.
        sections: in order; none of them of the head.
        subtitle: run id, seed and the like.
        warnings: what keeps the result from being final.
        foot: how the result is to be read.
        name: of the window; the title if "".
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
    """Return columns aligned to the right, but for the first ones or those that are named in `left`."""
    named = names[:left] if isinstance(left, int) else left
    return tuple(Column(name, "left" if name in named else "right") for name in names)


def of_rows(
    columns: Sequence[str], rows: Sequence[Sequence[Value | Cell]], *, left: int = 1, caption: str = ""
) -> Table:
    """Return a plain table whose first `left` columns are aligned to the left, and the others to the right."""
    named = tuple(Column(name, "left" if i < left else "right") for i, name in enumerate(columns))
    return Table(named, tuple(Row(tuple(row)) for row in rows), caption)
