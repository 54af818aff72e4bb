"""Plays in the levels of a world folder, over and over, for the audit: actions in, what they paid out."""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, Self, cast

from heredity.errors import ConfigError
from heredity.rollouts.programs import Program, SandboxedPrograms
from heredity.rollouts.rollout import RolloutError
from heredity.rollouts.world.folder_process import GUEST, raise_failure
from heredity.worlds.folder import WorldFolder

Action = Mapping[str, Any]
PLAY_S = 10.0
"""Seconds that one play may take."""
_FIELDS = {"first": str, "ended": bool, "steps": list, "failed": str, "moment": str, "still": str}


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
        stream: digests of what was seen, from the beginning on.
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
        self.count = 0

    async def play(self, level: str | None, actions: Sequence[Action], seed: int = 0) -> Played:
        """Begin a level and take actions until it ends or fails."""
        self.count += 1
        taken = tuple(actions)
        unknown = Played(level, seed, taken, started=False)
        try:
            value = await self._call("play", {"level": level, "seed": seed, "actions": taken})
        except RolloutError as error:
            return replace(unknown, failed=str(error))
        if not _is_play(value):
            return replace(unknown, failed=f"the world's process answered {str(value)[:80]}")
        rewards = tuple(reward for reward, _ in value["steps"])
        return Played(
            level,
            seed,
            taken[: len(rewards) + bool(value["failed"])],
            failed=value["failed"],
            ended=value["ended"],
            rewards=rewards,
            stream=(value["first"], *(seen for _, seen in value["steps"])),
            moment=value["moment"],
            still=value["still"],
        )

    async def touched(self) -> list[tuple[str, str]]:
        """Return what the folder's code has touched (see `World.touched` in the guest)."""
        try:
            return [(str(what), str(path)) for what, path in await self._call("touched", {})]
        except RolloutError:
            return []

    async def _call(self, method: str, arguments: Mapping[str, Any]) -> Any:
        if self._program is None or not self._program.alive:
            await self._stack.aclose()
            given = {"name": self._folder.name, "watch": self._watch, "often": not self._watch}
            self._program = await self._stack.enter_async_context(self._programs.open(self._folder.tree, GUEST, given))
        raise_failure(self._program.opened)
        try:
            result = await self._program.call(method, arguments, seconds=PLAY_S)
        except ConfigError as error:
            raise RolloutError(f"what it is given cannot be sent: {error}") from error
        raise_failure(result)
        return result.value

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Attributes:
        best: the play that paid most.
        moments: how many different moments of the level were reached.
        exhausted: whether these are all that can be reached with the actions that were tried.
        failed: a play that failed, if one did.
    """

    best: Played
    moments: int
    exhausted: bool
    failed: Played | None = None


async def search(
    plays: Plays, level: str, actions: Sequence[Action], limits: tuple[int, float, float], *, greedy: bool
) -> Found:
    """Look for reward: go on from one moment after the other, by playing what led there once more, with seed 0.

    A moment is tried again when a way to it is found that pays more, so what is exhausted has shown the most that can be had.

    Args:
        plays: where to play.
        level: the `world_id`.
        actions: those to try in every moment.
        limits: the horizon in steps, the bound at which to stop once more was paid, and `time.monotonic()` at which to give up.
        greedy: whether to go on from what has paid most, which soon finds reward, rather than from what comes first, which is the
            shortest way to exhaust a level.
    """
    horizon, upper_bound, deadline = limits
    best = start = await plays.play(level, ())
    most, order, failed = {start.moment: 0.0}, itertools.count(), start if start.failed else None
    frontier = [] if start.failed or start.ended else [((0.0, 0.0), next(order), start)]
    while frontier:
        here = heapq.heappop(frontier)[-1]
        if here.total < most[here.moment]:
            continue
        for action in actions:
            if time.monotonic() >= deadline or best.total > upper_bound:
                return Found(best, len(most), False, failed)
            there = await plays.play(level, (*here.actions, action))
            best = max(best, there, key=lambda played: played.total)
            if there.failed:
                failed = failed or there
            elif there.total > most.get(there.moment, -math.inf):
                most[there.moment] = there.total
                if not there.ended and len(there.actions) < horizon:
                    soon, paying = float(len(there.actions)), -there.total
                    heapq.heappush(frontier, ((paying, soon) if greedy else (soon, paying), next(order), there))
    return Found(best, len(most), failed is None, failed)


def _is_play(value: Any) -> bool:
    """Whether this is what `World.play` returns: the environment runs in the process that answers, so it may be anything."""
    if not isinstance(value, dict) or not all(isinstance(value.get(key), kind) for key, kind in _FIELDS.items()):
        return False
    return all(
        isinstance(step, list) and [type(part) for part in cast(list[object], step)] == [float, str]
        for step in value["steps"]
    )
