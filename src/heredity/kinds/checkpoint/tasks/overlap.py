"""Finds graded and held-out items in other texts, such as a task's materials or an agent's own files.

An item is found where its words and signs appear consecutively in any context: a row of JSON, a line of a table, the
middle of a prompt. White space, quotation marks and escapes are ignored. Text that an agent generates at run time,
compresses, or encodes as numbers is not found.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TOKEN = re.compile(r"\w+|\s+|[^\w\s\"'`\\]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nrt\"'/\\]))")
_PIECE = 1 << 16
_SNIFFED = 4096

MAX_BYTES = 64 << 20
"""Maximum bytes of text per scan."""

MAX_FILES = 20_000
"""Maximum number of files."""


@dataclass(slots=True)
class Met:
    """The findings in a folder.

    Attributes:
        items: view to the positions of its items that were found.
        files: paths of the first files with any, at most 5.
        texts: number of files read.
        bytes: number of bytes read.
        unread: number of files skipped: not text, changed meanwhile, or beyond the limits.
    """

    items: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    files: list[str] = field(default_factory=list[str])
    texts: int = 0
    bytes: int = 0
    unread: int = 0


class HiddenTexts:
    """The texts of hidden items to search for.

    Args:
        views: name of a view to the texts of its items, in their order.

    Attributes:
        sizes: view to its number of items.
    """

    def __init__(self, views: Mapping[str, Sequence[str]]) -> None:
        self.sizes = {view: len(texts) for view, texts in views.items()}
        self._root: dict[str, Any] = {}
        self._longest = 0
        for view, texts in views.items():
            for position, text in enumerate(texts):
                self._add(tokens(text.strip()), (view, position))

    def met_in(self, text: str) -> set[tuple[str, int]]:
        """Return view and position of each item whose tokens appear consecutively in a text."""
        matches: set[tuple[str, int]] = set()
        pieces: list[str] = []
        for line in _pieces(text):
            pieces = [*pieces[len(pieces) - self._longest + 1 :], *tokens(line)] if self._longest > 1 else tokens(line)
            self._search(pieces, matches)
        return matches

    def _add(self, path: Sequence[str], item: tuple[str, int]) -> None:
        if not path:
            return
        node = self._root
        for token in path:
            node = node.setdefault(token, {})
        node.setdefault("", []).append(item)
        self._longest = max(self._longest, len(path))

    def _search(self, pieces: Sequence[str], matches: set[tuple[str, int]]) -> None:
        root, end = self._root, len(pieces)
        for start, token in enumerate(pieces):
            node, at = root.get(token), start + 1
            while node is not None:
                if "" in node:
                    matches.update(node[""])
                node, at = (node.get(pieces[at]), at + 1) if at < end else (None, at)


def tokens(text: str) -> list[str]:
    """Split a text into words, signs and white space, without quotation marks and the escapes of JSON."""
    pieces_of_text = _TOKEN.findall(_without_escapes(text) if "\\" in text else text)
    return [" " if token.isspace() else token for token in pieces_of_text]


class OwnTexts:
    """The files of a folder that someone else writes, scanned repeatedly; unchanged files are not read again.

    Links, pipes and devices are skipped, so that scanning never follows or blocks.

    Args:
        root: the folder.
        hidden: the texts to search for.
        skip: names at the top of the folder to skip.
    """

    def __init__(self, root: Path, hidden: HiddenTexts, skip: Iterable[str] = ()) -> None:
        self._root, self._hidden, self._skip = root, hidden, frozenset(skip)
        self._seen: dict[str, tuple[int, int, int]] = {}
        self.met = Met({view: set[int]() for view in hidden.sizes})

    def look(self) -> Met:
        """Scan the changed files, and return all findings so far, including items that have been removed since."""
        met = self.met
        met.texts = met.bytes = met.unread = 0
        for path, about in self._files():
            mark = (about.st_mtime_ns, about.st_size, about.st_ino)
            if met.bytes + about.st_size > MAX_BYTES or met.texts + met.unread >= MAX_FILES:
                met.unread += 1
            elif self._seen.get(path) == mark or self._read(path):
                self._seen[path] = mark
                met.texts, met.bytes = met.texts + 1, met.bytes + about.st_size
            else:
                met.unread += 1
        return met

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            try:
                entries = sorted(os.scandir(self._root / folder), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                if not folder and entry.name in self._skip:
                    continue
                try:
                    about = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                path = f"{folder}/{entry.name}" if folder else entry.name
                if stat.S_ISDIR(about.st_mode):
                    waiting.append(path)
                elif stat.S_ISREG(about.st_mode):
                    yield path, about

    def _read(self, path: str) -> bool:
        """Scan a file; return True if it is text."""
        try:
            descriptor = os.open(self._root / path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except (OSError, ValueError):
            return False
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return False
            data = file.read(_SNIFFED)
            if b"\0" in data:
                return False
            data += file.read(MAX_BYTES)
        for view, position in self._hidden.met_in(data.decode("utf-8", "replace")):
            self.met.items.setdefault(view, set()).add(position)
            if path not in self.met.files and len(self.met.files) < 5:
                self.met.files.append(path)
        return True


def _pieces(text: str) -> Iterator[str]:
    """Split a text between words, so that only one piece is tokenized at a time."""
    start = 0
    while start < len(text):
        end = min(len(text), start + _PIECE)
        while end < len(text) and end < start + 2 * _PIECE and (text[end].isalnum() or text[end - 1] == "\\"):
            end += 1
        yield text[start:end]
        start = end


def _without_escapes(text: str) -> str:
    # Two escapes may be the halves of one character.
    return _ESCAPE.sub(_unescaped, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else " "
