"""The contract of a world's code: its dynamics, and its levels with their bounds and reference solutions.

An environment is (S, A, T, R, Ω, τ) (AutoEnv, section 3.1). `Dynamics` is S, A, T, R and τ over the whole state, and the
observation policy Ω that says what of it is exposed; skins (`heredity.worlds.skins`) make that into text or pictures.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

from heredity.errors import HeredityError

if TYPE_CHECKING:
    from heredity.worlds.dsl.hooks import Hooks

MAX_STEPS = 1000
"""Of a horizon."""

S = TypeVar("S")
LevelData = Mapping[str, Any]
"""A level: JSON values. `steps` is its horizon where levels differ in it."""


class RefusedError(HeredityError):
    """An action that is not possible in this state: it costs its step, changes nothing and never pays."""


@dataclass(frozen=True, slots=True)
class Action:
    """A typed action.

    Attributes:
        name: one of the world's actions.
        params: its parameters, checked against the description: every one present, of its type and in its range.
    """

    name: str
    params: Mapping[str, Any]

    @classmethod
    def of(cls, name: str, **params: Any) -> Action:
        """Return the action with these parameters."""
        return cls(name, params)

    def to_json(self) -> dict[str, Any]:
        """Return it as an agent gives it."""
        return {"action": self.name, "params": dict(self.params)}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an action led to.

    Attributes:
        reward: what it paid, 0 or less or more; binary worlds pay 1 for success and nothing else.
        done: whether the episode has ended.
        message: what the agent is told of it, one line; skins do not change it.
    """

    reward: float = 0.0
    done: bool = False
    message: str = ""


@dataclass(frozen=True, slots=True)
class UpperBound:
    """The most reward that any agent can collect on a level, even one that sees everything.

    Attributes:
        value: the bound.
        kind: `"exact"`: it can be reached, shown by exhaustive search or dynamic programming (or, of a binary world, by a
            solution); `"proven"`: no agent can exceed it, for the reason given; `"declared"`: it is said, and not shown.
        reason: why nothing more can be had.
    """

    value: float
    kind: Literal["exact", "proven", "declared"]
    reason: str


class Dynamics(ABC, Generic[S]):
    """The rules of a world. It holds no state of its own: everything is in the state that it is given.

    A state is a mutable object whose copy (`copy.deepcopy`, or its own `__deepcopy__`) goes on by itself; a state never
    changes but by `act` and `refuse`. There is no chance in a world after its level was made: whatever seems random
    (weather, opponents, drift) is part of the level, or drawn from a generator seeded in it and kept in the state.

    Attributes:
        hooks: functions of the world whose code runs in the sandbox; None where it has none.
    """

    hooks: Hooks | None = None

    @abstractmethod
    def start(self, level: LevelData) -> S:
        """Return the state in which a level begins; nothing in it is shared with the level."""

    @abstractmethod
    def act(self, state: S, action: Action) -> Outcome:
        """Apply a well-typed action to the state, in place.

        Raises:
            RefusedError: if it is not possible now; raised before anything was changed.
        """

    @abstractmethod
    def observe(self, state: S) -> dict[str, Any]:
        """Return what is exposed: the values for the places in the skin's template (JSON values).

        `grid` is a list of rows of single characters, `gauges` a mapping of names to [value, low, high]: pictures are drawn
        of these. A list of texts is shown as lines.
        """

    def refuse(self, state: S) -> Outcome:
        """Let time pass after a refused or ill-typed action: by default nothing happens. It never pays."""
        return Outcome()

    def finish(self, state: S) -> float:
        """Return the reward paid when the last step of the horizon has passed without an end; by default none."""
        return 0.0


class Levels(ABC):
    """Makes a world's levels, proves what can be had on them, and shows how."""

    @abstractmethod
    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a solvable level (JSON values, bit for bit the same for the same generator).

        Args:
            rng: all chance comes from here.
            difficulty: 1 (easy) to 3 (hard).
        """

    @abstractmethod
    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the certified bound of a level."""

    @abstractmethod
    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the actions of the reference solution; it may look at everything."""
