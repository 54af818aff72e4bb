"""Compares states by value, regardless of their types: leaves by path, optionally without clocks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

import numpy as np

from heredity.kinds.world.episode import Episode

Leaves = dict[tuple[str, ...], Hashable]
_STEPS = 4
_PLAIN = frozenset((type(None), bool, int, float, str, bytes))


def leaves(value: Any) -> Leaves:
    """Return every plain value in a state by its path."""
    collected: Leaves = {}
    _collect(value, (), collected, (), apart=True)
    return collected


def state_key(value: Any, without: frozenset[tuple[str, ...]] = frozenset()) -> Hashable:
    """Return a key that is equal for equal states, ignoring the paths in `without`."""
    collected: Leaves = {}
    _collect(value, (), collected, (), apart=bool(without))
    return frozenset((path, leaf) for path, leaf in collected.items() if path not in without)


def clocks(episode: Episode, actions: list[object]) -> frozenset[tuple[str, ...]]:
    """Return paths of step counters: integers that change by 1 in every step, regardless of the action.

    Args:
        episode: the start of a level; it is not changed.
        actions: some to compare with idling.
    """
    walks = ([None] * _STEPS, actions[:_STEPS])
    return frozenset.intersection(*(_ticking(episode.copy(), walk) for walk in walks))


def _ticking(episode: Episode, actions: list[Any]) -> frozenset[tuple[str, ...]]:
    ticking: dict[tuple[str, ...], Any] | None = None
    before = leaves(episode.state)
    for action in actions:
        if episode.done:
            break
        episode.step(action)
        after = leaves(episode.state)
        by = {
            path: int(cast(int, value)) - int(cast(int, before[path]))
            for path, value in after.items()
            if type(value) is int and type(before.get(path)) is int
        }
        steady = {path: step for path, step in by.items() if abs(step) == 1}
        ticking = (
            steady if ticking is None else {path: step for path, step in ticking.items() if steady.get(path) == step}
        )
        before = after
    return frozenset(ticking or ())


def _collect(value: Any, path: tuple[str, ...], into: Leaves, above: tuple[int, ...], *, apart: bool) -> None:
    """Collect leaves; tuples that never change count as one, unless they are to be split."""
    if _is_leaf(value) or (not apart and _never_changes(value)):
        into[path] = value
        return
    if id(value) in above or len(above) > 40:
        into[path] = "(itself)"
        return
    inner = (*above, id(value))
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, np.random.Generator):
        value = value.bit_generator.state
    into[path] = type(value).__name__
    if isinstance(value, Mapping):
        for key, item in cast(Mapping[Any, Any], value).items():
            _collect(item, (*path, repr(key)), into, inner, apart=apart)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(cast(list[Any], value)):
            _collect(item, (*path, str(index)), into, inner, apart=apart)
    elif isinstance(value, set | frozenset):
        into[path] = repr(sorted(map(repr, cast(set[Any], value))))
    else:
        for name in _parts(value):
            if hasattr(value, name):
                _collect(getattr(value, name), (*path, name), into, inner, apart=apart)


def _is_leaf(value: Any) -> bool:
    return type(value) in _PLAIN or isinstance(value, bool | int | float | str | bytes)


def _never_changes(value: Any) -> bool:
    if type(value) is not tuple:
        return False
    return all(type(v) in _PLAIN or _never_changes(v) for v in cast(tuple[Any, ...], value))


def _parts(value: Any) -> list[str]:
    if is_dataclass(value):
        return [part.name for part in fields(value)]
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    return [*slots, *getattr(value, "__dict__", ())]
