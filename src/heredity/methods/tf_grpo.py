"""Training-Free GRPO: experiences distilled from groups of rollouts, in place of gradients (arXiv:2510.08191)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field

from heredity._core.errors import ConfigError
from heredity.methods.contract import EvolverContext, SessionContract
from heredity.methods.operators.dialogue import Failed, together
from heredity.methods.operators.improve import one_line
from heredity.methods.operators.library import Entry, Kind, Library, Operation
from heredity.methods.proposals import Proposed, Turn
from heredity.methods.registry import parse_options
from heredity.methods.updates import LibraryOptions, run_updates

Comparison = Literal["mixed", "unsolved"]
Group = list[dict[str, Any]]
Changes = tuple[list[Operation], str]
"""Operations and a one-line reason."""


def groups_of(turn: Turn, comparison: Comparison) -> list[Group]:
    """Return the evidence of each task worth comparing, the worst task first.

    Args:
        turn: the current turn; `evidence` in its options bounds the number of groups.
        comparison: `"mixed"`: rollouts with different scores, as in the paper, since only these have an advantage;
            `"unsolved"`: also tasks that every rollout failed alike.
    """
    ranked: list[tuple[float, Group]] = []
    for _, rollouts in sorted(turn.base.rollouts.items()):
        scored = [a for a in rollouts if math.isfinite(a.score)]
        scores = [a.score for a in scored]
        if len(set(scores)) > 1 or (comparison == "unsolved" and scores and min(scores) < turn.options.solved):
            ranked.append((sum(scores) / len(scores), [a.evidence for a in scored]))
    return [group for _, group in sorted(ranked, key=lambda pair: pair[0])[: turn.options.evidence]]


async def summarised(turn: Turn, groups: Sequence[Group]) -> tuple[list[Group], list[Failed]]:
    """Return groups with a `summary` in place of each transcript (None if the model gave none), and the failures."""

    def read(reply: Mapping[str, Any]) -> str:
        text = reply.get("summary")
        if not isinstance(text, str) or not text.strip():
            raise ConfigError(f'"summary" is {text!r:.80}; expected a text')
        return text.strip()

    async def summarise(draw: int, item: dict[str, Any]) -> str | Failed:
        data = {"round": turn.number, "draw": draw, "evidence": [item]}
        return await turn.dialogue.ask("summarise", data, read, (turn.number, draw))

    items = [item for group in groups for item in group]
    answers = await together(summarise(draw, item) for draw, item in enumerate(items))
    texts = iter([None if isinstance(answer, Failed) else answer for answer in answers])
    short = [[{**item, "transcript": None, "summary": next(texts)} for item in group] for group in groups]
    return short, [answer for answer in answers if isinstance(answer, Failed)]


async def compare(turn: Turn, library: Library, entries: Sequence[Entry], group: Group, draw: int) -> Changes | Failed:
    """Ask for the lessons of comparing one task's rollouts."""
    return await _request("compare", turn, library, entries, (turn.number, draw), {"draw": draw, "evidence": group})


async def consolidate(
    turn: Turn, library: Library, entries: Sequence[Entry], proposed: Sequence[Changes]
) -> Changes | Failed:
    """Merge the operations of several groups into one list."""
    named = {kind: word for word, kind in library.words.items()}
    lists = [
        {"operations": [{"do": named[o.kind], "ids": list(o.ids), "text": o.text} for o in operations], "why": why}
        for operations, why in proposed
    ]
    return await _request("consolidate", turn, library, entries, (turn.number,), {"proposed": lists})


async def _request(
    task: str, turn: Turn, library: Library, entries: Sequence[Entry], position: tuple[int, ...], more: dict[str, Any]
) -> Changes | Failed:
    def read(reply: Mapping[str, Any]) -> Changes:
        return library.operations_in(reply, entries), one_line(reply.get("why"))

    data = {"round": turn.number, "experiences": library.shown(entries), "rejected": list(turn.rejected), **more}
    return await turn.dialogue.ask(task, {**data, "limits": library.limits()}, read, position)


EXPERIENCES = "memory/experiences"
_WORDS: Mapping[str, Kind] = MappingProxyType({"add": "add", "modify": "change", "delete": "remove"})


class TfGrpoOptions(LibraryOptions):
    """Options of Training-Free GRPO."""

    repeats: int = Field(4, ge=1, le=100, description="rollouts per task: the size of a group")
    evidence: int = Field(1000, ge=1, le=1_000, description="groups learned from, worst first")
    compare: Comparison = Field("mixed", description="groups with different scores, or also unsolved ones")


async def propose(library: Library, comparison: Comparison, turn: Turn) -> list[Proposed]:
    """Summarise the rollouts, compare them within each group, and merge the proposals of the groups."""
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
    """Keeps an experience library in `memory/experiences`; every update is adopted unless `gate` is set."""

    name = "tf-grpo"
    scheduled = True
    options_model = TfGrpoOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Learn from batches until the rounds are over or the budget is exhausted.

        Raises:
            ConfigError: if an option is invalid, no model is configured, or the library may not change.
        """
        options = parse_options(TfGrpoOptions, self.name, context.options)
        library = Library(EXPERIENCES, _WORDS, counted=False, size=options.size, entry_chars=options.entry_chars)
        library.read(context.initial)
        await run_updates(self.name, partial(propose, library, options.compare), session, context, options)
