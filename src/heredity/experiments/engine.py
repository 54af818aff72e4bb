"""The engine of a suite: what its configuration asks for, and the models that evolvers ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from functools import partial

from heredity.actors.contract import Programs
from heredity.configuration.config import Cell, Config
from heredity.experiments.outside_agents import agent_model
from heredity.gateway import Model
from heredity.rollouts import engine
from heredity.rollouts.engine import EngineSettings
from heredity.rollouts.kind import TaskTools, Workers


def engine_settings(config: Config) -> EngineSettings:
    """Return what an experiment's engine is to be like."""
    section, solver = config.engine, config.solver
    # A matrix may vary how long a rollout may take; each run's own limits then bound its rollouts.
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
    """The engine of a suite (see `heredity.rollouts.engine.Engine`).

    Args:
        config: what the engine is to be like.
        kinds: names of the kinds of tasks to attempt.

    Raises:
        UnknownNameError: if a kind is unknown.
        ConfigError: if it needs a model and none is configured.
    """

    def __init__(self, config: Config, kinds: Iterable[str]) -> None:
        super().__init__(engine_settings(config), kinds)

    def asked_by(self, cell: Cell) -> Model | None:
        """Return the model that a run's evolver may ask, if there is one.

        Raises:
            UnknownNameError: if there is no such model.
            ConfigError: if it cannot be opened as configured.
        """
        if cell.evolver.outside:
            name = agent_model(cell)
            return self.model(name) if name else None
        name = cell.config.gateway.optimisation  # which a matrix may vary
        return self.model(name) if name else None
