"""What a run of a suite is planned to be, as the judge is told."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

from heredity.evolution import Budget
from heredity.experiments.config import Cell
from heredity.judging import RunPlan

_RECORDED_PACKAGES = (
    "heredity", "gymnasium", "numpy", "box2d", "mujoco", "minigrid", "highway-env", "gymnasium-robotics", "pygame-ce",
    "pydantic-ai-slim", "reasoning-gym", "torch", "transformers",
)  # fmt: skip


def plan_of(cell: Cell, suite_id: str, description: Mapping[str, Any], *, replay: bool, isolation: str) -> RunPlan:
    """Return the plan of one run.

    Args:
        cell: the run.
        suite_id: the suite's name.
        description: of its evolver, for the record.
        replay: whether the evolver is resumed by running it again.
        isolation: the tier in which candidates run.
    """
    budget, protocol = cell.config.budget, cell.config.run.protocol
    return RunPlan(
        run_id=cell.id,
        suite_id=suite_id,
        evolver=description,
        seed=cell.seed,
        protocol=protocol,
        budget=Budget(budget.episodes, budget.submissions, budget.tokens, budget.cost_usd, budget.seconds),
        validation=cell.config.views.validation if protocol == "policy-evolution" else 0,
        heldout=cell.config.views.heldout,
        train_tasks=budget.train_cases,
        min_episodes=budget.min_per_submit,
        max_episodes=budget.max_per_submit,
        limits=cell.config.limits.limits(),
        replay=replay,
        config=cell.config.model_dump(exclude_none=True, exclude={"engine": {"parallel_runs", "workers"}}),
        isolation=isolation,
        packages=package_versions(),
    )


def package_versions(names: Sequence[str] = _RECORDED_PACKAGES) -> dict[str, str]:
    """Return the versions of Python and of the installed packages that can change a score."""
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
