"""Online rollouts in games: the policy plays the game's code, many games in lock-step, and all actions of a game share its outcome.

Every task has different games; its description.md, and `openings` here, define how to open them.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Protocol

from online import Curriculum, Episode, Questions, Rollouts, Several
from policy import Policy
from workspace import Workspace


class Game(Protocol):
    """A running game."""

    done: bool
    reward: float

    def prompt(self) -> str:
        """Return the current prompt of the policy."""
        ...

    def take(self, reply: str) -> None:
        """Take the reply."""
        ...


class Glimpse:
    """A game of `game.py`: the observation is the prompt, and the reply is the action."""

    def __init__(self, game: Any) -> None:
        self._game = game
        self.done, self.reward = bool(game.done), 0.0

    def prompt(self) -> str:
        return self._game.observation

    def take(self, reply: str) -> None:
        self._game.step(reply)
        self.done, self.reward = bool(self._game.done), float(self._game.score)


class Dialogue:
    """A game of the package `env`, prompted with the full history, as in `env.rollout.play`."""

    def __init__(self, rollout: Any, episode: Any, instruction: str) -> None:
        self._rollout, self._episode, self._instruction = rollout, episode, instruction
        self._close: Callable[[], None] = getattr(episode, "close", lambda: None)
        self._transcript = rollout.Transcript(episode.reset())
        self.done, self.reward = False, 0.0

    def prompt(self) -> str:
        return self._rollout.asked(self._instruction, self._transcript)

    def take(self, reply: str) -> None:
        thought, action = self._rollout.read_reply(reply)
        observation, reward, ended = self._episode.step(action)
        self._transcript.turns.append(self._rollout.Turn(thought, action, observation))
        self.reward += reward
        self.done = ended or len(self._transcript.turns) >= self._episode.steps
        if self.done:
            self._close()


def openings(space: Workspace) -> list[Callable[[], Game]]:
    """Return functions that open the practice games; none if the task has none known here."""
    game = space.module("game")
    if game is not None:
        levels = [row["level"] for row in _rows(space.data / "levels.jsonl")]
        return [lambda level=level, play=game.Corridor: Glimpse(play(level)) for level in levels]
    openers = {"shop": _shop, "search": _search, "household": _household}
    name = next((name for name in openers if (space.root / "env" / f"{name}.py").exists()), None)
    if name is None:
        return []
    package = _package(space.root / "env")
    rollout, module = (importlib.import_module(f"{package}.{part}") for part in ("rollout", name))
    return [lambda make=make: Dialogue(rollout, make(), module.INSTRUCTION) for make in openers[name](module, space)]


def _package(folder: Path) -> str:
    """Import the package in a folder under a unique name, since several tasks may have one, and return the name."""
    name = f"env_{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        spec = spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return name


def _shop(module: Any, space: Workspace) -> list[Callable[[], Any]]:
    shop = module.Shop.of(json.loads((space.data / "catalogue.json").read_text(encoding="utf-8")))
    rows = _rows(space.data / "episodes.jsonl")
    return [lambda row=row: module.ShopEpisode(shop, module.goal_of(row["goal"])) for row in rows]


def _search(module: Any, space: Workspace) -> list[Callable[[], Any]]:
    library = module.Library.of(_rows(space.data / "documents.jsonl"))
    rows = _rows(space.data / "episodes.jsonl")
    return [lambda row=row: module.SearchEpisode(library, module.question_of(row)) for row in rows]


def _household(module: Any, space: Workspace) -> list[Callable[[], Any]]:
    # Every open game takes 34 MB for temporary files, and /tmp in the sandbox has room for six.
    tempfile.tempdir = str(Path.home())
    return [lambda folder=folder: module.Household(folder) for folder in sorted((space.root / "games").iterdir())]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


class Games:
    """Games to practise on; a rollout is one game.

    Args:
        games: functions that open the games.
        policy: the player.
        limit: maximum tokens of a reply.
        seed: seed of the order of the games.
    """

    problems = 8
    """How many to attempt at once; a game is many turns."""

    def __init__(self, games: Sequence[Callable[[], Game]], policy: Policy, limit: int, seed: int) -> None:
        self._games, self._policy, self._limit = games, policy, limit
        self._curriculum = Curriculum(len(games), seed)

    def play(self, problems: int, group: int, temperature: float) -> list[list[Episode]]:
        """Return a group of rollouts for each of some games."""
        chosen = self._curriculum.choose(problems)
        games = [self._games[i]() for i in chosen for _ in range(group)]
        episodes = [Episode() for _ in games]
        while going := [n for n, game in enumerate(games) if not game.done]:
            prompts = [self._policy.encode(games[n].prompt()) for n in going]
            replies = self._policy.sample(prompts, temperature=temperature, limit=self._limit)
            for n, prompt, reply in zip(going, prompts, replies, strict=True):
                episodes[n].turns.append((prompt, reply))
                games[n].take(self._policy.text(reply))
                episodes[n].reward = games[n].reward
        groups = [episodes[n : n + group] for n in range(0, len(episodes), group)]
        for problem, rollouts in zip(chosen, groups, strict=True):
            self._curriculum.learned(problem, [episode.reward for episode in rollouts])
        return groups


def rollouts_of(space: Workspace, policy: Policy, seed: int) -> Rollouts:
    """Return the practice for the policy: the task's games, or else its questions; for several tasks, all of them.

    The maximum reply length is that of the task's longest solution, or the setting `MAX_TOKENS`.
    """
    most, parts = space.setting("MAX_TOKENS", 0), list[Rollouts]()
    for part in space.parts():
        limit = most or max(len(policy.answer(row["completion"])) for row in part.rows())
        games = openings(part)
        parts.append(Games(games, policy, limit, seed) if games else Questions(part, policy, limit, seed))
    return parts[0] if len(parts) == 1 else Several(parts)
