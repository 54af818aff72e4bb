"""Documents as text with citable locations: plain formats are decoded here, all others are read in the sandbox.

PDF by page, XLSX by sheet and cell, PPTX by slide, DOCX, HTML and text by paragraph, CSV and the like by line;
pictures by their size and embedded texts, for models that cannot see. PDF and XLSX need the extra `documents`.
"""

from __future__ import annotations

import base64
import bisect
import importlib.util
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import CandidateError, MissingExtraError
from heredity.engine.actor import Programs
from heredity.resources import SourceTree

LINES = (".csv", ".tsv", ".json", ".jsonl", ".py", ".toml", ".yaml", ".yml", ".xml")
PLAIN = (".txt", ".md", ".rst", *LINES)
PICTURES: Mapping[str, str] = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
"""Endings of pictures, and their media types."""
ENDINGS = (*PLAIN, ".html", ".htm", ".pdf", ".docx", ".xlsx", ".pptx", *PICTURES)
"""Endings of readable documents."""
MOST_BYTES = 20 << 20
"""Size limit of a document, in bytes."""

_NEEDS = {".pdf": "pypdf", ".xlsx": "openpyxl"}
_SECONDS = 30.0
_MOST_TEXT = 4_000_000
_PARAGRAPH = re.compile(r"(?:\A|\n[ \t]*\n)\s*(?=\S)")


class UnreadableDocumentError(CandidateError):
    """A document that cannot be read; the message says why."""


@dataclass(frozen=True)
class Document:
    """The text of a document.

    Attributes:
        text: the text; each page, sheet or slide starts with a line such as `[page 3]`.
        marks: their starts, in order: position in the text, and label.
        unit: unit of other locations: `"paragraph"` or `"line"`.
    """

    text: str
    marks: tuple[tuple[int, str], ...] = ()
    unit: str = "paragraph"

    @classmethod
    def of(cls, parts: Iterable[tuple[str, str]], unit: str = "paragraph") -> Document:
        """Join parts, each with its label; a part without one continues the previous one."""
        text, marks = "", list[tuple[int, str]]()
        for label, piece in parts:
            text += "\n\n" if text else ""
            if label:
                marks.append((len(text), label))
                text += f"[{label}]\n"
            text += piece
        return cls(text, tuple(marks), unit)

    def location(self, at: int) -> str:
        """Return a position as a citable location: `page 3`, `sheet Visits, row 12`, `paragraph 7`."""
        index = bisect.bisect_right(self.marks, (at, "\uffff")) - 1
        if index >= 0:
            label = self.marks[index][1]
            if not label.startswith("sheet "):
                return label
            line = self.text[self.text.rfind("\n", 0, at) + 1 :][:40]
            row = re.match(r"[A-Z]+(\d+): ", line)
            return f"{label}, row {row[1]}" if row else label
        if self.unit == "line":
            return f"line {self.text.count(chr(10), 0, at) + 1}"
        paragraph = sum(match.end() <= at for match in _PARAGRAPH.finditer(self.text, 0, at + 1))
        return f"paragraph {max(1, paragraph)}"

    def start(self, part: str) -> int | None:
        """Return the start of a page, sheet or slide by its label; None if it does not exist."""
        wanted = part.strip().lower()
        return next((at for at, label in self.marks if label.lower() == wanted), None)


class DocumentReader:
    """Reads outside documents.

    Args:
        programs: runs the readers of formats other than plain text.
    """

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        folder = Path(__file__).parent / "guest"
        names = ("formats.py", "office.py", "pdf_text.py", "reading.py", "styles.py")
        self._reader = SourceTree({name: (folder / name).read_bytes() for name in names})

    async def text(self, name: str, data: bytes) -> str:
        """Return the visible text of a document. Raises as `read`."""
        return (await self.read(name, data)).text

    async def read(self, name: str, data: bytes) -> Document:
        """Return a document as text with its locations.

        Raises:
            UnreadableDocumentError: if its format is unknown or does not match its name, or it is damaged, encrypted,
                too large or too slow to read.
            MissingExtraError: if its reader is not installed.
        """
        ending = Path(name).suffix.lower()
        if len(data) > MOST_BYTES:
            raise UnreadableDocumentError(
                f"{name} has {len(data) >> 20} MiB, more than {MOST_BYTES >> 20}; give a smaller part of it"
            )
        if ending in PLAIN or not ending:
            return _plain(name, data, "line" if ending in LINES else "paragraph")
        if ending not in ENDINGS:
            raise UnreadableDocumentError(
                f"{name}: documents that end in {ending} cannot be read; known: {', '.join(ENDINGS)}"
            )
        if ending in _NEEDS and importlib.util.find_spec(_NEEDS[ending]) is None:
            raise MissingExtraError(f"reading {name}", "documents")
        arguments = {"ending": ending, "data": base64.b64encode(data).decode()}
        result = await self._programs.call(self._reader, "formats:run", arguments, seconds=_SECONDS)
        if result.error:
            raise UnreadableDocumentError(f"{name} cannot be read: {result.error}: {result.message}")
        value = cast("Mapping[str, Any]", result.value)
        if "refused" in value:
            raise UnreadableDocumentError(f"{name} cannot be read: {value['refused']}")
        return Document.of((str(label), str(text)) for label, text in value["parts"])


def _plain(name: str, data: bytes, unit: str) -> Document:
    if b"\0" in data[:4096]:
        raise UnreadableDocumentError(f"{name} cannot be read: its name is that of a text, and it is none")
    text = data.decode("utf-8-sig", "replace")
    cut = f"\n[{len(text) - _MOST_TEXT} of {len(text)} characters are not read]" if len(text) > _MOST_TEXT else ""
    return Document(text[:_MOST_TEXT] + cut, (), unit)
