"""Items dealt out anew for each suite: secret entropy decides which are for training, graded and held out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import generator
from heredity.engine.questions import Question
from heredity.engine.questions.pools import attributes_of
from heredity.tasks import SPLITS, Task, TasksetInfo

Spec = Mapping[str, Any]
Deal = Callable[[int], Mapping[str, Sequence[Question | Spec]]]
"""Maps entropy to the ordered items of each split: questions, or specs. Deterministic."""


class DealtTaskset:
    """Tasks dealt out by entropy.

    Args:
        info: description of the taskset.
        deal: deals the items.
        **spec: further data for its runner, JSON values, such as the `scorer` of tasksets of the kind `"scored"`.
    """

    def __init__(self, info: TasksetInfo, deal: Deal, **spec: Any) -> None:
        self.info = replace(info, spec={**info.spec, **spec})
        self._deal = lru_cache(maxsize=4)(deal)

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` items of a split; see `Taskset.draw`."""
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        items = self._deal(entropy)[split]
        if not 0 <= count <= len(items):
            raise ConfigError(f"{count} tasks of split {split!r} of {self.info.name} asked for; it has {len(items)}")
        return tuple(_task(split, i, item) for i, item in enumerate(items[:count]))


def _task(split: str, index: int, item: Question | Spec) -> Task:
    if isinstance(item, Question):
        return Task(f"{split}/{index}", split, index, item.to_spec(), attributes_of(item))
    return Task(f"{split}/{index}", split, index, item)


def dealt_info(name: str, *, version: str, description: str, family: str, kind: str = "question") -> TasksetInfo:
    """Return the info of a dealt taskset: scores are from 0 to 1, a failed rollout counts as 0."""
    return TasksetInfo(
        name=f"dealt/{name}",
        version=version,
        kind=kind,
        spec={"taskset": f"dealt/{name}"},
        public={"hidden": "dealt out by secret entropy"},
        description=description,
        failure_return=0.0,
        group="questions",
        family=family,
    )


def drawn_indices(
    entropy: int, name: str, space: int, count: int, avoid: Collection[int] = frozenset()
) -> tuple[int, ...]:
    """Return distinct indices from a space of items that is too large to shuffle, without those to avoid.

    Args:
        entropy: seed of the draw, together with the name.
        name: of the task, and the purpose of the draw.
        space: number of items.
        count: number of indices; with those to avoid at most `space`.
        avoid: indices.

    Raises:
        ConfigError: if there are too few.
    """
    if count + len(avoid) > space:
        raise ConfigError(f"{count} items of {name} asked for beside {len(avoid)}; it has {space}; ask for fewer")
    order = generator(entropy, "posttraining", name, "deal").choice(space, count + len(avoid), replace=False)
    kept = frozenset(avoid)
    return tuple(int(index) for index in order if int(index) not in kept)[:count]
