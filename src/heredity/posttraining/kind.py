"""The kind of checkpoints: a submitted model answers the questions, or plays the games, that a post-training task grades with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from heredity.actors.contract import Solving
from heredity.errors import ConfigError
from heredity.gateway import Model
from heredity.posttraining.inference import Inference
from heredity.posttraining.models.places import CheckpointPlaces
from heredity.posttraining.runner import GradingRunner
from heredity.posttraining.tasks.contract import KIND as NAME
from heredity.rollouts.contract import Runner
from heredity.rollouts.kind import KINDS, Kind, Needs, Opening
from heredity.rollouts.trajectory import Trajectory
from heredity.sandbox.inference import ROOTS

EXTRAS = {"posttrain": ROOTS}

CONCURRENT = 64
"""Rollouts at the same time: what a worker on a processor answers in one batch."""


def inner_runner(kind: str, opening: Opening) -> Runner:
    """Return what attempts the inner tasks of a kind with the model that is graded, up to `CONCURRENT` at the same time.

    Raises:
        UnknownNameError: if there is no such kind.
        ConfigError: if no language model attempts its tasks, or it needs containers to.
    """
    chosen = KINDS.load(kind)
    if chosen.needs.model == "none" or chosen.needs.containers:
        raise ConfigError(f"tasks of the kind {kind!r} cannot grade a model; expected questions, games or worlds")
    return chosen.open(replace(opening, concurrent=CONCURRENT))


def _open(opening: Opening) -> Runner:
    def inner(kind: str, model: Model, solving: Solving) -> Runner:
        return inner_runner(kind, replace(opening, model=model, settings=solving))

    # Where nobody says what answers, nothing is compared with what another engine answered.
    inference = opening.placement if isinstance(opening.placement, Inference) else Inference()
    return GradingRunner(opening.shared.of(CheckpointPlaces).resolve, inner, inference=inference)


def _restarts(trajectory: Trajectory) -> Sequence[str]:
    return trajectory.stderr.splitlines()


def _unrepeatable(folder: Path) -> str:
    if not any((folder / "models").glob("*/*")):
        return "weights were not kept"
    return "not comparable: what a model answers depends on the machine that computes it"


KIND = Kind(
    NAME,
    _open,
    Needs(judge=True, programs=True, placement=Inference),
    restarts=_restarts,
    unrepeatable=_unrepeatable,
)
