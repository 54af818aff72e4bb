"""Best of n: independent draws of controllers, the simplest search baseline."""

from __future__ import annotations

from pydantic import Field

from heredity._core.ids import generator
from heredity.methods.contract import EvolverContext, SessionContract
from heredity.methods.operators.evaluate import Evaluator, Proposal, episodes_per_candidate, until_closed
from heredity.methods.operators.tuning import random_linear
from heredity.methods.registry import MethodOptions, parse_options


class BestOfNOptions(MethodOptions):
    """Options of best-of-n."""

    candidates: int = Field(40, ge=1, le=10_000, description="controllers to draw; the budget is shared among them")
    batch: int = Field(8, ge=1, le=1_000, description="controllers in one request")


class BestOfN:
    """Draws linear controllers independently of each other and of their scores; validation picks the best."""

    name = "best-of-n"
    options_model = BestOfNOptions
    asks_model = False

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Submit draws until the budget is exhausted.

        Raises:
            ConfigError: if an option or a space is invalid.
        """
        options = parse_options(BestOfNOptions, self.name, context.options)
        evaluator = Evaluator(session, context, self.name)
        rng = generator(context.seed, "method", self.name)
        tasks = evaluator.tasks(episodes_per_candidate(evaluator.total, options.candidates))
        drawn = 0
        with until_closed():
            while not evaluator.exhausted:
                proposals: list[Proposal] = []
                for _ in range(options.batch):
                    drawn += 1
                    proposals.append(
                        Proposal(random_linear(context, rng).candidate, (), f"draw {drawn} of a linear controller")
                    )
                await evaluator.evaluate(proposals, tasks)
