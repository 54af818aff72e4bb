"""Select, optimise, evaluate: the eight learning methods of AutoEnv, and others as presets of the same loop."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field

from heredity.methods.contract import EvolverContext, SessionContract
from heredity.methods.operators.pool import LearningOptions, Selection, Signal, Style, run_learning
from heredity.methods.registry import parse_options

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "spo": {"select": "best", "signal": "instruction", "target": ("prompt",), "evaluate": "pairwise"},
        "gepa": {"select": "pareto-tasks", "signal": "instruction", "target": ("prompt",), "evaluate": "reward"},
        "aflow": {"select": "mixed", "signal": "dynamics", "target": ("prompt", "agent"), "evaluate": "reward"},
        "dgm": {"select": "lineage", "signal": "instruction", "target": ("agent", "tool"), "evaluate": "reward"},
    }
)
"""Presets of this loop for SPO, GEPA, AFlow and the Darwin Gödel Machine (AutoEnv, appendix D.3)."""


class SelectOptimiseEvaluateOptions(LearningOptions):
    """Options of select-optimise-evaluate."""

    select: Selection = Field("best", description="best, pareto, pareto-tasks, random, mixed or lineage")
    signal: Signal = Field("dynamics", description="goal of the analysis of rollouts: dynamics or instruction")
    preset: Literal["none", "spo", "gepa", "aflow", "dgm"] = Field(
        "none", description="a known method; explicit options override it"
    )


class SelectOptimiseEvaluate:
    """Selects a candidate from the pool, analyses its rollouts, edits its target accordingly, and evaluates the result."""

    name = "select-optimise-evaluate"
    options_model = SelectOptimiseEvaluateOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Learn until the iterations are over or the budget is exhausted.

        Raises:
            ConfigError: if an option is invalid, no model is configured, or nothing may change.
        """
        preset = PRESETS.get(str(context.options.get("preset", "none")), {})
        options = parse_options(SelectOptimiseEvaluateOptions, self.name, {**preset, **context.options})
        style = Style(options.select, options.signal, options.target)
        await run_learning(self.name, session, context, options, lambda number, pool: style)
