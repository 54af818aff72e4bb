"""The action space of a world: typed actions with parameters, as a Gymnasium space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from heredity._core.errors import RefusedError
from heredity.kinds.world.actions import read_action, sample_action
from heredity.kinds.world.description import ActionDescription
from heredity.kinds.world.listing import listed_actions


class ActionSpace(gymnasium.Space[dict[str, Any]]):
    """All actions of a world, `{"action": name, "params": {...}}`; `sample` draws a name, then parameters, uniformly."""

    def __init__(self, actions: Mapping[str, ActionDescription], seed: int | np.random.Generator | None = None) -> None:
        self.actions = dict(actions)
        super().__init__(None, None, seed)

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """Draw an action; masks are not supported and must be omitted."""
        return sample_action(self.np_random, self.actions).to_json()

    def contains(self, x: Any) -> bool:
        """Return True if `x` is one of these actions."""
        try:
            read_action(x, self.actions)
        except RefusedError:
            return False
        return True

    @property
    def is_np_flattenable(self) -> bool:
        """Always False: parameters have different types."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActionSpace) and other.actions == self.actions

    def __hash__(self) -> int:
        return hash(tuple(self.actions))

    def __repr__(self) -> str:
        return f"ActionSpace({', '.join(self.actions)})"

    def describe(self) -> list[dict[str, Any]]:
        """Return the actions as shown to agents: name, description, parameters."""
        return listed_actions(self.actions)
