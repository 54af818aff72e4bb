"""Text games as tasks: the interface for runners, and the training data for agents.

The spec of such a taskset names a function, `game_process`, which opens the game of a task; its kind determines how
the model is queried. Training rows are the steps of a reference solution, each with the exact prompt of a graded
model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from importlib.resources import files
from pkgutil import resolve_name
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from heredity._core.errors import ConfigError
from heredity._core.ids import seed_sequence
from heredity.engine.actor import Solving
from heredity.engine.rollout import RolloutError
from heredity.kinds.checkpoint.tasks.dealing import Spec, dealt_info
from heredity.kinds.checkpoint.tasks.env.rollout import Episode, following, play
from heredity.models import Model
from heredity.tasks import TasksetInfo

DIALOGUE, GLIMPSE = "text-episode", "glimpse-game"
"""The kinds of tasksets that `heredity.kinds.checkpoint.tasks.kinds.EpisodeRunner` attempts, by how a model is asked: with all that
has happened, or, for models too small to read that, with nothing but the game as it is now."""


SEEDS = 1 << 63
"""How many seeds `seed_of` gives: at least so many items has a generator that makes each suite's anew from one."""


class GameProcess(Protocol):
    """An open game. `steps` is the maximum number of actions.

    It may define `harmless`, an action that every working game accepts, if an empty one is not suitable.
    """

    steps: int

    async def reset(self) -> str:
        """Start, and return the first observation. Raises as `step`."""
        ...

    async def step(self, action: str) -> tuple[str, float, bool]:
        """Take an action, any text; return the observation, the reward and True if the game has ended.

        Raises:
            RolloutError: if the game itself fails.
            ProviderError: if a judge that decides the reward gives no verdict.
        """
        ...


_Told = TypeVar("_Told")
Opening = Callable[[Spec, Model | None], AbstractAsyncContextManager[GameProcess]]
"""Opens the game of a task's spec; the model is the judge, if any."""


class LocalGameProcess:
    """A fast and trusted game, stepped in this process.

    Args:
        episode: the game.
    """

    def __init__(self, episode: Episode) -> None:
        self.steps, self._episode = episode.steps, episode

    async def reset(self) -> str:
        """Start (see `GameProcess.reset`)."""
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
    """Return the function that opens the games of a taskset.

    Raises:
        ConfigError: if it is not a taskset of games.
    """
    game_process = info.spec.get("game_process")
    if info.kind not in (DIALOGUE, GLIMPSE) or not isinstance(game_process, str):
        kinds = f"{DIALOGUE!r} or {GLIMPSE!r}"
        raise ConfigError(f"{info.name} is of the kind {info.kind!r}; expected {kinds} with a game_process in its spec")
    return cast(Opening, resolve_name(game_process))


def episode_solving(max_tokens: int = 64, seconds: float = 4 * 3600.0) -> Solving:
    """Return the settings for querying a game's model: greedily, for replies of one thought and one action.

    Steps, tokens and the worker's own limits end an episode. The timeout is a last resort: a game's duration depends
    on the machine and on concurrent games, and a score must not.
    """
    return Solving(max_turns=1, max_tokens=max_tokens, temperature=0.0, seconds=seconds)


def seed_of(entropy: int, *path: str) -> int:
    """Return a seed of 63 bits, which fits all our formats, derived from a suite's entropy without revealing it."""
    return int(seed_sequence(entropy, "posttraining", *path).generate_state(1, np.uint64)[0]) >> 1


def environment_files(*names: str) -> dict[str, bytes]:
    """Return modules of the package `env` as files of a workspace, with their common dependencies."""
    folder = files("heredity.kinds.checkpoint.tasks.env")
    return {f"env/{name}.py": (folder / f"{name}.py").read_bytes() for name in ("__init__", "rollout", *names)}


def demonstrated(
    episode: Episode, instruction: str, steps: Iterable[tuple[str, str]], least: float = 1.0
) -> list[dict[str, str]]:
    """Play a reference solution and return its steps as training rows: `prompt` and `completion`.

    Raises:
        ConfigError: if it collects less than `least`: then the game or its solution is wrong.
    """
    solution = list(steps)
    played = play(episode, instruction, following(solution))
    if not played.done or played.total < least:
        raise ConfigError(
            f"a reference solution collects {played.total:g}; expected {least:g}: the game or the solution is wrong"
        )
    return [{"prompt": q, "completion": a} for q, a in zip(played.asked, played.replies, strict=True)]
