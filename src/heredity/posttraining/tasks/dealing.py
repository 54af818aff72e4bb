"""Questions that are dealt out anew for each suite: what is trained on, graded and held out depends on secret entropy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from heredity.errors import ConfigError, UnknownNameError
from heredity.tasks import SPLITS, Task, TasksetInfo
from heredity.tasks.questions import Question

Deal = Callable[[int], Mapping[str, Sequence[Question]]]
"""Entropy to the questions of each split, in an order of its own; the same entropy always gives the same."""


class DealtTaskset:
    """Question tasks that entropy deals out.

    Args:
        info: what the taskset is.
        deal: deals the questions.
        scorer: the files with which answers are scored, for tasksets of the kind `"scored"`.
    """

    def __init__(self, info: TasksetInfo, deal: Deal, *, scorer: Mapping[str, str] | None = None) -> None:
        self.info = replace(info, spec={**info.spec, "scorer": dict(scorer)}) if scorer else info
        self.deal = lru_cache(maxsize=4)(deal)

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` questions of a split; see `Taskset.draw`."""
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        questions = self.deal(entropy)[split]
        if not 0 <= count <= len(questions):
            raise ConfigError(
                f"{count} tasks of split {split!r} of {self.info.name} asked for; it has {len(questions)} questions"
            )
        return tuple(Task(f"{split}/{i}", split, i, q.to_spec()) for i, q in enumerate(questions[:count]))


def dealt_info(name: str, *, version: str, description: str, family: str, kind: str = "question") -> TasksetInfo:
    """Return the info of a dealt taskset: scores are from 0 to 1, a failed attempt counts as 0."""
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
