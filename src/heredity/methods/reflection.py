"""Reflection: hypotheses about failures, selected changes, new texts (Autogenesis, section E.3.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity.methods.loop import Optimizer, Recipe
from heredity.methods.operators.diagnose import reflect, select
from heredity.methods.operators.dialogue import Failed, together
from heredity.methods.operators.improve import improve
from heredity.methods.proposals import LoopOptions, Proposed, Turn
from heredity.methods.registry import parse_options


class ReflectionOptions(LoopOptions):
    """Options of the reflection optimizer: those of every optimizer."""


async def propose(turn: Turn) -> list[Proposed]:
    """Reflect, select, and improve once per requested candidate."""
    hypotheses = await reflect(turn)
    if isinstance(hypotheses, Failed):
        return [hypotheses]
    if not hypotheses:
        return [Failed("reflect: there is no hypothesis, so there is nothing to change")]
    selections = await select(turn, hypotheses)
    if isinstance(selections, Failed):
        return [selections]
    draws = range(turn.options.candidates)
    return await together(improve(turn, i, hypotheses=hypotheses, selections=selections) for i in draws)


class Reflection(Optimizer):
    """Reflects on rollouts, edits the variables that hypotheses name, and commits improvements on the same tasks."""

    name = "reflection"
    scheduled = True
    options_model = ReflectionOptions

    def recipe(self, given: Mapping[str, Any]) -> tuple[Recipe, LoopOptions]:
        """Return its function that proposes (see `Optimizer`)."""
        return Recipe(self.name, propose), parse_options(ReflectionOptions, self.name, given)
