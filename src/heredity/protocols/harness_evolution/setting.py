"""Setup of harness-evolution runs: batches pushed to a method, snapshots judged on several views."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from heredity._core.errors import ConfigError, RecordError
from heredity.configuration.config import Cell, Config
from heredity.experiments.config import slug
from heredity.experiments.evolvers import build_evolver, check_evolver
from heredity.methods.registry import METHODS
from heredity.protocols.contract import Needs, RunContext, Setup, SuiteContext
from heredity.protocols.harness_evolution.judge import ID, VALIDATION, judge
from heredity.protocols.harness_evolution.terms import (
    HarnessRunSection,
    HarnessTerms,
    HarnessViewsSection,
    ScheduleSection,
    TransferSection,
    ood_views,
)
from heredity.records.run_folder import write_atomic
from heredity.session.schedule import BatchPlan, draw_plan, read_plan
from heredity.session.views import ViewPlan, check_sizes
from heredity.tasks import Taskset

_KEYS = {VALIDATION: "views.update_validation", ID: "views.id"}


class HarnessSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Request the out-of-distribution tasksets and additional execution models."""
        scheduled = config.budget.train_cases * config.of(ScheduleSection).epochs
        section, views = config.of(ScheduleSection), config.of(HarnessViewsSection)
        batches = math.ceil(config.budget.train_cases / section.batch_size) * section.epochs
        judged = views.heldout + views.ood * max(1, len(config.of(HarnessRunSection).ood)) + views.replay
        snapshots = 1 + (batches // section.assess if section.assess else section.epochs)
        most = snapshots if views.points == "all" else min(3, snapshots)
        repeats = int(config.evolver.options.get("repeats", 4))
        return Needs(
            attempts=(
                scheduled + views.validation + judged,
                scheduled * (1 + section.updates) * max(1, repeats) + views.validation * snapshots + judged * most,
            ),
            proposals=(0, 0) if config.evolver.method == "static" else (batches, 6 * batches * section.updates),
            tasksets=config.of(HarnessRunSection).ood,
            models=config.of(TransferSection).models,
            episodes=scheduled if config.budget.episodes is None else config.budget.episodes,
        )

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check the method and the schedule, and that every split has enough tasks."""
        _check_method(cell.config)
        _check_canaries([one.config.of(ScheduleSection) for one in suite.cells])
        terms_of(cell.config, cell.seed)
        own, config = suite.tasksets[cell.taskset], cell.config
        train = ("budget.train_cases", own, "train", config.budget.train_cases)
        views = [
            (_KEYS.get(view.name, "views.ood"), view.taskset or own, view.split, view.count)
            for view in views_of(config, own, [suite.tasksets[name] for name in config.of(HarnessRunSection).ood])
        ]
        check_sizes(own, {key: (split, count) for key, one, split, count in (train, *views) if one is own})
        for key, taskset, split, count in (train, *views):
            try:
                taskset.draw(split, count, 0)
            except ConfigError as error:
                raise ConfigError(f"{key} = {count}: {error}") from error
        check_evolver(cell, suite)

    async def open(self, context: RunContext) -> Setup:
        """Return the run. It is compared with its first snapshot."""
        cell, own = context.cell, context.taskset
        ood = [context.suite.tasksets[name] for name in cell.config.of(HarnessRunSection).ood]
        terms = terms_of(cell.config, cell.seed)
        _save(terms.plan, cell, context.suite.folder / "plans")
        return Setup(
            evolver=build_evolver(cell, own.info, context.folder, context.suite.secrets, context.model, scheduled=True),
            judge=partial(judge, terms),
            views=views_of(cell.config, own, ood),
            batches=terms.plan,
            disjoint=True,
        )


def terms_of(config: Config, seed: int) -> HarnessTerms:
    """Return the judging terms of a run. Runs with the same seed have the same batches, regardless of their method.

    Raises:
        ConfigError: if the schedule cannot be drawn, or a saved plan does not match it.
        ConfigError: if a saved plan cannot be read.
    """
    section, views, train = config.of(ScheduleSection), config.of(HarnessViewsSection), config.budget.train_cases
    schedule, saved = section.schedule(), section.plan
    plan = read_plan(Path(saved), schedule, train) if saved is not None else draw_plan(schedule, train, seed)
    others = tuple(name for name in config.of(TransferSection).models if name != config.gateway.execution)
    return HarnessTerms(plan, views.ood, views.replay, views.points, others)


def views_of(config: Config, own: Taskset, others: Sequence[Taskset]) -> list[ViewPlan]:
    """Return the views of a run.

    Args:
        config: has the number of tasks of each view.
        own: the run's taskset.
        others: out-of-distribution tasksets.
    """
    views = config.of(HarnessViewsSection)
    plans = [ViewPlan(ID, "heldout", views.heldout), ViewPlan(VALIDATION, "validation", views.validation)]
    if views.ood:
        named = ood_views(own, others).items()
        plans += [ViewPlan(name, split, views.ood, taskset) for name, (taskset, split) in named]
    return plans


def _save(plan: BatchPlan, cell: Cell, folder: Path) -> None:
    """Save a batch plan, for readers and for other suites."""
    path = folder / f"{slug(cell.taskset)}-s{cell.seed}-{plan.digest[:8]}.json"
    if path.exists():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"{folder} cannot be created: {error.strerror}") from error
    write_atomic(path, (json.dumps(plan.to_json(), indent=1) + "\n").encode())


def _check_method(config: Config) -> None:
    name = config.evolver.method
    if name is not None and not getattr(METHODS.load(name), "scheduled", False):
        able = [method for method in METHODS.names() if getattr(METHODS.load(method), "scheduled", False)]
        raise ConfigError(f"the method {name!r} does not support schedules; methods that do: {', '.join(able)}")


def _check_canaries(schedules: Sequence[ScheduleSection]) -> None:
    """Check that at least one run uses the canaries: if a matrix varies the gate, runs without it need none."""
    most = max(schedule.canaries for schedule in schedules)
    if most and not any(schedule.gate for schedule in schedules):
        raise ConfigError(
            f"schedule.canaries is {most} but schedule.gate is false, so they are never run; set schedule.gate = true "
            "or remove schedule.canaries"
        )
