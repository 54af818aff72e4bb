"""Wrappers around dynamics and levels that delegate everything, to plant a fault in one place."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from heredity._core.errors import HeredityError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Levels, Outcome, UpperBound
from heredity.kinds.world.world import Level, World


class UnfitError(HeredityError):
    """A fault that does not fit a world."""


@dataclass(slots=True)
class Held:
    """A state with a wrapper's data: steps taken, the last accepted action's name, whether the fault affects the level."""

    inner: Any
    t: int = 0
    last: str = ""
    struck: bool = True
    extra: Any = None


class Around(Dynamics[Held]):
    """Dynamics that delegate everything."""

    def __init__(self, inner: Dynamics[Any]) -> None:
        self.inner = inner

    def start(self, level: LevelData) -> Held:
        """Return the initial state of a level."""
        return Held(self.inner.start(level))

    def act(self, state: Held, action: Action) -> Outcome:
        """Apply an action."""
        outcome = self.inner.act(state.inner, action)
        state.t += 1
        state.last = action.name
        return outcome

    def refuse(self, state: Held) -> Outcome:
        """Let time pass after a refused action."""
        state.t += 1
        return self.inner.refuse(state.inner)

    def observe(self, state: Held) -> dict[str, Any]:
        """Return the exposed values."""
        return self.inner.observe(state.inner)

    def finish(self, state: Held) -> float:
        """Return the payment at the horizon."""
        return self.inner.finish(state.inner)


class AroundLevels(Levels):
    """Levels that delegate everything."""

    def __init__(self, inner: Levels) -> None:
        self.inner = inner

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a level."""
        return self.inner.generate(rng, difficulty)

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return its bound."""
        return self.inner.upper_bound(level)

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return its solution."""
        return self.inner.solve(level)


class SeedlessLevels(AroundLevels):
    """Levels that ignore the generator passed to them."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a random level."""
        return self.inner.generate(np.random.default_rng(random.getrandbits(64)), difficulty)


def twin(world: World, dynamics: Dynamics[Any] | None = None, levels: Levels | None = None) -> World:
    """Return a copy of a world, with its own levels and optionally other dynamics."""
    made = copy.copy(world)
    made.dynamics, made.levels = dynamics or world.dynamics, levels or world.levels
    set_shipped(made, {split: [_copied(level) for level in levels] for split, levels in world.shipped.items()})
    return made


def set_shipped(world: World, shipped: Mapping[str, Sequence[Level]]) -> None:
    """Replace a world's shipped levels."""
    world.__dict__["shipped"] = {split: tuple(levels) for split, levels in shipped.items()}


def changed_levels(world: World, change: Callable[[Level], Level]) -> World:
    """Return a world with each level changed."""
    made = twin(world)
    set_shipped(made, {split: [change(level) for level in levels] for split, levels in made.shipped.items()})
    return made


def described(world: World, **fields: Any) -> World:
    """Return a world with another description."""
    made = twin(world)
    made.description = world.description.model_copy(update=fields)
    return made


def _copied(level: Level) -> Level:
    data = MappingProxyType(copy.deepcopy(dict(level.data)))
    return Level(level.id, level.seed, level.difficulty, data, level.upper_bound, level.reference)
