"""Runs in the sandbox: converts a web page's main content to Markdown.

It imports nothing of Heredity.

Invisible content is omitted: scripts, hidden elements, comments. If a page marks its main part (`main`, `article`),
the rest is omitted; otherwise its navigation is.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

from reading import IMPLIED, VOID, is_hidden, sheets_of
from styles import Look, Sheets

MOST_TEXT = 400_000
"""Limit on the characters kept of a page."""

_DEPTH = 400
_ENOUGH = 200
_HIDDEN = frozenset(
    {
        "script",
        "style",
        "noscript",
        "template",
        "svg",
        "canvas",
        "iframe",
        "object",
        "head",
        "title",
        "select",
        "datalist",
    }
)
_AROUND = frozenset({"nav", "aside", "footer"})
_ROLES = frozenset({"navigation", "banner", "contentinfo", "complementary", "search", "menu"})
_PARAGRAPHS = frozenset(
    {"p", "div", "section", "article", "main", "header", "figure", "figcaption", "dl", "dt"}
    | {"dd", "ul", "ol", "table", "form", "fieldset", "details", "summary", "address", "body"}
)
_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)


def run(data: str, address: str, charset: str = "", sheets: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return title and Markdown of a page, the amount of its hidden text, and its missing style sheets.

    Args:
        data: its bytes (base 64).
        address: its address.
        charset: character set given by its server.
        sheets: texts of its style sheets, by their addresses in the page.
    """
    content = base64.b64decode(data)
    named = _CHARSET.search(content[:4096])
    html = _decoded(content, charset or (named[1].decode("ascii") if named else "utf-8"))
    read, missing = sheets_of(html, sheets)
    page = Page(address, read)
    page.feed(html)
    page.close()
    return {
        "title": " ".join(page.title.split())[:300],
        "text": page.markdown()[:MOST_TEXT],
        "hidden": page.unseen,
        "missing": {href: page.target(href) for href in missing},
    }


def _decoded(content: bytes, charset: str) -> str:
    try:
        return content.decode(charset, "replace")
    except LookupError:
        return content.decode("utf-8", "replace")


class _Element:
    __slots__ = ("around", "hidden", "link", "look", "main", "off", "tag")

    def __init__(self, tag: str, above: _Element | None, attributes: dict[str, str], look: Look) -> None:
        self.tag = tag
        self.link = -1
        self.look = look
        self.off = bool(above and above.off) or tag in _HIDDEN or is_hidden(attributes)
        self.hidden = self.off or look.unseen
        self.around = bool(above and above.around) or tag in _AROUND or attributes.get("role", "") in _ROLES
        self.main = bool(above and above.main) or tag in ("main", "article") or attributes.get("role") == "main"


class Page(HTMLParser):
    """Collects pieces of Markdown, each with its context."""

    def __init__(self, address: str, sheets: Sheets | None = None) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.unseen = 0
        self._sheets = sheets or Sheets()
        self._base = address
        self._pieces: list[tuple[str, bool, bool]] = []
        self._stack: list[_Element] = []
        self._targets: list[str] = []
        self._lists: list[int] = []
        self._titled = False
        self._plain = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        attributes = {name: value or "" for name, value in attrs}
        if tag == "title" and not self.title:
            self._titled = True
        if tag == "base":
            self._base = urljoin(self._base, attributes.get("href", ""))
        if self._stack and self._stack[-1].tag == tag and tag in IMPLIED:
            self.handle_endtag(tag)
        look = self._sheets.look(tag, attributes, [above.look for above in self._stack])
        element = _Element(tag, self._stack[-1] if self._stack else None, attributes, look)
        if tag not in VOID and len(self._stack) < _DEPTH:
            self._stack.append(element)
        if not element.hidden:
            self._begin(tag, attributes, element)

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and unclosed ones inside it."""
        self._titled = self._titled and tag != "title"
        for index in range(len(self._stack) - 1, -1, -1):
            if self._stack[index].tag == tag:
                for element in reversed(self._stack[index:]):
                    if not element.hidden:
                        self._end(element)
                del self._stack[index:]
                break

    def handle_data(self, data: str) -> None:
        """Keep a visible text."""
        if self._titled:
            self.title += data
        if self._stack and self._stack[-1].hidden:
            self.unseen += 0 if self._stack[-1].off else len(data.strip())
        else:
            self._add(data if self._plain else re.sub(r"\s+", " ", data))

    def markdown(self) -> str:
        """Return the main content."""
        own = "".join(text for text, main, around in self._pieces if main and not around)
        fitting = "".join(text for text, _, around in self._pieces if not around)
        everything = "".join(text for text, _, _ in self._pieces)
        text = next((text for text in (own, fitting) if len(text.strip()) >= _ENOUGH), fitting or everything)
        if not text.strip():
            text = everything
        text = re.sub(r"[ \t]+\n", "\n", re.sub(r"(?<=\S)[ \t]{2,}", " ", text))
        return re.sub(r"\n{3,}", "\n\n", text).strip()

    def _add(self, text: str) -> None:
        top = self._stack[-1] if self._stack else None
        self._pieces.append((text, bool(top and top.main), bool(top and top.around)))

    def _begin(self, tag: str, attributes: dict[str, str], element: _Element) -> None:
        if re.fullmatch("h[1-6]", tag):
            self._add(f"\n\n{'#' * int(tag[1])} ")
        elif tag in ("ul", "ol"):
            self._lists.append(0 if tag == "ul" else 1)
            self._add("" if len(self._lists) > 1 else "\n\n")
        elif tag == "li":
            self._item()
        elif tag == "a" and (target := self.target(attributes.get("href", ""))):
            element.link = len(self._targets)
            self._targets.append(target)
            self._add("[")
        elif tag == "img" and (alt := attributes.get("alt", "").strip()):
            self._add(f"[picture: {' '.join(alt.split())[:200]}]")
        elif tag == "pre":
            self._plain += 1
            self._add("\n\n```\n")
        else:
            self._add({"br": "\n", "hr": "\n\n---\n\n", "tr": "\n| ", "blockquote": "\n\n> "}.get(tag, ""))
            if tag in _PARAGRAPHS:
                self._add("\n\n")

    def _item(self) -> None:
        number = self._lists[-1] if self._lists else 0
        if number:
            self._lists[-1] += 1
        self._add(f"\n{'  ' * min(len(self._lists) - 1, 20)}{f'{number}.' if number else '-'} ")

    def _end(self, element: _Element) -> None:
        tag = element.tag
        if element.link >= 0:
            self._add(f"]({self._targets[element.link]})")
        elif tag in ("td", "th"):
            self._add(" | ")
        elif tag in ("ul", "ol"):
            if self._lists:
                self._lists.pop()
            self._add("" if self._lists else "\n\n")
        elif tag == "pre":
            self._plain = max(0, self._plain - 1)
            self._add("\n```\n\n")
        elif tag in _PARAGRAPHS or tag == "blockquote" or re.fullmatch("h[1-6]", tag):
            self._add("\n\n")

    def target(self, href: str) -> str:
        """Return the target address of a link; empty if it cannot be fetched."""
        try:
            target = urljoin(self._base, href.strip())
            return target if href.strip()[:1] not in ("", "#") and urlsplit(target).scheme in ("http", "https") else ""
        except ValueError:
            return ""
