"""ACE: a skillbook that grows by reflection on every rollout and is curated after every batch (arXiv:2510.04618)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from pydantic import Field

from heredity.evolution.contract import EvolverContext, SessionContract
from heredity.evolution.operators.dialogue import Failed, together
from heredity.evolution.operators.library import Kind, Library
from heredity.evolution.operators.skillbook import curate, learn, marked
from heredity.evolution.options import parse_options
from heredity.evolution.proposals import Proposed, Turn
from heredity.evolution.updates import LibraryOptions, run_updates

SKILLBOOK = "memory/skillbook"
_WORDS: Mapping[str, Kind] = MappingProxyType({"add": "add", "refine": "change", "merge": "merge", "retire": "remove"})


class AceOptions(LibraryOptions):
    """Options of ACE."""

    size: int = Field(64, ge=1, le=10_000, description="most bullets of the skillbook")


async def propose(book: Library, gate: bool, turn: Turn) -> list[Proposed]:
    """Reflect on each rollout, count what helped and what harmed, and curate.

    If the curation fails, the counts are kept all the same. Behind a gate they are not worth an evaluation of their own.
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
    """Keeps a skillbook in `memory/skillbook`; every update is adopted unless the gate is asked for."""

    name = "ace"
    scheduled = True
    options_model = AceOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Learn from batches until the rounds are over or the budget is spent.

        Raises:
            ConfigError: if an option is wrong, there is no model, or the skillbook may not change.
        """
        options = parse_options(AceOptions, self.name, context.options)
        book = Library(SKILLBOOK, _WORDS, counted=True, size=options.size, entry_chars=options.entry_chars)
        book.read(context.initial)
        await run_updates(self.name, partial(propose, book, options.gate), session, context, options)
