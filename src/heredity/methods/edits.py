"""Two baselines for optimizers: edits without reflection, on the same budget."""

from __future__ import annotations

from pydantic import Field

from heredity.methods.contract import EvolverContext, SessionContract
from heredity.methods.loop import Recipe, run_loop
from heredity.methods.operators.dialogue import together
from heredity.methods.operators.improve import improve
from heredity.methods.proposals import LoopOptions, Proposed, Turn
from heredity.methods.registry import parse_options


class BestOfNOptions(LoopOptions):
    """Options of best-of-n over edits."""

    rounds: int = Field(1, ge=1, le=1, description="always one")
    candidates: int = Field(16, ge=1, le=64, description="N, edits of the initial candidate to try")


class SequentialOptions(LoopOptions):
    """Options of sequential edits."""


async def _edits(turn: Turn) -> list[Proposed]:
    return await together(improve(turn, draw) for draw in range(turn.options.candidates))


class BestOfNEdits:
    """Draws N edits of the initial candidate from its first rollouts and commits the best if it gains."""

    name = "best-of-n-edits"
    scheduled = True
    options_model = BestOfNOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Try N edits.

        Raises:
            ConfigError: if an option is invalid, no model is configured, or nothing may change.
        """
        options = parse_options(BestOfNOptions, self.name, context.options)
        await run_loop(Recipe(self.name, _edits), session, context, options)


class SequentialEdits:
    """Asks for one edit at a time and commits each that gains."""

    name = "sequential-edits"
    scheduled = True
    options_model = SequentialOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Edit until converged or out of budget.

        Raises:
            ConfigError: if an option is invalid, no model is configured, or nothing may change.
        """
        options = parse_options(SequentialOptions, self.name, context.options)
        await run_loop(Recipe(self.name, _edits), session, context, options)
