"""TextGrad: critiques of rollouts as gradients of prompts and memories (Autogenesis, section E.3.5; arXiv:2406.07496)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import field_validator

from heredity.evolution.contract import EvolverContext, SessionContract
from heredity.evolution.loop import Recipe, run_loop
from heredity.evolution.operators.critique import Gradients, backward, textual_loss
from heredity.evolution.operators.dialogue import Failed, together
from heredity.evolution.operators.improve import Edits, apply, ask_edits
from heredity.evolution.options import parse_options
from heredity.evolution.proposals import LoopOptions, Proposed, Turn
from heredity.evolution.targets import Target

_TEXTS = ("prompt", "solution", "memory")


class TextGradOptions(LoopOptions):
    """Options of TextGrad; of the targets it knows prompts, solutions and memories, which are texts."""

    @field_validator("target")
    @classmethod
    def _only_texts(cls, target: tuple[Target, ...]) -> tuple[Target, ...]:
        if set(target) - set(_TEXTS):
            raise ValueError(f"gradients are for texts: {', '.join(_TEXTS)}")
        return target


async def propose(turn: Turn) -> list[Proposed]:
    """Criticise attempts, gather the gradients of each variable, and rewrite each variable by its own."""
    losses = await textual_loss(turn)
    gradients = backward(losses)
    failed: list[Proposed] = [loss for loss in losses if isinstance(loss, Failed)]
    if not gradients:
        return failed or [Failed("critique: no variable got a gradient")]
    draws = range(turn.options.candidates)
    return [*failed, *await together(_descend(turn, draw, gradients) for draw in draws)]


async def _descend(turn: Turn, draw: int, gradients: Gradients) -> Proposed:
    """Rewrite every variable that has gradients, each in a request of its own; the buffers end with the turn."""
    values: dict[str, str | None] = {}
    reasons: list[str] = []
    expects = ""
    for index, (variable, texts) in enumerate(sorted(gradients.items())):
        shown = {variable: turn.variables.get(variable, "")}
        step = draw * len(gradients) + index
        edits = await ask_edits(turn, step, variables=shown, gradients=[{"variable": variable, "texts": texts}])
        if isinstance(edits, Failed):
            return edits
        if set(edits.values) != {variable}:
            return Failed(f"improve: {variable} was to be rewritten, and nothing else", edits.values)
        values |= edits.values
        reasons.append(edits.why)
        expects = expects or edits.expects
    return apply(turn, Edits(values, "; ".join(filter(None, reasons)), expects))


class TextGrad:
    """Descends along textual gradients: what critiques of failed rollouts say of each prompt."""

    name = "textgrad"
    scheduled = True
    options_model = TextGradOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Evolve until converged or out of budget.

        Raises:
            ConfigError: if an option is wrong, there is no model, or nothing may change.
        """
        recipe, options = self.recipe(context.options)
        await run_loop(recipe, session, context, options)

    def recipe(self, given: Mapping[str, Any]) -> tuple[Recipe, LoopOptions]:
        """Return how it proposes (see `Optimizer`)."""
        return Recipe(self.name, propose), parse_options(TextGradOptions, self.name, given)
