"""From a post-training configuration to an agent that trains a model within its time."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from heredity.configuration.config import Cell
from heredity.errors import ConfigError, UnknownNameError
from heredity.experiments.outside_agents import command_agent, described, model_door, record_stream
from heredity.judging.bench import Reference
from heredity.judging.session import Session
from heredity.launchers import CommandAgent
from heredity.launchers.starts import failure_of
from heredity.posttraining.models.bases import CHARACTERS, SMOLLM2, base_model
from heredity.posttraining.models.checkpoint import Checkpoint, candidate_of, inspect
from heredity.posttraining.models.places import CheckpointPlaces
from heredity.posttraining.tasks import PREFIX, PostTrainingTask, PostTrainingTaskset, SeveralTasks, posttraining_task
from heredity.posttraining.tasks.overlap import HiddenTexts
from heredity.posttraining.tasks.registry import GRADED, HELDOUT, view_texts, workspace_files
from heredity.posttraining.tasks.several import MULTI
from heredity.protocols.contract import Evolver, RunContext
from heredity.protocols.post_training.analysis.record import BASE_MODEL
from heredity.protocols.post_training.gradings import RunGrading, inference_of
from heredity.protocols.post_training.sections import TrainingSection
from heredity.protocols.post_training.server.agent_run import train_with_agent
from heredity.protocols.post_training.server.terms import Part, TrainingTerms
from heredity.records.events import GPU_LEASED
from heredity.resources import Candidate
from heredity.sandbox.gpus import Lease
from heredity.sandbox.inference import packages

AGENT_PACKAGES = ("accelerate", "peft", "trl", "datasets", "reasoning-gym", "alfworld")
"""Distributions that an agent may import where they are installed, beside torch and transformers and what these require."""

PROMPT = (
    "You are alone at this, and nobody answers questions. Read instructions.md and description.md in the current folder, then "
    "train the model and submit checkpoints until the time is nearly over."
)


@dataclass(frozen=True, slots=True)
class Base:
    """A base model, made or found.

    Attributes:
        name: its name.
        folder: where it is.
        checkpoint: what it is.
    """

    name: str
    folder: Path
    checkpoint: Checkpoint

    @property
    def candidate(self) -> Candidate:
        """The candidate that stands for it."""
        return candidate_of(self.checkpoint)


def task_of(cell: Cell) -> PostTrainingTask | SeveralTasks:
    """Return the task of a run of post-training, or the several tasks.

    Raises:
        ConfigError: if its taskset is none of post-training, or the base model is none that the task has.
    """
    if not cell.taskset.startswith("posttraining/"):
        raise ConfigError(f"post-training runs on tasksets named posttraining/NAME, and {cell.taskset} is none")
    return posttraining_task(cell.taskset)


async def base_of(cell: Cell, places: CheckpointPlaces) -> Base:
    """Return the base model of a run; one that is made from a recipe is trained first where it is not in the cache."""
    name = cell.config.of(TrainingSection).base_model or task_of(cell).base_models[0]
    folder = await asyncio.to_thread(base_model, name)
    checkpoint = await asyncio.to_thread(inspect, folder)
    places.folders[checkpoint.digest] = folder
    return Base(name, folder, checkpoint)


def mode_of(cell: Cell) -> str:
    """Return the operating mode of a run; several tasks that may be trained in any way are the paper's multi-task mode."""
    mode = cell.config.of(TrainingSection).mode
    return "multi-task" if mode == "free" and len(task_of(cell).parts) > 1 else mode


def check_trainer(cell: Cell, task: PostTrainingTask | SeveralTasks, secrets: Sequence[Path]) -> None:
    """Check what can be checked before a run begins.

    Args:
        cell: the run.
        task: its task, or its several tasks.
        secrets: folders that must stay hidden from what evolves.

    Raises:
        ConfigError: if the task, its base model, its judge, the agent or the time is missing or wrong, or the task has fewer items
            than are to be graded or held out.
        MissingExtraError: if a package that grades is not installed.
    """
    config = cell.config
    if config.budget.seconds is None:
        raise ConfigError("budget.seconds is missing; give the wall seconds that an agent has, such as 3600")
    name = config.of(TrainingSection).base_model
    if name and not _takes(task, name):
        if Path(name).is_absolute():
            raise ConfigError(f"training.base_model is {name!r}, and there is no such folder; correct the path")
        raise UnknownNameError("base model", name, [*task.base_models, SMOLLM2])
    if config.of(TrainingSection).mode == "multi-task" and len(task.parts) < 2:
        raise ConfigError(
            f'training.mode is "multi-task", and {cell.taskset} is one task; name several, such as '
            '"posttraining/multi:arithmetic+rewriting"'
        )
    for part in task.parts:
        if part.inner.info.spec.get("judge") and not config.gateway.judge:
            raise ConfigError(f"{PREFIX}{part.name} is decided by a model, and there is none; set gateway.judge")
    for split, key, count in (
        ("train", "budget.train_cases", config.budget.train_cases),
        ("heldout", "views.heldout", config.views.heldout),
    ):
        try:
            PostTrainingTaskset(task).draw(split, count, 0)
        except ConfigError as error:
            raise ConfigError(f"{key} = {count}: {error}") from error
    if cell.evolver.tools:
        raise ConfigError("evolver.tools: agents that train models are given none; leave it out")
    command_agent(cell, secrets, PROMPT)
    inference_of(cell)
    packages()


def _takes(task: PostTrainingTask | SeveralTasks, name: str) -> bool:
    """Whether a task may begin with a base model: its own, a folder, or one of characters that was made for several tasks."""
    if name in (*task.base_models, SMOLLM2) or Path(name).is_dir():
        return True
    joint = name.removeprefix(CHARACTERS)
    if joint == name or not joint.startswith(MULTI):
        return False
    return {part.name for part in task.parts} <= _joined(joint)


@lru_cache(maxsize=16)
def _joined(joint: str) -> frozenset[str]:
    return frozenset(part.name for part in posttraining_task(joint).parts)


def build_trainer(context: RunContext, base: Base, reference: Reference, grading: RunGrading) -> Evolver:
    """Return the evolver of a run of post-training: an agent in a workspace with a grading server.

    Args:
        context: the run.
        base: the base model.
        reference: the base model's scores.
        grading: what grades it, with the run's GPUs, which are the agent's too.

    Raises:
        ConfigError: if the agent or the task's data is missing or wrong.
    """
    cell, folder, model = context.cell, context.folder, context.model
    task, mode = task_of(cell), mode_of(cell)
    agent, launch = command_agent(cell, context.suite.secrets, PROMPT)
    agent, lease = _equipped(agent, task, grading.lease), grading.lease
    seconds = cell.config.budget.seconds
    assert seconds is not None, "checked before"

    async def evolve(session: Session) -> None:
        terms = TrainingTerms(
            task=task.name,
            level=task.level,
            metric=task.metric,
            description=task.description,
            base_model=base.name,
            base_folder=base.folder,
            base=base.checkpoint,
            baseline=_mean(reference.graded or ()),
            graded=cell.config.budget.train_cases,
            timeout_s=seconds,
            mode=mode,
            parts=_parts(task, cell.config.budget.train_cases, reference),
            gpus=lease.names,
            files=await asyncio.to_thread(workspace_files, task, context.hidden_cases.entropy),
        )
        counts = {GRADED: cell.config.budget.train_cases, HELDOUT: cell.config.views.heldout}
        hidden = HiddenTexts(await asyncio.to_thread(view_texts, task, context.hidden_cases.entropy, counts))
        if lease.gpus:
            await session.note(GPU_LEASED.line({"names": list(lease.names)}))
        async with record_stream(session, folder / "logs", launch), model_door(cell, session, folder, model) as door:
            await train_with_agent(session, folder, terms, agent, door, grading.choose, hidden)

    training = {"base_model": base.name, "mode": mode, "base_digest": base.checkpoint.digest}
    return Evolver(
        evolve, False, {**described(cell, agent), **training}, failure=partial(failure_of, answered=(BASE_MODEL,))
    )


def _equipped(agent: CommandAgent, task: PostTrainingTask | SeveralTasks, lease: Lease) -> CommandAgent:
    """Return an agent with the packages it may import and the GPUs of its run."""
    return replace(
        agent,
        end_grace_s=0.0,
        trees={path.name: path for path in packages(AGENT_PACKAGES) if path.name not in task.private},
        packages=(),
        devices=tuple(dict.fromkeys((*agent.devices, *lease.files))),
        environment={**agent.environment, **lease.environment(confined=not agent.unsafe)},
    )


def _parts(task: PostTrainingTask | SeveralTasks, graded: int, reference: Reference) -> tuple[Part, ...]:
    """Return what each of several tasks has of the graded view; nothing for one task."""
    if len(task.parts) < 2:
        return ()
    base = reference.graded or ()
    task_indices = PostTrainingTaskset(task).task_indices(graded)
    return tuple(Part(name, own, _mean([base[task_index] for task_index in own])) for name, own in task_indices.items())


def _mean(scores: Sequence[float]) -> float:
    valid = [score for score in scores if not math.isnan(score)]
    return math.fsum(valid) / len(valid) if valid else 0.0
