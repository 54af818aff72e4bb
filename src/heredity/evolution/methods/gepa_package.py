"""GEPA as the `gepa` package has it: its optimizer drives in a thread of its own, the session evaluates (arXiv:2507.19457)."""

from __future__ import annotations

import importlib
from typing import Any

from heredity.errors import MissingExtraError
from heredity.evolution.contract import EvolverContext, SessionContract
from heredity.evolution.operators.evaluate import until_closed
from heredity.evolution.operators.gepa_search import NAME, GepaAdapter, GepaOptions, GepaSearch, Silent
from heredity.evolution.options import parse_options
from heredity.ids import generator, seed_sequence


class Gepa:
    """Lets the package evolve texts; what becomes its best candidate on the Pareto tasks is committed."""

    name = NAME
    options_model = GepaOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Evolve until the package has made its metric calls or the budget is spent.

        Raises:
            ConfigError: if an option is wrong, there is no model, or nothing may change.
            MissingExtraError: if the package is not installed.
        """
        options = parse_options(GepaOptions, self.name, context.options)
        package = _package()
        search = GepaSearch(session, context, options)
        adapter = GepaAdapter(search, package.EvaluationBatch, options.proposer)
        order = generator(context.seed, "method", self.name, "tasks").permutation(context.train_tasks).tolist()
        compared = order[: options.pareto]
        # With too few tasks for two sets they overlap; the package itself takes one set for both by default.
        shown = order[options.pareto :] if len(order) >= options.pareto + options.batch else order
        seed = int(seed_sequence(context.seed, "method", self.name, "package").generate_state(1)[0])

        def drive() -> None:
            package.optimize(
                seed_candidate=search.initial,
                trainset=shown,
                valset=compared,
                adapter=adapter,
                reflection_lm=adapter.ask,
                candidate_selection_strategy=options.select,
                perfect_score=options.solved,
                reflection_minibatch_size=options.batch,
                module_selector=options.components,
                acceptance_criterion=adapter,
                max_metric_calls=options.metric_calls or search.budget,
                stop_callbacks=adapter.stopped,
                callbacks=[adapter],
                logger=Silent(),
                seed=seed,
            )

        with until_closed():
            await search.start(compared)
            await adapter.driven(drive)


def _package() -> Any:
    try:
        return importlib.import_module("gepa")
    except ImportError as error:
        raise MissingExtraError("the method gepa", "gepa") from error
