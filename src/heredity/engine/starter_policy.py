"""The default first policy of a run, written from a taskset's public description alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from heredity._core.errors import ConfigError
from heredity.engine.space_numbers import Space, bounds, space_of, starts
from heredity.resources import SourceTree

POLICY = "policy.py"
"""The file that a program's `Policy` is imported from."""


def starter_program(public: Mapping[str, Any]) -> SourceTree:
    """Return the program that acts uniformly at random.

    Its generator is seeded from `env_meta["policy_seed"]` (0 if absent) and the episode's index. Unbounded numbers are
    drawn from a standard normal distribution. An action space that has no numbers is sampled by its own `sample`.

    Args:
        public: the taskset's public information, with `action_space`.

    Raises:
        ConfigError: if the action space is missing.
    """
    space = space_of(public, "action_space")
    try:
        draw = _draw(space)
    except ConfigError:
        draw = "self.action_space.sample()"
    own = "self.action_space" in draw
    keep = "        self.action_space = action_space\n" if own else ""
    seed = "        self.action_space.seed(int(self.rng.integers(2**31)))\n" if own else ""
    return SourceTree(
        {
            POLICY: f'''"""Uniform random actions for {public.get("env", "a task")}."""

import numpy as np


class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        self.seed = abs(int(env_meta.get("policy_seed", 0)))
{keep}        self.reset(0)

    def reset(self, episode_index):
        self.rng = np.random.default_rng([self.seed, int(episode_index)])
{seed}
    def act(self, obs):
        return {draw}
'''
        }
    )


def _draw(space: Space) -> str:
    """Return Python source that draws an action uniformly."""
    match space["type"]:
        case "Discrete":
            start = int(space.get("start", 0))
            return f"int(self.rng.integers({start}, {start + int(space['n'])}))"
        case "MultiDiscrete":
            kind, first = space.get("dtype", "int64"), np.reshape(starts(space), np.shape(space["nvec"]))
            return (
                f"self.rng.integers({first.tolist()}, {(first + np.asarray(space['nvec'])).tolist()}).astype({kind!r})"
            )
        case "MultiBinary":
            return f"self.rng.integers(0, 2, {np.ravel(space.get('shape', space.get('n'))).tolist()}).astype('int8')"
        case "Box":
            return _draw_box(space)
        case "Dict":
            return "{" + ", ".join(f"{key!r}: {value}" for key, value in _draw_parts(space)) + "}"
        case "Tuple":
            return "(" + "".join(f"{value}, " for _, value in _draw_parts(space)) + ")"
        case other:
            raise ConfigError(f"actions of a {other} space hold no numbers; its own sample method draws them")


def _draw_parts(space: Space) -> Iterator[tuple[str | int, str]]:
    inner = space["spaces"]
    for key, part in inner.items() if isinstance(inner, Mapping) else enumerate(inner):
        yield key, _draw(part)


def _draw_box(space: Space) -> str:
    shape, kind = list(space["shape"]), str(space.get("dtype", "float32"))
    low, high = bounds(space)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return (
            f"np.clip(self.rng.standard_normal({shape}), {_bound(low, shape)}, {_bound(high, shape)}).astype({kind!r})"
        )
    if "int" in kind:
        return (
            f"self.rng.integers({_bound(low, shape)}, {_bound(high, shape)}, {shape}, endpoint=True).astype({kind!r})"
        )
    return f"self.rng.uniform({_bound(low, shape)}, {_bound(high, shape)}, {shape}).astype({kind!r})"


def _bound(values: np.ndarray, shape: list[int]) -> str:
    kind = int if np.all(np.isfinite(values)) and np.all(values == np.round(values)) else float
    cast_values = [kind(v) if np.isfinite(v) else float(v) for v in values.tolist()]
    if len(set(cast_values)) == 1:
        text = repr(cast_values[0])
        return f"float({text!r})" if "inf" in text else text
    return f"np.array({[v if np.isfinite(v) else str(v) for v in cast_values]}, dtype=float).reshape({shape})"
