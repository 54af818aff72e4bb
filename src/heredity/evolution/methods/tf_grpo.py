"""Training-Free GRPO: experiences distilled from groups of rollouts, in place of gradients (arXiv:2510.08191)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from pydantic import Field

from heredity.evolution.contract import EvolverContext, SessionContract
from heredity.evolution.operators.dialogue import Failed, together
from heredity.evolution.operators.experience import Comparison, compare, consolidate, groups_of, summarised
from heredity.evolution.operators.library import Kind, Library
from heredity.evolution.options import parse_options
from heredity.evolution.proposals import Proposed, Turn
from heredity.evolution.updates import LibraryOptions, run_updates

EXPERIENCES = "memory/experiences"
_WORDS: Mapping[str, Kind] = MappingProxyType({"add": "add", "modify": "change", "delete": "remove"})


class TfGrpoOptions(LibraryOptions):
    """Options of Training-Free GRPO."""

    repeats: int = Field(4, ge=1, le=100, description="rollouts of each task: the size of a group")
    evidence: int = Field(1000, ge=1, le=1_000, description="groups learned from, worst first")
    compare: Comparison = Field("mixed", description="groups with different scores, or also unsolved ones")


async def propose(library: Library, comparison: Comparison, turn: Turn) -> list[Proposed]:
    """Summarise the rollouts, compare them inside of each group, and merge what the groups propose."""
    entries = library.read(turn.base.candidate)
    groups = groups_of(turn, comparison)
    if not groups:
        return [Failed(f"compare: no group of the batch is {comparison}, so there is nothing to compare")]
    short, unsummarised = await summarised(turn, groups)
    answers = await together(compare(turn, library, entries, group, draw) for draw, group in enumerate(short))
    failed: list[Proposed] = [*unsummarised, *(answer for answer in answers if isinstance(answer, Failed))]
    proposed = [answer for answer in answers if not isinstance(answer, Failed) and answer[0]]
    if not proposed:
        return failed or [Failed("compare: no group asks for a change")]
    merged = proposed[0] if len(proposed) == 1 else await consolidate(turn, library, entries, proposed)
    if isinstance(merged, Failed):
        return [*failed, merged]
    operations, why = merged
    made = library.applied(entries, operations, turn.number, turn.options.value_chars)
    return [*failed, library.revision(turn, made, why)]


class TfGrpo:
    """Keeps an experience library in `memory/experiences`; every update is adopted unless the gate is asked for."""

    name = "tf-grpo"
    scheduled = True
    options_model = TfGrpoOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Learn from batches until the rounds are over or the budget is spent.

        Raises:
            ConfigError: if an option is wrong, there is no model, or the library may not change.
        """
        options = parse_options(TfGrpoOptions, self.name, context.options)
        library = Library(EXPERIENCES, _WORDS, counted=False, size=options.size, entry_chars=options.entry_chars)
        library.read(context.initial)
        await run_updates(self.name, partial(propose, library, options.compare), session, context, options)
