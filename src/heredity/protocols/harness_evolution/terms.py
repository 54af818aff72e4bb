"""The terms of harness evolution: the batch plan, the views, and what snapshots are judged on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from heredity.errors import ConfigError
from heredity.judging.schedule import BatchPlan
from heredity.tasks import Taskset

NAME = "harness-evolution"

Points = Literal["ends", "all"]
"""Which snapshots the views beside update-validation are judged at: the first, the best and the last, or all of them."""


@dataclass(frozen=True, slots=True)
class HarnessTerms:
    """What a run of harness evolution is judged by, beside its validation and held-out (ID) counts.

    Attributes:
        plan: the batches.
        ood: how many tasks of each view out of distribution; 0 for none.
        replay: how many trained tasks are attempted again at the end; 0 for none.
        points: see `Points`.
        models: names of further execution models under which the first, the best and the last snapshot are judged.
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
                f"views.replay is {self.replay}, and there are {self.plan.train} train tasks; ask for fewer"
            )


def ood_views(own: Taskset, others: Sequence[Taskset]) -> dict[str, tuple[Taskset, str]]:
    """Return the views out of distribution: name to a taskset and its split.

    Args:
        own: the run's taskset; its split `ood` is taken if there are no others.
        others: tasksets whose held-out tasks are a view each.
    """
    if not others:
        return {"ood": (own, "ood")}
    if len(others) == 1:
        return {"ood": (others[0], "heldout")}
    return {f"ood:{taskset.info.name}": (taskset, "heldout") for taskset in others}
