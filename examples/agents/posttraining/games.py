"""Online rollouts in games: the policy plays with the game's own code, many games in lock-step, and its actions share the outcome.

Every task has games of its own; how they are opened stands in its description.md, and here in `openings`.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from online import Curriculum, Episode, Questions
from policy import Policy
from workspace import Workspace


class Game(Protocol):
    """A game that is being played."""

    done: bool
    reward: float

    def prompt(self) -> str:
        """Return what the policy is asked now."""
        ...

    def take(self, reply: str) -> None:
        """Take what it replied."""
        ...


class Glimpse:
    """A game of `game.py`, whose observation is the prompt, and whose reply is the action."""

    def __init__(self, game: Any) -> None:
        self._game = game
        self.done, self.reward = bool(game.done), 0.0

    def prompt(self) -> str:
        return self._game.observation

    def take(self, reply: str) -> None:
        self._game.step(reply)
        self.done, self.reward = bool(self._game.done), float(self._game.score)


class Dialogue:
    """A game of the package `env`, asked for with all that has happened, as `env.rollout.play` does."""

    def __init__(self, rollout: Any, episode: Any, instruction: str) -> None:
        self._rollout, self._episode, self._instruction = rollout, episode, instruction
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


def openings(space: Workspace) -> list[Callable[[], Game]]:
    """Return functions that open the games to practise on; none if the task has none, or none that is known here."""
    game = space.module("game")
    if game is not None:
        levels = [row["level"] for row in _rows(space.data / "levels.jsonl")]
        return [lambda level=level, play=game.Corridor: Glimpse(play(level)) for level in levels]
    known = {"shop": _shop, "search": _search}
    name = next((name for name in known if (space.root / "env" / f"{name}.py").exists()), None)
    if name is None:
        return []
    if str(space.root) not in sys.path:
        sys.path.insert(0, str(space.root))
    rollout, module = (importlib.import_module(f"env.{part}") for part in ("rollout", name))
    make = known[name](module, space.data)
    rows = _rows(space.data / "episodes.jsonl")
    return [lambda row=row: Dialogue(rollout, make(row), module.INSTRUCTION) for row in rows]


def _shop(module: Any, data: Path) -> Callable[[Any], Any]:
    shop = module.Shop.of(json.loads((data / "catalogue.json").read_text(encoding="utf-8")))
    return lambda row: module.ShopEpisode(shop, module.goal_of(row["goal"]))


def _search(module: Any, data: Path) -> Callable[[Any], Any]:
    library = module.Library.of(_rows(data / "documents.jsonl"))
    return lambda row: module.SearchEpisode(library, module.question_of(row))


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


class Games:
    """Games to practise on; an attempt is one game.

    Args:
        games: open them.
        policy: what plays.
        limit: most tokens of a reply.
        seed: of the order of the games.
    """

    problems = 8
    """How many to attempt at once; a game is many turns."""

    def __init__(self, games: Sequence[Callable[[], Game]], policy: Policy, limit: int, seed: int) -> None:
        self._games, self._policy, self._limit = games, policy, limit
        self._curriculum = Curriculum(len(games), seed)

    def play(self, problems: int, group: int, temperature: float) -> list[list[Episode]]:
        """Return a group of attempts at each of some games."""
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
        for problem, attempts in zip(chosen, groups, strict=True):
            self._curriculum.learned(problem, [episode.reward for episode in attempts])
        return groups


def rollouts_of(space: Workspace, policy: Policy, limit: int, seed: int) -> Games | Questions:
    """Return where the policy can try itself: the task's games, or else its questions."""
    games = openings(space)
    return Games(games, policy, limit, seed) if games else Questions(space, policy, limit, seed)
