"""What grades the checkpoints of one run: which engine, on the processor or on a GPU of the run's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from heredity.configuration.config import Cell
from heredity.errors import ConfigError
from heredity.posttraining.inference import Inference, choose
from heredity.protocols.post_training.events import training_of
from heredity.protocols.post_training.sections import TrainingSection
from heredity.records import read_journal
from heredity.rollouts.contract import Job, Runner
from heredity.rollouts.trajectory import Trajectory
from heredity.sandbox.gpus import NO_GPU, Lease
from heredity.sandbox.limits import Limits


class RunGrading:
    """Grades for one run; implements `heredity.rollouts.contract.Runner`.

    Args:
        inference: what answers for its checkpoints, without device files.
        opened: gives what grades with an engine in a place; whoever gives it closes it.
        lease: the run's GPUs.

    Attributes:
        lease: the same.
    """

    def __init__(self, inference: Inference, opened: Callable[[Inference], Runner], lease: Lease = NO_GPU) -> None:
        self._inference, self._opened, self.lease = inference, opened, lease
        self._gpu = next(iter(lease.gpus), None)

    @property
    def about(self) -> dict[str, Any]:
        """What scores hang on: `engine`, `version` and `device`."""
        return self._inference.to_json()

    def choose(self, gpu: str | None) -> None:
        """Grade from now on with one of the run's GPUs; its first for None."""
        self._gpu = gpu if gpu is not None else next(iter(self.lease.gpus), None)

    def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        """Attempt jobs (see `GradingRunner.run`)."""
        inference = self._inference
        if inference.device == "gpu" and self._gpu is not None:
            inference = replace(inference, devices=self.lease.gpus[self._gpu].files)
        return self._opened(inference).run(jobs, limits)

    async def close(self) -> None:
        """Leave everything open: it is the engine's."""


def inference_of(cell: Cell, recorded: dict[str, Any] | None = None) -> Inference:
    """Return what answers for the checkpoints of a run.

    Args:
        cell: the run.
        recorded: what it, or another run of its suite, was graded with before; `auto` keeps to it.

    Raises:
        ConfigError: if it is not installed, a GPU is asked for that the run does not lease, or the run was graded with another one.
    """
    settings = cell.config.of(TrainingSection)
    if settings.gpus > len(cell.config.engine.gpus):
        raise ConfigError(
            f"training.gpus is {settings.gpus}, and engine.gpus names {len(cell.config.engine.gpus)}; name as many there, "
            "by the numbers that nvidia-smi shows"
        )
    if settings.device == "gpu" and not settings.gpus:
        raise ConfigError(
            'training.device is "gpu", and training.gpus is 0; set it to 1 or more, and name GPUs in engine.gpus'
        )
    keep = settings.engine == "auto" and recorded is not None and recorded["device"] == settings.device
    engine = choose(recorded["engine"] if keep and recorded else settings.engine, settings.device)
    if recorded is not None and recorded != engine.to_json():
        raise ConfigError(
            f"checkpoints were graded with {_shown(recorded)} here before, and would be with {_shown(engine.to_json())} now; their "
            "scores are not comparable: restore what was there, or start a new suite"
        )
    return engine


def inference_in(cell: Cell, cells: Sequence[Cell], runs: Path) -> Inference:
    """Return what answers for the checkpoints of a run: what did before, where the run or its suite is resumed.

    Args:
        cell: the run.
        cells: all runs of its suite.
        runs: the folder of their folders.

    Raises:
        ConfigError: as `inference_of`.
    """
    settings = cell.config.of(TrainingSection)
    recorded = recorded_grading([runs / cell.id])
    if recorded is None and settings.engine == "auto":
        # The runs of a suite are to be comparable.
        recorded = recorded_grading(
            [runs / c.id for c in cells if c.config.of(TrainingSection).device == settings.device]
        )
    return inference_of(cell, recorded)


def recorded_grading(folders: Sequence[Path]) -> dict[str, Any] | None:
    """Return what runs were graded with, as the first of their journals that says so does; None if none does."""
    for folder in folders:
        journal = folder / "journal.jsonl"
        started = read_journal(journal)[:1] if journal.exists() else []
        recorded = training_of(started[0].data).get("grading") if started else None
        if recorded:
            return recorded
    return None


def _shown(about: dict[str, Any]) -> str:
    return f"{about['engine']} {about['version']} on the {about['device']}"
