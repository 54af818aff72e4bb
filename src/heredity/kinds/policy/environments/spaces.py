"""Spaces as JSON, and actions for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import gymnasium


def describe_space(space: gymnasium.Space[Any]) -> dict[str, Any]:
    """Describe a space as JSON values.

    Returns:
        `{"type": "Box", "low", "high", "shape", "dtype"}` with bounds as nested lists, or as one number where all are
        equal, and infinities as `"inf"` and `"-inf"`; `{"type": "Discrete", "n", "start"}`;
        `{"type": "MultiDiscrete", "nvec", "start", "dtype"}`; `{"type": "MultiBinary", "n"}`;
        `{"type": "Dict", "spaces": {…}}`; `{"type": "Tuple", "spaces": […]}`;
        `{"type": "Text", "min_length", "max_length", "characters"}`; for anything else `{"type", "repr"}`.
    """
    from gymnasium import spaces

    match space:
        case spaces.Box():
            bounds = {"low": _bound(space.low), "high": _bound(space.high)}
            return {"type": "Box", **bounds, "shape": list(space.shape), "dtype": str(space.dtype)}
        case spaces.Discrete():
            return {"type": "Discrete", "n": int(space.n), "start": int(space.start)}
        case spaces.MultiDiscrete():
            lists = {"nvec": np.asarray(space.nvec).tolist(), "start": np.asarray(space.start).tolist()}
            return {"type": "MultiDiscrete", **lists, "dtype": str(space.dtype)}
        case spaces.MultiBinary():
            return {"type": "MultiBinary", "n": space.n if isinstance(space.n, int) else [int(n) for n in space.shape]}
        case spaces.Dict():
            return {"type": "Dict", "spaces": {str(k): describe_space(v) for k, v in space.spaces.items()}}
        case spaces.Tuple():
            return {"type": "Tuple", "spaces": [describe_space(s) for s in space.spaces]}
        case spaces.Text():
            lengths = {"min_length": int(space.min_length), "max_length": int(space.max_length)}
            return {"type": "Text", **lengths, "characters": "".join(sorted(space.character_set))}
        case _ if isinstance(described := getattr(space, "remote_description", None), dict):
            return described  # pyright: ignore[reportUnknownVariableType]
        case _:
            # Evolvers see descriptions, and addresses differ between processes.
            return {"type": type(space).__name__, "repr": re.sub(r" at 0x[0-9a-fA-F]+", "", repr(space))}


def zero_action(space: gymnasium.Space[Any]) -> Any:
    """Return the null action: zeros, clipped into the space; the first value of a discrete one.

    Composite spaces are handled part by part; a space of another kind gives a fixed sample.
    """
    from gymnasium import spaces

    match space:
        case spaces.Box():
            return np.clip(np.zeros(space.shape, space.dtype), space.low, space.high).astype(space.dtype)
        case spaces.Discrete():
            return space.start
        case spaces.MultiDiscrete():
            return np.array(space.start, dtype=space.dtype)
        case spaces.MultiBinary():
            return np.zeros(space.shape, dtype=space.dtype)
        case spaces.Dict():
            return {k: zero_action(s) for k, s in space.spaces.items()}
        case spaces.Tuple():
            return tuple(zero_action(s) for s in space.spaces)
        case _:
            space.seed(0)
            return space.sample()


def action_from_json(space: gymnasium.Space[Any], value: Any) -> Any:
    """Turn a JSON value into an action of a space; the inverse of the form in trajectories."""
    from gymnasium import spaces

    match space:
        case spaces.Box() | spaces.MultiDiscrete() | spaces.MultiBinary():
            return np.asarray(value, dtype=space.dtype).reshape(space.shape)
        case spaces.Dict():
            return {k: action_from_json(s, value[k]) for k, s in space.spaces.items()}
        case spaces.Tuple():
            return tuple(action_from_json(s, v) for s, v in zip(space.spaces, value, strict=True))
        case _:
            return value


def _bound(array: np.ndarray) -> Any:
    if array.size and (array == array.flat[0]).all():
        return _number(array.flat[0])
    return _nested(array)


def _nested(array: np.ndarray) -> list[Any]:
    return [_nested(part) if isinstance(part, np.ndarray) else _number(part) for part in array]


def _number(value: Any) -> Any:
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value.item()
