"""Experiences from groups of rollouts at the same task: the advantage put into words (Training-Free GRPO, arXiv:2510.08191)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from heredity.errors import ConfigError
from heredity.evolution.operators.dialogue import Failed, together
from heredity.evolution.operators.improve import one_line
from heredity.evolution.operators.library import Entry, Library, Operation
from heredity.evolution.proposals import Turn

Comparison = Literal["mixed", "unsolved"]
Group = list[dict[str, Any]]
Changes = tuple[list[Operation], str]
"""Operations, and why in one line."""


def groups_of(turn: Turn, comparison: Comparison) -> list[Group]:
    """Return the evidence of each task worth comparing, the worst task first.

    Args:
        turn: where the loop stands; `evidence` of its options bounds the number of groups.
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
    """Return groups with a `summary` in place of each transcript (None where the model gave none), and what failed."""

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
    """Ask what the rollouts at one task teach when they are held against each other."""
    return await _asked("compare", turn, library, entries, (turn.number, draw), {"draw": draw, "evidence": group})


async def consolidate(
    turn: Turn, library: Library, entries: Sequence[Entry], proposed: Sequence[Changes]
) -> Changes | Failed:
    """Make one list of operations of those of several groups."""
    named = {kind: word for word, kind in library.words.items()}
    lists = [
        {"operations": [{"do": named[o.kind], "ids": list(o.ids), "text": o.text} for o in operations], "why": why}
        for operations, why in proposed
    ]
    return await _asked("consolidate", turn, library, entries, (turn.number,), {"proposed": lists})


async def _asked(
    task: str, turn: Turn, library: Library, entries: Sequence[Entry], position: tuple[int, ...], more: dict[str, Any]
) -> Changes | Failed:
    def read(reply: Mapping[str, Any]) -> Changes:
        return library.operations_in(reply, entries), one_line(reply.get("why"))

    data = {"round": turn.number, "experiences": library.shown(entries), "rejected": list(turn.rejected), **more}
    return await turn.dialogue.ask(task, {**data, "limits": library.limits()}, read, position)
