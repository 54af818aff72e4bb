"""GEPA from the `gepa` package: its optimizer runs in a separate thread, the session evaluates (arXiv:2507.19457)."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

from heredity._core.errors import ConfigError, MissingExtraError
from heredity._core.ids import generator, seed_sequence
from heredity.methods.contract import EvolverContext, SessionContract
from heredity.methods.operators.evaluate import until_closed
from heredity.methods.operators.gepa_search import NAME, GepaAdapter, GepaOptions, GepaSearch, Silent
from heredity.methods.registry import parse_options

EXTRAS = {"gepa": ("gepa",)}


class Gepa:
    """Lets the package evolve texts, and commits each new best candidate on the Pareto tasks.

    Under a schedule each update is a separate search on the tasks of the batch, from the committed candidate.
    """

    name = NAME
    scheduled = True
    options_model = GepaOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Evolve until the package has made its metric calls, or the schedule or budget ends.

        Raises:
            ConfigError: if an option is invalid, no model is configured, or nothing may change.
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
            # With too few tasks the two sets overlap; by default the package uses one set for both.
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
    """Run the package once: the first of `tasks` supplies minibatches, the second compares candidates."""
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
"""Default metric calls of an update per task of its batch."""
