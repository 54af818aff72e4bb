"""Engine of a suite: settings from its configuration, and the models that evolvers call."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache, partial
from importlib import metadata

from heredity._core.plugins import loaded
from heredity.configuration.config import Cell, Config
from heredity.engine import engine
from heredity.engine.actor import Programs
from heredity.engine.engine import EngineSettings
from heredity.engine.kind import TaskTools, Workers
from heredity.experiments.config import named
from heredity.experiments.outside_agents import agent_model
from heredity.methods import Budget
from heredity.models import Model
from heredity.protocols.contract import Setup
from heredity.session import RunPlan

_RECORDED_PACKAGES = (
    "heredity", "gymnasium", "numpy", "box2d", "mujoco", "minigrid", "highway-env", "gymnasium-robotics", "pygame-ce",
    "pydantic-ai-slim", "reasoning-gym", "torch", "transformers",
)  # fmt: skip


def plan_of(cell: Cell, suite_id: str, setup: Setup, isolation: str, *, cases_known: bool = False) -> RunPlan:
    """Return the plan of a run.

    Args:
        cell: the run.
        suite_id: the suite whose hidden cases judge it.
        setup: the protocol's setup of the run.
        isolation: the isolation tier of candidates.
        cases_known: whether the hidden cases were already published.
    """
    budget, initial = cell.config.budget, cell.evolver.initial
    conditions = {**cell.config.conditions(), **({"evolver.initial": initial} if initial else {})}
    organisation = cell.config.run.organisation
    known = {"cases_known": True} if cases_known else {}
    return RunPlan(
        run_id=cell.id,
        suite_id=suite_id,
        protocol=cell.config.run.protocol,
        evolver=setup.evolver.description,
        seed=cell.seed,
        budget=Budget(budget.episodes, budget.submissions, budget.tokens, budget.cost_usd, budget.seconds),
        judge=setup.judge,
        views=setup.views,
        train_tasks=budget.train_cases,
        min_episodes=budget.min_per_submit,
        max_episodes=budget.max_per_submit,
        limits=cell.config.limits.limits(),
        replay=setup.evolver.replay,
        batches=setup.batches,
        disjoint=setup.disjoint,
        config=cell.config.model_dump(exclude_none=True, exclude={"engine": {"gpus", "parallel_runs", "workers"}}),
        isolation=isolation,
        packages=package_versions(),
        plugins=[origin.to_json() for origin in loaded()],
        execution=cell.config.gateway.execution,
        conditions={key: named(value) for key, value in conditions.items()},
        routes={name: route.models for name, route in cell.config.gateway.routes.items()},
        coverage=cell.config.views.coverage,
        record={**setup.record, **known, **({"organisation": organisation} if organisation else {})},
        failure=setup.evolver.failure,
        within=setup.within,
    )


def package_versions(names: Sequence[str] = _RECORDED_PACKAGES) -> dict[str, str]:
    """Return the versions of Python and of the installed packages that can change a score."""
    versions = {"python": platform.python_version(), **{name: _version(name) for name in names}}
    return {name: version for name, version in versions.items() if version}


@cache
def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


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
