"""Reinforce++: proposals valued by a clipped objective with a penalty for leaving the initial candidate (E.3.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from heredity.methods.loop import Optimizer, Recipe
from heredity.methods.operators.diagnose import draw_proposals, text_of
from heredity.methods.operators.measure import Measured
from heredity.methods.operators.objectives import Signal, reinforce_signal, similarity
from heredity.methods.proposals import LoopOptions, Turn
from heredity.methods.registry import parse_options
from heredity.resources import Candidate


class ReinforceOptions(LoopOptions):
    """Options of Reinforce++."""

    candidates: int = Field(2, ge=1, le=64, description="candidates proposed in each round")
    beta: float = Field(0.05, ge=0, le=100, description="β, the weight of the penalty")
    clip: float = Field(0.2, ge=0, lt=1, description="ε, maximum distance of the ratio from 1")
    floor: float = Field(0.001, gt=0, le=1, description="ε0, the least similarity in the penalty")


class ReinforcePP(Optimizer):
    """Edits by proposals of a model, ranked by the clipped objective of Reinforce++ (Autogenesis, E.3.6).

    The writer sees J = min(π A, clip(π, 1 − ε, 1 + ε) A) of each proposal, where A = r − penalty. Proposals are
    considered in the order of r: since π is at most 1, J would rank a small edit above a large gain. y is a candidate's
    text, y_{t−1} the committed one's, y_sft the initial one's (Autogenesis, section E.3.6).
    """

    name = "reinforce-pp"
    scheduled = True
    options_model = ReinforceOptions

    def recipe(self, given: Mapping[str, Any]) -> tuple[Recipe, LoopOptions]:
        """Return its functions that draw and value proposals (see `Optimizer`)."""
        options = parse_options(ReinforceOptions, self.name, given)

        def value(turn: Turn, measured: Sequence[Measured], initial: Candidate) -> list[Signal]:
            before, reference = text_of(turn.base.candidate), text_of(initial)
            signals: list[Signal] = []
            for one in measured:
                text = text_of(one.candidate)
                ratio, near = similarity(before, text), similarity(reference, text)
                signals.append(
                    reinforce_signal(one.mean, ratio, near, beta=options.beta, clip=options.clip, floor=options.floor)
                )
            return signals

        return Recipe(self.name, draw_proposals, value, staged=True), options
