"""What a run of a suite is planned to be, as the judge is told."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from heredity.errors import RecordError
from heredity.evolution import Budget
from heredity.experiments.config import SCHEDULED, TRAINING, Cell, Config, slug
from heredity.judging import RunPlan
from heredity.judging.schedule import draw_plan, read_plan
from heredity.posttraining.tasks import PREFIX, PostTrainingTask, PostTrainingTaskset, SeveralTasks, posttraining_task
from heredity.protocols.harness_evolution.terms import HarnessTerms
from heredity.records.run_folder import write_atomic

_RECORDED_PACKAGES = (
    "heredity", "gymnasium", "numpy", "box2d", "mujoco", "minigrid", "highway-env", "gymnasium-robotics", "pygame-ce",
    "pydantic-ai-slim", "reasoning-gym", "torch", "transformers",
)  # fmt: skip


def terms_of(cell: Cell, folder: Path) -> HarnessTerms | None:
    """Return the schedule and the further views of a run of harness evolution; None in other protocols.

    Runs with the same seed have the same batches, whatever their method. The batch plan is saved in the suite's folder
    `plans`, for people and for other suites.

    Args:
        cell: the run.
        folder: the suite's folder.

    Raises:
        ConfigError: if the schedule cannot be drawn, or a saved plan is not of it.
        RecordError: if a saved plan cannot be read, or the plan not be written.
    """
    config = cell.config
    if config.run.protocol != SCHEDULED:
        return None
    schedule, train = config.schedule.schedule(), config.budget.train_cases
    if config.schedule.plan is not None:
        plan = read_plan(Path(config.schedule.plan), schedule, train)
    else:
        plan = draw_plan(schedule, train, cell.seed)
    saved = folder / "plans" / f"{slug(cell.taskset)}-s{cell.seed}-{plan.digest[:8]}.json"
    if not saved.exists():
        try:
            saved.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RecordError(f"{saved.parent} cannot be created: {error.strerror}") from error
        write_atomic(saved, (json.dumps(plan.to_json(), indent=1) + "\n").encode())
    views, own = config.views, config.gateway.execution
    others = tuple(name for name in config.transfer.models if name != own)
    return HarnessTerms(plan, views.ood, views.replay, views.points, others)


def planned_episodes(config: Config) -> int:
    """Return how many train episodes a run may buy; under a schedule alone, those of one attempt for each task.

    Post-training is bounded by time: 0.
    """
    if config.budget.episodes is not None:
        return config.budget.episodes
    if config.run.protocol == TRAINING:
        return 0
    return config.budget.train_cases * config.schedule.epochs


def plan_of(
    cell: Cell,
    suite_id: str,
    description: Mapping[str, Any],
    *,
    replay: bool,
    isolation: str,
    terms: HarnessTerms | None = None,
    grading: Mapping[str, Any] | None = None,
) -> RunPlan:
    """Return the plan of one run.

    Args:
        cell: the run.
        suite_id: the suite's name.
        description: of its evolver, for the record.
        replay: whether the evolver is resumed by running it again.
        isolation: the tier in which candidates run.
        terms: of harness evolution (see `terms_of`).
        grading: of post-training, what answers for checkpoints (see `RunGrading.about`).
    """
    budget, protocol = cell.config.budget, cell.config.run.protocol
    return RunPlan(
        run_id=cell.id,
        suite_id=suite_id,
        evolver=description,
        seed=cell.seed,
        protocol=protocol,
        budget=Budget(budget.episodes, budget.submissions, budget.tokens, budget.cost_usd, budget.seconds),
        validation=cell.config.views.validation if protocol in ("policy-evolution", SCHEDULED) else 0,
        heldout=cell.config.views.heldout,
        train_tasks=budget.train_cases,
        min_episodes=budget.min_per_submit,
        max_episodes=budget.max_per_submit,
        limits=cell.config.limits.limits(),
        replay=replay,
        config=cell.config.model_dump(exclude_none=True, exclude={"engine": {"gpus", "parallel_runs", "workers"}}),
        isolation=isolation,
        packages=package_versions(),
        terms=terms,
        execution=cell.config.gateway.execution,
        repeats=cell.config.training.repeats,
        training={**_training(cell), **({"grading": dict(grading)} if grading else {})},
    )


def _training(cell: Cell) -> dict[str, Any]:
    """Return what is recorded of the task of a run of post-training."""
    if cell.config.run.protocol != TRAINING:
        return {}
    task = posttraining_task(cell.taskset)
    return {
        "metric": task.metric,
        "structure": dict(task.structure),
        "labels": list(task.labels),
        "private": list(task.private),
        "grading_counts": True,
        **({"tasks": _tasks(cell, task)} if len(task.parts) > 1 else {}),
    }


def _tasks(cell: Cell, task: PostTrainingTask | SeveralTasks) -> list[dict[str, Any]]:
    """Return which items of the graded view and of the held-out slice are those of each of several tasks."""
    taskset = PostTrainingTaskset(task)
    graded, heldout = taskset.handles(cell.config.budget.train_cases), taskset.handles(cell.config.views.heldout)
    return [{"name": PREFIX + n, "handles": list(graded[n]), "heldout": list(heldout[n])} for n in graded]


def package_versions(names: Sequence[str] = _RECORDED_PACKAGES) -> dict[str, str]:
    """Return the versions of Python and of the installed packages that can change a score."""
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
