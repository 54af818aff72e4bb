"""Public descriptions of spaces, turned into program code: readers of observations, writers of actions, a first policy.

The descriptions are JSON as a taskset publishes them: `{"type": "Box", "low", "high", "shape", "dtype"}` with infinite
bounds as `"inf"` and equal bounds as one number, `{"type": "Discrete", "n", "start"}`, `MultiDiscrete`, `MultiBinary`,
`Dict`, `Tuple`; any other type has no numbers that a controller could use.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from heredity._core.errors import ConfigError
from heredity.resources import SourceTree

MAX_FEATURES = 32
"""A controller reads at most this many numbers; larger observations are pooled or cut."""
MAX_CONTROLS = 32
"""A controller writes at most this many numbers; larger actions repeat them."""
_ONE_HOT_UP_TO = 32
_POOL = 4
_UNBOUNDED = 1e6

Space = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One part of an observation that holds numbers.

    Attributes:
        expression: Python source that turns `obs` into a flat list of numbers.
        centre: offset to subtract from each number; its length is their count.
        scale: factor to multiply each number by afterwards.
        needs: names of the support functions that the expression calls.
    """

    expression: str
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    needs: tuple[str, ...] = ("numbers",)

    def first(self, count: int) -> Leaf:
        """Return the leaf with only its first `count` numbers."""
        if count >= len(self.centre):
            return self
        return Leaf(f"{self.expression}[:{count}]", self.centre[:count], self.scale[:count], self.needs)


def space_of(public: Mapping[str, Any], name: str) -> Space:
    """Return the description of one space in a taskset's public information.

    Raises:
        ConfigError: if it is missing or is not a description.
    """
    space = public.get(name)
    if not isinstance(space, Mapping) or "type" not in space:
        raise ConfigError(
            f"the taskset's public information has {name} = {space!r}; built-in methods need a description such as "
            '{"type": "Discrete", "n": 2} to write a program for it'
        )
    return cast(Space, space)


def leaves(space: Space) -> list[Leaf]:
    """Return the numbers that a controller can read of an observation: at most `MAX_FEATURES` in all, shared evenly."""
    readable = list(_leaves(space, "obs"))
    shares = dict.fromkeys(range(len(readable)), 0)
    room = MAX_FEATURES
    for position in sorted(shares, key=lambda i: len(readable[i].centre)):
        waiting = sum(1 for i in shares if shares[i] == 0)
        shares[position] = min(len(readable[position].centre), max(room // waiting, 1 if room else 0))
        room -= shares[position]
    return [leaf.first(shares[i]) for i, leaf in enumerate(readable) if shares[i]]


def find_grid(space: Space, at: str = "obs") -> str | None:
    """Return the expression for the cells of a small symbolic grid in an observation, or None if there is none.

    Symbolic grids are small integer arrays of several channels: cells as the agent sees them.
    """
    if space["type"] in ("Dict", "Tuple"):
        return next((e for key, part in _parts(space) if (e := find_grid(part, f"{at}[{key!r}]"))), None)
    shape = _shape(space)
    if space["type"] != "Box" or len(shape) != 3 or not str(space.get("dtype", "")).startswith(("uint", "int")):
        return None
    return at if 3 <= shape[0] <= 15 and 3 <= shape[1] <= 15 and 2 <= shape[2] <= 4 else None


def _leaves(space: Space, at: str) -> Iterator[Leaf]:
    match space["type"]:
        case "Dict":
            parts = _parts(space)
            for key, part in parts:
                yield from _leaves(part, f"{at}[{key!r}]")
            yield from _goal_error(dict(parts), at)
        case "Tuple":
            for key, part in _parts(space):
                yield from _leaves(part, f"{at}[{key}]")
        case "Box":
            yield _box(space, at)
        case "Discrete":
            yield _discrete(space, at)
        case "MultiDiscrete":
            counts = [max(int(n), 2) for n in np.ravel(space["nvec"])]
            halves = [(n - 1) / 2 for n in counts]
            middles = tuple(start + half for start, half in zip(starts(space), halves, strict=True))
            yield Leaf(f"numbers({at})", middles, tuple(1 / half for half in halves))
        case "MultiBinary":
            size = math.prod(_shape(space))
            yield Leaf(f"numbers({at})", (0.5,) * size, (2.0,) * size)
        case _:
            return


def _goal_error(parts: Mapping[str | int, Space], at: str) -> Iterator[Leaf]:
    """Goal-conditioned tasks publish the current and the desired state: the difference is a further feature."""
    achieved, desired = parts.get("achieved_goal"), parts.get("desired_goal")
    if achieved and desired and achieved["type"] == desired["type"] == "Box" and _shape(achieved) == _shape(desired):
        size = math.prod(_shape(desired))
        expression = f"difference({at}['desired_goal'], {at}['achieved_goal'])"
        yield Leaf(expression, (0.0,) * size, (1.0,) * size, ("numbers", "difference"))


def _box(space: Space, at: str) -> Leaf:
    shape = _shape(space)
    low, high = bounds(space)
    if len(shape) in (2, 3) and min(shape[:2]) >= _POOL and math.prod(shape) > 2 * MAX_FEATURES:
        top = float(np.max(high)) if np.isfinite(high).all() else 1.0
        size = _POOL * _POOL
        return Leaf(f"pooled({at})", (top / 2,) * size, (2 / top,) * size, ("pooled",))
    bounded = np.isfinite(low) & np.isfinite(high) & (high - low < _UNBOUNDED) & (high > low)
    safe_low, safe_high = np.where(bounded, low, -1.0), np.where(bounded, high, 1.0)
    centre, scale = (safe_low + safe_high) / 2, 2.0 / (safe_high - safe_low)
    return Leaf(f"numbers({at})", tuple(centre.tolist()), tuple(scale.tolist()))


def _discrete(space: Space, at: str) -> Leaf:
    n, start = int(space["n"]), int(space.get("start", 0))
    if 2 < n <= _ONE_HOT_UP_TO:
        index = f"{at} - {start}" if start else at
        return Leaf(f"one_hot({index}, {n})", (0.0,) * n, (1.0,) * n, ("one_hot",))
    half = max(n - 1, 1) / 2
    return Leaf(f"numbers({at})", (start + half,), (1 / half,))


def _parts(space: Space) -> list[tuple[str | int, Space]]:
    inner = space["spaces"]
    if isinstance(inner, Mapping):
        return list(cast(Mapping[str | int, Space], inner).items())
    return list(enumerate(cast(Sequence[Space], inner)))


def _shape(space: Space) -> tuple[int, ...]:
    shape = space.get("shape")
    if shape is None:
        shape = space.get("n", ())
    return tuple(int(n) for n in np.ravel(shape))


def bounds(space: Space) -> tuple[np.ndarray, np.ndarray]:
    """Return the flat lower and upper bounds of a Box, infinities included, each of shape (size,)."""
    size = math.prod(_shape(space))
    low, high = (np.asarray(space.get(key, word), dtype=np.float64) for key, word in (("low", "-inf"), ("high", "inf")))
    return (
        np.broadcast_to(low, _shape(space) if low.ndim else (size,)).ravel(),
        np.broadcast_to(high, _shape(space) if high.ndim else (size,)).ravel(),
    )


def starts(space: Space) -> list[int]:
    """Return the smallest value of each number of a MultiDiscrete, flat."""
    return [int(n) for n in np.broadcast_to(space.get("start", 0), np.shape(space["nvec"])).ravel()]


def count_controls(space: Space) -> int:
    """Return the number of controls, each in [-1, 1], that make up an action."""
    match space["type"]:
        case "Dict" | "Tuple":
            return sum(count_controls(part) for _, part in _parts(space))
        case "Box":
            return min(math.prod(_shape(space)), MAX_CONTROLS)
        case "Discrete":
            return 1
        case "MultiDiscrete":
            return min(int(np.size(space["nvec"])), MAX_CONTROLS)
        case "MultiBinary":
            return min(math.prod(_shape(space)), MAX_CONTROLS)
        case other:
            raise ConfigError(
                f"built-in methods cannot write actions of a {other} space; wrap the environment so that its actions "
                "are a Box, Discrete, MultiDiscrete, MultiBinary, or a Dict or Tuple of these"
            )


def action_expression(space: Space, first: int = 0) -> str:
    """Return Python source that turns the controls `u[first:]` into an action."""
    match space["type"]:
        case "Discrete":
            return _shifted(f"level(u[{first}], {int(space['n'])})", int(space.get("start", 0)))
        case "Dict":
            return "{" + ", ".join(f"{k!r}: {e}" for k, e in _inner_actions(space, first)) + "}"
        case "Tuple":
            return "(" + "".join(f"{e}, " for _, e in _inner_actions(space, first)) + ")"
        case "Box":
            return _box_action(space, first)
        case "MultiDiscrete":
            counts = [int(n) for n in np.ravel(space["nvec"])]
            kind = space.get("dtype", "int64")
            shape = list(np.shape(space["nvec"]))
            wired = _wiring(space, first, len(counts))
            return f"np.array([s + level(v, n) for v, n, s in zip({wired}, {counts}, {starts(space)})], {kind!r}).reshape({shape})"
        case _:
            wired = _wiring(space, first, math.prod(_shape(space)))
            return f"np.array([v > 0 for v in {wired}], dtype='int8').reshape({list(_shape(space))})"


def _inner_actions(space: Space, first: int) -> Iterator[tuple[str | int, str]]:
    for key, part in _parts(space):
        yield key, action_expression(part, first)
        first += count_controls(part)


def _shifted(expression: str, start: int) -> str:
    return f"{start} + {expression}" if start else expression


def _wiring(space: Space, first: int, size: int) -> str:
    used = count_controls(space)
    if size == used:
        return f"u[{first}:{first + used}]"
    return f"[u[{first} + i % {used}] for i in range({size})]"


def _box_action(space: Space, first: int) -> str:
    low, high = bounds(space)
    finite = np.isfinite(low) & np.isfinite(high)
    safe_low, safe_high = np.where(finite, low, -1.0), np.where(finite, high, 1.0)
    middle = np.where(finite, (safe_low + safe_high) / 2, np.clip(0.0, low, high))
    half = (safe_high - safe_low) / 2
    shape, kind = list(_shape(space)), str(space.get("dtype", "float32"))
    wired = _wiring(space, first, low.size)

    def same(values: np.ndarray) -> str:
        return repr(float(values[0])) if np.all(values == values[0]) else f"np.array({values.tolist()})"

    value = f"np.array([clip(v) for v in {wired}])"
    if not np.all(half == 1.0):
        value = f"{same(half)} * {value}"
    if np.any(middle):
        value = f"{same(middle)} + {value}"
    suffix = "" if len(shape) == 1 else f".reshape({shape})"
    return f"({value}){suffix}.astype({kind!r})"


# The default first policy of a run, written from a taskset's public description alone.


POLICY = "policy.py"
"""The file that a program's `Policy` is imported from."""


def starter_program(public: Mapping[str, Any]) -> SourceTree:
    """Return the program that acts uniformly at random.

    Its generator is seeded from `env_meta["policy_seed"]` (0 if absent) and the episode's index. Unbounded numbers are
    drawn from a standard normal distribution. An action space that has no numbers is sampled by `sample`.

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
