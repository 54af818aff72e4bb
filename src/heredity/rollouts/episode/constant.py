"""Programs that look at nothing and do the same at every step: what a policy has to be better than to have learned anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heredity.environments.space_numbers import Space, bounds, space_of, starts
from heredity.errors import ConfigError
from heredity.ids import generator
from heredity.resources import SourceTree
from heredity.rollouts.episode.starter import POLICY

MOST = 8
"""How many constant actions are tried at most."""

Floats = NDArray[np.float64]
Choose = Callable[[Floats, Floats], Floats]
"""Takes the lower and upper bounds of the numbers of an action, infinities included, and returns one value for each."""


def constant_programs(public: Mapping[str, Any]) -> list[SourceTree]:
    """Return programs that repeat one action, the null action first.

    The null action is zero in each number, or the bound that is nearest to it; of a choice it is the first. The others are, of a
    single choice, its actions, evenly spaced if there are more than `MOST`; of other spaces all numbers at their lower bound, all
    at their upper bound, all in the middle, and draws that are uniform between the bounds, the same for every run. A number without
    bounds counts as lying between -1 and 1 there.

    Args:
        public: the taskset's public information, with `action_space`.

    Returns:
        At most `MOST` + 1 different programs; none for a space whose actions hold no numbers.

    Raises:
        ConfigError: if the action space is missing.
    """
    space, name = space_of(public, "action_space"), str(public.get("env", "a task"))
    try:
        literals = [_literal(space, choose) for choose in (_null, *_choices(space))]
    except ConfigError:
        return []
    return [_program(name, literal) for literal in dict.fromkeys(literals)]


def _choices(space: Space) -> Iterator[Choose]:
    if space["type"] == "Discrete":
        count = min(int(space["n"]), MOST)
        for share in np.linspace(0.0, 1.0, count):
            yield lambda low, high, share=float(share): np.round(low + share * (high - low))
        return
    for share in (0.0, 1.0, 0.5):
        yield lambda low, high, share=share: _between(low, high, np.full(low.shape, share))
    rng = generator(0, "references", "constant")
    for _ in range(MOST - 3):
        yield lambda low, high: _between(low, high, rng.random(low.shape))


def _null(low: Floats, high: Floats) -> Floats:
    return np.clip(np.zeros(low.shape), low, high)


def _between(low: Floats, high: Floats, shares: Floats) -> Floats:
    least, most = (
        np.where(np.isfinite(low), low, np.minimum(-1.0, high)),
        np.where(np.isfinite(high), high, np.maximum(1.0, low)),
    )
    return least + shares * (most - least)


def _literal(space: Space, choose: Choose) -> str:
    """Return an action as Python source."""
    match space["type"]:
        case "Discrete":
            first = int(space.get("start", 0))
            # The first of a choice stands for zero, whatever it is numbered.
            return str(first + int(_whole(choose, np.zeros(1), np.array([int(space["n"]) - 1.0]))[0]))
        case "MultiDiscrete":
            first, most = np.array(starts(space)), np.ravel(space["nvec"]).astype(np.float64) - 1.0
            values = first + _whole(choose, np.zeros(most.shape), most)
            return _array(values.astype(int), np.shape(space["nvec"]), space.get("dtype", "int64"))
        case "MultiBinary":
            shape = tuple(np.ravel(space.get("shape", space.get("n"))).astype(int).tolist())
            size = int(np.prod(shape))
            return _array(_whole(choose, np.zeros(size), np.ones(size)).astype(int), shape, "int8")
        case "Box":
            low, high = bounds(space)
            kind = str(space.get("dtype", "float32"))
            values = _whole(choose, low, high).astype(int) if "int" in kind else choose(low, high)
            return _array(values, tuple(space["shape"]), kind)
        case "Dict":
            return "{" + ", ".join(f"{key!r}: {_literal(part, choose)}" for key, part in space["spaces"].items()) + "}"
        case "Tuple":
            return "(" + "".join(f"{_literal(part, choose)}, " for part in space["spaces"]) + ")"
        case other:
            raise ConfigError(f"actions of a {other} space hold no numbers")


def _whole(choose: Choose, low: Floats, high: Floats) -> Floats:
    return np.floor(choose(low, high) + 0.5)


def _array(values: np.ndarray, shape: tuple[int, ...], kind: str) -> str:
    exact = values.astype(kind)
    return f"np.array({exact.reshape(shape).tolist()}, dtype={kind!r})"


def _program(name: str, literal: str) -> SourceTree:
    numpy = "import numpy as np\n\n\n" if "np." in literal else "\n"
    return SourceTree(
        {
            POLICY: f'''"""The same action at every step, for {name}."""

{numpy}class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        self.action = {literal}

    def reset(self, episode_index):
        pass

    def act(self, obs):
        return self.action
'''
        }
    )
