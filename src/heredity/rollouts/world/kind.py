"""The kind of worlds: players, a language model or programs, act in levels until they end."""

from __future__ import annotations

from heredity.actors.player import plain_player
from heredity.rollouts.contract import Runner
from heredity.rollouts.kind import Candidates, Kind, Needs, Opening
from heredity.rollouts.world.runner import WorldRunner


def _open(opening: Opening) -> Runner:
    return WorldRunner(
        opening.model, programs=opening.programs, settings=opening.settings, concurrent=opening.concurrent
    )


KIND = Kind(
    "world",
    _open,
    Needs(model="optional", programs=True),
    Candidates(starter=lambda info: plain_player()),
)
