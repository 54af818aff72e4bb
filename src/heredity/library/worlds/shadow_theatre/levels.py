"""Levels of `shadow_theatre`: a scene that casts the silhouette, an initial scene, and a path between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

import numpy as np

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.search import shortest_plan
from heredity.library.worlds.shadow_theatre.dynamics import (
    HEIGHT,
    LANES,
    SHAPES,
    WIDTH,
    Puppet,
    Scene,
    after,
    cut,
    lamp_moved,
    read_scene,
    shadows,
)

_COUNTS = {1: 2, 2: 3, 3: 4}
_REACH = {1: 2, 2: 3, 3: 3}
_MOST_STEPS = 60
_WAYS = ("left", "right", "closer", "farther", "turn left", "turn right")


class Silhouettes(Levels):
    """Makes silhouettes to which every puppet contributes."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a silhouette, and a scene with a known path to one that casts it."""
        while True:
            shapes = [int(s) for s in rng.permutation(len(SHAPES))[: _COUNTS[difficulty]]]
            goal = _scene(rng, shapes, int(rng.integers(6, 13)))
            lamp = goal.lamp + int(rng.integers(1, _REACH[difficulty] + 1)) * (1 if rng.random() < 0.5 else -1)
            start = _near(rng, goal, lamp)
            if not _stands(goal) or not _stands(start) or not _each_adds(goal) or not any(p.lane for p in goal.puppets):
                continue
            level = _written(start, goal)
            plan = _plan(level)
            if plan and len(plan) >= 5 * difficulty + 2 and shadows(start) != shadows(goal):
                return {**level, "steps": min(_MOST_STEPS, 2 * len(plan) + 10)}

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: success pays 1 once, and a path to a scene that casts the silhouette fits into the horizon."""
        return UpperBound(
            1.0, "exact", "success pays 1 once, and a way to the silhouette was found that fits into the horizon"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the lamp's path, then each puppet's shortest, in an order in which none blocks another."""
        return _plan(level) or []


def _scene(rng: np.random.Generator, shapes: Sequence[int], lamp: int) -> Scene:
    puppets = [
        Puppet(shape, int(rng.integers(4)), int(rng.integers(4, WIDTH - 6)), int(rng.integers(LANES)))
        for shape in shapes
    ]
    return Scene(lamp, tuple(puppets))


def _near(rng: np.random.Generator, goal: Scene, lamp: int) -> Scene:
    puppets = [
        p._replace(
            turns=(p.turns + int(rng.integers(-1, 2))) % 4,
            column=p.column + int(rng.integers(-3, 4)),
            lane=int(rng.integers(LANES)),
        )
        for p in goal.puppets
    ]
    return Scene(lamp, tuple(puppets))


def _stands(scene: Scene) -> bool:
    """Return True if the puppets are on the stage, apart from each other, with their whole shadows on the screen."""
    for index, p in enumerate(scene.puppets):
        rows = cut(p.shape, p.turns)
        left = (p.lane + 1) * p.column - p.lane * scene.lamp
        if left < 0 or left + (p.lane + 1) * len(rows[0]) > WIDTH or (p.lane + 1) * len(rows) > HEIGHT:
            return False
        for other in scene.puppets[:index]:
            apart = p.column + len(rows[0]) <= other.column or other.column + len(cut(*other[:2])[0]) <= p.column
            if p.lane == other.lane and not apart:
                return False
    return all(p.column >= 0 and p.column + len(cut(*p[:2])[0]) <= WIDTH for p in scene.puppets)


def _each_adds(scene: Scene) -> bool:
    """Return True if removing any one puppet changes the silhouette."""
    whole = shadows(scene)
    return all(
        shadows(scene._replace(puppets=scene.puppets[:i] + scene.puppets[i + 1 :])) != whole
        for i in range(len(scene.puppets))
    )


def _written(start: Scene, goal: Scene) -> dict[str, Any]:
    return {
        "lamp": start.lamp,
        "puppets": [list(p) for p in start.puppets],
        "wanted": list(shadows(goal)),
        "goal": {"lamp": goal.lamp, "puppets": [list(p) for p in goal.puppets]},
    }


def _plan(level: LevelData) -> list[Action] | None:
    """Return the actions from the start to the goal scene; None if a puppet blocks another in every order."""
    goal, start = read_scene(level["goal"]), read_scene(level)
    moves: list[Action] = []
    while start.lamp != goal.lamp:
        direction = "left" if goal.lamp < start.lamp else "right"
        start = lamp_moved(start, direction)
        moves.append(Action.of("lamp", direction=direction))
    for order in permutations(range(len(goal.puppets))):
        steps = _in_order(start, goal, order)
        if steps is not None:
            return moves + steps
    return None


def _in_order(scene: Scene, goal: Scene, order: Sequence[int]) -> list[Action] | None:
    moves: list[Action] = []
    for puppet in order:
        wanted = goal.puppets[puppet]
        way = shortest_plan(scene, lambda s, p=puppet: _moves(s, p), lambda s, p=puppet, w=wanted: s.puppets[p] == w)
        if way is None:
            return None
        for what in way:
            scene = after(scene, puppet, what)
            verb, _, side = what.rpartition(" ")
            moves.append(Action.of(verb or "move", puppet=puppet + 1, direction=side))
    return moves


def _moves(scene: Scene, puppet: int) -> Iterator[tuple[str, Scene]]:
    for what in _WAYS:
        try:
            yield what, after(scene, puppet, what)
        except RefusedError:
            continue


LEVELS = Silhouettes()
