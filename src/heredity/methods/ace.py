"""ACE: a skillbook that grows by reflection on every rollout and is curated after every batch (arXiv:2510.04618)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, cast

from pydantic import Field

from heredity._core.errors import ConfigError
from heredity.methods.contract import EvolverContext, SessionContract
from heredity.methods.operators.dialogue import Failed, together
from heredity.methods.operators.improve import one_line
from heredity.methods.operators.library import Entry, Kind, Library, Operation
from heredity.methods.proposals import Proposed, Turn
from heredity.methods.registry import parse_options
from heredity.methods.updates import LibraryOptions, run_updates


@dataclass(frozen=True, slots=True)
class Lessons:
    """Lessons of one rollout: ids of the bullets that helped or misled it, and new lessons (`text`, `section`)."""

    helpful: tuple[str, ...]
    harmful: tuple[str, ...]
    lessons: tuple[dict[str, Any], ...]


async def learn(
    turn: Turn, book: Library, entries: Sequence[Entry], item: dict[str, Any], draw: int
) -> Lessons | Failed:
    """Reflect on one rollout.

    Args:
        turn: the current turn of the loop.
        book: the skillbook.
        entries: its entries.
        item: the rollout, an item of evidence.
        draw: number of the attempt in the round, from 0.
    """
    ids = {entry.id for entry in entries}

    def read(reply: Mapping[str, Any]) -> Lessons:
        lessons = tuple({**lesson, "task": item["task"]} for lesson in _lessons_in(reply, book.entry_chars))
        return Lessons(_ids_in(reply, "helpful", ids), _ids_in(reply, "harmful", ids), lessons)

    data = {"round": turn.number, "draw": draw, "skillbook": book.shown(entries), "evidence": [item]}
    return await turn.dialogue.ask("lessons", {**data, "limits": book.limits()}, read, (turn.number, draw))


def marked(entries: Sequence[Entry], learned: Sequence[Lessons]) -> list[Entry]:
    """Return the entries with the votes of the rollouts added to their counts."""
    helped = Counter(id_ for lessons in learned for id_ in lessons.helpful)
    harmed = Counter(id_ for lessons in learned for id_ in lessons.harmful)
    return [replace(e, helpful=e.helpful + helped[e.id], harmful=e.harmful + harmed[e.id]) for e in entries]


async def curate(
    turn: Turn, book: Library, entries: Sequence[Entry], learned: Sequence[Lessons]
) -> tuple[list[Operation], str] | Failed:
    """Ask for changes to the book and a one-line reason; `entries` already include this round's counts."""

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


SKILLBOOK = "memory/skillbook"
_WORDS: Mapping[str, Kind] = MappingProxyType({"add": "add", "refine": "change", "merge": "merge", "retire": "remove"})


class AceOptions(LibraryOptions):
    """Options of ACE."""

    size: int = Field(64, ge=1, le=10_000, description="maximum bullets of the skillbook")


async def propose(book: Library, gate: bool, turn: Turn) -> list[Proposed]:
    """Reflect on each rollout, count helpful and harmful bullets, and curate.

    If curation fails, the counts are still kept. With the gate on, counts alone do not trigger an evaluation.
    """
    entries = book.read(turn.base.candidate)
    items = [item for item in turn.evidence if item["score"] is not None]
    answers = await together(learn(turn, book, entries, item, draw) for draw, item in enumerate(items))
    learned = [answer for answer in answers if not isinstance(answer, Failed)]
    failed: list[Proposed] = [answer for answer in answers if isinstance(answer, Failed)]
    if not learned:
        return failed or [Failed("lessons: no attempt has a score, so there is nothing to learn from")]
    counted = marked(entries, learned)
    curated = await curate(turn, book, counted, learned)
    if isinstance(curated, Failed):
        failed, operations, why = [*failed, curated], [], "counts alone"
    else:
        operations, why = curated
    made = book.applied(counted, operations, turn.number, turn.options.value_chars)
    if gate and [e.text for e in made] == [e.text for e in entries]:
        return [*failed, Failed("curate: no bullet has changed")]
    return [*failed, book.revision(turn, made, why)]


class Ace:
    """Keeps a skillbook in `memory/skillbook`; every update is adopted unless `gate` is set."""

    name = "ace"
    scheduled = True
    options_model = AceOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Learn from batches until the rounds are over or the budget is exhausted.

        Raises:
            ConfigError: if an option is invalid, no model is configured, or the skillbook may not change.
        """
        options = parse_options(AceOptions, self.name, context.options)
        book = Library(SKILLBOOK, _WORDS, counted=True, size=options.size, entry_chars=options.entry_chars)
        book.read(context.initial)
        await run_updates(self.name, partial(propose, book, options.gate), session, context, options)
