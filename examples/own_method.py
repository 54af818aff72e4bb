"""A method of one's own, under the budget, the hidden cases and the records of a real run.

    python examples/own_method.py [FOLDER]

Installed under the entry point group `heredity.methods`, the same class is available as `evolver.method = "annealing"`
(docs/extending.md).
"""

from __future__ import annotations

import asyncio
import math
import sys
from pathlib import Path

from pydantic import Field

from heredity._core.ids import generator
from heredity.engine.space_numbers import starter_program
from heredity.kinds.policy.kind import EpisodeRunner
from heredity.methods import Budget, EvolverContext, SessionContract
from heredity.methods.operators.draw import jitter
from heredity.methods.operators.evaluate import Evaluator, Proposal, until_closed
from heredity.methods.operators.tuning import starting_point
from heredity.methods.registry import MethodOptions, parse_options
from heredity.protocols.shared.selection import judge
from heredity.resources import Candidate
from heredity.session import Conditions, HiddenCases, RunPlan, Session, ViewPlan, run_evolution
from heredity.tasks.registry import taskset


class AnnealingOptions(MethodOptions):
    """Options of annealing."""

    episodes: int = Field(2, ge=1, le=128, description="episodes of each submission")
    warmth: float = Field(20.0, gt=0, description="loss of return that is accepted at first, on average")


class Annealing:
    """Moves the constants of a linear controller; a worse one is accepted less and less often."""

    name = "annealing"
    options_model = AnnealingOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        options = parse_options(AnnealingOptions, self.name, context.options)
        spending = Evaluator(session, context, self.name)
        draws = generator(context.seed, "method", self.name)
        tasks = spending.tasks(options.episodes)
        current = starting_point(context, draws)
        with until_closed():
            first = await spending.evaluate([Proposal(current.candidate, (), "start")], tasks)
            score = first[0].mean if first else -math.inf
            while not spending.exhausted:
                warmth = options.warmth * spending.left / spending.total
                moved = current.with_values(jitter(draws, current.values, 0.5, 0.5))
                proposal = Proposal(moved.candidate, (current.candidate.digest,), f"warmth {warmth:.3g}")
                for result in await spending.evaluate([proposal], tasks):
                    loss = score - result.mean
                    if loss <= 0 or draws.random() < math.exp(-loss / max(warmth, 1e-9)):
                        current, score = moved, result.mean


async def run(folder: Path, name: str = "gymnasium/CartPole-v1", seed: int = 0) -> None:
    """Run the method once, or continue it, and print what it came to."""
    tasks = taskset(name)
    initial = Candidate.program(starter_program(tasks.info.public))
    plan = RunPlan(
        run_id=folder.name,
        suite_id="example",
        evolver={"name": Annealing.name, "kind": "method", "options": {}},
        seed=seed,
        budget=Budget(episodes=32),
        protocol="policy-evolution",
        judge=judge,
        views=(ViewPlan("validation", "validation", 8), ViewPlan("heldout", "heldout", 16)),
        replay=True,
    )

    async def evolve(session: Session) -> None:
        await Annealing().evolve(session, EvolverContext(tasks.info, initial, seed, plan.train_tasks))

    async with EpisodeRunner() as runner:
        conditions = Conditions(tasks, runner, HiddenCases.create(folder.parent / "sealed"))
        verdict = await run_evolution(folder, plan, conditions, evolve)
    print(f"{verdict.reason}; held-out mean {verdict.heldout.mean if verdict.heldout else math.nan:.6g}")


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("annealing-run")))
