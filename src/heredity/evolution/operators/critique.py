"""Textual gradients: a critique of each rollout, assigned to the variables it blames (Autogenesis, section E.3.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity.errors import ConfigError
from heredity.evolution.operators.dialogue import Failed, together
from heredity.evolution.proposals import Turn
from heredity.evolution.targets import new_variables

Gradients = dict[str, list[str]]
"""Variable to what has been said of it: the gradient buffers."""


async def textual_loss(turn: Turn) -> list[Gradients | Failed]:
    """Critique the rollouts that did not solve their task; if there is none, all that are shown.

    Each critique says how single variables should change. One that blames none is meant for all of them, as in the paper.
    Variables that are not there yet can be blamed too.
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
    """Gather what all critiques say of each variable; what failed adds nothing."""
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
