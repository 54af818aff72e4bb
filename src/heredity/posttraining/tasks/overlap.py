"""Hidden items met in other texts: what a task's materials or an agent's own files hold of what is graded or held out.

An item is met where its words and signs stand in a row, whatever is around them: in a row of JSON, in a line of a table, in the
middle of a prompt. How much white space there is, quotation marks and escapes do not count. What an agent makes while it runs,
compresses, or writes as numbers is not seen.
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
"""Most bytes of text that are looked through at a time."""

MAX_FILES = 20_000
"""Most files that are looked at."""


@dataclass(slots=True)
class Met:
    """What was met in a folder.

    Attributes:
        items: view to the positions of its items that were met.
        files: paths of the first files that hold any, at most 5.
        texts: how many files were read.
        bytes: how many bytes of them.
        unread: how many files were not: no text, changed meanwhile, or beyond the bounds.
    """

    items: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    files: list[str] = field(default_factory=list[str])
    texts: int = 0
    bytes: int = 0
    unread: int = 0


class HiddenTexts:
    """The texts of hidden items, to be looked for.

    Args:
        views: name of a view to the texts of its items, in their order.

    Attributes:
        sizes: view to how many items it has.
    """

    def __init__(self, views: Mapping[str, Sequence[str]]) -> None:
        self.sizes = {view: len(texts) for view, texts in views.items()}
        self._root: dict[str, Any] = {}
        self._longest = 0
        for view, texts in views.items():
            for position, text in enumerate(texts):
                self._add(tokens(text.strip()), (view, position))

    def met_in(self, text: str) -> set[tuple[str, int]]:
        """Return view and position of each item whose tokens stand in a row in a text."""
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
    """Return the words and signs of a text and the space between them, without quotation marks and the escapes of JSON."""
    pieces_of_text = _TOKEN.findall(_without_escapes(text) if "\\" in text else text)
    return [" " if token.isspace() else token for token in pieces_of_text]


class OwnTexts:
    """The files of a folder that somebody else writes, looked through again and again; what has not changed is not read again.

    Nothing is followed or waited for: links, pipes and devices are passed by.

    Args:
        root: the folder.
        hidden: what is looked for.
        skip: names at the top of the folder that are not looked at.
    """

    def __init__(self, root: Path, hidden: HiddenTexts, skip: Iterable[str] = ()) -> None:
        self._root, self._hidden, self._skip = root, hidden, frozenset(skip)
        self._seen: dict[str, tuple[int, int, int]] = {}
        self.met = Met({view: set[int]() for view in hidden.sizes})

    def look(self) -> Met:
        """Look through what has changed, and return what was met so far: items that were there once stay."""
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
        """Look through a file; return whether it is text."""
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
    """Yield a text in pieces that end between words, so that no more than one is held as tokens."""
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
