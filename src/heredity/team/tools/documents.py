"""Documents as text with citable locations: plain formats are decoded here, all others are read in the sandbox.

PDF by page, XLSX by sheet and cell, PPTX by slide, DOCX, HTML and text by paragraph, CSV and the like by line;
pictures by their size and embedded texts (for models that cannot see). PDF and XLSX need the extra `documents`.
"""

from __future__ import annotations

import asyncio
import base64
import bisect
import importlib.util
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import CandidateError, ConfigError, MissingExtraError, nearest
from heredity._core.outside import resolved
from heredity.engine.actor import Programs, ProvidedTool
from heredity.models import ToolSpec
from heredity.resources import SourceTree
from heredity.resources.retrieval import scores, words
from heredity.team.agent import TeamTool

LINES = (".csv", ".tsv", ".json", ".jsonl", ".jsonld", ".pdb", ".py", ".srt", ".toml", ".vtt", ".xml", ".yaml", ".yml")
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
            UnreadableDocumentError: if its format is unknown or does not match its name, or it is damaged, encrypted, or
                too large (or slow) to read.
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


# A corpus: documents for agents to search by words and read in pieces. A document is data: agents get it as a tool's
# result, with its source and location.


MOST_DOCUMENTS = 20_000
_PASSAGE = 900
_PIECE = 6_000
_FOUND = 8


class Corpus:
    """The documents of a folder, read once (see `load`).

    Attributes:
        documents: each document, by its path below the folder.
    """

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self.documents = dict(documents)
        self._passages = [
            (name, at, piece) for name, document in documents.items() for at, piece in _passages(document)
        ]

    @classmethod
    async def load(cls, folder: Path | None, reader: DocumentReader, files: Mapping[str, Path] | None = None) -> Corpus:
        """Read the documents of a folder, and files by name, without links that lead out of the folder.

        Raises:
            ConfigError: if the folder does not exist, or has more than `MOST_DOCUMENTS`.
            MissingExtraError: if the reader of one of them is not installed.
        """
        paths = [(path, name) for name, path in (files or {}).items()]
        if folder is not None:
            paths += await asyncio.to_thread(_documents, folder)
        documents: dict[str, Document] = {}
        for path, name in paths:
            data = await asyncio.to_thread(_read, path)
            try:
                documents[name] = await reader.read(path.name, data)
            except UnreadableDocumentError as error:
                documents[name] = Document(f"[{error}]")
        return cls(documents)

    def joined(self, other: Corpus) -> Corpus:
        """Return a corpus with the documents of both; the other's take precedence."""
        corpus = Corpus({})
        corpus.documents = self.documents | other.documents
        corpus._passages = [
            passage for passage in self._passages if passage[0] not in other.documents
        ] + other._passages
        return corpus

    def search(self, query: str, most: int = 5) -> list[tuple[str, int, str]]:
        """Return the best-matching passages, one for each document: path, position in its text, and the passage."""
        passages = self._passages
        # A path often describes a document better than its text.
        fit = scores(query, [f"{name} {piece}" for name, _, piece in passages])
        hits: dict[str, tuple[str, int, str]] = {}
        for index in sorted(range(len(passages)), key=lambda i: -fit[i]):
            if fit[index] <= 0 or len(hits) == most:
                break
            hits.setdefault(passages[index][0], passages[index])
        return list(hits.values())

    def read(self, path: str, start: int = 0, part: str = "") -> str:
        """Return a piece of a document, and the start of the next one.

        Args:
            path: the document.
            start: position in its text.
            part: a page, sheet or slide, such as `page 3`, to which `start` is relative.

        Raises:
            ConfigError: if the document or the part does not exist.
        """
        document = self.documents.get(path)
        if document is None:
            hint = f"; did you mean {' or '.join(near)}?" if (near := nearest(path, self.documents)) else ""
            raise ConfigError(f"there is no document {path!r:.120}{hint}")
        if part:
            begins = document.start(part)
            if begins is None:
                labels = ", ".join(label for _, label in document.marks[:40]) or "none; leave `part` out"
                raise ConfigError(f"{path} has no part {part!r:.80}; it has {labels}")
            start += begins
        text, end = document.text, start + _PIECE
        more = f"\n[characters {start} to {end} of {len(text)}; read on with start {end}]" if end < len(text) else ""
        return f"[{path}, {document.location(start)}]\n{text[start:end]}{more}"

    def tools(self) -> tuple[TeamTool, TeamTool]:
        """Return the tools `search` and `read`."""

        async def search(arguments: Mapping[str, Any]) -> str:
            hits = self.search(arguments["query"], arguments.get("most", 5))
            return (
                "\n\n".join(
                    f"[{name}, {self.documents[name].location(at)}, from {at}]\n{piece}" for name, at, piece in hits
                )
                or "nothing fits these words"
            )

        async def read(arguments: Mapping[str, Any]) -> str:
            try:
                return self.read(arguments["path"], arguments.get("start", 0), arguments.get("part", ""))
            except ConfigError as error:
                return f"error: {error}"

        return TeamTool(ProvidedTool(_SEARCH, search)), TeamTool(ProvidedTool(_READ, read))


_SEARCH = ToolSpec(
    "search",
    "Finds passages of the documents at hand by words; each comes with the document's path, its place there, and where it starts.",
    {
        "type": "object",
        "properties": {"query": {"type": "string"}, "most": {"type": "integer", "minimum": 1, "maximum": _FOUND}},
        "required": ["query"],
        "additionalProperties": False,
    },
)
_READ = ToolSpec(
    "read",
    "Reads a document by its path, in pieces; `part` names a page, sheet or slide to begin at, such as `page 3`.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "start": {"type": "integer", "minimum": 0},
            "part": {"type": "string"},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)


def _documents(folder: Path) -> list[tuple[Path, str]]:
    if not folder.is_dir():
        raise ConfigError(f"corpus: {folder} is no folder; give one with documents ({', '.join(ENDINGS)})")
    top = resolved(folder)
    paths = sorted(Path(root, name) for root, _, names in os.walk(top) for name in names)
    chosen = [p for p in paths if p.suffix.lower() in ENDINGS and resolved(p).is_relative_to(top) and p.is_file()]
    if len(chosen) > MOST_DOCUMENTS:
        raise ConfigError(f"corpus: {folder} has {len(chosen)} documents; {MOST_DOCUMENTS} are the most")
    return [(path, str(path.relative_to(top))) for path in chosen]


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


def _passages(document: Document) -> list[tuple[int, str]]:
    """Cut a document into passages at paragraph ends, none much longer than `_PASSAGE` or spanning two pages."""
    pieces: list[tuple[int, str]] = []
    text, starts = document.text, {at for at, _ in document.marks}
    for match in re.finditer(r"\S.*?(?=\n\s*\n|\Z)", text, re.DOTALL):
        for at in range(match.start(), match.end(), _PASSAGE):
            piece = text[at : min(at + _PASSAGE, match.end())]
            if at not in starts and pieces and len(pieces[-1][1]) + len(piece) < _PASSAGE:
                pieces[-1] = (pieces[-1][0], f"{pieces[-1][1]}\n{piece}")
            elif words(piece):
                pieces.append((at, piece))
    return pieces
