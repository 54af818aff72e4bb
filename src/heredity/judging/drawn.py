"""The tasks of a run, drawn: those of training, and those of its views, which nothing that evolves may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heredity.errors import ConfigError
from heredity.ids import digest_json
from heredity.judging.cases import HiddenCases
from heredity.judging.views import View, ViewPlan
from heredity.tasks import Task, Taskset


class Cases:
    """The tasks of a run.

    Attributes:
        train: those of training, by task index.
        views: the views, by name.
        opening: opens the commitment to the views.
    """

    def __init__(
        self,
        hidden_cases: HiddenCases,
        taskset: Taskset,
        train: int,
        views: Sequence[ViewPlan],
        *,
        disjoint: bool = False,
        within: str = "",
    ) -> None:
        """Draw them.

        Args:
            hidden_cases: the suite's secret.
            taskset: the run's own.
            train: how many train tasks.
            views: what is drawn for each view.
            disjoint: whether no task may be in two of them.
            within: the view whose tasks stand in the place of train tasks; empty for none.

        Raises:
            ConfigError: if a split has too few tasks, or a task is in two of them.
        """
        self.views = {
            plan.name: View(
                plan.name,
                hidden_cases.tasks(plan.taskset or taskset, plan.split, plan.count),
                plan.taskset.info if plan.taskset else None,
            )
            for plan in views
        }
        self.train = self.views[within].tasks if within else hidden_cases.tasks(taskset, "train", train)
        self.opening = hidden_cases.opening_of([(plan.taskset or taskset, plan.split, plan.count) for plan in views])
        if disjoint:
            check_disjoint(self.train, {name: view.tasks for name, view in self.views.items()})


def check_sizes(taskset: Taskset, wanted: Mapping[str, tuple[str, int]]) -> None:
    """Check that a taskset has as many tasks of each split as are wanted, where it says how many it has (`sizes`).

    Args:
        taskset: the taskset.
        wanted: key of the configuration to the split and how many tasks of it.

    Raises:
        ConfigError: if it has fewer; names each key with both numbers.
    """
    sizes: Mapping[str, int] | None = getattr(taskset, "sizes", None)
    if sizes is None:
        return
    short = [f"{key} = {count}" for key, (split, count) in wanted.items() if count > sizes.get(split, 0)]
    if short:
        counts = ", ".join(f"{count} {split}" for split, count in sizes.items())
        raise ConfigError(
            f"{taskset.info.name} has {counts} tasks, too few for {' and '.join(short)}; lower what is too large, or add tasks"
        )


def check_disjoint(train: Sequence[Task], views: Mapping[str, Sequence[Task]]) -> None:
    """Check that no task is there twice, in training or in any view.

    Raises:
        ConfigError: if one is; names the views.
    """
    seen: dict[str, str] = {}
    for name, tasks in (("train", train), *views.items()):
        for task in tasks:
            # A task that has a digest is the same wherever it lies.
            content = str(task.spec.get("digest") or digest_json(_plain(task.spec)))
            if content in seen:
                raise ConfigError(
                    f"{task.id} is both in {seen[content]} and in {name}; splits must be disjoint: choose other tasksets"
                )
            seen[content] = name


def _plain(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: repr(value) if isinstance(value, bytes) else value for name, value in spec.items()}
