"""Agents without a language model: random, the reference solution, and a search that learns from rewards alone.

None of them is a candidate: they play in this process. `random` is the floor of every table. `reference` sees the full
state and shows the achievable reward. `search` is the model-free baseline. It may practise on the judged level, so its
score shows how far reward alone leads; do not compare it with agents that see a level once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heredity._core.errors import UnknownNameError
from heredity._core.ids import digest_bytes, generator
from heredity.kinds.world.episode import Episode, sample_action
from heredity.kinds.world.skins import render
from heredity.kinds.world.world import Level, World

PRACTICE = 10_000
"""Default number of steps that `search` may practise on a level."""

_TRIES = 4
_EXPLORE = 0.7


@dataclass(frozen=True, slots=True)
class Played:
    """A finished episode.

    Attributes:
        total: sum of its rewards, in the world's own unit.
        steps: its length.
        practice: steps taken on the level before, not counted in the score.
    """

    total: float
    steps: int
    practice: int = 0


Agent = Callable[[World, Level, int], Played]
"""Signature of an agent: plays a level; the last argument is a seed."""


def play_random(world: World, level: Level, seed: int) -> Played:
    """Play actions that are drawn uniformly, well typed but blind."""
    rng = generator(seed, "agent", "random", world.name, level.id)
    return _finish(world.start(level.data), iter(lambda: sample_action(rng, world.description.actions).to_json(), None))


def play_reference(world: World, level: Level, seed: int = 0) -> Played:
    """Play the reference solution; `seed` is ignored."""
    return _finish(world.start(level.data), iter([action.to_json() for action in world.levels.solve(level.data)]))


def play_search(world: World, level: Level, seed: int, practice: int = PRACTICE) -> Played:
    """Practise on the level, then play the best episode found once more.

    It uses the information available to any agent: the text that a reset or a step returns, the reward, and the action
    space. Each text is a place. An episode returns to a place by the actions that led there, which works because a
    world is deterministic, and then tries untried actions. The place is chosen by an upper confidence bound on the
    reward collected there and the number of episodes started from it (after Go-Explore, Ecoffet et al. 2021, "First
    return, then explore").

    Args:
        world: the world.
        level: the level to practise on and to play.
        seed: seeds its choices.
        practice: steps it may take before the scored episode.
    """
    search = _Search(world, level, generator(seed, "agent", "search", world.name, level.id))
    while search.steps < practice:
        search.episode()
    played = _finish(world.start(level.data), iter(search.best))
    return Played(played.total, played.steps, search.steps)


AGENTS: dict[str, Agent] = {"random": play_random, "reference": play_reference, "search": play_search}
"""The agents by name."""


def agent(name: str) -> Agent:
    """Return an agent by its name.

    Raises:
        UnknownNameError: if the name is unknown.
    """
    if name not in AGENTS:
        raise UnknownNameError("agent", name, AGENTS)
    return AGENTS[name]


def _finish(episode: Episode, actions: Iterator[Any]) -> Played:
    while not episode.done:
        episode.step(next(actions, None))
    return Played(episode.total, episode.t)


@dataclass(slots=True)
class _Place:
    """A visited text: the actions that led there, their reward, and the actions tried from it."""

    actions: tuple[Any, ...]
    total: float
    started: int = 0
    tried: set[str] = field(default_factory=set[str])


class _Search:
    def __init__(self, world: World, level: Level, rng: np.random.Generator) -> None:
        self._world, self._level, self._rng = world, level, rng
        self.best: Sequence[Any] = ()
        self._most = -math.inf
        self.steps = 0
        self._places: dict[str, _Place] = {}
        self._reach(self._key(world.start(level.data)), (), 0.0)

    def episode(self) -> None:
        """Return to a promising place and continue to the end."""
        node = self._promising()
        node.started += 1
        episode = self._world.start(self._level.data)
        for action in node.actions:
            episode.step(action)
        actions = list(node.actions)
        while not episode.done:
            action = self._untried(node)
            episode.step(action)
            actions.append(action)
            if not episode.done:
                node = self._reach(self._key(episode), tuple(actions), episode.total)
        self.steps += len(actions)
        if episode.total > self._most:
            self._most, self.best = episode.total, tuple(actions)

    def _promising(self) -> _Place:
        places = list(self._places.values())
        totals = np.array([node.total for node in places])
        spread = float(np.ptp(totals)) or 1.0
        started = np.array([node.started for node in places])
        bonus = np.sqrt(math.log(2 + started.sum()) / (1 + started))
        scores = totals / spread + _EXPLORE * bonus + 1e-6 * self._rng.random(len(places))
        return places[int(scores.argmax())]

    def _untried(self, node: _Place) -> Any:
        action: Any = None
        for _ in range(_TRIES):
            action = sample_action(self._rng, self._world.description.actions).to_json()
            written = json.dumps(action)
            if written not in node.tried:
                node.tried.add(written)
                break
        return action

    def _reach(self, key: str, actions: tuple[Any, ...], total: float) -> _Place:
        visited = self._places.get(key)
        if visited is None:
            visited = self._places[key] = _Place(actions, total)
        elif (total, -len(actions)) > (visited.total, -len(visited.actions)):
            visited.actions, visited.total = actions, total
        return visited

    def _key(self, episode: Episode) -> str:
        return digest_bytes(render(self._world.description.skin, episode.observe()).encode())
