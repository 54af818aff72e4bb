"""How a world behaves, as numbers that worlds of any kind have in common, and how far two worlds are apart in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from heredity.ids import generator
from heredity.worlds.actions import sample_action
from heredity.worlds.agents import Played
from heredity.worlds.episode import Episode
from heredity.worlds.skins import render
from heredity.worlds.verify import plain_actions
from heredity.worlds.world import Level, World

LEVELS = ("test-01", "test-05", "test-10")
"""The levels that are looked at, one of each difficulty."""

_RANDOM, _GREEDY = 6, 2


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Means over levels and players; every number lies from 0 to about 1.

    Attributes:
        binary: 1 if success alone pays.
        partial: 1 if not everything is seen.
        inverse: 1 if words mean the contrary.
        actions: kinds of actions, of 10.
        branching: different actions, as a logarithm, of 1,000.
        horizon: steps, of 60.
        solution: steps of the reference solution over the horizon.
        paydays: share of the steps of the reference solution that pay.
        losses: share of random steps that pay less than nothing.
        refused: share of random actions that are refused.
        silent: share of random actions after which the text is the same as before, its counts of steps apart.
        spread: different texts that random players see, over their steps.
        ends: share of random episodes that end before the horizon.
        random: what random players get of the bound; `greedy`: those that look one step ahead.
        text: length of the text, as a logarithm, of 3,000 characters.
    """

    binary: float
    partial: float
    inverse: float
    actions: float
    branching: float
    horizon: float
    solution: float
    paydays: float
    losses: float
    refused: float
    silent: float
    spread: float
    ends: float
    random: float
    greedy: float
    text: float

    def to_json(self) -> dict[str, float]:
        """Return it as JSON values."""
        return {key: round(value, 4) for key, value in asdict(self).items()}

    def distance(self, other: Fingerprint) -> float:
        """Return how far two are apart: the root of the mean squared difference, 0 for the same, at most about 1."""
        mine, theirs = (np.array(list(asdict(one).values())) for one in (self, other))
        return float(np.sqrt(np.mean((mine - theirs) ** 2)))


def fingerprint(world: World) -> Fingerprint:
    """Return how a world behaves; the same world gives the same numbers."""
    described = world.description
    levels = [world.level(name) for name in LEVELS]
    choices = len(plain_actions(described))
    found = [_observed(world, level) for level in levels]
    mean = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
    return Fingerprint(
        binary=float(described.meta.reward == "binary"),
        partial=float(described.meta.observation == "partial"),
        inverse=float(described.meta.semantics == "inverse"),
        actions=min(1.0, len(described.actions) / 10),
        branching=min(1.0, float(np.log(choices + 1) / np.log(1000))),
        **mean,
    )


def play_greedy(world: World, level: Level, seed: int) -> Played:
    """Play what pays most in one step, by looking ahead on copies; chance decides among equals."""
    rng = generator(seed, "agent", "greedy", world.name, level.id)
    actions = plain_actions(world.description)
    episode = world.start(level.data)
    while not episode.done:
        tried = [actions[int(i)] for i in rng.permutation(len(actions))[:24]]
        paid = [episode.copy().step(action) for action in tried]
        best = max(range(len(tried)), key=lambda i: (paid[i].reward, not paid[i].refused, not paid[i].terminated))
        episode.step(tried[best])
    return Played(episode.total, episode.t)


def nearest(one: Fingerprint, others: Mapping[str, Fingerprint]) -> tuple[str, float]:
    """Return the nearest of some worlds, and how far it is."""
    return min(((name, one.distance(other)) for name, other in others.items()), key=lambda pair: pair[1])


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return least, quartiles and greatest of some distances; nothing of none."""
    if not values:
        return {}
    names = ("min", "q25", "median", "q75", "max")
    return {
        name: round(float(v), 4) for name, v in zip(names, np.quantile(values, (0, 0.25, 0.5, 0.75, 1)), strict=True)
    }


def _observed(world: World, level: Level) -> dict[str, float]:
    bound = level.upper_bound.value or 1.0
    solution = [action.to_json() for action in world.levels.solve(level.data)]
    episode, paid = world.start(level.data), 0
    for action in solution:
        if episode.done:
            break
        paid += episode.step(action).reward > 0
    rng = generator(level.seed, "fingerprint", world.name, level.id)
    steps = refused = silent = losses = ends = 0
    texts: set[str] = set()
    totals: list[float] = []
    for _ in range(_RANDOM):
        played = world.start(level.data)
        before = _seen(world, played)
        while not played.done:
            step = played.step(sample_action(rng, world.description.actions).to_json())
            after = _seen(world, played)
            steps, refused, losses = steps + 1, refused + step.refused, losses + (step.reward < 0)
            silent += after == before
            texts.add(after)
            before, ends = after, ends + step.terminated
        totals.append(played.total / bound)
    greedy = [play_greedy(world, level, seed).total / bound for seed in range(_GREEDY)]
    text = render(world.description.skin, world.start(level.data).observe())
    return {
        "horizon": min(1.0, episode.steps / 60),
        "solution": min(1.0, episode.t / episode.steps),
        "paydays": paid / max(1, episode.t),
        "losses": losses / steps,
        "refused": refused / steps,
        "silent": silent / steps,
        "spread": len(texts) / steps,
        "ends": ends / _RANDOM,
        "random": _share(totals),
        "greedy": _share(greedy),
        "text": min(1.0, float(np.log(len(text) + 1) / np.log(3000))),
    }


def _seen(world: World, episode: Episode) -> str:
    """Return what is exposed, but for the count of steps and the last message."""
    shown: dict[str, Any] = episode.observe()
    return json.dumps({key: value for key, value in shown.items() if key not in ("t", "message")}, sort_keys=True)


def _share(totals: Sequence[float]) -> float:
    return float(np.clip(np.mean(totals), 0.0, 1.0))
