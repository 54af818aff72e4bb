"""Prompt refinement: rewrites the system prompt after every batch, from all its rollouts at once."""

from __future__ import annotations

from pydantic import Field, field_validator

from heredity.engine.actor import SYSTEM
from heredity.methods.contract import EvolverContext, SessionContract
from heredity.methods.operators.dialogue import Failed
from heredity.methods.operators.improve import apply, ask_edits
from heredity.methods.proposals import Proposed, Turn
from heredity.methods.registry import parse_options
from heredity.methods.targets import Target
from heredity.methods.updates import UpdateOptions, run_updates

_PROMPT = f"{SYSTEM}:prompt.md"


class RefineOptions(UpdateOptions):
    """Options of prompt refinement."""

    target: tuple[Target, ...] = Field(("prompt",), description="always prompt: only `prompt/system` is rewritten")

    @field_validator("target")
    @classmethod
    def _only_prompt(cls, target: tuple[Target, ...]) -> tuple[Target, ...]:
        if target != ("prompt",):
            raise ValueError('prompt/system alone is rewritten; leave target as ["prompt"]')
        return target


async def propose(turn: Turn) -> list[Proposed]:
    """Show the batch and ask for a whole new prompt."""
    edits = await ask_edits(turn, 0, _PROMPT, variables={_PROMPT: turn.variables.get(_PROMPT, "")})
    return [edits if isinstance(edits, Failed) else apply(turn, edits)]


class Refine:
    """Rewrites the system prompt after each batch; every rewrite is adopted unless `gate` is set."""

    name = "refine"
    scheduled = True
    options_model = RefineOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Rewrite until the rounds are over or the budget is exhausted.

        Raises:
            ConfigError: if an option is invalid, no model is configured, or the prompt may not change.
        """
        options = parse_options(RefineOptions, self.name, context.options)
        await run_updates(self.name, propose, session, context, options)
