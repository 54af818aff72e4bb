"""World processes: a level in play as players see it, for any kind of world."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from heredity._core.errors import HostError, IsolationError
from heredity._core.ids import generator
from heredity.engine.player import Sight
from heredity.engine.rollout import RolloutError
from heredity.kinds.world.dsl.bounded import Allowance, spending
from heredity.kinds.world.env import ActionSpace
from heredity.kinds.world.episode import Episode, Step, actions_text, sample_action
from heredity.kinds.world.pictures import png
from heredity.kinds.world.skins import look
from heredity.kinds.world.world import world

T = TypeVar("T")
HOOKS_S = 60.0
"""Wall-clock seconds that a world's hooks may take per episode: less than any player's limit, so that players do not
pay for them.
"""


@dataclass(frozen=True, slots=True)
class WorldBriefing:
    """A player's information before the start.

    Attributes:
        instruction: the instruction.
        actions: the actions, and the meaning of symbols, in words.
        listed: the actions as values: name, description, parameters.
    """

    instruction: str
    actions: str
    listed: Sequence[Mapping[str, Any]]


_IDLE = 8
"""Actions tried to check that a world continues."""


class WorldProcess(Protocol):
    """A level in play."""

    @property
    def briefing(self) -> WorldBriefing:
        """The player's information before the start."""
        ...

    @property
    def sight(self) -> Sight:
        """The player's current observation."""
        ...

    @property
    def done(self) -> bool:
        """True if the episode has ended."""
        ...

    async def take(self, given: object) -> Step:
        """Take a player's action; a `RefusedError` in its place is the reason why it was unreadable.

        Raises:
            RolloutError: if the world fails.
        """
        ...

    async def idle(self) -> None:
        """Take any action, to check whether the world continues. Raises like `take`."""
        ...


class LibraryWorldProcess:
    """A level of one of Heredity's own worlds, which are trusted, or of one in rules; it is stepped in this process.

    If rules call hooks, their code runs in the sandbox without blocking the event loop.

    Args:
        spec: the task's spec: `world`, `level`, `skin`.
    """

    sight: Sight
    _episode: Episode

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._world, self._skin, self._level = world(spec["world"]), spec["skin"], spec["level"]
        self._allowance = Allowance(HOOKS_S, clock=True)

    async def begin(self) -> None:
        """Start the level.

        Raises:
            RolloutError: if the world fails.
        """
        await self._aside(self._begin)

    @property
    def briefing(self) -> WorldBriefing:
        """The player's information before the start."""
        described = self._world.description
        return WorldBriefing(
            described.instruction.strip(), actions_text(described), ActionSpace(described.actions).describe()
        )

    @property
    def done(self) -> bool:
        """True if the episode has ended."""
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
        """Run a call and attribute every exception to the world, except failures of the sandbox."""
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
        """Take one of a few common actions (see `WorldProcess.idle`)."""
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
