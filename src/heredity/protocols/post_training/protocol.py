"""Post-training (Agent² RL-Bench): an agent trains a model within a time limit, with unlimited gradings.

The judge selects the best graded checkpoint. The graded view's best score within the budget is the paper's result. It selected
the checkpoint and is therefore optimistic. The held-out slice (on which no submission was graded) measures the selected
checkpoint, paired by item with the base model.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from heredity._core.bounds import MOST_BYTES, Seconds
from heredity._core.errors import ConfigError, HeredityError, UnknownNameError
from heredity._core.ids import seed_sequence
from heredity.agents.launchers import CommandAgent
from heredity.agents.launchers.command import DISK_BYTES, FILE_BYTES
from heredity.analysis.contract import CommonMetrics, RunEvidence, SuiteEvidence
from heredity.configuration.config import Cell, Config
from heredity.configuration.sections import EvolverSection, Locate, OpenBudgetSection, ViewsSection
from heredity.configuration.sections import Section as ConfigSection
from heredity.engine.engine import Engine
from heredity.engine.runner import Job, Runner
from heredity.engine.trajectory import Trajectory
from heredity.experiments.outside_agents import command_agent, described, model_door, record_stream
from heredity.kinds.checkpoint.inference import Inference, choose
from heredity.kinds.checkpoint.kind import KIND as CHECKPOINTS
from heredity.kinds.checkpoint.models.bases import CHARACTERS, SMOLLM2, base_model, located_model
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
from heredity.protocols.post_training.events import (
    BASELINE_SCORED,
    EVENTS,
    GRADING_REPEATED,
    RECORD,
    BaselineScored,
    GradingRepeated,
    training_of,
)
from heredity.protocols.post_training.results import TrainingRunResults
from heredity.protocols.post_training.run_sections import run_sections
from heredity.protocols.post_training.server.agent_run import train_with_agent
from heredity.protocols.post_training.server.workspace import FOLDER, Part, TrainingTerms, selected_weights
from heredity.protocols.post_training.suite_results import TrainingSuiteResults
from heredity.protocols.post_training.suite_sections import suite_sections
from heredity.protocols.shared.published import published_section
from heredity.records import Event, read_journal
from heredity.records.agent_starts import failure_of
from heredity.records.events import GPU_LEASED, JUDGING_SELECTED, SUBMISSION_REJECTED
from heredity.resources import Candidate
from heredity.results.base import Result, covers
from heredity.results.page import Section
from heredity.results.report import Words
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.sandbox.gpus import NO_GPU, Lease
from heredity.sandbox.inference import packages
from heredity.sandbox.limits import Limits
from heredity.sandbox.memory import machine_memory
from heredity.session.bench import (
    Bench,
    Evolved,
    Judgements,
    Reference,
    Verdict,
    conclude,
    judged_reference,
    load_candidate,
    require,
    score,
    score_reference,
)
from heredity.session.rollouts import listed_comparisons, outcome_of
from heredity.session.session import Session
from heredity.session.session_log import Submission, score_to_json
from heredity.session.views import ViewPlan, clusters_of


class TrainingEvolverSection(EvolverSection):
    """`[evolver]`: an agent, which starts from the base model.

    Attributes:
        disk_bytes: maximum disk space of its files, checkpoints in `output/` included; by default 50 GiB, or 48 bytes for
            each parameter of the base if that is more: four checkpoints with their optimizers' states.
        file_bytes: maximum size of one of its files; by default 1 GiB, or 8 bytes for each parameter if that is more.
    """

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return `initial` too: an agent starts from the base model."""
        return {**super().idle(config), "initial": "an agent starts from the base model; set training.base_model"}


class TrainingViewsSection(ViewsSection):
    """`[views]`: `heldout` counts the held-out items; `validation` is unused, because graded items select the checkpoint."""

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return `validation`."""
        return {"validation": "the items of budget.train_cases select the checkpoint"}


class TrainingSection(ConfigSection):
    """`[training]`: the trained model, and the grading.

    Attributes:
        base_model: one of the task's base models, `smollm2-135m`, or a folder in Hugging Face's format; by default the
            task's first.
        mode: `free`, `sft-only`, `rl-only`: the allowed routes; the code that ran is audited. `multi-task`: any route, one
            model for several tasks; the default of such runs.
        repeats: number of further gradings of the best checkpoint, to measure the noise of grading.
        engine: inference engine: `transformers`, `vllm`, or `auto`: vLLM if it is installed and grading uses a GPU, else
            transformers.
        device: grading device: `cpu`, or `gpu`: the run's first GPU, unless a submission names another one.
        memory_bytes: memory of the process that grades a checkpoint; by default 4 GiB, or 8 bytes for each parameter and
            2 GiB.
        load_seconds: time limit of loading a checkpoint (by default 120, or 30 for each GiB of its weights as 32-bit
            floats).
        reply_seconds: time limit of one batch of answers; by default 900, on the CPU 900 for each 10^9 parameters.
        gpus: number of GPUs from `engine.gpus` reserved for each run; its agent sees only these.
    """

    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType({"base_model": located_model})
    varied: ClassVar[bool] = True
    indifferent: ClassVar[tuple[str, ...]] = (
        *("mode", "repeats", "gpus"),
        *("memory_bytes", "load_seconds", "reply_seconds"),
    )

    base_model: str = ""
    mode: Literal["free", "sft-only", "rl-only", "multi-task"] = "free"
    repeats: Annotated[int, Field(ge=0, le=1000)] = 0
    engine: Literal["auto", "transformers", "vllm"] = "auto"
    device: Literal["cpu", "gpu"] = "cpu"
    memory_bytes: Annotated[int, Field(ge=64 << 20, le=MOST_BYTES)] | None = None
    load_seconds: Seconds | None = None
    reply_seconds: Seconds | None = None
    gpus: Annotated[int, Field(ge=0, le=1024)] = 0

    def agree(self, config: Config) -> None:
        """Require an agent and a time limit."""
        if not config.evolver.outside and "evolver" not in config.matrix:  # Each entry of a list is checked as a run.
            raise ValueError("post-training needs an agent; set evolver.launcher, or evolver.agent to its command")
        if config.budget.seconds is None:
            raise ValueError("budget.seconds is missing; set the agent's wall time in seconds, such as 3600")


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
        bench: the judge's inputs (the graded view has the session's tasks).
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
        grading: the grader, with the run's GPUs (shared with the agent).

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
    """Return whether a model judges the answers of one of the tasks; True if unknown."""
    try:
        tasks = [posttraining_task(name) for name in config.run.tasksets if name.startswith(PREFIX)]
    except HeredityError:  # The preflight names missing packages and files.
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
