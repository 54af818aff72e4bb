"""The judge of post-training: the best graded checkpoint, on a slice that no submission was graded on (Agent² RL-Bench).

The graded view's best score within the budget is the paper's result. It selected the checkpoint and is therefore optimistic. The
held-out slice measures the selected checkpoint, paired by item with the base model.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError
from heredity._core.ids import seed_sequence
from heredity.configuration.config import Cell
from heredity.engine.runner import Job, Runner
from heredity.engine.trajectory import Trajectory
from heredity.kinds.checkpoint.inference import Inference, choose
from heredity.protocols.post_training.events import (
    BASELINE_SCORED,
    GRADING_REPEATED,
    BaselineScored,
    GradingRepeated,
    training_of,
)
from heredity.protocols.post_training.sections import TrainingSection
from heredity.records import Event, read_journal
from heredity.records.events import JUDGING_SELECTED
from heredity.results.base import covers
from heredity.sandbox.gpus import NO_GPU, Lease
from heredity.sandbox.limits import Limits
from heredity.session.bench import (
    Bench,
    Evolved,
    Reference,
    Verdict,
    conclude,
    load_candidate,
    require,
    score,
    score_reference,
)
from heredity.session.rollouts import listed_comparisons, outcome_of
from heredity.session.session_log import Submission, score_to_json
from heredity.session.views import clusters_of


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


async def judge(bench: Bench, evolved: Evolved, reference: Reference | None = None, *, repeats: int = 0) -> Verdict:
    """Judge a closed session and finish the run's journal; recorded results are reused.

    Args:
        bench: the judge's inputs; the graded view has the session's tasks.
        evolved: the closed session.
        reference: the base model.
        repeats: number of further gradings of the best checkpoint, to measure the noise of grading.

    Raises:
        HostError: if the grading worker fails, or all held-out rollouts are missing; resume the run to
            continue judging.
        RecordError: if the disk is full or fails.
    """
    best, reason = _best(evolved)
    submit_id, candidate = (best.submit_id, best.candidate) if best else (None, None)
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": submit_id, "candidate": candidate, "reason": reason}))
    heldout = (
        None
        if candidate is None
        else require(await score(bench, bench.view("heldout"), candidate, submit_id), "held-out rollouts")
    )
    if candidate is not None:
        for repeat in range(1, repeats + 1):
            await _again(bench, candidate, submit_id, repeat)
    scores = await score_reference(bench, reference) if reference else None
    if reference is not None and reference.graded is not None:
        listed = [score_to_json(points) for points in reference.graded]
        compared = listed_comparisons(reference.comparisons.get("graded", ()))
        digest = reference.candidate.digest
        baseline: BaselineScored = {
            "candidate": digest,
            "view": "graded",
            "scores": listed,
            **compared,
            **clusters_of(bench.train),
        }
        await bench.journal_once(BASELINE_SCORED.line(baseline))
    await conclude(bench, evolved.status)
    return Verdict(evolved.status, submit_id, candidate, reason, {}, heldout, scores)


async def _again(bench: Bench, digest: str, submit_id: int | None, repeat: int) -> None:
    """Grade a checkpoint once more on the graded view, with other seeds, to measure the noise of a score."""
    if bench.recorded(GRADING_REPEATED, candidate=digest, repeat=repeat) is not None:
        return
    candidate = await asyncio.to_thread(load_candidate, bench, digest)
    jobs = [
        Job(bench.taskset, candidate, task, episode_index=index, policy_seed=_seed(repeat, task.index))
        for index, task in enumerate(bench.train)
    ]
    trajectories = await bench.rollouts.all(jobs)
    outcomes = [
        outcome_of(job.task, t, bench.taskset.failure_return) for job, t in zip(jobs, trajectories, strict=True)
    ]
    scores = [score_to_json(outcome.score) for outcome in outcomes]
    data: GradingRepeated = {"submit_id": submit_id, "candidate": digest, "repeat": repeat, "scores": scores}
    await bench.records.commit([GRADING_REPEATED.line(data)])


def _seed(repeat: int, item: int) -> int:
    return int(seed_sequence(0, "grading", "repeat", repeat, item).generate_state(1)[0])


def selected(evolved: Evolved, events: Sequence[Event] = ()) -> str | None:
    """Return the best graded checkpoint, from the submissions alone (see `Selection`)."""
    best, _ = _best(evolved)
    return best.candidate if best else None


def _best(evolved: Evolved) -> tuple[Submission | None, str]:
    """Return the submission with the best graded score, the earliest among equals, and the reason."""
    graded = [(s.feedback(), s) for s in evolved.submissions if s.status is not None]
    covered = [(feedback, s) for feedback, s in graded if covers(feedback.scores.tolist(), evolved.coverage)]
    scored = [(feedback.mean, -s.submit_id, s) for feedback, s in covered]
    if not scored and any(not math.isnan(feedback.mean) for feedback, _ in graded):
        return None, f"no checkpoint has {evolved.coverage:.0%} of its graded scores; the rest are missing"
    if not scored:
        return None, "no checkpoint was graded"
    mean, _, best = max(scored, key=lambda entry: entry[:2])
    return best, f"best graded mean {mean:.6g} of {len(scored)} checkpoints"
