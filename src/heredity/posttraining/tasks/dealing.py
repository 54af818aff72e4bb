"""Items that are dealt out anew for each suite: what is trained on, graded and held out depends on secret entropy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from heredity.errors import ConfigError, UnknownNameError
from heredity.tasks import SPLITS, Task, TasksetInfo
from heredity.tasks.questions import Question

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
        specs = [item.to_spec() if isinstance(item, Question) else item for item in items[:count]]
        return tuple(Task(f"{split}/{i}", split, i, spec) for i, spec in enumerate(specs))


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


def jsonl(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as the bytes of a `.jsonl` file."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
