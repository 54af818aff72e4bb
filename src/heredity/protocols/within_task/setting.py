"""How a run of evolution within tasks is set up: the held-out tasks themselves are what the session attempts."""

from __future__ import annotations

from functools import partial

from heredity.configuration.config import Cell, Config
from heredity.errors import ConfigError
from heredity.evolution.loop import Optimizer, Recipe
from heredity.evolution.proposals import LoopOptions
from heredity.evolution.registry import METHODS, method
from heredity.experiments.evolvers import initial_candidate
from heredity.judging.drawn import check_sizes
from heredity.judging.views import ViewPlan
from heredity.protocols.contract import Evolver, Needs, RunContext, Setup, SuiteContext
from heredity.protocols.within_task.evolver import WithinEvolver
from heredity.protocols.within_task.judge import judge
from heredity.protocols.within_task.rounds import Rules
from heredity.protocols.within_task.sections import WithinSection

_VIEW = "heldout"
_OF_THE_PROTOCOL = (
    "target",
    "rounds",
    "patience",
    "batch",
    "repeats",
    "canaries",
    "confirm",
    "protect",
    "tolerance",
    "min_gain",
)
"""Options of optimizers that the protocol settles."""


class WithinSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Ask for attempts alone; how many there are depends on what the rounds come to."""
        return Needs(episodes=0)

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check the optimizer, its model, and that the tasks can be told about as the feedback asks."""
        config, info = cell.config, suite.tasksets[cell.taskset].info
        within = config.of(WithinSection)
        check_sizes(suite.tasksets[cell.taskset], {"views.heldout": ("heldout", cell.config.views.heldout)})
        recipe_of(cell)
        initial_candidate(cell, info)
        if not config.gateway.optimisation:
            raise ConfigError(
                "nothing proposes edits: set gateway.optimisation, such as to the model of gateway.execution"
            )
        if info.public.get("answer_format") is None:
            raise ConfigError(
                f"the tasks of {cell.taskset} are none that are answered in words; name questions/… or code/…"
            )
        if config.solver.rounds != 1:
            raise ConfigError("rounds within one rollout are solver.rounds; leave it at 1 and set within.rounds")
        if within.feedback == "public" and not info.public.get("public_tests"):
            raise ConfigError(f"{cell.taskset} has no public tests; set within.feedback to none, self or verdict")
        if within.best_of_k and config.solver.temperature == 0:
            raise ConfigError(
                "samples at temperature 0 are all alike: set solver.temperature, or within.best_of_k = false"
            )

    async def open(self, context: RunContext) -> Setup:
        """Return the run."""
        cell = context.cell
        config, info = cell.config, context.taskset.info
        within, count = config.of(WithinSection), config.views.heldout
        recipe, options = recipe_of(cell)
        assert context.model is not None, "checked"
        rules = Rules(within.mode, within.feedback, within.rounds, recipe, options)
        initial = initial_candidate(cell, info)
        evolver = WithinEvolver(rules, within, initial, count, cell.seed, context.model, context.folder)
        name = cell.evolver.method
        return Setup(
            evolver=Evolver(
                evolver.evolve,
                True,
                {"name": cell.label, "kind": "method", "method": name, "options": cell.evolver.options},
            ),
            judge=partial(judge, initial=initial, rounds=within.rounds),
            views=(ViewPlan(_VIEW, "heldout", count),),
            within=_VIEW,
            record={"within": within.model_dump(), "oracle": within.feedback == "verdict"},
        )


def recipe_of(cell: Cell) -> tuple[Recipe, LoopOptions]:
    """Return the operators of the optimizer that a configuration names, and their options.

    Raises:
        ConfigError: if the method is no optimizer, or an option is wrong or the protocol's.
    """
    name, given = cell.evolver.method, cell.evolver.options
    able = ", ".join(other for other in METHODS.names() if isinstance(METHODS.load(other)(), Optimizer))
    if name is None:
        raise ConfigError(f"evolution within a task is an optimizer's; set evolver.method to one of {able}")
    chosen = method(name, given)
    if not isinstance(chosen, Optimizer):
        raise ConfigError(f"the method {name!r} cannot work within a task; set evolver.method to one of {able}")
    for option in _OF_THE_PROTOCOL:
        if option in given:
            raise ConfigError(f"the option {option} has no meaning within a task; leave it out and see [within]")
    return chosen.recipe(given)
