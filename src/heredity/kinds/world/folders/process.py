"""`FolderWorldProcess`: a level of a world folder in play. The folder's code runs in the sandbox, in a separate process."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any, cast

from heredity._core.errors import ConfigError, HostError, RefusedError
from heredity.engine.actor import ToolResult
from heredity.engine.player import KeepingPrograms, KeptProgram, Sight
from heredity.engine.rollout import RolloutError
from heredity.kinds.world.episode import Step
from heredity.kinds.world.folders.actions import misfit
from heredity.kinds.world.folders.folder import WorldFolder
from heredity.kinds.world.process import WorldBriefing
from heredity.results.status import FailureSource, Status
from heredity.sandbox.limits import Limits

GUEST = "world_folder_guest:World"
"""Entry point that the sandbox opens in `WorldFolder.tree`."""
_SCRATCH = re.compile(r"/[^\s\"']*/scratch/\d+/")
_MOST_MESSAGE = 1000
_STARTED = {"observation": object, "done": bool}
_TAKEN = {**_STARTED, "reward": float, "info": dict}
_FORM = '{"action": name, "params": {...}}'


class FolderWorldProcess:
    """A level of a world folder in play; created by `folder_world_process`.

    A well-formed action reaches the environment unchanged, which applies its own rules to unknown names and odd
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
