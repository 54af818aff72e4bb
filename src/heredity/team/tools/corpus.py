"""A folder of documents that agents search by words and read in pieces.

What a document says is data: agents are shown it as the result of a tool, with its source. Of each file at most a megabyte is
read, formats other than plain text in the sandbox.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heredity.actors.contract import ProvidedTool
from heredity.errors import ConfigError, nearest
from heredity.gateway import ToolSpec
from heredity.resources.retrieval import scores, words
from heredity.team.agent import TeamTool
from heredity.team.tools.documents import ENDINGS, DocumentReader, UnreadableDocumentError

MOST_DOCUMENTS = 20_000
_BYTES = 1 << 20
_PASSAGE = 900
_PIECE = 6_000
_FOUND = 8


class Corpus:
    """The documents of a folder, read once (see `load`).

    Attributes:
        documents: the text of each document, by its path below the folder.
    """

    def __init__(self, documents: Mapping[str, str]) -> None:
        self.documents = dict(documents)
        self._passages = [(name, at, piece) for name, text in documents.items() for at, piece in _passages(text)]

    @classmethod
    async def load(cls, folder: Path, reader: DocumentReader) -> Corpus:
        """Read the documents of a folder; links that lead out of it are left out.

        Raises:
            ConfigError: if there is no such folder, or it has more than `MOST_DOCUMENTS`.
        """
        documents: dict[str, str] = {}
        for path, name in await asyncio.to_thread(_documents, folder):
            data = await asyncio.to_thread(_read, path)
            try:
                documents[name] = await reader.text(path.name, data)
            except UnreadableDocumentError as error:
                documents[name] = f"[{error}]"
        return cls(documents)

    def search(self, query: str, most: int = 5) -> list[tuple[str, int, str]]:
        """Return the passages that fit a query best, one for each document: path, position in its text, and the passage."""
        passages = self._passages
        # A path says what a document is about, often better than its text does.
        fit = scores(query, [f"{name} {piece}" for name, _, piece in passages])
        found: dict[str, tuple[str, int, str]] = {}
        for index in sorted(range(len(passages)), key=lambda i: -fit[i]):
            if fit[index] <= 0 or len(found) == most:
                break
            found.setdefault(passages[index][0], passages[index])
        return list(found.values())

    def read(self, path: str, start: int = 0) -> str:
        """Return a piece of a document, and where the next one starts.

        Raises:
            ConfigError: if there is no such document.
        """
        text = self.documents.get(path)
        if text is None:
            hint = f"; did you mean {' or '.join(near)}?" if (near := nearest(path, self.documents)) else ""
            raise ConfigError(f"there is no document {path!r:.120}{hint}")
        piece, end = text[start : start + _PIECE], start + _PIECE
        more = f"\n[characters {start} to {end} of {len(text)}; read on with start {end}]" if end < len(text) else ""
        return f"{piece}{more}"

    def tools(self) -> tuple[TeamTool, TeamTool]:
        """Return the tools `search` and `read`."""

        async def search(arguments: Mapping[str, Any]) -> str:
            found = self.search(arguments["query"], arguments.get("most", 5))
            return (
                "\n\n".join(f"[{name}, from {at}]\n{piece}" for name, at, piece in found) or "nothing fits these words"
            )

        async def read(arguments: Mapping[str, Any]) -> str:
            try:
                return self.read(arguments["path"], arguments.get("start", 0))
            except ConfigError as error:
                return f"error: {error}"

        return TeamTool(ProvidedTool(_SEARCH, search)), TeamTool(ProvidedTool(_READ, read))


_SEARCH = ToolSpec(
    "search",
    "Finds passages of the documents at hand by words; each comes with the document's path and where it starts.",
    {
        "type": "object",
        "properties": {"query": {"type": "string"}, "most": {"type": "integer", "minimum": 1, "maximum": _FOUND}},
        "required": ["query"],
        "additionalProperties": False,
    },
)
_READ = ToolSpec(
    "read",
    "Reads a document by its path, in pieces.",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "start": {"type": "integer", "minimum": 0}},
        "required": ["path"],
        "additionalProperties": False,
    },
)


def _documents(folder: Path) -> list[tuple[Path, str]]:
    if not folder.is_dir():
        raise ConfigError(f"corpus: {folder} is no folder; give one with documents ({', '.join(ENDINGS)})")
    top = folder.resolve()
    paths = sorted(Path(root, name) for root, _, names in os.walk(top) for name in names)
    chosen = [p for p in paths if p.suffix.lower() in ENDINGS and p.resolve().is_relative_to(top) and p.is_file()]
    if len(chosen) > MOST_DOCUMENTS:
        raise ConfigError(f"corpus: {folder} has {len(chosen)} documents; {MOST_DOCUMENTS} are the most")
    return [(path, str(path.relative_to(top))) for path in chosen]


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_BYTES)


def _passages(text: str) -> list[tuple[int, str]]:
    """Cut a text into passages at the ends of paragraphs, none much longer than `_PASSAGE`."""
    pieces: list[tuple[int, str]] = []
    for match in re.finditer(r"\S.*?(?=\n\s*\n|\Z)", text, re.DOTALL):
        for at in range(match.start(), match.end(), _PASSAGE):
            piece = text[at : min(at + _PASSAGE, match.end())]
            if pieces and len(pieces[-1][1]) + len(piece) < _PASSAGE:
                pieces[-1] = (pieces[-1][0], f"{pieces[-1][1]}\n{piece}")
            elif words(piece):
                pieces.append((at, piece))
    return pieces
