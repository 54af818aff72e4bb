"""Reads a page the way a strict reader would: balanced tags, text, attributes and tables."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link", "rect", "line", "path", "circle"}


class Page(HTMLParser):
    """A parsed page; raises AssertionError on tags that do not match."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.feed(markup)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID or tag in ("rect", "line", "path", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            return
        self.text += data
        if self.rows and ("td" in self.open or "th" in self.open):
            self.rows[-1][-1] += data

    def row(self, start: str) -> list[str]:
        """Return the cells of the first row whose first cell starts with `start`."""
        return next(cells for cells in self.rows if cells and cells[0].strip().startswith(start))

    def count(self, tag: str) -> int:
        """Return how often a tag occurs."""
        return sum(name == tag for name, _ in self.tags)
