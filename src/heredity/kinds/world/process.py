"""World processes: a level in play as players see it, for any kind of world.

The code of a world folder runs in the sandbox, in a separate process.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, TypeVar, cast

from heredity._core.errors import ConfigError, HostError, IsolationError, RefusedError
from heredity._core.ids import generator
from heredity.engine.actor import ToolResult
from heredity.engine.player import KeepingPrograms, KeptProgram, Sight
from heredity.engine.rollout import RolloutError
from heredity.kinds.world.dsl.bounded import Allowance, spending
from heredity.kinds.world.env import ActionSpace
from heredity.kinds.world.episode import Episode, Step, actions_text, sample_action
from heredity.kinds.world.folders.folder import WorldFolder, misfit
from heredity.kinds.world.pictures import png
from heredity.kinds.world.skins import look
from heredity.kinds.world.world import world
from heredity.results.status import FailureSource, Status
from heredity.sandbox.limits import Limits

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
    """A level of one of Heredity's own worlds, which are trusted, or of one in rules (it is stepped in this process).

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


GUEST = "world_folder_guest:World"
"""Entry point that the sandbox opens in `WorldFolder.tree`."""
_SCRATCH = re.compile(r"/[^\s\"']*/scratch/\d+/")
_MOST_MESSAGE = 1000
_STARTED = {"observation": object, "done": bool}
_TAKEN = {**_STARTED, "reward": float, "info": dict}
_FORM = '{"action": name, "params": {...}}'


class FolderWorldProcess:
    """A level of a world folder in play; created by `folder_world_process`.

    A well-formed action reaches the environment unchanged, which applies its rules to unknown names and odd
    parameters. Anything else is refused here: it costs a step of the horizon and does not reach the environment, whose
    time stands still.

    Attributes:
        briefing: the player's information before the start.
        sight: the player's current observation.
        done: True if the episode has ended.
    """

    def __init__(self, folder: WorldFolder, program: KeptProgram, seconds: float) -> None:
        self._folder, self._program, self._seconds = folder, program, seconds
        self._text, self._t = "", 0
        self.briefing = WorldBriefing(folder.instruction, folder.action_text, folder.actions)
        self.done = False
        self.sight = self._look("", 0.0)

    async def begin(self, level: str | None, seed: int, seconds: float) -> None:
        """Start a level (see `World.reset` in the guest).

        Raises:
            RolloutError: if the environment fails.
        """
        raise_failure(self._program.opened)
        started = await self._call("reset", {"level": level, "seed": seed}, seconds, _STARTED)
        self._text, self.done = _text(started["observation"]), started["done"]
        self.sight = self._look("", 0.0)

    async def take(self, given: object) -> Step:
        """Take an action (see `WorldProcess.take`)."""
        action = _action(given)
        if isinstance(action, str):
            return self._after(0.0, False, action, refused=True)
        try:
            taken = await self._call("step", {"action": action}, self._seconds, _TAKEN)
        except ConfigError as error:
            return self._after(0.0, False, f"the action cannot be sent: {error}", refused=True)
        except RolloutError as error:
            wrong = misfit(action, self._folder.actions)
            if not wrong:
                raise
            raise RolloutError(
                f"{wrong}, and the world failed: {error}",
                error.traceback,
                status=Status.INVALID_ACTION,
                failure_source=FailureSource.CANDIDATE,
            ) from error
        self._text = _text(taken["observation"])
        return self._after(taken["reward"], taken["done"], message_of(taken["info"]))

    async def idle(self) -> None:
        """Take an action without a name (see `WorldProcess.idle`)."""
        await self._call("step", {"action": {"action": "", "params": {}}}, self._seconds, _TAKEN)

    async def _call(
        self, method: str, arguments: Mapping[str, Any], seconds: float, fields: Mapping[str, Any]
    ) -> dict[str, Any]:
        result = await self._program.call(method, arguments, seconds=seconds)
        raise_failure(result)
        value = result.value
        # The environment runs in the answering process, so the answer may be anything.
        if not isinstance(value, dict) or not all(isinstance(value.get(key), kind) for key, kind in fields.items()):
            raise RolloutError(f"the world's process answered {method} with {str(value)[:80]}")
        return cast(dict[str, Any], value)

    def _after(self, reward: float, over: bool, message: str, *, refused: bool = False) -> Step:
        self._t += 1
        truncated = self._t >= self._folder.max_steps
        self.done = over or truncated
        self.sight = self._look(message, reward)
        # An environment reports that it has ended, but not why; at the horizon, the horizon is taken as the reason.
        return Step(reward, over and not truncated, truncated, message, refused)

    def _look(self, message: str, paid: float) -> Sight:
        return Sight(self._text, b"", message, paid, self._t, self._folder.max_steps)


@asynccontextmanager
async def folder_world_process(
    spec: Mapping[str, Any], programs: KeepingPrograms, limits: Limits
) -> AsyncGenerator[FolderWorldProcess]:
    """Start the level of a task's `spec` in a fresh process.

    Args:
        spec: `folder`, `digest`, `level` (None for a generated one), `seed`.
        programs: the sandbox.
        limits: `init_s` to start, `act_s` for each step.

    Raises:
        RolloutError: if the environment fails.
        HostError: if the folder has changed since the task was drawn.
    """
    folder = read_world_folder(spec["folder"], spec["digest"])
    async with programs.open(folder.tree, GUEST, {"name": folder.name}) as program:
        process = FolderWorldProcess(folder, program, limits.act_s)
        await process.begin(spec["level"], spec["seed"], limits.init_s)
        yield process


@lru_cache(maxsize=64)
def read_world_folder(path: str, digest: str) -> WorldFolder:
    """Return a folder if it still has the expected digest.

    Raises:
        HostError: if its digest differs, or it cannot be read.
    """
    try:
        folder = WorldFolder(path)
    except ConfigError as error:
        raise HostError(f"the world folder is no longer readable: {error}") from error
    if folder.digest != digest:
        raise HostError(f"{path} has changed since its tasks were drawn; start another run")
    return folder


def raise_failure(result: ToolResult) -> None:
    """Raise the failure of a guest call, if it failed; paths are relative to the sandbox's folders.

    Raises:
        RolloutError: if it failed.
    """
    if result.error:
        raise RolloutError(
            _SCRATCH.sub("", f"the world failed ({result.error}): {result.message}"),
            _SCRATCH.sub("", result.traceback),
        )


def message_of(info: Mapping[str, Any]) -> str:
    """Return the result of an action in one line: the environment's message, and the events."""
    result, events = info.get("last_action_result"), info.get("events") or []
    listed = cast(list[Any], events) if isinstance(events, list) else [events]
    texts = [] if result is None else [_text(result)]
    words = [*texts, *(f"event: {_text(event)}" for event in listed)]
    return " ".join("; ".join(words).split())[:_MOST_MESSAGE]


def _action(given: object) -> dict[str, Any] | str:
    """Return a well-formed action, or the reason why it is malformed."""
    if isinstance(given, RefusedError):
        return str(given)
    if not isinstance(given, Mapping):
        return f"not an action; give {_FORM}"
    fields = cast(Mapping[str, Any], given)
    name, params = fields.get("action"), fields.get("params")
    if not isinstance(name, str) or not (params is None or isinstance(params, Mapping)):
        return f"not an action; give {_FORM}"
    return {**fields, "params": params or {}}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
