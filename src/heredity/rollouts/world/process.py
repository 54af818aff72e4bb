"""World processes: a level being played as players see it, whichever kind of world it belongs to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from heredity.actors.player import Sight
from heredity.errors import HostError, IsolationError
from heredity.ids import generator
from heredity.rollouts.rollout import RolloutError
from heredity.worlds.actions import sample_action
from heredity.worlds.dsl.allowance import Allowance, spending
from heredity.worlds.episode import Episode, Step
from heredity.worlds.listing import actions_text
from heredity.worlds.pictures import png
from heredity.worlds.skins import look
from heredity.worlds.spaces import ActionSpace
from heredity.worlds.world import world

T = TypeVar("T")
HOOKS_S = 60.0
"""Wall seconds that the hooks of a world may take in an episode: less than any player has, who is not to pay for them."""


@dataclass(frozen=True, slots=True)
class WorldBriefing:
    """What a player is told before it begins.

    Attributes:
        instruction: what to do.
        actions: the actions, and what symbols mean, in words.
        listed: the actions as values: name, description, parameters.
    """

    instruction: str
    actions: str
    listed: Sequence[Mapping[str, Any]]


_IDLE = 8
"""Actions that are tried to see whether a world goes on."""


class WorldProcess(Protocol):
    """A level being played."""

    @property
    def briefing(self) -> WorldBriefing:
        """What a player is told before it begins."""
        ...

    @property
    def sight(self) -> Sight:
        """What a player is given now."""
        ...

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        ...

    async def take(self, given: object) -> Step:
        """Take an action as a player gives it; a `RefusedError` in its place says why it could not be read.

        Raises:
            RolloutError: if the world fails.
        """
        ...

    async def idle(self) -> None:
        """Take an action as anybody might, to see whether the world goes on at all. Raises as `take`."""
        ...


class LibraryWorldProcess:
    """A level of one of Heredity's own worlds, which are trusted, or of one in rules; it is stepped in this process.

    Where rules call hooks, their code runs in the sandbox, and the event loop goes on meanwhile.

    Args:
        spec: of the task: `world`, `level`, `skin`.
    """

    sight: Sight
    _episode: Episode

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._world, self._skin, self._level = world(spec["world"]), spec["skin"], spec["level"]
        self._allowance = Allowance(HOOKS_S, clock=True)

    async def begin(self) -> None:
        """Begin the level.

        Raises:
            RolloutError: if the world fails.
        """
        await self._aside(self._begin)

    @property
    def briefing(self) -> WorldBriefing:
        """What a player is told before it begins."""
        described = self._world.description
        return WorldBriefing(
            described.instruction.strip(), actions_text(described), ActionSpace(described.actions).describe()
        )

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return self._episode.done

    async def take(self, given: object) -> Step:
        """Take an action (see `WorldProcess.take`)."""
        return await self._aside(lambda: self._step(given))

    async def _aside(self, work: Callable[[], T]) -> T:
        if self._world.dynamics.hooks is None:
            return self._attributed(work)
        with spending(self._allowance):
            return await asyncio.to_thread(self._attributed, work)

    def _attributed(self, work: Callable[[], T]) -> T:
        """Do something, and put down to the world whatever it raises but what the sandbox itself fails at."""
        try:
            return work()
        except (HostError, IsolationError):
            raise
        except Exception as error:
            message = f"the world {self._world.name} failed: {type(error).__name__}: {error}"
            raise RolloutError(message, getattr(error, "traceback", "")) from error

    def _begin(self) -> None:
        self._episode = self._world.start(self._level)
        self.sight = self._look(0.0)

    def _step(self, given: object) -> Step:
        step = self._episode.step(given)
        self.sight = self._look(step.reward)
        return step

    async def idle(self) -> None:
        """Take one of a few actions that any agent might take (see `WorldProcess.idle`)."""
        draws, moment = generator(0, "world", "idle"), self._episode
        for tried in range(_IDLE):
            self._episode = moment.copy()
            try:
                await self.take(sample_action(draws, self._world.description.actions))
            except RolloutError:
                if tried == _IDLE - 1:
                    raise
            else:
                return

    def _look(self, paid: float) -> Sight:
        episode = self._episode
        shown = look(self._world.description.skin, self._skin, episode.observe())
        text, picture = (shown, b"") if isinstance(shown, str) else ("", png(shown))
        return Sight(text, picture, episode.message, paid, episode.t, episode.steps)
