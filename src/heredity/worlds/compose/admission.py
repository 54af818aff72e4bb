"""What a composed world has to pass before it is used: everything that a careless or a cunning player would try, on every level."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heredity.errors import HeredityError
from heredity.worlds.compose.composed import ComposedWorld
from heredity.worlds.compose.fingerprint import Fingerprint, fingerprint, play_greedy
from heredity.worlds.compose.recipe import Recipe
from heredity.worlds.verify import LevelReport, verify_level
from heredity.worlds.world import DIFFICULTIES, Level

EASY = 0.6
"""A world whose random players get more than this share of the bounds asks for nothing."""

_RANDOM = 8
_OPEN = "the search of {} did not end: no exact bound"


@dataclass(frozen=True, slots=True)
class Admission:
    """What came of a recipe.

    Attributes:
        name: the world's name.
        seed: its seed.
        reason: why it was rejected, one word; empty if it was admitted.
        detail: the same in words.
        meta: kind of reward, observation, semantics, mechanics and theme, where it could be put together.
        players: mean shares of the bounds: `random`, `greedy`, `reference`.
        fingerprint: how it behaves; None where it was rejected before.
    """

    name: str
    seed: int
    reason: str = ""
    detail: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    players: Mapping[str, float] = field(default_factory=dict[str, float])
    fingerprint: Fingerprint | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        head = {"world": self.name, "seed": self.seed, "admitted": not self.reason}
        why = {"reason": self.reason, "detail": self.detail} if self.reason else {}
        marks = {} if self.fingerprint is None else {"fingerprint": self.fingerprint.to_json()}
        return {**head, **why, **self.meta, "players": dict(self.players), **marks}


def admit(recipe: Recipe) -> tuple[Admission, ComposedWorld | None]:
    """Compose a world and check it; the world is None where it was rejected."""
    meta: dict[str, Any] = {}
    try:
        world = ComposedWorld(recipe)
    except HeredityError as error:
        return Admission(recipe.name, recipe.seed, "rules", str(error)), None
    made, said = world.composition, world.description.meta
    kinds = {"reward": said.reward, "observation": said.observation, "semantics": said.semantics}
    meta = {**kinds, "mechanics": list(made.mechanics), "theme": made.theme}
    try:
        hardest = world.make(1, DIFFICULTIES[-1])
        if hardest.upper_bound.kind != "exact":  # seen before fifteen such levels are searched
            return Admission(recipe.name, recipe.seed, "bound", _OPEN.format(hardest.id), meta), None
        levels = [level for shipped in world.shipped.values() for level in shipped]
        reports = [verify_level(world, level, seconds=0.0, random_agents=_RANDOM) for level in levels]
        players = _players(world, levels, reports)
        reason, detail = _fault(levels, reports, players)
    except HeredityError as error:
        return Admission(recipe.name, recipe.seed, "levels", str(error), meta), None
    if reason:
        return Admission(recipe.name, recipe.seed, reason, detail, meta, players), None
    return Admission(recipe.name, recipe.seed, "", "", meta, players, fingerprint(world)), world


def _players(world: ComposedWorld, levels: Sequence[Level], reports: Sequence[LevelReport]) -> dict[str, float]:
    greedy = [
        max(0.0, play_greedy(world, level, seed).total / level.upper_bound.value)
        for level, seed in itertools.product(levels, range(2))
    ]
    return {
        "random": float(np.mean([max(0.0, report.random) for report in reports])),
        "greedy": float(np.mean(greedy)),
        "reference": float(np.mean([report.reference for report in reports])),
    }


def _fault(levels: Sequence[Level], reports: Sequence[LevelReport], players: Mapping[str, float]) -> tuple[str, str]:
    """Return the first reason against a world, and what was seen; both empty if there is none."""
    for report in reports:
        if report.faults:
            return "verification", f"{report.level}: {report.faults[0]}"
    open_bounds = [level.id for level in levels if level.upper_bound.kind != "exact"]
    if open_bounds:
        return "bound", _OPEN.format(", ".join(open_bounds))
    idle = max(report.repeated for report in reports)
    if idle >= 1.0 - 1e-9:
        return "repeating", "one action, done over and over, gets all that can be had"
    if players["random"] > EASY:
        return "easy", f"random players get {players['random']:.2f} of the bounds"
    if players["random"] > players["greedy"] + 0.1:
        return "order", f"random players get {players['random']:.2f}, and one that looks ahead {players['greedy']:.2f}"
    return "", ""
