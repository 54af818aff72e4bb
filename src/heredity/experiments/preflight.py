"""What can be known to be wrong with a run before anything is run: schedules, splits, models that are not configured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from heredity.errors import ConfigError
from heredity.evolution.operators.gepa_search import GepaOptions
from heredity.evolution.proposals import LoopOptions
from heredity.evolution.registry import METHODS
from heredity.experiments.config import SCHEDULED, Cell
from heredity.judging.schedule import draw_plan, read_plan
from heredity.protocols.harness_evolution.terms import HarnessTerms, ood_views
from heredity.tasks import Taskset


def check_run(cell: Cell, tasksets: Mapping[str, Taskset]) -> None:
    """Check a run of a method, without its folder.

    Args:
        cell: the run.
        tasksets: those of the suite, by name.

    Raises:
        ConfigError: if its schedule cannot be drawn, a split has too few tasks, or its method has no model; names the key.
        RecordError: if a saved plan cannot be read.
    """
    _check_model(cell)
    if cell.config.run.protocol != SCHEDULED:
        return
    config = cell.config
    own, train, views = tasksets[cell.taskset], config.budget.train_cases, config.views
    schedule, saved = config.schedule.schedule(), config.schedule.plan
    plan = read_plan(Path(saved), schedule, train) if saved else draw_plan(schedule, train, cell.seed)
    HarnessTerms(plan, views.ood, views.replay, views.points)
    asked = [
        ("budget.train_cases", own, "train", train),
        ("views.update_validation", own, "validation", views.validation),
    ]
    asked.append(("views.id", own, "heldout", views.heldout))
    others = [tasksets[name] for name in config.run.ood]
    if views.ood:
        asked += [("views.ood", taskset, split, views.ood) for taskset, split in ood_views(own, others).values()]
    for key, taskset, split, count in asked:
        try:
            taskset.draw(split, count, 0)
        except ConfigError as error:
            raise ConfigError(f"{key} = {count}: {error}") from error


def _check_model(cell: Cell) -> None:
    name = cell.evolver.method
    if name is None or not issubclass(METHODS.load(name).options_model, LoopOptions | GepaOptions):
        return
    if not cell.config.gateway.optimisation:
        raise ConfigError(
            f"the method {name!r} has no model that proposes edits: set gateway.optimisation, such as openai/gpt-5"
        )
