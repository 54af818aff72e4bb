"""Runs in the sandbox: converts a document to text. It imports nothing of Heredity."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from html.parser import HTMLParser

from styles import Look, Sheets

VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
"""Elements without an end tag."""

IMPLIED = frozenset({"p", "li", "td", "th", "tr", "dt", "dd", "option"})
"""Elements that end where the next of their kind starts."""

_DEPTH = 400


def run(ending: str, data: str) -> str:
    """Return the text of a document, given its bytes in base 64."""
    content = base64.b64decode(data)
    return READERS[ending](content)


def html(content: bytes) -> str:
    """Return the visible text of a page."""
    return readable(content.decode("utf-8", "replace"))


READERS = {".html": html, ".htm": html}


class Finder(HTMLParser):
    """Finds the style sheets of a page: embedded ones, and the addresses of others."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.addresses: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the start of a sheet, or its address."""
        given = {name: value or "" for name, value in attrs}
        printed = re.match(r"\s*(?:only\s+)?(?:print|speech)\b", given.get("media", ""), re.IGNORECASE)
        self._inside = tag == "style" and not printed
        relation = given.get("rel", "").lower().split()
        if tag == "link" and "stylesheet" in relation and "alternate" not in relation and not printed:
            self.addresses.append(given.get("href", "").strip())

    def handle_endtag(self, tag: str) -> None:
        """Note the end of a sheet."""
        self._inside = False

    def handle_data(self, data: str) -> None:
        """Keep a sheet."""
        if self._inside:
            self.texts.append(data)


def sheets_of(html: str, others: Mapping[str, str] | None = None) -> tuple[Sheets, list[str]]:
    """Return the style sheets of a page, and the addresses of those that are missing.

    Args:
        html: the page.
        others: texts of style sheets by their address in the page.
    """
    finder = Finder()
    finder.feed(html)
    finder.close()
    texts = others or {}
    missing = [address for address in finder.addresses if address not in texts]
    sheets = Sheets(whole=not missing)
    for text in (*(texts[address] for address in finder.addresses if address in texts), *finder.texts):
        sheets.add(text)
    return sheets, list(dict.fromkeys(missing))


class Visible(HTMLParser):
    """Collects the visible text of a page, with the targets of links, omitting text hidden by attributes and style sheets."""

    hidden = frozenset({"script", "style", "head", "noscript", "template"})
    blocks = frozenset(
        {"p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "br", "table", "section", "article"}
    )

    def __init__(self, sheets: Sheets) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._sheets = sheets
        self._open: list[tuple[str, bool, Look]] = []
        self._targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Start a line at a block, hide invisible elements, remember link targets."""
        attributes = {name: value or "" for name, value in attrs}
        if self._open and self._open[-1][0] == tag and tag in IMPLIED:
            self._open.pop()
        look = self._sheets.look(tag, attributes, [look for _, _, look in self._open])
        # An element with an invisible colour may contain visible ones.
        off = bool(self._open and self._open[-1][1]) or tag in self.hidden or is_hidden(attributes)
        hidden = off or look.unseen
        if tag not in VOID and len(self._open) < _DEPTH:
            self._open.append((tag, off, look))
        if tag in self.blocks:
            self.parts.append("\n")
        elif hidden:
            return
        elif tag in ("td", "th"):
            self.parts.append(" | ")
        elif tag == "a":
            self._targets.append(attributes.get("href", ""))

    def handle_endtag(self, tag: str) -> None:
        """End a block, and add a link's target."""
        hides = self._hides
        if at := next((n for n in range(len(self._open), 0, -1) if self._open[n - 1][0] == tag), 0):
            del self._open[at - 1 :]
        if tag in self.blocks:
            self.parts.append("\n")
        elif tag == "a" and not hides and self._targets and (target := self._targets.pop()):
            self.parts.append(f" ({target})")

    def handle_data(self, data: str) -> None:
        """Keep a visible text."""
        if not self._hides:
            self.parts.append(re.sub(r"\s+", " ", data))

    @property
    def _hides(self) -> bool:
        return bool(self._open) and (self._open[-1][1] or self._open[-1][2].unseen)


def is_hidden(attributes: Mapping[str, str]) -> bool:
    """Return whether an element's attributes hide it; `styles` checks its style."""
    return "hidden" in attributes or attributes.get("aria-hidden") == "true"


def readable(html: str) -> str:
    """Return the visible text of an HTML page, blocks on separate lines, links with their targets."""
    page = Visible(sheets_of(html)[0])
    page.feed(html)
    page.close()
    lines = (" ".join(line.split()) for line in "".join(page.parts).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
