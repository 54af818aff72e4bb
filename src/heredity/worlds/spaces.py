"""The action space of a world: typed actions with parameters, as a gymnasium space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from heredity.worlds.actions import read_action, sample_action
from heredity.worlds.contract import RefusedError
from heredity.worlds.description import ActionDescription
from heredity.worlds.listing import listed_actions


class ActionSpace(gymnasium.Space[dict[str, Any]]):
    """All actions of a world, `{"action": name, "params": {...}}`; `sample` draws a name, then parameters, uniformly."""

    def __init__(self, actions: Mapping[str, ActionDescription], seed: int | np.random.Generator | None = None) -> None:
        self.actions = dict(actions)
        super().__init__(None, None, seed)

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """Draw an action; masks are not supported and are to be left out."""
        return sample_action(self.np_random, self.actions).to_json()

    def contains(self, x: Any) -> bool:
        """Whether `x` is one of these actions."""
        try:
            read_action(x, self.actions)
        except RefusedError:
            return False
        return True

    @property
    def is_np_flattenable(self) -> bool:
        """Never: parameters are of many kinds."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActionSpace) and other.actions == self.actions

    def __hash__(self) -> int:
        return hash(tuple(self.actions))

    def __repr__(self) -> str:
        return f"ActionSpace({', '.join(self.actions)})"

    def describe(self) -> list[dict[str, Any]]:
        """Return the actions as an agent is told of them: name, description, parameters."""
        return listed_actions(self.actions)
