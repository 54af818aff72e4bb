"""Sequential search: changes the best program so far and keeps changes that are not worse."""

from __future__ import annotations

from pydantic import Field

from heredity._core.ids import generator
from heredity.methods.contract import EvolverContext, SessionContract
from heredity.methods.operators.draw import jitter
from heredity.methods.operators.evaluate import Evaluator, Proposal, episodes_per_candidate, until_closed
from heredity.methods.operators.tuning import Tunable, starting_point
from heredity.methods.registry import MethodOptions, parse_options

_GROWTH = 1.5
_WIDEST = 4.0


class SequentialOptions(MethodOptions):
    """Options of sequential search."""

    candidates: int = Field(40, ge=1, le=10_000, description="changes to try; the budget is shared among them")
    step: float = Field(0.5, gt=0, le=10, description="first size of a change, relative to the constants")
    share: float = Field(0.5, gt=0, le=1, description="share of the constants that one change moves")


class Sequential:
    """Hill climbing over the numeric constants of the current program, on the same train tasks throughout.

    The size of a change follows the one-fifth rule (Rechenberg 1973): it grows when changes are kept, also on a
    plateau, and shrinks when they are not.
    """

    name = "sequential"
    options_model = SequentialOptions
    asks_model = False

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Climb until the budget is exhausted.

        Raises:
            ConfigError: if an option or a space is invalid.
        """
        options = parse_options(SequentialOptions, self.name, context.options)
        evaluator = Evaluator(session, context, self.name)
        rng = generator(context.seed, "method", self.name)
        tasks = evaluator.tasks(episodes_per_candidate(evaluator.total, options.candidates))
        best: Tunable = starting_point(context, rng)
        step = options.step
        with until_closed():
            start = await evaluator.evaluate([Proposal(best.candidate, (), "starting point")], tasks)
            best_score = start[0].mean if start else float("-inf")
            while not evaluator.exhausted:
                changed = best.with_values(jitter(rng, best.values, step, options.share))
                note = f"constants moved from a mean of {best_score:.6g}"
                results = await evaluator.evaluate([Proposal(changed.candidate, (best.candidate.digest,), note)], tasks)
                # The last submission may have had fewer episodes, so comparing it would be unfair.
                if results and results[0].mean >= best_score and results[0].tasks == tasks:
                    best, best_score, step = changed, results[0].mean, min(step * _GROWTH, _WIDEST)
                else:
                    step *= _GROWTH**-0.25
