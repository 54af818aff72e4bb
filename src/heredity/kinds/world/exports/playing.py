"""A level of an exported world in play: state and display for the templates of other frameworks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity.kinds.world.episode import Episode, Step
from heredity.kinds.world.gates.states import leaves
from heredity.kinds.world.skins import inverted, render
from heredity.kinds.world.world import World


class Play:
    """A level in play; copies are independent.

    Args:
        world: the world.
        level: the level's data.
        skin: `text` or `inverse`.

    Attributes:
        episode: the episode.
    """

    def __init__(self, world: World, level: Mapping[str, Any], skin: str = "text") -> None:
        self.episode: Episode = world.start(level)
        self._world, self._skin = world, skin

    def step(self, given: object) -> Step:
        """Take an agent's action."""
        return self.episode.step(given)

    @property
    def state(self) -> dict[str, Any]:
        """The full state as plain values by path; equal states have equal ones."""
        return {"/".join(path): value for path, value in leaves(self.episode.state).items()}

    def exposed(self) -> dict[str, Any]:
        """Return the exposed values, as the skin shows them."""
        omega = self.episode.observe()
        return inverted(self._world.description.skin, omega) if self._skin == "inverse" else omega

    def shown(self, omega: Mapping[str, Any] | None = None) -> str:
        """Return the agent's text for exposed values; by default the current ones."""
        return render(self._world.description.skin, self.exposed() if omega is None else omega)

    def __deepcopy__(self, memo: object) -> Play:
        twin = object.__new__(Play)
        twin.episode, twin._world, twin._skin = self.episode.copy(), self._world, self._skin
        return twin
