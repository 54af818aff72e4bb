"""Runs in the sandbox: turns a document into text. It imports nothing of Heredity."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser


def run(ending: str, data: str) -> str:
    """Return the text of a document, given its bytes in base 64."""
    content = base64.b64decode(data)
    return READERS[ending](content)


def html(content: bytes) -> str:
    """Return what a reader of a page would see."""
    return readable(content.decode("utf-8", "replace"))


READERS = {".html": html, ".htm": html}


class Visible(HTMLParser):
    """Collects what a reader of a page would see, with the targets of links."""

    hidden = frozenset({"script", "style", "head", "noscript", "template"})
    blocks = frozenset(
        {"p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "br", "table", "section", "article"}
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0
        self._targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a line at a block, hide what is not shown, remember where a link leads."""
        self._hidden += tag in self.hidden
        if tag in self.blocks:
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append(" | ")
        elif tag == "a":
            self._targets.append(dict(attrs).get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        """End a block, and say where a link led."""
        self._hidden = max(0, self._hidden - (tag in self.hidden))
        if tag in self.blocks:
            self.parts.append("\n")
        elif tag == "a" and self._targets and (target := self._targets.pop()):
            self.parts.append(f" ({target})")

    def handle_data(self, data: str) -> None:
        """Keep a text that is shown."""
        if not self._hidden:
            self.parts.append(re.sub(r"\s+", " ", data))


def readable(html: str) -> str:
    """Return what a reader of an HTML page would see, blocks on lines of their own, links with their targets."""
    page = Visible()
    page.feed(html)
    page.close()
    lines = (" ".join(line.split()) for line in "".join(page.parts).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
