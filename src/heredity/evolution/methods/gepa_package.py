"""GEPA as the `gepa` package has it: its optimizer drives in a thread of its own, the session evaluates (arXiv:2507.19457)."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

from heredity.errors import ConfigError, MissingExtraError
from heredity.evolution.contract import EvolverContext, SessionContract
from heredity.evolution.operators.evaluate import until_closed
from heredity.evolution.operators.gepa_search import NAME, GepaAdapter, GepaOptions, GepaSearch, Silent
from heredity.evolution.options import parse_options
from heredity.ids import generator, seed_sequence

EXTRAS = {"gepa": ("gepa",)}


class Gepa:
    """Lets the package evolve texts; what becomes its best candidate on the Pareto tasks is committed.

    Under a schedule every update is a search of its own, on the tasks of the batch, from the committed candidate.
    """

    name = NAME
    scheduled = True
    options_model = GepaOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Evolve until the package has made its metric calls, the schedule is over, or the budget is spent.

        Raises:
            ConfigError: if an option is wrong, there is no model, or nothing may change.
            MissingExtraError: if the package is not installed.
        """
        options = parse_options(GepaOptions, self.name, context.options)
        _check_scheduled(context)
        package = _package()
        search = GepaSearch(session, context, options)
        with until_closed():
            if context.scheduled:
                await _follow(package, session, search, context, options)
                return
            order = generator(context.seed, "method", self.name, "tasks").permutation(context.train_tasks).tolist()
            compared = order[: options.pareto]
            # With too few tasks for two sets they overlap; the package itself takes one set for both by default.
            shown = order[options.pareto :] if len(order) >= options.pareto + options.batch else order
            await search.start(compared)
            calls = options.metric_calls or search.budget
            await _optimized(package, search, options, (shown, compared), calls, _seed(context))


async def _follow(
    package: Any, session: SessionContract, search: GepaSearch, context: EvolverContext, options: GepaOptions
) -> None:
    await search.start([])
    async for batch in session.batches():
        search.open(batch)
        tasks = list(batch.tasks)
        calls = options.batch_calls or _CALLS * len(tasks)
        for number in range(batch.updates):
            seed = _seed(context, batch.number, number)
            await search.update(tasks, partial(_optimized, package, search, options, (tasks, tasks), calls, seed))


async def _optimized(
    package: Any, search: GepaSearch, options: GepaOptions, tasks: tuple[list[int], list[int]], calls: int, seed: int
) -> None:
    """Run the package once: minibatches come from the first of `tasks`, candidates are compared on the second."""
    adapter = GepaAdapter(search, package.EvaluationBatch, options.proposer)

    def drive() -> None:
        package.optimize(
            seed_candidate=search.initial,
            trainset=tasks[0],
            valset=tasks[1],
            adapter=adapter,
            reflection_lm=adapter.ask,
            candidate_selection_strategy=options.select,
            perfect_score=options.solved,
            reflection_minibatch_size=options.batch,
            module_selector=options.components,
            acceptance_criterion=adapter,
            max_metric_calls=calls,
            stop_callbacks=adapter.stopped,
            callbacks=[adapter],
            logger=Silent(),
            seed=seed,
        )

    await adapter.driven(drive)


def _seed(context: EvolverContext, *position: int) -> int:
    return int(seed_sequence(context.seed, "method", NAME, "package", *position).generate_state(1)[0])


def _check_scheduled(context: EvolverContext) -> None:
    wrong, instead = (
        (("pareto", "metric_calls"), "batch_calls bounds each update of a run with a schedule")
        if context.scheduled
        else (("batch_calls",), "metric_calls bounds a run without a schedule")
    )
    for name in wrong:
        if name in context.options:
            raise ConfigError(
                f"the option {name} = {context.options[name]!r} has no meaning here: {instead}; leave it out"
            )


def _package() -> Any:
    try:
        return importlib.import_module("gepa")
    except ImportError as error:
        raise MissingExtraError("the method gepa", "gepa") from error


_CALLS = 8
"""Metric calls of an update for each task of its batch, where no option says how many."""
