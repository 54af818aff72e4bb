"""Shared memory of a team: notes of its agents for each other, searched by words.

Entries of the session are for this task. General ones are for later tasks too (and become the next version of the team's
memory resource). A note is a message on the bus, so the memory is as durable as everything else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from heredity._core.ids import digest_json
from heredity.engine.actor import ProvidedTool
from heredity.models import ToolSpec
from heredity.resources.retrieval import scores
from heredity.team.agent import TeamTool, shortened
from heredity.team.participant import Context, Message, Participant

NAME = "memory"
"""The participant that keeps the memory, and the kind of message that adds to it."""

Scope = Literal["session", "general"]
MOST_CHARACTERS = 2_000
_SHOWN = 6_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A note: its author, its scope, and its kind (`"summary"`, `"insight"`, `"source"`, …)."""

    text: str
    author: str = ""
    scope: Scope = "session"
    kind: str = "insight"


class SharedMemory:
    """The notes of a team.

    Attributes:
        entries: by the id of the message that added them, earlier ones under `0/n`, in order.
    """

    def __init__(self, earlier: Iterable[Entry] = ()) -> None:
        self.entries: dict[str, Entry] = {f"0/{n}": entry for n, entry in enumerate(earlier)}

    def take(self, message: Message) -> None:
        """Add the note of a message; other messages, and known ones, change nothing."""
        if message.kind == NAME and message.id not in self.entries:
            body = message.body
            scope: Scope = "general" if body.get("scope") == "general" else "session"
            text = str(body.get("text", ""))[:MOST_CHARACTERS]
            self.entries[message.id] = Entry(text, message.sender, scope, str(body.get("kind", "insight"))[:40])

    def find(self, query: str, most: int = 5) -> list[Entry]:
        """Return the entries that share words with a query, best match first (BM25)."""
        entries = list(self.entries.values())
        fit = scores(query, [entry.text for entry in entries])
        order = sorted(range(len(entries)), key=lambda i: (-fit[i], i))
        return [entries[i] for i in order[:most] if fit[i] > 0]

    def general(self) -> list[Entry]:
        """Return the entries for later tasks, each text once."""
        return list({entry.text: entry for entry in self.entries.values() if entry.scope == "general"}.values())

    def participant(self) -> Participant:
        """Return the participant that keeps the memory."""

        async def keep(message: Message, _: Context) -> None:
            self.take(message)

        return Participant(NAME, keep, "keeps what the team writes down", frozenset({NAME}), concurrency=1)

    def tools(self, context: Context) -> Sequence[TeamTool]:
        """Return an agent's tools for adding notes and searching them."""

        async def remember(arguments: Mapping[str, Any]) -> str:
            key = f"{NAME}-{digest_json(dict(arguments))[:12]}"
            self.take(await context.send(NAME, arguments, kind=NAME, key=key))
            return "noted"

        async def recall(arguments: Mapping[str, Any]) -> str:
            entries = self.find(arguments["query"], arguments.get("most", 5))
            lines = [f"- [{entry.kind}, {entry.author or 'earlier'}] {entry.text}" for entry in entries]
            return shortened("\n".join(lines), _SHOWN) or "nothing that is written down fits"

        return TeamTool(ProvidedTool(_REMEMBER, remember), lasting=True), TeamTool(ProvidedTool(_RECALL, recall))


_REMEMBER = ToolSpec(
    "remember",
    "Writes something down for the other agents of the team, such as a fact with its source.",
    {
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": MOST_CHARACTERS},
            "scope": {"type": "string", "enum": ["session", "general"]},
            "kind": {"type": "string", "enum": ["summary", "insight", "source"]},
        },
        "required": ["text"],
        "additionalProperties": False,
    },
)
_RECALL = ToolSpec(
    "recall",
    "Looks up by words what the team has written down, in this task and in earlier ones.",
    {
        "type": "object",
        "properties": {"query": {"type": "string"}, "most": {"type": "integer", "minimum": 1, "maximum": 20}},
        "required": ["query"],
        "additionalProperties": False,
    },
)


def to_jsonl(entries: Iterable[Entry]) -> str:
    """Return entries as the `memory.jsonl` of a memory resource."""
    lines = [{"text": e.text, "author": e.author, "scope": e.scope, "kind": e.kind} for e in entries]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
