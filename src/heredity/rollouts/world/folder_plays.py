"""Plays in the levels of a world folder, over and over, for the audit: actions in, what they paid out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, Self, cast

from heredity.actors.contract import ToolResult
from heredity.errors import ConfigError, HeredityError
from heredity.rollouts.program_clocks import UNANSWERED
from heredity.rollouts.programs import Program, SandboxedPrograms
from heredity.rollouts.rollout import RolloutError
from heredity.rollouts.world.folder_process import GUEST, raise_failure
from heredity.worlds.folder import WorldFolder

Action = Mapping[str, Any]
PLAY_S = 10.0
"""Processor seconds that one play may take; likewise the others."""
GENERATE_S = 60.0
"""Seconds that a level may take to be generated and played: generators search, some of them."""
EXPLORE_S = 300.0
"""Seconds that the search of one level may take."""
_TRIES = 2
"""How often something is tried of which nothing can be said, since it only waited."""
_MOST_ENDS = 4
"""After so many processes have ended in plays no other is started."""
_FIELDS = {"first": str, "ended": bool, "steps": list, "failed": str, "moment": str, "still": str}


class UnjudgedError(HeredityError):
    """A play that only waited: it says nothing about the world, nor does what comes after it."""


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a play.

    Attributes:
        level: the `world_id`; None if it was generated.
        seed: what chance began with.
        actions: those that were taken, the one that failed included.
        failed: what was raised, or how the process ended; `""` if nothing was.
        started: whether the level could be started at all.
        ended: whether the episode is over.
        rewards: of each step.
        stream: digests of what came back, from the beginning on, the whole state often among it; `told`: of what a player is told.
        moment: digest of all that the future depends on, the history apart; `still`: of all that but time and chance.
    """

    level: str | None
    seed: int
    actions: tuple[Action, ...]
    failed: str = ""
    started: bool = True
    ended: bool = False
    rewards: tuple[float, ...] = ()
    stream: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    moment: str = ""
    still: str = ""

    @property
    def total(self) -> float:
        """The sum of the rewards."""
        return sum(self.rewards)


class Plays:
    """A process that plays levels, and another one whenever that has ended.

    Args:
        folder: the folder.
        programs: the sandbox.
        watch: whether it notes which files are opened.

    Attributes:
        count: plays so far.
    """

    def __init__(self, folder: WorldFolder, programs: SandboxedPrograms, *, watch: bool = False) -> None:
        self._folder, self._programs, self._watch = folder, programs, watch
        self._stack = AsyncExitStack()
        self._program: Program | None = None
        self.count = self._ends = 0

    async def play(self, level: str | None, actions: Sequence[Action], seed: int = 0) -> Played:
        """Begin a level and take actions until it ends or fails.

        Raises:
            UnjudgedError: if nothing can be said of it.
        """
        self.count += 1
        taken = tuple(actions)
        unknown = Played(level, seed, taken, started=False)
        try:
            seconds = PLAY_S if level is not None else GENERATE_S
            value = await self._call("play", {"level": level, "seed": seed, "actions": taken}, seconds)
        except RolloutError as error:
            return replace(unknown, failed=str(error))
        if not _is_play(value):
            return replace(unknown, failed=f"the world's process answered {str(value)[:80]}")
        rewards = tuple(reward for reward, _, _ in value["steps"])
        return Played(
            level,
            seed,
            taken[: len(rewards) + bool(value["failed"])],
            failed=value["failed"],
            ended=value["ended"],
            rewards=rewards,
            stream=(value["first"], *(seen for _, seen, _ in value["steps"])),
            messages=(value["first"], *(text for _, _, text in value["steps"])),
            moment=value["moment"],
            still=value["still"],
        )

    async def touched(self) -> list[tuple[str, str]]:
        """Return what the folder's code has touched (see `World.touched` in the guest)."""
        try:
            return [(str(what), str(path)) for what, path in await self._call("touched", {})]
        except RolloutError:
            return []

    async def explore(self, level: str | None, asked: Mapping[str, Any], seed: int = 0) -> Explored:
        """Search a level (see `world_folder_explorer.explore` in the guest)."""
        try:
            return _explored(await self._call("explore", {"level": level, "seed": seed, "asked": asked}, EXPLORE_S))
        except RolloutError as error:
            return Explored(failed=str(error))

    async def _call(self, method: str, arguments: Mapping[str, Any], seconds: float = PLAY_S) -> Any:
        reason = ""
        for _ in range(_TRIES):
            result = await self._asked(method, arguments, seconds)
            if result.error != UNANSWERED:
                raise_failure(result)
                return result.value
            reason = result.message
        raise UnjudgedError(f"could not be judged, tried {_TRIES} times: {reason}")

    async def _asked(self, method: str, arguments: Mapping[str, Any], seconds: float) -> ToolResult:
        if self._program is None or not self._program.alive:
            if self._ends > _MOST_ENDS:
                raise RolloutError(f"not tried: its process has ended {self._ends} times before")
            self._ends += 1
            await self._stack.aclose()
            given = {"name": self._folder.name, "watch": self._watch, "often": not self._watch}
            self._program = await self._stack.enter_async_context(
                self._programs.open(self._folder.tree, GUEST, given, processor=True)
            )
        if self._program.opened.error:
            return self._program.opened
        try:
            return await self._program.call(method, arguments, seconds=seconds)
        except ConfigError as error:
            raise RolloutError(f"what it is given cannot be sent: {error}") from error

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()


@dataclass(frozen=True, slots=True)
class Explored:
    """What the search of a level claims; the environment runs in the process that answers, so nothing of it is more than that.

    Attributes:
        best: actions of the play that paid most; `abused`: of one that may also do what should be refused, or None.
        moments: how many moments an exhaustive search reached; `exhausted`: whether these are all; `most`: what can be had then.
        steps: how many steps were taken.
        claims: `kind`, `text`, `actions`, `prefix` (how many actions lead there) and `cycle` (how many make a round) of each.
        crashes: what was raised, and the actions that led to it; `malformed`: the same with what is wrong with the last of them.
        failed: why there is nothing of all this; `""` if there is.
    """

    best: tuple[Action, ...] = ()
    abused: tuple[Action, ...] | None = None
    moments: int = 0
    exhausted: bool = False
    most: float = 0.0
    steps: int = 0
    claims: tuple[Mapping[str, Any], ...] = ()
    crashes: tuple[tuple[str, tuple[Action, ...]], ...] = ()
    malformed: tuple[tuple[str, str, tuple[Action, ...]], ...] = ()
    failed: str = ""


def _explored(value: Any) -> Explored:
    """Read what `World.explore` claims.

    Raises:
        RolloutError: if it is not what it returns.
    """
    try:
        abused = value["abused"]
        return Explored(
            tuple(value["best"]),
            tuple(abused[1]) if abused else None,
            int(value["moments"]),
            value["exhausted"] is True,
            float(value["most"]),
            int(value["steps"]),
            tuple({**claim, "actions": tuple(claim["actions"])} for claim in value["claims"]),
            tuple((str(failed), tuple(actions)) for failed, actions in value["crashes"]),
            tuple((str(failed), str(what), tuple(actions)) for failed, what, actions in value["malformed"]),
        )
    except (LookupError, TypeError, ValueError) as error:
        raise RolloutError(f"the world's process answered a search with {str(value)[:80]}") from error


def _is_play(value: Any) -> bool:
    """Whether this is what `World.play` returns: the environment runs in the process that answers, so it may be anything."""
    if not isinstance(value, dict) or not all(isinstance(value.get(key), kind) for key, kind in _FIELDS.items()):
        return False
    return all(
        isinstance(step, list) and [type(part) for part in cast(list[object], step)] == [float, str, str]
        for step in value["steps"]
    )
