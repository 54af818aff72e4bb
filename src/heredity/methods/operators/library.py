"""Libraries: memories of short entries with ids, one per line of a `memory.jsonl`, that operations change."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal, cast

from heredity._core.errors import ConfigError
from heredity.methods.operators.improve import Edits, apply, one_line
from heredity.methods.proposals import Proposed, Turn
from heredity.resources import Candidate
from heredity.resources.assembly import manifest_of

Kind = Literal["add", "change", "merge", "remove"]
_FILE = "memory.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a library.

    Attributes:
        id: unique in the library, and kept when the text changes.
        text: one line, read by the solver.
        helpful: number of times it helped.
        harmful: number of times it misled.
        section: topic.
    """

    id: str
    text: str
    helpful: int = 0
    harmful: int = 0
    section: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """A change of a library: `ids` are the affected entries, `text` and `section` the new values."""

    kind: Kind
    ids: tuple[str, ...] = ()
    text: str = ""
    section: str = ""


@dataclass(frozen=True, slots=True)
class Library:
    """Storage and limits of a library.

    Attributes:
        part: the part of the candidate that holds it, such as `"memory/skillbook"`.
        words: names of the operations in replies.
        counted: whether entries have counts and sections.
        size: maximum number of entries; those with the least helpful − harmful are dropped first, oldest first.
        entry_chars: maximum characters of an entry.
    """

    part: str
    words: Mapping[str, Kind]
    counted: bool
    size: int
    entry_chars: int

    def read(self, candidate: Candidate) -> list[Entry]:
        """Return a candidate's entries; lines without an id get one.

        Raises:
            ConfigError: if a line has no text, or the part may not change.
        """
        part = candidate.parts.get(self.part)
        if part is None:
            return []
        if not manifest_of(part, self.part).evolvable:
            raise ConfigError(f"{self.part} is not evolvable, but the library is kept there; set evolvable to true")
        entries: dict[str, Entry] = {}
        for number, line in enumerate(part.text(_FILE).splitlines() if _FILE in part else (), 1):
            value: Any = json.loads(line)
            if not isinstance(value, dict) or not isinstance(value.get("text"), str):
                raise ConfigError(f'{_FILE}:{number} of {self.part} is {line[:80]!r}; expected an object with a "text"')
            id_ = value.get("id")
            id_ = id_ if isinstance(id_, str) and id_.isprintable() and id_ not in entries else f"line-{number}"
            helpful, harmful = (n if isinstance(n := value.get(key), int) else 0 for key in ("helpful", "harmful"))
            text = " ".join(value["text"].split())
            entries[id_] = Entry(id_, text, helpful, harmful, one_line(value.get("section")))
        return list(entries.values())

    def shown(self, entries: Sequence[Entry]) -> list[dict[str, Any]]:
        """Return entries as JSON objects, for the model and for the file."""
        plain: list[dict[str, Any]] = [{"id": e.id, "text": e.text} for e in entries]
        if not self.counted:
            return plain
        more = [{"helpful": e.helpful, "harmful": e.harmful, "section": e.section} for e in entries]
        return [{**one, **other} for one, other in zip(plain, more, strict=True)]

    def limits(self) -> dict[str, int]:
        """Return the limits that a model must respect."""
        return {"entries": self.size, "entry_chars": self.entry_chars}

    def operations_in(self, reply: Mapping[str, Any], entries: Sequence[Entry]) -> list[Operation]:
        """Read operations and skip those that cannot be applied.

        Raises:
            ConfigError: if the list is missing, or none of the given operations can be applied.
        """
        given = reply.get("operations")
        if not isinstance(given, list):
            raise ConfigError(f'"operations" is {given!r:.80}; expected a list')
        ids = {entry.id for entry in entries}
        operations: list[Operation] = []
        problem = ""
        for item in cast("list[Any]", given):
            try:
                operations.append(self._operation(item, ids))
            except ConfigError as error:
                problem = problem or str(error)
        if given and not operations:
            raise ConfigError(problem)
        return operations

    def _operation(self, item: Any, present: set[str]) -> Operation:
        if not isinstance(item, dict) or item.get("do") not in self.words:
            raise ConfigError(f'an operation is {item!r:.80}; expected "do" to be one of {", ".join(self.words)}')
        kind = self.words[item["do"]]
        ids: list[Any] = item["ids"] if isinstance(item.get("ids"), list) else [item.get("id")]
        if kind != "add" and (not present.issuperset(map(str, ids)) or len(set(map(str, ids))) < 1 + (kind == "merge")):
            raise ConfigError(f"{item['do']} is about {ids!r:.80}; the ids are {', '.join(sorted(present)) or 'none'}")
        text = one_line(item.get("text"), self.entry_chars + 1)
        if kind != "remove" and not 0 < len(text) <= self.entry_chars:
            raise ConfigError(f'{item["do"]} needs a "text" of 1 to {self.entry_chars} characters')
        return Operation(kind, () if kind == "add" else tuple(map(str, ids)), text, one_line(item.get("section")))

    def applied(
        self, entries: Sequence[Entry], operations: Sequence[Operation], number: int, chars: int
    ) -> list[Entry]:
        """Apply operations in order; later ones skip entries that an earlier one removed.

        Args:
            entries: current entries.
            operations: changes; an existing text is not added again.
            number: the round; new ids are `r{number}-1` and so on.
            chars: maximum characters of the whole file.
        """
        kept = {entry.id: entry for entry in entries}
        fresh = (id_ for n in count(1) if (id_ := f"r{number}-{n}") not in {e.id for e in entries})
        for operation in operations:
            present = [id_ for id_ in dict.fromkeys(operation.ids) if id_ in kept]
            if operation.kind == "add":
                if operation.text.casefold() not in {e.text.casefold() for e in kept.values()}:
                    id_ = next(fresh)
                    kept[id_] = Entry(id_, operation.text, section=operation.section)
            elif operation.kind == "remove":
                for id_ in present:
                    del kept[id_]
            elif present:
                olds = [kept.pop(id_) if index else kept[id_] for index, id_ in enumerate(present)]
                helpful, harmful = sum(o.helpful for o in olds), sum(o.harmful for o in olds)
                kept[present[0]] = replace(olds[0], text=operation.text, helpful=helpful, harmful=harmful)
        remaining = list(kept.values())
        while remaining and (len(remaining) > self.size or len(self._text(remaining)) > chars):
            remaining.remove(min(remaining, key=lambda e: e.helpful - e.harmful))
        return remaining

    def revision(self, turn: Turn, entries: Sequence[Entry], why: str) -> Proposed:
        """Return the committed candidate with its entries replaced by these."""
        return apply(turn, Edits({f"{self.part}:{_FILE}": self._text(entries)}, why, ""))

    def _text(self, entries: Sequence[Entry]) -> str:
        return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in self.shown(entries))
