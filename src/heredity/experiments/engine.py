"""Engine of a suite: settings from its configuration, and the models that evolvers call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from functools import partial

from heredity.configuration.config import Cell, Config
from heredity.engine import engine
from heredity.engine.actor import Programs
from heredity.engine.engine import EngineSettings
from heredity.engine.kind import TaskTools, Workers
from heredity.experiments.outside_agents import agent_model
from heredity.models import Model


def engine_settings(config: Config) -> EngineSettings:
    """Return the engine settings of an experiment."""
    section, solver = config.engine, config.solver
    # A matrix may vary the duration of rollouts; each run's limits then bound its rollouts.
    longest = max([config.limits.episode_s, *config.matrix.get("limits.episode_s", ())])
    return EngineSettings(
        gateway=config.gateway,
        solving=solver.solving(longest),
        concurrent=solver.concurrent,
        workers=Workers(section.workers, section.lockstep, section.unsafe),
        containers=section.containers,
        tools=_tools_of(config) if solver.tools else None,
    )


def _tools_of(config: Config) -> Callable[[Programs], AbstractAsyncContextManager[TaskTools]]:
    from heredity.team.tools.task_tools import open_task_tools

    return partial(open_task_tools, config.tools, unsafe=config.engine.unsafe)


class Engine(engine.Engine):
    """Engine of a suite (see `heredity.engine.engine.Engine`).

    Args:
        config: the suite's configuration.
        kinds: names of the kinds of tasks.

    Raises:
        UnknownNameError: if a kind is unknown.
        ConfigError: if it needs a model and none is configured.
    """

    def __init__(self, config: Config, kinds: Iterable[str]) -> None:
        super().__init__(engine_settings(config), kinds)

    def asked_by(self, cell: Cell) -> Model | None:
        """Return the model that a run's evolver may call, or None.

        Raises:
            UnknownNameError: if there is no such model.
            ConfigError: if it cannot be opened as configured.
        """
        if cell.evolver.outside:
            name = agent_model(cell)
            return self.model(name) if name else None
        name = cell.config.gateway.optimisation  # a matrix may vary it
        return self.model(name) if name else None
