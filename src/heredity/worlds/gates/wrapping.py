"""Worlds around worlds: dynamics and levels that hand on everything, to plant a fault in one place."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from heredity.errors import HeredityError
from heredity.worlds.contract import Action, Dynamics, LevelData, Levels, Outcome, UpperBound
from heredity.worlds.world import Level, World


class UnfitError(HeredityError):
    """A fault that a world cannot have."""


@dataclass(slots=True)
class Held:
    """A state with what a wrapper keeps: steps taken, the last accepted action's name, whether the level is struck by the fault."""

    inner: Any
    t: int = 0
    last: str = ""
    struck: bool = True
    extra: Any = None


class Around(Dynamics[Held]):
    """Dynamics that hand on everything."""

    def __init__(self, inner: Dynamics[Any]) -> None:
        self.inner = inner

    def start(self, level: LevelData) -> Held:
        """Return the state in which a level begins."""
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
        """Return what is exposed."""
        return self.inner.observe(state.inner)

    def finish(self, state: Held) -> float:
        """Return what the end of the horizon pays."""
        return self.inner.finish(state.inner)


class AroundLevels(Levels):
    """Levels that hand on everything."""

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
    """Levels that ignore the generator that they are given."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a level by chance."""
        return self.inner.generate(np.random.default_rng(random.getrandbits(64)), difficulty)


def twin(world: World, dynamics: Dynamics[Any] | None = None, levels: Levels | None = None) -> World:
    """Return a world like another, with its own copy of the levels, and perhaps other dynamics."""
    made = copy.copy(world)
    made.dynamics, made.levels = dynamics or world.dynamics, levels or world.levels
    set_shipped(made, {split: [_copied(level) for level in levels] for split, levels in world.shipped.items()})
    return made


def set_shipped(world: World, shipped: Mapping[str, Sequence[Level]]) -> None:
    """Give a world other levels."""
    world.__dict__["shipped"] = {split: tuple(levels) for split, levels in shipped.items()}


def changed_levels(world: World, change: Callable[[Level], Level]) -> World:
    """Return a world whose levels are changed one by one."""
    made = twin(world)
    set_shipped(made, {split: [change(level) for level in levels] for split, levels in made.shipped.items()})
    return made


def described(world: World, **fields: Any) -> World:
    """Return a world that says something else of itself."""
    made = twin(world)
    made.description = world.description.model_copy(update=fields)
    return made


def _copied(level: Level) -> Level:
    data = MappingProxyType(copy.deepcopy(dict(level.data)))
    return Level(level.id, level.seed, level.difficulty, data, level.upper_bound, level.reference)
