"""Typed actions: parse an agent's input into an `Action`, or give the reason for refusing it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.kinds.world.description import ActionDescription, Parameter

_SHOWN = 60


def read_action(given: object, actions: Mapping[str, ActionDescription]) -> Action:
    """Check an agent's input, `{"action": name, "params": {...}}`; `params` is optional for actions without parameters.

    Raises:
        RefusedError: for any other input; the message tells the agent the expected form.
    """
    if not isinstance(given, Mapping):
        raise RefusedError(f'{_short(given)} is no action; give {{"action": name, "params": {{...}}}}')
    fields = cast(Mapping[object, object], given)
    name, params = fields.get("action"), fields.get("params", {})
    if not isinstance(name, str) or name not in actions:
        raise RefusedError(f"there is no action {_short(name)}; the actions are {', '.join(actions)}")
    wanted = actions[name].params
    if not wanted and not params:
        return Action(name, {})
    if not isinstance(params, Mapping):
        raise RefusedError(
            f"the params of {name} are {_short(params)}; give an object with {', '.join(wanted) or 'nothing'}"
        )
    values = cast(Mapping[object, object], params)
    for key in values:
        if key not in wanted:
            raise RefusedError(f"{name} has no parameter {_short(key)}; it takes {', '.join(wanted) or 'none'}")
    for key in wanted:
        if key not in values:
            raise RefusedError(f"{name} needs the parameter {key}: {expected(wanted[key])}")
    return Action(name, {key: _checked(name, key, values[key], kind) for key, kind in wanted.items()})


def expected(kind: Parameter) -> str:
    """Return the values that a parameter accepts, in words."""
    if kind.type == "choice":
        return f"one of {', '.join(kind.of)}"
    if kind.type == "text":
        return f"a text of at most {kind.max_length} characters"
    low, high = kind.low or 0, kind.high or 0
    return f"an integer from {low:g} to {high:g}" if kind.type == "integer" else f"a number from {low:g} to {high:g}"


def sample_action(rng: np.random.Generator, actions: Mapping[str, ActionDescription]) -> Action:
    """Draw an action, then its parameters, uniformly."""
    name = list(actions)[int(rng.integers(len(actions)))]
    return Action(name, {key: _sampled(rng, kind) for key, kind in actions[name].params.items()})


def _checked(name: str, key: str, value: object, kind: Parameter) -> Any:
    if kind.type == "choice":
        fits = isinstance(value, str) and value in kind.of
    elif kind.type == "text":
        fits = isinstance(value, str) and len(value) <= kind.max_length
    else:
        whole = isinstance(value, int) and not isinstance(value, bool)
        number = whole or (kind.type == "number" and isinstance(value, float) and math.isfinite(value))
        fits = number and (kind.low or 0) <= cast(float, value) <= (kind.high or 0)
    if not fits:
        raise RefusedError(f"{key} of {name} is {_short(value)}; expected {expected(kind)}")
    return value


def _sampled(rng: np.random.Generator, kind: Parameter) -> Any:
    if kind.type == "choice":
        return kind.of[int(rng.integers(len(kind.of)))]
    if kind.type == "text":
        return ""
    low, high = kind.low or 0, kind.high or 0
    return int(rng.integers(int(low), int(high) + 1)) if kind.type == "integer" else float(rng.uniform(low, high))


def _short(value: object) -> str:
    try:
        text = repr(value)
    except RecursionError:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
