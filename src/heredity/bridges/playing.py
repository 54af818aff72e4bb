"""A level of an exported world while it is played: what the forms of other frameworks keep and show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity.worlds.episode import Episode, Step
from heredity.worlds.gates.states import leaves
from heredity.worlds.skins import inverted, render
from heredity.worlds.world import World


class Play:
    """A level being played; a copy of it goes on by itself.

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
        """Take an action as an agent gives it."""
        return self.episode.step(given)

    @property
    def state(self) -> dict[str, Any]:
        """The whole state as plain values, each by its path: equal states have equal ones."""
        return {"/".join(path): value for path, value in leaves(self.episode.state).items()}

    def exposed(self) -> dict[str, Any]:
        """Return what is exposed, as the skin shows it."""
        omega = self.episode.observe()
        return inverted(self._world.description.skin, omega) if self._skin == "inverse" else omega

    def shown(self, omega: Mapping[str, Any] | None = None) -> str:
        """Return what an agent reads of what is exposed; by default of this moment."""
        return render(self._world.description.skin, self.exposed() if omega is None else omega)

    def __deepcopy__(self, memo: object) -> Play:
        twin = object.__new__(Play)
        twin.episode, twin._world, twin._skin = self.episode.copy(), self._world, self._skin
        return twin
