"""Post-training (Agent² RL-Bench): an agent trains a model within a time limit, with unlimited gradings."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, HeredityError, UnknownNameError
from heredity.agents.launchers import CommandAgent
from heredity.agents.launchers.command import DISK_BYTES, FILE_BYTES
from heredity.analysis.contract import CommonMetrics, RunEvidence, SuiteEvidence
from heredity.configuration.config import Cell, Config
from heredity.configuration.sections import OpenBudgetSection
from heredity.engine.engine import Engine
from heredity.engine.runner import Runner
from heredity.experiments.outside_agents import command_agent, described, model_door, record_stream
from heredity.kinds.checkpoint.inference import Inference
from heredity.kinds.checkpoint.kind import KIND as CHECKPOINTS
from heredity.kinds.checkpoint.models.bases import CHARACTERS, SMOLLM2, base_model
from heredity.kinds.checkpoint.models.checkpoint import Checkpoint, CheckpointPlaces, candidate_of, inspect
from heredity.kinds.checkpoint.tasks import (
    PREFIX,
    PostTrainingTask,
    PostTrainingTaskset,
    SeveralTasks,
    posttraining_task,
)
from heredity.kinds.checkpoint.tasks.overlap import HiddenTexts
from heredity.kinds.checkpoint.tasks.registry import GRADED, HELDOUT, view_texts, workspace_files
from heredity.kinds.checkpoint.tasks.taskset import MULTI
from heredity.protocols.contract import Evolver, Needs, Protocol, RunContext, Setup, SuiteContext
from heredity.protocols.post_training.analysis import posttraining_metrics, posttraining_study
from heredity.protocols.post_training.analysis.record import BASE_MODEL
from heredity.protocols.post_training.events import EVENTS, RECORD
from heredity.protocols.post_training.judge import RunGrading, inference_in, inference_of, judge, selected
from heredity.protocols.post_training.results import TrainingRunResults
from heredity.protocols.post_training.run_sections import run_sections
from heredity.protocols.post_training.sections import TrainingEvolverSection, TrainingSection, TrainingViewsSection
from heredity.protocols.post_training.server.agent_run import train_with_agent
from heredity.protocols.post_training.server.kept import FOLDER, selected_weights
from heredity.protocols.post_training.server.terms import Part, TrainingTerms
from heredity.protocols.post_training.suite_results import TrainingSuiteResults
from heredity.protocols.post_training.suite_sections import suite_sections
from heredity.protocols.shared.published import published_section
from heredity.records.agent_starts import failure_of
from heredity.records.events import GPU_LEASED, SUBMISSION_REJECTED
from heredity.resources import Candidate
from heredity.results.base import Result
from heredity.results.page import Section
from heredity.results.report import Words
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.sandbox.gpus import Lease
from heredity.sandbox.inference import packages
from heredity.sandbox.memory import machine_memory
from heredity.session.bench import Judgements, Reference, judged_reference
from heredity.session.session import Session
from heredity.session.views import ViewPlan

AGENT_PACKAGES = ("accelerate", "peft", "trl", "datasets", "reasoning-gym", "alfworld")
"""Packages an agent may import if installed, in addition to torch, transformers and their requirements."""

PROMPT = (
    "You are alone at this, and nobody answers questions. Read instructions.md and description.md in the current folder, then "
    "train the model and submit checkpoints until the time is nearly over."
)


@dataclass(frozen=True, slots=True)
class Base:
    """A base model, trained here or from a folder.

    Attributes:
        name: its name.
        folder: its folder.
        checkpoint: its description.
    """

    name: str
    folder: Path
    checkpoint: Checkpoint

    @property
    def candidate(self) -> Candidate:
        """The base model as a candidate."""
        return candidate_of(self.checkpoint)


def task_of(cell: Cell) -> PostTrainingTask | SeveralTasks:
    """Return the task of a run of post-training, or the several tasks.

    Raises:
        ConfigError: if its taskset is not for post-training, or the task does not offer the base model.
    """
    if not cell.taskset.startswith("posttraining/"):
        raise ConfigError(f"post-training needs a taskset posttraining/NAME, not {cell.taskset}")
    return posttraining_task(cell.taskset)


async def base_of(cell: Cell, places: CheckpointPlaces) -> Base:
    """Return the base model of a run; one made from a recipe is trained first unless cached."""
    name = cell.config.of(TrainingSection).base_model or task_of(cell).base_models[0]
    folder = await asyncio.to_thread(base_model, name)
    checkpoint = await asyncio.to_thread(inspect, folder)
    weights, memory = 4 * checkpoint.parameters, machine_memory()
    if weights > memory and cell.config.of(TrainingSection).memory_bytes is None:
        raise ConfigError(
            f"{name} takes {weights / 2**30:.1f} GiB of memory as 32-bit floats, and this machine has {memory / 2**30:.1f}; "
            "choose a smaller base, grade on a larger machine, or set training.memory_bytes to try regardless"
        )
    places.folders[checkpoint.digest] = folder
    return Base(name, folder, checkpoint)


def mode_of(cell: Cell) -> str:
    """Return the operating mode of a run; several tasks in free mode are the paper's multi-task mode."""
    mode = cell.config.of(TrainingSection).mode
    return "multi-task" if mode == "free" and len(task_of(cell).parts) > 1 else mode


def check_trainer(cell: Cell, task: PostTrainingTask | SeveralTasks, secrets: Sequence[Path]) -> None:
    """Check a run before it starts.

    Args:
        cell: the run.
        task: its task, or its several tasks.
        secrets: folders to hide from the agent.

    Raises:
        ConfigError: if task, base model, judge, agent or time is missing or invalid, or the task has fewer items
            than graded or held-out items are requested.
        MissingExtraError: if a package for grading is not installed.
    """
    config = cell.config
    if config.budget.seconds is None:
        raise ConfigError("budget.seconds is missing; set the agent's wall time in seconds, such as 3600")
    name = config.of(TrainingSection).base_model
    if name and not _takes(task, name):
        if Path(name).is_absolute():
            raise ConfigError(f"training.base_model is {name!r}, which does not exist; correct the path")
        raise UnknownNameError("base model", name, [*task.base_models, SMOLLM2])
    if config.of(TrainingSection).mode == "multi-task" and len(task.parts) < 2:
        raise ConfigError(
            f'training.mode is "multi-task", but {cell.taskset} is one task; use several, such as '
            '"posttraining/multi:arithmetic+rewriting"'
        )
    for part in task.parts:
        if part.inner.info.spec.get("judge") and not config.gateway.judge:
            raise ConfigError(f"{PREFIX}{part.name} needs a model as judge; set gateway.judge")
    for split, key, count in (
        ("train", "budget.train_cases", config.budget.train_cases),
        ("heldout", "views.heldout", config.views.heldout),
    ):
        try:
            PostTrainingTaskset(task).draw(split, count, 0)
        except ConfigError as error:
            raise ConfigError(f"{key} = {count}: {error}") from error
    if cell.evolver.tools:
        raise ConfigError("evolver.tools has no effect for agents that train models; remove it")
    command_agent(cell, secrets, PROMPT)
    inference_of(cell)
    packages()


def _takes(task: PostTrainingTask | SeveralTasks, name: str) -> bool:
    """Return True if a task accepts a base model: one it offers, a folder, or a joint character model."""
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
        grading: the grader, with the run's GPUs, which the agent shares.

    Raises:
        ConfigError: if the agent or the task's data is missing or invalid.
    """
    cell, folder, model = context.cell, context.folder, context.model
    task, mode = task_of(cell), mode_of(cell)
    agent, launch = command_agent(cell, context.suite.secrets, PROMPT)
    agent, lease = _equipped(agent, task, grading.lease, room_of(cell, base.checkpoint)), grading.lease
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


def room_of(cell: Cell, base: Checkpoint) -> dict[str, int]:
    """Return the limits of an agent's files, by its base's size where they are not configured.

    One file may be an optimizer's state, two 32-bit floats for each parameter; the disk holds four checkpoints with theirs.
    """
    file_bytes = cell.evolver.file_bytes or max(FILE_BYTES, 8 * base.parameters + (64 << 20))
    return {"file_bytes": file_bytes, "disk_bytes": cell.evolver.disk_bytes or max(DISK_BYTES, 48 * base.parameters)}


def _equipped(
    agent: CommandAgent, task: PostTrainingTask | SeveralTasks, lease: Lease, room: Mapping[str, int]
) -> CommandAgent:
    """Return an agent with its importable packages, the room for its files, and the GPUs of its run."""
    return replace(
        agent,
        **room,
        end_grace_s=0.0,
        trees={path.name: path for path in packages(AGENT_PACKAGES) if path.name not in task.private},
        packages=(),
        devices=tuple(dict.fromkeys((*agent.devices, *lease.files))),
        environment={**agent.environment, **lease.environment(confined=not agent.unsafe)},
    )


def _parts(task: PostTrainingTask | SeveralTasks, graded: int, reference: Reference) -> tuple[Part, ...]:
    """Return the share of each task in the graded view; empty for a single task."""
    if len(task.parts) < 2:
        return ()
    base = reference.graded or ()
    task_indices = PostTrainingTaskset(task).task_indices(graded)
    return tuple(Part(name, own, _mean([base[task_index] for task_index in own])) for name, own in task_indices.items())


def _mean(scores: Sequence[float]) -> float:
    valid = [score for score in scores if not math.isnan(score)]
    return math.fsum(valid) / len(valid) if valid else 0.0


class TrainingSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Request GPUs; a run is bounded by time."""
        return Needs(
            gpus=config.of(TrainingSection).gpus,
            episodes=config.budget.episodes or 0,
            roles={"judge": _is_judged(config)},
        )

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check the task, the base model, the agent, and the grading engine."""
        taskset = suite.tasksets[cell.taskset]
        # Drawing the items of a task takes a while, so the runs of a suite share them.
        task = taskset.task if isinstance(taskset, PostTrainingTaskset) else task_of(cell)
        check_trainer(cell, task, suite.secrets)
        inference_in(cell, suite.cells, suite.folder / "runs")

    async def open(self, context: RunContext) -> Setup:
        """Return the run, graded on the configured device."""
        cell, suite = context.cell, context.suite
        places = context.engine.shared(CheckpointPlaces)
        inference = inference_in(cell, suite.cells, suite.folder / "runs")
        grading = RunGrading(inference, partial(_opened, context.engine), context.lease)
        judgements = context.judgements.under(grading, grading=grading.about)
        base, reference = await _scored_base(context, places, judgements)
        places.roots.append(context.folder / FOLDER)
        return Setup(
            evolver=build_trainer(context, base, reference, grading),
            judge=partial(judge, repeats=cell.config.of(TrainingSection).repeats),
            views=(ViewPlan("heldout", "heldout", cell.config.views.heldout),),
            reference=reference,
            runner=grading,
            judgements=judgements,
            record={RECORD: {**_about(cell), "grading": grading.about}},
        )


def _is_judged(config: Config) -> bool:
    """Return whether a model judges the answers of one of the tasks; True if it cannot be told."""
    try:
        tasks = [posttraining_task(name) for name in config.run.tasksets if name.startswith(PREFIX)]
    except HeredityError:  # The preflight names what is missing.
        return True
    return any(bool(part.inner.info.spec.get("judge")) for task in tasks for part in task.parts)


def _opened(engine: Engine, inference: Inference) -> Runner:
    return engine.runner(CHECKPOINTS.name, placement=inference)


async def _scored_base(context: RunContext, places: CheckpointPlaces, judgements: Judgements) -> tuple[Base, Reference]:
    """Return the base model of a run, and its scores on the graded view and on held-out.

    The scores come from the run's grading engine; those of another engine, version or device are not recalled.
    """
    taskset, config = context.taskset, context.cell.config
    async with judgements.store.making:  # Two runs must not make the same base model at once.
        base = await base_of(context.cell, places)
    judged = partial(judged_reference, judgements, taskset, base.candidate)
    graded, heldout = await judged(config.budget.train_cases, "train"), await judged(config.views.heldout)
    compared = {"graded": graded.comparisons, "heldout": heldout.comparisons}
    return base, Reference(base.candidate, heldout.scores, "base", graded=graded.scores, comparisons=compared)


def _about(cell: Cell) -> dict[str, Any]:
    """Return the task's fields for the record of a run."""
    task = task_of(cell)
    return {
        "metric": task.metric,
        "structure": dict(task.structure),
        "labels": list(task.labels),
        "private": list(task.private),
        "grading_counts": True,
        **({"tasks": _tasks(cell, task)} if len(task.parts) > 1 else {}),
    }


def _tasks(cell: Cell, task: PostTrainingTask | SeveralTasks) -> list[dict[str, Any]]:
    """Return the items of each task in the graded view and in the held-out slice."""
    taskset = PostTrainingTaskset(task)
    graded, heldout = (
        taskset.task_indices(count) for count in (cell.config.budget.train_cases, cell.config.views.heldout)
    )
    return [{"name": PREFIX + n, "task_indices": list(graded[n]), "heldout": list(heldout[n])} for n in graded]


@dataclass(frozen=True)
class TrainingMetrics(CommonMetrics):
    """Metrics of post-training."""

    run_part: type[Result] | None = TrainingRunResults
    suite_part: type[Result] | None = TrainingSuiteResults
    reference: str = "base model"

    def keeps_reference(self, evidence: RunEvidence) -> bool:
        """Return True if the run submitted the base model; None if nothing was graded."""
        return any(data["category"] == BASE_MODEL for data in SUBMISSION_REJECTED.all(evidence.events))

    def of_run(self, evidence: RunEvidence) -> TrainingRunResults:
        """Return the results of a run's training so far."""
        return posttraining_metrics(evidence.events, evidence.load_blob)

    def of_suite(self, evidence: SuiteEvidence) -> TrainingSuiteResults | None:
        """Return the comparison of a suite's runs."""
        return posttraining_study(evidence.runs, evidence.labels, ranked=evidence.ranked)

    def settings(self, run: RunResults) -> Mapping[str, Any]:
        """Return the mode, which tells runs of one agent apart.

        Multi-task mode allows the same as free mode; the taskset shows that there are several tasks.
        """
        part = run.part
        if not isinstance(part, TrainingRunResults):
            return {}
        return {"mode": "free" if part.mode == "multi-task" else part.mode}


METRICS = TrainingMetrics()


WORDS = Words(
    score="score",
    rollout="graded answer",
    taskset="task",
    product="checkpoint",
    products="checkpoints",
    case="hidden item",
    subject="checkpoint",
    reference="base model",
    mark="base",
    reference_id="base",
    foot="The held-out gain is the result. The graded view was fed back and selected the checkpoint: its best score is optimistic.",
)


@dataclass(frozen=True)
class TrainingReport:
    """The report of post-training; a run also has reports/summary.md and .jsonl, and a suite results.csv."""

    words: Words = WORDS

    def run(self, run: RunResults) -> list[Section]:
        """Return the sections of a run's page."""
        return run_sections(run, run.part) if isinstance(run.part, TrainingRunResults) else []

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return the sections of a suite's page."""
        if not isinstance(suite.part, TrainingSuiteResults):
            return []
        return [*suite_sections(suite, suite.part, runs), *published_section(__package__ or "", runs)]


REPORT = TrainingReport()


PROTOCOL = Protocol(
    name="post-training",
    summary="the best graded checkpoint, also judged on a slice that was never graded",
    setting=TrainingSetting(),
    sections={
        "budget": OpenBudgetSection,
        "evolver": TrainingEvolverSection,
        "views": TrainingViewsSection,
        "training": TrainingSection,
    },
    metrics=METRICS,
    report=REPORT,
    events=EVENTS,
    selection=selected,
    best=selected_weights,
)
