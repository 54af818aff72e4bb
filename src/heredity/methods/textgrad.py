"""TextGrad: critiques of rollouts as gradients of prompts and memories (Autogenesis, section E.3.5; arXiv:2406.07496)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import field_validator

from heredity._core.errors import ConfigError
from heredity.methods.loop import Optimizer, Recipe
from heredity.methods.operators.dialogue import Failed, together
from heredity.methods.operators.improve import Edits, apply, ask_edits
from heredity.methods.proposals import LoopOptions, Proposed, Turn
from heredity.methods.registry import parse_options
from heredity.methods.targets import Target, new_variables

Gradients = dict[str, list[str]]
"""Gradient buffers: variable to its critiques."""


async def textual_loss(turn: Turn) -> list[Gradients | Failed]:
    """Critique the rollouts that did not solve their task; if all did, critique all.

    Each critique says how individual variables should change. One that blames none applies to all, as in the paper.
    Critiques can also blame variables that do not exist yet.
    """
    failed = [e for e in turn.evidence if e["score"] is None or e["score"] < turn.options.solved]

    present = list(turn.variables)
    absent = [name for name in new_variables(turn.base.candidate, turn.targets) if "/NAME:" not in name]

    def read(reply: Mapping[str, Any]) -> Gradients:
        return _gradients_in(reply, present, absent)

    async def critique(draw: int, item: dict[str, Any]) -> Gradients | Failed:
        position = (turn.number, turn.stage, draw)
        return await turn.dialogue.ask("critique", turn.data(evidence=[item], draw=draw), read, position)

    return await together(critique(i, item) for i, item in enumerate(failed or turn.evidence))


def backward(losses: list[Gradients | Failed]) -> Gradients:
    """Gather all critiques of each variable; failed critiques add nothing."""
    gathered: Gradients = {}
    for loss in losses:
        if not isinstance(loss, Failed):
            for variable, texts in loss.items():
                gathered[variable] = list(dict.fromkeys([*gathered.get(variable, []), *texts]))
    return gathered


def _gradients_in(reply: Mapping[str, Any], present: list[str], absent: list[str]) -> Gradients:
    critique, given = reply.get("critique"), reply.get("gradients", [])
    if not isinstance(given, list):
        raise ConfigError(f'"gradients" is {given!r:.80}; expected a list')
    gradients: Gradients = {}
    for gradient in given:
        if not isinstance(gradient, dict) or not isinstance(gradient.get("text"), str):
            raise ConfigError(f'a gradient is {gradient!r:.80}; expected an object with "variable" and "text"')
        if gradient.get("variable") in (*present, *absent):
            gradients.setdefault(gradient["variable"], []).append(gradient["text"])
    if gradients:
        return gradients
    if not isinstance(critique, str) or not critique.strip():
        raise ConfigError("there is neither a critique nor a gradient for a variable that may change")
    return {variable: [critique] for variable in present or absent}


_TEXTS = ("prompt", "solution", "memory")


class TextGradOptions(LoopOptions):
    """Options of TextGrad; its targets are texts: prompts, solutions and memories."""

    @field_validator("target")
    @classmethod
    def _only_texts(cls, target: tuple[Target, ...]) -> tuple[Target, ...]:
        if set(target) - set(_TEXTS):
            raise ValueError(f"gradients are for texts: {', '.join(_TEXTS)}")
        return target


async def propose(turn: Turn) -> list[Proposed]:
    """Critique rollouts, gather the gradients of each variable, and rewrite each variable by its gradients."""
    losses = await textual_loss(turn)
    gradients = backward(losses)
    failed: list[Proposed] = [loss for loss in losses if isinstance(loss, Failed)]
    if not gradients:
        return failed or [Failed("critique: no variable got a gradient")]
    draws = range(turn.options.candidates)
    return [*failed, *await together(_descend(turn, draw, gradients) for draw in draws)]


async def _descend(turn: Turn, draw: int, gradients: Gradients) -> Proposed:
    """Rewrite every variable that has gradients, one request each; the buffers end with the turn."""
    values: dict[str, str | None] = {}
    reasons: list[str] = []
    expects = ""
    for index, (variable, texts) in enumerate(sorted(gradients.items())):
        shown = {variable: turn.variables.get(variable, "")}
        step = draw * len(gradients) + index
        gradient = [{"variable": variable, "texts": texts}]
        edits = await ask_edits(turn, step, variable, variables=shown, gradients=gradient)
        if isinstance(edits, Failed):
            return edits
        values |= edits.values
        reasons.append(edits.why)
        expects = expects or edits.expects
    return apply(turn, Edits(values, "; ".join(filter(None, reasons)), expects))


class TextGrad(Optimizer):
    """Descends along textual gradients: critiques of failed rollouts, by prompt."""

    name = "textgrad"
    scheduled = True
    options_model = TextGradOptions

    def recipe(self, given: Mapping[str, Any]) -> tuple[Recipe, LoopOptions]:
        """Return its function that proposes (see `Optimizer`)."""
        return Recipe(self.name, propose), parse_options(TextGradOptions, self.name, given)
