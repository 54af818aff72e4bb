"""Items that are dealt out anew for each suite: what is trained on, graded and held out depends on secret entropy."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from heredity.errors import ConfigError, UnknownNameError
from heredity.ids import generator
from heredity.tasks import SPLITS, Task, TasksetInfo
from heredity.tasks.questions import Question
from heredity.tasks.questions.pools import attributes_of

Spec = Mapping[str, Any]
Deal = Callable[[int], Mapping[str, Sequence[Question | Spec]]]
"""Entropy to the items of each split, in an order of its own: questions, or specs. The same entropy always gives the same."""


class DealtTaskset:
    """Tasks that entropy deals out.

    Args:
        info: what the taskset is.
        deal: deals the items.
        **spec: what its runner needs besides, JSON values, such as the `scorer` of tasksets of the kind `"scored"`.
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
    """Return different indices of a space of items that is too large to be shuffled, none of which is to be avoided.

    Args:
        entropy: what they depend on, with the name.
        name: of the task, and what is drawn for.
        space: how many items there are.
        count: how many to return; with those to avoid at most `space`.
        avoid: indices.

    Raises:
        ConfigError: if there are too few.
    """
    if count + len(avoid) > space:
        raise ConfigError(f"{count} items of {name} asked for beside {len(avoid)}; it has {space}; ask for fewer")
    order = generator(entropy, "posttraining", name, "deal").choice(space, count + len(avoid), replace=False)
    kept = frozenset(avoid)
    return tuple(int(index) for index in order if int(index) not in kept)[:count]


def jsonl(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as the bytes of a `.jsonl` file."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
