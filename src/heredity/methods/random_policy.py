"""Reference policy: acts uniformly at random and never learns."""

from __future__ import annotations

from pydantic import Field

from heredity.engine.space_numbers import starter_program
from heredity.methods.contract import EvolverContext, SessionContract
from heredity.methods.operators.evaluate import Evaluator, Proposal, until_closed
from heredity.methods.registry import MethodOptions, parse_options
from heredity.resources import Candidate


class RandomOptions(MethodOptions):
    """Options of the random policy."""

    episodes: int = Field(1, ge=1, le=100_000, description="episodes to attempt; it learns nothing from them")


class RandomPolicy:
    """Submits the uniformly random program once."""

    name = "random"
    options_model = RandomOptions
    asks_model = False

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Submit the random program on the first train tasks.

        Raises:
            ConfigError: if an option or a space is invalid.
        """
        options = parse_options(RandomOptions, self.name, context.options)
        evaluator = Evaluator(session, context, self.name)
        program = Candidate.program(starter_program(context.taskset.public))
        with until_closed():
            await evaluator.evaluate(
                [Proposal(program, (), "uniform random actions")], evaluator.tasks(options.episodes)
            )
