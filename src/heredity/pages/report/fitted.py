"""Tables that fit any terminal: figures are never cut; names and prose wrap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

_GAP = 2
_LONGEST_WORD = 20
"""Maximum length of a word of names and prose that stays whole."""


@dataclass(frozen=True, slots=True)
class Head:
    """Head of a column; right-aligned columns hold figures, which never wrap."""

    name: str
    right: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """Cell: its value, its interval, and notes in small print."""

    value: Text
    interval: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """Row of cells, one for each column, and its style."""

    cells: tuple[Content, ...]
    style: str = ""


class FittedTable:
    """Table in the widest of three layouts that fits the terminal.

    The first has whole rows on one line, with intervals in separate columns. The second has intervals and notes below
    their
    values. The third makes each row a block with one value per line.

    Args:
        heads: the columns; the first names the row.
        rows: from top to bottom.
        caption: its caption; "" for none.
    """

    def __init__(self, heads: Sequence[Head], rows: Sequence[Line], caption: str = "") -> None:
        self._heads, self._rows, self._caption = heads, rows, caption

    @classmethod
    def plain(
        cls, heads: Sequence[str], rows: Sequence[Sequence[str | Text]], left: int = 1, caption: str = ""
    ) -> FittedTable:
        """Return a table of texts whose first `left` columns hold words, and the others figures."""
        lines = [Line(tuple(Content(Text(cell) if isinstance(cell, str) else cell) for cell in row)) for row in rows]
        return cls([Head(name, i >= left) for i, name in enumerate(heads)], lines, caption)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the caption and the table."""
        if self._caption:
            yield Text(self._caption, style="bold")
        width = options.max_width
        whole = self._whole()
        if console.measure(whole, options=options.update(max_width=100_000)).maximum <= width:
            yield whole
        elif sum(least := self._least()) + _GAP * (len(least) - 1) <= width:
            yield self._below(least, width)
        else:
            yield from self._blocks(width)

    def _whole(self) -> RichTable:
        made = _table()
        split = [any(row.cells[i].interval for row in self._rows) for i in range(len(self._heads))]
        for head, wide in zip(self._heads, split, strict=True):
            made.add_column(Text(head.name), justify=_side(head), no_wrap=True)
            if wide:
                made.add_column("interval", justify="right", no_wrap=True)
        for row in self._rows:
            cells: list[Text] = []
            for cell, wide in zip(row.cells, split, strict=True):
                notes = f" ({'; '.join(cell.notes)})" if cell.notes else ""
                cells.append(cell.value + Text(notes))
                cells += [Text(cell.interval)] if wide else []
            made.add_row(*cells, style=row.style)
        return made

    def _least(self) -> list[int]:
        """Return the minimum width of each column that keeps all figures whole."""
        return [
            max(chain([_word(head.name)], *(_widths(row.cells[i], head) for row in self._rows)))
            for i, head in enumerate(self._heads)
        ]

    def _below(self, least: Sequence[int], width: int) -> RichTable:
        """Return columns with intervals and notes below values; spare width goes where it saves most lines."""
        made, widths = _table(), list(least)
        wanted = [
            max([len(head.name), *(_longest(row.cells[i]) for row in self._rows)]) for i, head in enumerate(self._heads)
        ]
        left = width - sum(widths) - _GAP * (len(widths) - 1)
        while left and (short := [i for i in range(len(widths)) if widths[i] < wanted[i]]):
            widths[min(short, key=widths.__getitem__)] += 1
            left -= 1
        for head, size in zip(self._heads, widths, strict=True):
            made.add_column(Text(head.name), justify=_side(head), width=size, overflow="fold")
        for row in self._rows:
            made.add_row(*map(_stacked, row.cells), style=row.style)
        return made

    def _blocks(self, width: int) -> Iterator[RenderableType]:
        """Yield each row as a block: its name, then a line for each other column that is not empty."""
        first, *others = self._heads
        figures = [row.cells[i + 1] for row in self._rows for i in range(len(others))]
        beside = max((_longest_part(cell) for cell in figures), default=0)
        word = max((_word(head.name) for head in others), default=0)
        longest = max((len(head.name) for head in others), default=0)
        # Names get at most half of the width, unless their words need more.
        names = min(longest, max(width // 2 - _GAP - 2, word))
        beside_names = names + _GAP + 2 + beside <= width
        for row in self._rows:
            named = f"{first.name} " if first.name else ""
            yield Text.assemble((named, "dim"), _stacked(row.cells[0], " "), style=row.style)
            block = RichTable.grid(padding=(0, _GAP, 0, 0), pad_edge=False)
            block.add_column(width=names if beside_names else width - 2, overflow="fold")
            block.add_column(width=width - names - _GAP - 2 if beside_names else 0, overflow="fold")
            for head, cell in zip(others, row.cells[1:], strict=True):
                name, shown = Text(head.name, style="dim"), _stacked(cell)
                if beside_names:
                    block.add_row(name, shown, style=row.style)
                else:
                    block.add_row(Text("\n").join([name, shown]), style=row.style)
            yield Padding(block, (0, 0, 0, 2))


def _table() -> RichTable:
    return RichTable(box=None, pad_edge=False, header_style="dim", padding=(0, _GAP, 0, 0), collapse_padding=True)


def _side(head: Head) -> JustifyMethod:
    return "right" if head.right else "left"


def _stacked(cell: Content, between: str = "\n") -> Text:
    """Return a value with its interval and notes below it."""
    return Text(between).join([cell.value, *(Text(part) for part in (cell.interval, *cell.notes) if part)])


def _word(text: str) -> int:
    """Return the length of the longest word, up to the length from which words may break."""
    return min(_LONGEST_WORD, max(map(len, text.split()), default=0))


def _widths(cell: Content, head: Head) -> Iterator[int]:
    yield len(cell.value.plain) if head.right else _word(cell.value.plain)
    yield len(cell.interval)
    yield from map(_word, cell.notes)


def _longest(cell: Content) -> int:
    return max(len(cell.value.plain), len(cell.interval), *map(len, cell.notes), 0)


def _longest_part(cell: Content) -> int:
    return max(len(cell.value.plain), len(cell.interval))
