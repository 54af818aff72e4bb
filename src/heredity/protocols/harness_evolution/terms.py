"""Terms of harness evolution: the batch plan, the views, and the judged snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from heredity._core.errors import ConfigError
from heredity.session.schedule import BatchPlan
from heredity.tasks import Taskset

NAME = "harness-evolution"

Points = Literal["ends", "all"]
"""Snapshots judged on views other than update-validation: the first, the best and the last, or all."""


@dataclass(frozen=True, slots=True)
class HarnessTerms:
    """Judging terms of a harness-evolution run, in addition to its validation and held-out (ID) counts.

    Attributes:
        plan: the batches.
        ood: number of tasks of each out-of-distribution view; 0 for none.
        replay: number of train tasks run again at the end; 0 for none.
        points: see `Points`.
        models: names of additional execution models; the first, the best and the last snapshot are judged under each.
    """

    plan: BatchPlan
    ood: int = 0
    replay: int = 0
    points: Points = "ends"
    models: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("ood", "replay"):
            if getattr(self, name) < 0:
                raise ConfigError(f"views.{name} is {getattr(self, name)}; expected 0 or more")
        if self.replay > self.plan.train:
            raise ConfigError(
                f"views.replay is {self.replay}, but there are only {self.plan.train} train tasks; lower it"
            )


def ood_views(own: Taskset, others: Sequence[Taskset]) -> dict[str, tuple[Taskset, str]]:
    """Return the out-of-distribution views: name to a taskset and its split.

    Args:
        own: the run's taskset; its split `ood` is used if there are no others.
        others: tasksets whose held-out tasks form one view each.
    """
    if not others:
        return {"ood": (own, "ood")}
    if len(others) == 1:
        return {"ood": (others[0], "heldout")}
    return {f"ood:{taskset.info.name}": (taskset, "heldout") for taskset in others}
