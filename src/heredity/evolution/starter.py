"""Initial candidates: policy programs, and a plain prompt for questions; written from a taskset's public description alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from heredity.actors.contract import SYSTEM
from heredity.actors.player import plain_player
from heredity.errors import ConfigError
from heredity.evolution.operators.constants import literal
from heredity.evolution.programs import POLICY, Shape, control_source, controller_program, shape_of
from heredity.evolution.spaces import Space, bounds, space_of, starts
from heredity.resources import Candidate, SourceTree
from heredity.tasks import TasksetInfo

_PRODUCTS_UP_TO = 3


def starter_candidate(info: TasksetInfo) -> Candidate:
    """Return what a run starts from when it names nothing else: the random policy, or for questions a plain prompt."""
    if info.kind == "episode":
        return Candidate.program(starter_program(info.public))
    if info.kind == "world":
        return plain_player()
    return Candidate({SYSTEM: SourceTree({"prompt.md": "Answer the question.\n"})})


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


def linear_program(
    public: Mapping[str, Any], weights: np.ndarray | None = None, *, products: bool | None = None
) -> SourceTree:
    """Return a linear controller whose weights are literals: the starting point of parametric search.

    Each control is a weighted sum of the scaled observation, optionally of its pairwise products, and 1.

    Args:
        public: the taskset's public information, with `obs_space` and `action_space`.
        weights: shape `linear_shape(public, products)`; zeros if None.
        products: whether to include products of two features; by default where there are at most three features.

    Raises:
        ConfigError: if a space is missing, or actions are of a kind that a controller cannot write.
    """
    shape = shape_of(public)
    terms = _terms(shape, products)
    rows = _rows(shape)
    values = np.zeros((rows, len(terms) + 1)) if weights is None else np.reshape(weights, (rows, len(terms) + 1))
    expressions = [_weighted(row, terms) for row in values.tolist()]
    return controller_program(public, control_source(expressions), "A linear controller")


def linear_shape(public: Mapping[str, Any], products: bool | None = None) -> tuple[int, int]:
    """Return the shape of a linear controller's weights: controls, and terms plus one for the bias (the last)."""
    shape = shape_of(public)
    return _rows(shape), len(_terms(shape, products)) + 1


def _rows(shape: Shape) -> int:
    """A choice among a few actions gets one score for each but the last; other actions one control per number."""
    return shape.choices - 1 if 2 <= shape.choices <= 8 else shape.controls


def _terms(shape: Shape, products: bool | None) -> list[str]:
    terms = [f"x[{i}]" for i in range(shape.features)]
    if products or (products is None and shape.features <= _PRODUCTS_UP_TO):
        terms += [f"x[{i}] * x[{j}]" for i, j in combinations(range(shape.features), 2)]
    return terms


def _weighted(row: list[float], terms: list[str]) -> str:
    """Spell a weighted sum; long ones as a loop over a row of weights, for readers' and the parser's sake."""
    plain = all("*" not in term for term in terms)
    if plain and len(terms) > 8:
        numbers = ", ".join(literal(value) for value in row[:-1])
        return f"sum(w * v for w, v in zip(({numbers}), x)) + {literal(row[-1])}"
    return " + ".join(
        [*(f"{literal(value)} * {term}" for value, term in zip(row, terms, strict=False)), literal(row[-1])]
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
