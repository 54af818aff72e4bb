"""Episode lists: how an agent names the train cases of a submission.

Two notations are understood, both with order and repeats kept: `"0-3,7"` with inclusive ranges (EvoPolicyGym's HTTP
interface) and `"0:2,4:8"` with half-open ranges (its command). A list of integers is accepted too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from heredity.errors import RejectedError

MAX_EPISODES = 100_000
"""How many entries one list may expand to, so that a short text cannot fill the memory."""

_ITEM = re.compile(r"(\d{1,9})(?:([-:])(\d{1,9}))?")


def parse_episodes(value: Any) -> list[int]:
    """Return the train task indices that a request names, in order, repeats kept.

    Args:
        value: a list of non-negative integers, or a text such as `"0-3,7"` (inclusive) or `"0:2,4:8"` (half-open).

    Raises:
        RejectedError: if the value is neither, is empty, or expands to more than `MAX_EPISODES` entries.
    """
    if isinstance(value, str):
        task_indices = _expand(value)
    elif isinstance(value, list):
        task_indices = [_checked_task_index(v) for v in cast("list[Any]", value)]
    else:
        given = "nothing" if value is None else repr(value)[:80]
        raise RejectedError(f'env_instances is {given}; give a list such as [0, 1] or a text such as "0-3,7"')
    if not task_indices:
        raise RejectedError("env_instances is empty; name at least one train case")
    if len(task_indices) > MAX_EPISODES:
        raise RejectedError(f"env_instances has {len(task_indices)} entries; at most {MAX_EPISODES} are accepted")
    return task_indices


def _checked_task_index(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise RejectedError(
            f"env_instances has the entry {repr(value)[:80]}; every entry is a train task index, 0 or more"
        )
    return value


def _expand(text: str) -> list[int]:
    task_indices: list[int] = []
    for item in text.split(",") if text.strip() else []:
        for task_index in _expand_item(item.strip()):
            task_indices.append(task_index)
            if len(task_indices) > MAX_EPISODES:
                raise RejectedError(f"env_instances {text[:80]!r} names more than {MAX_EPISODES} episodes")
    return task_indices


def _expand_item(item: str) -> Iterator[int]:
    match = _ITEM.fullmatch(item)
    if match is None or not item.isascii():
        raise RejectedError(
            f'env_instances has the part {item[:40]!r}; write "7", "0-3" (inclusive) or "0:4" (half-open)'
        )
    first, sign, last = int(match[1]), match[2], match[3]
    if sign is None:
        return iter((first,))
    stop = int(last) + (sign == "-")
    if stop <= first:
        raise RejectedError(f"env_instances has the range {item!r}, which names no case; the end comes after the start")
    return iter(range(first, stop))
