"""The skillbook's two steps: lessons from single attempts, and the curation of what the book says (ACE, arXiv:2510.04618)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from heredity.errors import ConfigError
from heredity.evolution.operators.dialogue import Failed
from heredity.evolution.operators.improve import one_line
from heredity.evolution.operators.library import Entry, Library, Operation
from heredity.evolution.proposals import Turn


@dataclass(frozen=True, slots=True)
class Lessons:
    """What one rollout has taught: ids of bullets that helped it and that misled it, and lessons (`text`, `section`)."""

    helpful: tuple[str, ...]
    harmful: tuple[str, ...]
    lessons: tuple[dict[str, Any], ...]


async def learn(
    turn: Turn, book: Library, entries: Sequence[Entry], item: dict[str, Any], draw: int
) -> Lessons | Failed:
    """Reflect on one rollout.

    Args:
        turn: where the loop stands.
        book: how the skillbook is kept.
        entries: what is in it.
        item: the rollout, an item of evidence.
        draw: which attempt of the round this is, from 0.
    """
    ids = {entry.id for entry in entries}

    def read(reply: Mapping[str, Any]) -> Lessons:
        lessons = tuple({**lesson, "task": item["task"]} for lesson in _lessons_in(reply, book.entry_chars))
        return Lessons(_ids_in(reply, "helpful", ids), _ids_in(reply, "harmful", ids), lessons)

    data = {"round": turn.number, "draw": draw, "skillbook": book.shown(entries), "evidence": [item]}
    return await turn.dialogue.ask("lessons", {**data, "limits": book.limits()}, read, (turn.number, draw))


def marked(entries: Sequence[Entry], learned: Sequence[Lessons]) -> list[Entry]:
    """Return the entries with what rollouts have said of them counted."""
    helped = Counter(id_ for lessons in learned for id_ in lessons.helpful)
    harmed = Counter(id_ for lessons in learned for id_ in lessons.harmful)
    return [replace(e, helpful=e.helpful + helped[e.id], harmful=e.harmful + harmed[e.id]) for e in entries]


async def curate(
    turn: Turn, book: Library, entries: Sequence[Entry], learned: Sequence[Lessons]
) -> tuple[list[Operation], str] | Failed:
    """Ask how the book shall change, and why in one line; `entries` have this round's marks already."""

    def read(reply: Mapping[str, Any]) -> tuple[list[Operation], str]:
        return book.operations_in(reply, entries), one_line(reply.get("why"))

    lessons = [lesson for rollout_lessons in learned for lesson in rollout_lessons.lessons]
    data = {"round": turn.number, "skillbook": book.shown(entries), "lessons": lessons, "rejected": list(turn.rejected)}
    return await turn.dialogue.ask("curate", {**data, "limits": book.limits()}, read, (turn.number,))


def _ids_in(reply: Mapping[str, Any], key: str, ids: set[str]) -> tuple[str, ...]:
    given = reply.get(key, [])
    if not isinstance(given, list):
        raise ConfigError(f'"{key}" is {given!r:.80}; expected a list of ids')
    return tuple(dict.fromkeys(id_ for id_ in cast("list[Any]", given) if isinstance(id_, str) and id_ in ids))


def _lessons_in(reply: Mapping[str, Any], chars: int) -> list[dict[str, Any]]:
    given = reply.get("lessons", [])
    if not isinstance(given, list):
        raise ConfigError(f'"lessons" is {given!r:.80}; expected a list')
    lessons: list[dict[str, Any]] = []
    for lesson in cast("list[Any]", given):
        value = {"text": lesson} if isinstance(lesson, str) else lesson
        if not isinstance(value, dict) or not one_line(value.get("text")):
            raise ConfigError(f'a lesson is {lesson!r:.80}; expected an object with a "text"')
        lessons.append({"text": one_line(value["text"], chars), "section": one_line(value.get("section"))})
    return lessons
