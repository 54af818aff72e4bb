"""Documents as text: plain formats are decoded here, all others are read in the sandbox, bounded in time and memory."""

from __future__ import annotations

import base64
from pathlib import Path

from heredity.actors.contract import Programs
from heredity.errors import CandidateError
from heredity.resources import SourceTree

PLAIN = (".txt", ".md", ".csv", ".json", ".jsonl", ".rst", ".py", ".toml", ".yaml", ".yml", ".tsv")
HTML = (".html", ".htm")
ENDINGS = (*PLAIN, *HTML)
"""What names of documents that can be read end with."""

_SECONDS = 20.0


class UnreadableDocumentError(CandidateError):
    """A document that cannot be read; the message says why."""


class DocumentReader:
    """Reads documents of outside.

    Args:
        programs: runs what reads formats other than plain text.
    """

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._reader = SourceTree({"reading.py": (Path(__file__).parent / "guest" / "reading.py").read_bytes()})

    async def text(self, name: str, data: bytes) -> str:
        """Return what a reader of a document would see.

        Raises:
            UnreadableDocumentError: if its format is none that is known, or it is damaged, too large or too slow to read.
        """
        ending = Path(name).suffix.lower()
        if ending in PLAIN or not ending:
            return data.decode("utf-8", "replace")
        if ending not in ENDINGS:
            raise UnreadableDocumentError(
                f"{name}: documents that end in {ending} cannot be read; known: {', '.join(ENDINGS)}"
            )
        arguments = {"ending": ending, "data": base64.b64encode(data).decode()}
        result = await self._programs.call(self._reader, "reading:run", arguments, seconds=_SECONDS)
        if result.error:
            raise UnreadableDocumentError(f"{name} cannot be read: {result.error}: {result.message}")
        return str(result.value)
