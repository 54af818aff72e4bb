"""Diagnose and draw: hypotheses informed by the previous round's signals, then several independent proposals."""

from __future__ import annotations

from heredity.methods.operators.dialogue import Failed, together
from heredity.methods.operators.improve import improve
from heredity.methods.operators.reflect import reflect
from heredity.methods.proposals import Proposed, Turn
from heredity.resources import Candidate
from heredity.resources.assembly import variables


async def draw_proposals(turn: Turn) -> list[Proposed]:
    """Reflect once, then improve once per requested candidate (Diagnose and Improve of E.3.6 and E.3.7)."""
    hypotheses = await reflect(turn)
    if isinstance(hypotheses, Failed):
        return [hypotheses]
    draws = range(turn.options.candidates)
    return await together(improve(turn, draw, hypotheses=hypotheses) for draw in draws)


def text_of(candidate: Candidate) -> str:
    """Return all of a candidate's variables as one text: the y that similarities compare."""
    return "\n".join(f"{name}\n{text}" for name, text in sorted(variables(candidate).items()))
