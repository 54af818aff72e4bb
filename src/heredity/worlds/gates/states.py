"""States compared by value, whatever they are made of: leaves by path, clocks left out where asked."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

import numpy as np

from heredity.worlds.episode import Episode

Leaves = dict[tuple[str, ...], Hashable]
_STEPS = 4


def leaves(value: Any) -> Leaves:
    """Return every plain value in a state by its path."""
    collected: Leaves = {}
    _collect(value, (), collected, ())
    return collected


def state_key(value: Any, without: frozenset[tuple[str, ...]] = frozenset()) -> Hashable:
    """Return what is equal for equal states; paths in `without` do not count."""
    return frozenset((path, leaf) for path, leaf in leaves(value).items() if path not in without)


def clocks(episode: Episode, actions: list[object]) -> frozenset[tuple[str, ...]]:
    """Return paths of what only counts steps: whole numbers that go up or down by 1 whatever is done.

    Args:
        episode: the beginning of a level; it is left as it is.
        actions: some to compare with doing nothing.
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


def _collect(value: Any, path: tuple[str, ...], into: Leaves, above: tuple[int, ...]) -> None:
    if value is None or isinstance(value, bool | int | float | str | bytes):
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
            _collect(item, (*path, repr(key)), into, inner)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(cast(list[Any], value)):
            _collect(item, (*path, str(index)), into, inner)
    elif isinstance(value, set | frozenset):
        into[path] = repr(sorted(map(repr, cast(set[Any], value))))
    else:
        for name in _parts(value):
            if hasattr(value, name):
                _collect(getattr(value, name), (*path, name), into, inner)


def _parts(value: Any) -> list[str]:
    if is_dataclass(value):
        return [part.name for part in fields(value)]
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    return [*slots, *getattr(value, "__dict__", ())]
