"""GRPO: a group of proposals per round, valued relative to each other (Autogenesis, section E.3.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from heredity.methods.loop import Optimizer, Recipe
from heredity.methods.operators.diagnose import draw_proposals, text_of
from heredity.methods.operators.measure import Measured
from heredity.methods.operators.objectives import Signal, group_signals, similarity
from heredity.methods.proposals import LoopOptions, Turn
from heredity.methods.registry import parse_options
from heredity.resources import Candidate


class GrpoOptions(LoopOptions):
    """Options of GRPO."""

    candidates: int = Field(4, ge=2, le=64, description="K, the candidates proposed in each round")
    clip_low: float = Field(0.2, ge=0, lt=1, description="ε_low, for candidates below the group's mean")
    clip_high: float = Field(0.28, ge=0, le=10, description="ε_high, for candidates above it")


class Grpo(Optimizer):
    """Edits by groups of K proposals of a model, ranked relative to each other (Autogenesis, E.3.7).

    The writer sees J_i of each of a round's proposals, with A_i = (r_i − mean) / std over the group. Proposals are
    considered in the order of r_i (see `ReinforcePP`). π_i is the similarity of the candidate's text to the committed
    one's (arXiv:2402.03300 uses probabilities).
    """

    name = "grpo"
    scheduled = True
    options_model = GrpoOptions

    def recipe(self, given: Mapping[str, Any]) -> tuple[Recipe, LoopOptions]:
        """Return its functions that draw and value proposals (see `Optimizer`)."""
        options = parse_options(GrpoOptions, self.name, given)

        def value(turn: Turn, measured: Sequence[Measured], _: Candidate) -> list[Signal]:
            before = text_of(turn.base.candidate)
            ratios = [similarity(before, text_of(one.candidate)) for one in measured]
            return group_signals([one.mean for one in measured], ratios, low=options.clip_low, high=options.clip_high)

        return Recipe(self.name, draw_proposals, value, staged=True), options
