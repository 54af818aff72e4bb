"""Runs in the sandbox: turns a document into text. It imports nothing of Heredity."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from html.parser import HTMLParser

VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
"""Elements that have no end."""

IMPLIED = frozenset({"p", "li", "td", "th", "tr", "dt", "dd", "option"})
"""Elements that end where the next of their kind begins."""

_DEPTH = 400
_ZERO = r"[+-]?0*\.?0*(?:%|[a-z]+)?"
_UNSEEN = re.compile(
    rf";(?:display:none|visibility:(?:hidden|collapse)|opacity:{_ZERO}|font-size:{_ZERO}|font:(?:[^;]*[^\d.;])?0(?:px|pt|em|rem|%|(?=/)))(?=!|/|;|$|[a-z])"
)


def run(ending: str, data: str) -> str:
    """Return the text of a document, given its bytes in base 64."""
    content = base64.b64decode(data)
    return READERS[ending](content)


def html(content: bytes) -> str:
    """Return what a reader of a page would see."""
    return readable(content.decode("utf-8", "replace"))


READERS = {".html": html, ".htm": html}


class Visible(HTMLParser):
    """Collects what a reader of a page would see, with the targets of links; what attributes hide is left out."""

    hidden = frozenset({"script", "style", "head", "noscript", "template"})
    blocks = frozenset(
        {"p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "br", "table", "section", "article"}
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self._targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a line at a block, hide what is not shown, remember where a link leads."""
        attributes = {name: value or "" for name, value in attrs}
        if self._open and self._open[-1][0] == tag and tag in IMPLIED:
            self._open.pop()
        hidden = self._hides or tag in self.hidden or is_hidden(attributes)
        if tag not in VOID and len(self._open) < _DEPTH:
            self._open.append((tag, hidden))
        if tag in self.blocks:
            self.parts.append("\n")
        elif hidden:
            return
        elif tag in ("td", "th"):
            self.parts.append(" | ")
        elif tag == "a":
            self._targets.append(attributes.get("href", ""))

    def handle_endtag(self, tag: str) -> None:
        """End a block, and say where a link led."""
        hides = self._hides
        if at := next((n for n in range(len(self._open), 0, -1) if self._open[n - 1][0] == tag), 0):
            del self._open[at - 1 :]
        if tag in self.blocks:
            self.parts.append("\n")
        elif tag == "a" and not hides and self._targets and (target := self._targets.pop()):
            self.parts.append(f" ({target})")

    def handle_data(self, data: str) -> None:
        """Keep a text that is shown."""
        if not self._hides:
            self.parts.append(re.sub(r"\s+", " ", data))

    @property
    def _hides(self) -> bool:
        return bool(self._open) and self._open[-1][1]


def is_hidden(attributes: Mapping[str, str]) -> bool:
    """Return whether a person sees nothing of an element, by its own attributes; style sheets are not followed."""
    return "hidden" in attributes or attributes.get("aria-hidden") == "true" or bool(_UNSEEN.search(_style(attributes)))


def _style(attributes: Mapping[str, str]) -> str:
    plain = re.sub(r"/\*.*?\*/", "", attributes.get("style", "").lower(), flags=re.DOTALL)
    return ";" + re.sub(r"\s+", "", plain)


def readable(html: str) -> str:
    """Return what a reader of an HTML page would see, blocks on lines of their own, links with their targets."""
    page = Visible()
    page.feed(html)
    page.close()
    lines = (" ".join(line.split()) for line in "".join(page.parts).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
