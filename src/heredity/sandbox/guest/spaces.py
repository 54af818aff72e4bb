"""Spaces from their JSON descriptions, with gymnasium's own classes and nothing else of gymnasium.

`gymnasium` is loaded without its `__init__`, so that neither its registry nor any simulator is reachable from a program.
"""

from __future__ import annotations

import copy
import importlib
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def load_space_classes(package_folder: str) -> types.ModuleType:
    """Import only `gymnasium.spaces`, and leave a `gymnasium` module that cannot import anything else."""
    package = types.ModuleType("gymnasium")
    package.__path__ = [package_folder]
    sys.modules["gymnasium"] = package
    for part in ("vector", "envs"):
        module = types.ModuleType(f"gymnasium.{part}")
        module.__path__ = []
        sys.modules[f"gymnasium.{part}"] = module
    spaces = importlib.import_module("gymnasium.spaces")
    _seed_lazily(spaces.Space, importlib.import_module("gymnasium.utils.seeding"))
    _read_like_json(spaces)
    package.spaces = spaces  # type: ignore[attr-defined]
    package.Space = spaces.Space  # type: ignore[attr-defined]
    for name, module in list(sys.modules.items()):
        if name.startswith("gymnasium") and hasattr(module, "__path__"):
            module.__path__ = []
    return spaces


def _seed_lazily(base: Any, seeding: types.ModuleType) -> None:
    """Let spaces make their generator on first use, from the seed set by `fresh`: most policies never use it."""

    def np_random(space: Any) -> Any:
        if space._np_random is None:
            space._np_random, space._np_random_seed = seeding.np_random(getattr(space, "_later_seed", None))
        return space._np_random

    base.np_random = property(np_random)


def _read_like_json(spaces: types.ModuleType) -> None:
    """Make spaces readable by the keys of their JSON description too, `space["high"]`: older policies expect a dictionary."""
    for kind in {
        spaces.Space,
        *(c for c in vars(spaces).values() if isinstance(c, type) and issubclass(c, spaces.Space)),
    }:
        own = kind.__dict__.get("__getitem__")
        if own is not None or kind is spaces.Space:
            kind.__getitem__ = _item_getter(own)
    spaces.Space.get = _get
    spaces.Space.description = {}


def _get(space: Any, key: str, default: Any = None) -> Any:
    return space.description.get(key, default)


def _item_getter(own: Callable[[Any, Any], Any] | None) -> Callable[[Any, Any], Any]:
    def get_item(space: Any, key: Any) -> Any:
        if own is not None:
            try:
                return own(space, key)
            except (KeyError, IndexError, TypeError):
                if not isinstance(key, str):
                    raise
        return space.description[key]

    return get_item


def fresh(space: Any, seed: int) -> Any:
    """Return a copy of a space, sharing its bounds, that draws from `seed` on demand."""
    mine = copy.copy(space)
    mine._np_random, mine._np_random_seed, mine._later_seed = None, None, seed
    parts = getattr(space, "spaces", None)
    if isinstance(parts, dict):
        mine.spaces = {key: fresh(part, seed + 1 + i) for i, (key, part) in enumerate(parts.items())}
    elif isinstance(parts, tuple):
        mine.spaces = tuple(fresh(part, seed + 1 + i) for i, part in enumerate(parts))
    return mine


def build_space(description: Mapping[str, Any]) -> Any:
    """Build a space from its description; one without a class becomes a plain `Space`."""
    space = _build(description)
    space.description = dict(description)
    return space


def _build(description: Mapping[str, Any]) -> Any:
    from gymnasium import spaces

    kind = description["type"]
    if kind == "Box":
        shape, dtype = tuple(description["shape"]), np.dtype(description["dtype"])
        low, high = (_bound(description[k], shape, dtype) for k in ("low", "high"))
        return spaces.Box(low, high, shape, dtype.type)
    if kind == "Discrete":
        return spaces.Discrete(description["n"], start=description.get("start", 0))
    if kind == "MultiDiscrete":
        return spaces.MultiDiscrete(np.array(description["nvec"], dtype=np.int64))
    if kind == "MultiBinary":
        size = description.get("n", description.get("shape"))
        return spaces.MultiBinary(size)
    if kind == "Dict":
        return spaces.Dict({k: build_space(v) for k, v in description["spaces"].items()})
    if kind == "Tuple":
        return spaces.Tuple(tuple(build_space(v) for v in description["spaces"]))
    if kind == "Text":
        return spaces.Text(description.get("max_length", 1024), min_length=description.get("min_length", 0))
    return spaces.Space()


def _bound(value: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    array = np.array(value, dtype=np.float64) if not isinstance(value, int) else np.array(value)
    return np.broadcast_to(array, shape).astype(dtype)
