"""Games of text as tasks: what a runner needs of one, and what an agent gets to train with.

The spec of such a taskset names a function, `game_process`, which opens the game of a task; its kind says how a model is asked.
Rows to train on are the steps of a reference solution, each with the very text that a graded model is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from importlib.resources import files
from pkgutil import resolve_name
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from heredity.actors.contract import Solving
from heredity.errors import ConfigError
from heredity.gateway import Model
from heredity.ids import seed_sequence
from heredity.posttraining.tasks.dealing import Spec, dealt_info
from heredity.posttraining.tasks.env.rollout import Episode, following, play
from heredity.rollouts.rollout import RolloutError
from heredity.tasks import TasksetInfo

DIALOGUE, GLIMPSE = "text-episode", "glimpse-game"
"""The kinds of tasksets that `heredity.posttraining.tasks.playing.EpisodeRunner` attempts, by how a model is asked: with all that
has happened, or, for models too small to read that, with nothing but the game as it is now."""


SEEDS = 1 << 63
"""How many seeds `seed_of` gives: at least so many items has a generator that makes each suite's anew from one."""


class GameProcess(Protocol):
    """A game that is open. `steps` is how many actions there are at most.

    It may say with `harmless` which action any sound game takes, where that is another than an empty one.
    """

    steps: int

    async def reset(self) -> str:
        """Begin, and return the first observation. Raises as `step`."""
        ...

    async def step(self, action: str) -> tuple[str, float, bool]:
        """Take an action, which may be any text; return the observation, the reward and whether the game has ended.

        Raises:
            RolloutError: if the game itself fails.
            ProviderError: if a judge that decides the reward gives no verdict.
        """
        ...


_Told = TypeVar("_Told")
Opening = Callable[[Spec, Model | None], AbstractAsyncContextManager[GameProcess]]
"""Opens the game of a task's spec; the model is the judge where there is one."""


class LocalGameProcess:
    """A game that is quick and trusted: it is stepped in this process.

    Args:
        episode: the game.
    """

    def __init__(self, episode: Episode) -> None:
        self.steps, self._episode = episode.steps, episode

    async def reset(self) -> str:
        """Begin (see `GameProcess.reset`)."""
        return self._answer(self._episode.reset)

    async def step(self, action: str) -> tuple[str, float, bool]:
        """Take an action (see `GameProcess.step`)."""
        return self._answer(lambda: self._episode.step(action))

    def _answer(self, ask: Callable[[], _Told]) -> _Told:
        try:
            return ask()
        except Exception as error:
            raise RolloutError(f"{type(self._episode).__name__} failed: {type(error).__name__}: {error}") from error


def episode_info(
    name: str, game_process: str, *, version: str, description: str, family: str, kind: str = DIALOGUE, **more: Any
) -> TasksetInfo:
    """Return the info of a game's taskset.

    Args:
        name: the task's.
        game_process: the function that opens a game, `"module:function"`; see `Opening`.
        version: changes whenever the same game may be scored differently.
        description: for people.
        family: label to aggregate by.
        kind: `DIALOGUE` or `GLIMPSE`.
        **more: further JSON values of the spec, such as `judge=True`.
    """
    info = dealt_info(name, version=version, description=description, family=family, kind=kind)
    return replace(info, spec={**info.spec, "game_process": game_process, **more})


def opening_of(info: TasksetInfo) -> Opening:
    """Return what opens the games of a taskset.

    Raises:
        ConfigError: if it is no taskset of games.
    """
    game_process = info.spec.get("game_process")
    if info.kind not in (DIALOGUE, GLIMPSE) or not isinstance(game_process, str):
        kinds = f"{DIALOGUE!r} or {GLIMPSE!r}"
        raise ConfigError(f"{info.name} is of the kind {info.kind!r}; expected {kinds} with a game_process in its spec")
    return cast(Opening, resolve_name(game_process))


def episode_solving(max_tokens: int = 64, seconds: float = 4 * 3600.0) -> Solving:
    """Return how a game's model is asked: greedily, for replies of one thought and one action.

    Steps, tokens and the worker's own bounds end an episode. The seconds are a last resort: how many a game takes depends on the
    machine and on the games beside it, and a score must not.
    """
    return Solving(max_turns=1, max_tokens=max_tokens, temperature=0.0, seconds=seconds)


def seed_of(entropy: int, *path: str) -> int:
    """Return a seed of 63 bits, which every format of ours can hold, from a suite's entropy, which it does not give away."""
    return int(seed_sequence(entropy, "posttraining", *path).generate_state(1, np.uint64)[0]) >> 1


def environment_files(*names: str) -> dict[str, bytes]:
    """Return modules of the package `env` as files of a workspace, with what all of them need."""
    folder = files("heredity.posttraining.tasks.env")
    return {f"env/{name}.py": (folder / f"{name}.py").read_bytes() for name in ("__init__", "rollout", *names)}


def demonstrated(
    episode: Episode, instruction: str, steps: Iterable[tuple[str, str]], least: float = 1.0
) -> list[dict[str, str]]:
    """Play a reference solution and return its steps as rows to train on: `prompt` and `completion`.

    Raises:
        ConfigError: if it collects less than `least`: the game or its solution is wrong then.
    """
    solution = list(steps)
    played = play(episode, instruction, following(solution))
    if not played.done or played.total < least:
        raise ConfigError(
            f"a reference solution collects {played.total:g}; expected {least:g}: the game or the solution is wrong"
        )
    return [{"prompt": q, "completion": a} for q, a in zip(played.asked, played.replies, strict=True)]
