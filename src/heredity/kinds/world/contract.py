"""The contract of a world's code: its dynamics, and its levels with their bounds and reference solutions.

An environment is (S, A, T, R, Ω, τ) (AutoEnv, section 3.1). `Dynamics` is S, A, T, R and τ over the full state, and the
observation policy Ω, which selects the exposed part. Skins (`heredity.kinds.world.skins`) render that as text or
pictures.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

if TYPE_CHECKING:
    from heredity.kinds.world.dsl.hooks import Hooks

MAX_STEPS = 1000
"""Maximum horizon, in steps."""

S = TypeVar("S")
LevelData = Mapping[str, Any]
"""A level: JSON values. `steps` is its horizon if levels differ in it."""


@dataclass(frozen=True, slots=True)
class Action:
    """A typed action.

    Attributes:
        name: name of one of the world's actions.
        params: its parameters, checked against the description: all present, well typed and in range.
    """

    name: str
    params: Mapping[str, Any]

    @classmethod
    def of(cls, name: str, **params: Any) -> Action:
        """Return the action with these parameters."""
        return cls(name, params)

    def to_json(self) -> dict[str, Any]:
        """Return the action in the format that agents use."""
        return {"action": self.name, "params": dict(self.params)}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an action.

    Attributes:
        reward: its payment, which may be negative; binary worlds pay 1 for success and nothing else.
        done: whether the episode has ended.
        message: one line for the agent; skins do not change it.
    """

    reward: float = 0.0
    done: bool = False
    message: str = ""


@dataclass(frozen=True, slots=True)
class UpperBound:
    """The most reward that any agent can collect on a level, even one that sees the full state.

    Attributes:
        value: the bound.
        kind: `"exact"`: reachable, by exhaustive search or dynamic programming (or, in a binary world, by a solution);
            `"proven"`: no agent can exceed it, for the given reason; `"declared"`: claimed without proof.
        reason: why no agent can collect more.
    """

    value: float
    kind: Literal["exact", "proven", "declared"]
    reason: str


class Dynamics(ABC, Generic[S]):
    """The rules of a world. It is stateless: everything is in the state passed to it.

    A state is a mutable object whose copies (`copy.deepcopy`, or the object's `__deepcopy__`) are independent. Only
    `act` and `refuse` change it. A world is deterministic once its level exists: apparent chance (weather, opponents,
    drift) is part of the level, or drawn from a generator that is seeded by the level and kept in the state.

    Attributes:
        hooks: functions of the world that run in the sandbox; None if it has none.
    """

    hooks: Hooks | None = None

    @abstractmethod
    def start(self, level: LevelData) -> S:
        """Return the initial state of a level; it shares nothing with the level."""

    @abstractmethod
    def act(self, state: S, action: Action) -> Outcome:
        """Apply a well-typed action to the state, in place.

        Raises:
            RefusedError: if the action is not possible now; raised before any change.
        """

    @abstractmethod
    def observe(self, state: S) -> dict[str, Any]:
        """Return the exposed values for the placeholders of the skin's template (JSON values).

        `grid` is a list of rows of single characters, `gauges` a mapping of names to [value, low, high]; pictures are
        drawn from these. A list of texts is rendered as lines.
        """

    def refuse(self, state: S) -> Outcome:
        """Let time pass after a refused or ill-typed action; does nothing by default. It never pays."""
        return Outcome()

    def finish(self, state: S) -> float:
        """Return the reward paid when the horizon passes without an end; none by default."""
        return 0.0


class Levels(ABC):
    """Generates a world's levels, proves their upper bounds, and solves them."""

    @abstractmethod
    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a solvable level (JSON values, bit for bit the same for the same generator).

        Args:
            rng: the only source of chance.
            difficulty: 1 (easy) to 3 (hard).
        """

    @abstractmethod
    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the certified bound of a level."""

    @abstractmethod
    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the actions of the reference solution, which may use the full state."""
