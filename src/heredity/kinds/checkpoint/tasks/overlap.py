"""Finds graded and held-out items in other texts, such as a task's materials or an agent's own files.

An item is found where its words and signs appear consecutively in any context: a row of JSON, a line of a table, the
middle of a prompt. White space, quotation marks and escapes are ignored. Text that an agent generates at run time,
compresses, or encodes as numbers is not found.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from heredity._core.ids import seed_sequence
from heredity.kinds.checkpoint.tasks.contract import ENUMERABLE, PostTrainingTask
from heredity.kinds.checkpoint.tasks.registry import GRADED, HELDOUT, posttraining_task, view_texts
from heredity.kinds.checkpoint.tasks.taskset import SeveralTasks

DRAWS = 8
"""Number of draws under other entropies to compare with."""

NEAR = 0.8
"""Minimum share of common word sequences (Jaccard's index) of near duplicates."""

_SHINGLE = 5
_LEAST_WORDS = 12
_SHOWN = 3
_SPLITS = {GRADED: "validation", HELDOUT: "heldout"}


class Verdict(StrEnum):
    """The result of a check: `unknown` if it cannot be checked."""

    PASSED = "passed"
    FOUND = "found"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """One check of a task.

    Attributes:
        task: the task, or the part of several.
        name: `"items in all"`, `"drawn again"`, `"in the materials"` or `"near duplicates"`.
        verdict: its result.
        reason: in words, with figures.
        items: texts of the first items found.
    """

    task: str
    name: str
    verdict: Verdict
    reason: str
    items: tuple[str, ...] = ()


def audit_task(name: str, entropy: int = 0) -> tuple[AuditCheck, ...]:
    """Audit a task under one entropy, which is never a suite's own.

    Raises:
        UnknownNameError: if the task does not exist.
        MissingExtraError: if it needs a package that is not installed.
        ConfigError: if its data is missing or wrong.
    """
    task = posttraining_task(name)
    return tuple(check for part in task.parts for check in _checks(part, task, entropy))


def _checks(part: PostTrainingTask, task: PostTrainingTask | SeveralTasks, entropy: int) -> Iterator[AuditCheck]:
    hidden = view_texts(part, entropy, {GRADED: part.graded, HELDOUT: part.heldout})
    yield from _space(part, entropy)
    materials = {path: data.decode("utf-8", "replace") for path, data in task.materials(entropy).items()}
    yield _in_materials(part, hidden, materials)
    yield _near(part, hidden, materials)


def _other(entropy: int, draw: int) -> int:
    return int(seed_sequence(entropy, "posttraining", "audit", draw).generate_state(1)[0])


def _specs(part: PostTrainingTask, entropy: int) -> Mapping[str, str]:
    """Return the complete items of both views, identified by their JSON: the same question in another world is another item."""
    counts = {GRADED: part.graded, HELDOUT: part.heldout}
    return {
        json.dumps(dict(task.spec), sort_keys=True, default=str): view
        for view, count in counts.items()
        for task in part.inner.draw(_SPLITS[view], count, entropy)
    }


def _space(part: PostTrainingTask, entropy: int) -> Iterator[AuditCheck]:
    views = _specs(part, entropy)
    own, heldout = set(views), [item for item, view in views.items() if view == HELDOUT]
    drawn = [set(_specs(part, _other(entropy, draw))) for draw in range(DRAWS)]
    again = [item for item in heldout if any(item in items for items in drawn)]
    same = all(own == items for items in drawn)
    shared = sum(len(own & items) for items in drawn)
    estimate = len(own) * sum(map(len, drawn)) / shared if shared else None
    if same:
        reason = f"the same {len(own)} items under every entropy: whoever has the benchmark has them; reports label it public"
        public = any("public" in label for label in part.labels)
        yield AuditCheck(part.name, "items in all", Verdict.UNKNOWN if public else Verdict.FOUND, reason)
        return
    yield _stated(part, estimate)
    drawn_items = len(set().union(*drawn))
    reason = f"{len(again)} of {len(heldout)} held-out items are among {drawn_items} drawn under other entropies"
    few = part.space is None or part.space < ENUMERABLE
    verdict = Verdict.FOUND if again and few else Verdict.PASSED
    if part.space is not None and estimate is not None and estimate < part.space / 10:
        verdict, reason = (
            Verdict.FOUND,
            f"{reason}: about {estimate:.0f} items in all, and the task states {part.space}",
        )
    yield AuditCheck(part.name, "drawn again", verdict, reason, tuple(item[:200] for item in again[:_SHOWN]))


def _stated(part: PostTrainingTask, estimate: float | None) -> AuditCheck:
    about = "" if estimate is None else f"; draws come to about {estimate:.0f}"
    if part.space is None:
        reason = f"the task does not state how many items there are{about}"
        few = estimate is not None and estimate < ENUMERABLE
        return AuditCheck(part.name, "items in all", Verdict.FOUND if few else Verdict.UNKNOWN, reason)
    few = part.space < ENUMERABLE
    label = ", fewer than an agent can make and train on, which reports label" if few else ""
    return AuditCheck(
        part.name, "items in all", Verdict.FOUND if few else Verdict.PASSED, f"{part.space} are stated{label}{about}"
    )


def _in_materials(
    part: PostTrainingTask, hidden: Mapping[str, Sequence[str]], materials: Mapping[str, str]
) -> AuditCheck:
    finder = HiddenTexts(hidden)
    met: dict[tuple[str, int], str] = {}
    for path, text in materials.items():
        for item in finder.met_in(text):
            met.setdefault(item, path)
    counted = ", ".join(
        f"{sum(v == view for v, _ in met)} of {len(items)} {view} items" for view, items in hidden.items()
    )
    places = sorted(set(met.values()))[:_SHOWN]
    where = f" ({', '.join(places)})" if places else ""
    shown = tuple(hidden[view][position] for view, position in sorted(met)[:_SHOWN])
    reason = f"{counted} stand in what an agent is given{where}"
    return AuditCheck(part.name, "in the materials", Verdict.FOUND if met else Verdict.PASSED, reason, shown)


def _near(part: PostTrainingTask, hidden: Mapping[str, Sequence[str]], materials: Mapping[str, str]) -> AuditCheck:
    """Compare held-out texts with the lines of the materials by sequences of five words; shorter texts are skipped."""
    texts = {item: _shingles(item) for item in hidden[HELDOUT] if len(item.split()) >= _LEAST_WORDS}
    if not texts:
        reason = f"held-out items have fewer than {_LEAST_WORDS} words: only whole ones can be compared"
        return AuditCheck(part.name, "near duplicates", Verdict.UNKNOWN, reason)
    where: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for item, shingles in texts.items():
        for shingle in shingles:
            where[shingle].append(item)
    near: dict[str, float] = {}
    for line in {line for text in materials.values() for line in _fields(text)}:
        shingles = _shingles(line)
        common: dict[str, int] = defaultdict(int)
        for shingle in shingles:
            for item in where.get(shingle, ()):
                common[item] += 1
        for item, count in common.items():
            alike = count / (len(shingles) + len(texts[item]) - count)
            near[item] = max(near.get(item, 0.0), alike)
    close = sorted((item for item, alike in near.items() if alike >= NEAR), key=lambda item: -near[item])
    reason = (
        f"{len(close)} of {len(texts)} held-out texts share {NEAR:.0%} of their sequences of {_SHINGLE} words with a text of the"
        f" materials; the nearest {max(near.values(), default=0.0):.0%}"
    )
    return AuditCheck(
        part.name, "near duplicates", Verdict.FOUND if close else Verdict.PASSED, reason, tuple(close[:_SHOWN])
    )


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = [word.lower() for word in tokens(text) if word != " "]
    return {tuple(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1)}


def _fields(text: str) -> Iterator[str]:
    """Yield the texts of a file: the strings of each line that is JSON, else the line."""
    for line in text.split("\n"):
        try:
            yield from _strings(json.loads(line))
        except (ValueError, RecursionError):
            yield line


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _strings(list(cast("dict[str, Any]", value).values()))
    elif isinstance(value, list):
        for part in cast("list[Any]", value):
            yield from _strings(part)


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
        files: paths of the first files with any (at most 5).
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
