"""Grading engine of a run's checkpoints: its name, and its device (CPU or one of the run's GPUs)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError
from heredity.configuration.config import Cell
from heredity.engine.runner import Job, Runner
from heredity.engine.trajectory import Trajectory
from heredity.kinds.checkpoint.inference import Inference, choose
from heredity.protocols.post_training.events import training_of
from heredity.protocols.post_training.sections import TrainingSection
from heredity.records import read_journal
from heredity.sandbox.gpus import NO_GPU, Lease
from heredity.sandbox.limits import Limits


class RunGrading:
    """Grades for one run; implements `heredity.engine.runner.Runner`.

    Args:
        inference: runs its checkpoints, without device files.
        opened: returns the grader for an engine and device; its provider closes it.
        lease: the run's GPUs.

    Attributes:
        lease: the run's GPUs.
    """

    def __init__(self, inference: Inference, opened: Callable[[Inference], Runner], lease: Lease = NO_GPU) -> None:
        self._inference, self._opened, self.lease = inference, opened, lease
        self._gpu = next(iter(lease.gpus), None)

    @property
    def about(self) -> dict[str, Any]:
        """The conditions of scores: `engine`, `version` and `device`."""
        return self._inference.to_json()

    def choose(self, gpu: str | None) -> None:
        """Grade from now on with one of the run's GPUs; None for its first."""
        self._gpu = gpu if gpu is not None else next(iter(self.lease.gpus), None)

    def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        """Run jobs (see `GradingRunner.run`)."""
        inference = self._inference
        if inference.device == "gpu" and self._gpu is not None:
            inference = replace(inference, devices=self.lease.gpus[self._gpu].files)
        return self._opened(inference).run(jobs, limits)

    async def close(self) -> None:
        """No-op; the engine owns the runners."""


def inference_of(cell: Cell, recorded: dict[str, Any] | None = None) -> Inference:
    """Return the inference engine for the checkpoints of a run.

    Args:
        cell: the run.
        recorded: the engine that graded it, or another run of its suite, before; `auto` keeps it.

    Raises:
        ConfigError: if it is not installed, needs a GPU that the run does not lease, or differs from the recorded one.
    """
    settings = cell.config.of(TrainingSection)
    if settings.gpus > len(cell.config.engine.gpus):
        raise ConfigError(
            f"training.gpus is {settings.gpus}, but engine.gpus lists {len(cell.config.engine.gpus)}; list enough, "
            "by nvidia-smi number"
        )
    if settings.device == "gpu" and not settings.gpus:
        raise ConfigError(
            'training.device is "gpu" but training.gpus is 0; set it to 1 or more and list GPUs in engine.gpus'
        )
    keep = settings.engine == "auto" and recorded is not None and recorded["device"] == settings.device
    engine = choose(recorded["engine"] if keep and recorded else settings.engine, settings.device)
    if recorded is not None and recorded != engine.to_json():
        raise ConfigError(
            f"checkpoints were graded with {_describe(recorded)} before, but would now be with {_describe(engine.to_json())}; "
            "their scores are not comparable: restore the earlier engine or start a new suite"
        )
    limits = (settings.memory_bytes, settings.load_seconds, settings.reply_seconds)
    return replace(engine, memory_bytes=limits[0], load_s=limits[1], reply_s=limits[2])


def inference_in(cell: Cell, cells: Sequence[Cell], runs: Path) -> Inference:
    """Return the inference engine of a run: the recorded one if the run or its suite is resumed.

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
        # Runs of a suite must be comparable.
        recorded = recorded_grading(
            [runs / c.id for c in cells if c.config.of(TrainingSection).device == settings.device]
        )
    return inference_of(cell, recorded)


def recorded_grading(folders: Sequence[Path]) -> dict[str, Any] | None:
    """Return the recorded engine of the first run that has one; None if none does."""
    for folder in folders:
        journal = folder / "journal.jsonl"
        started = read_journal(journal)[:1] if journal.exists() else []
        recorded = training_of(started[0].data).get("grading") if started else None
        if recorded:
            return recorded
    return None


def _describe(about: dict[str, Any]) -> str:
    return f"{about['engine']} {about['version']} on the {about['device']}"
