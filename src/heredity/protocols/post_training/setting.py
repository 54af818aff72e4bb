"""How a run of post-training is set up: an agent, its grading server, its GPUs, and the base model scored on both slices."""

from __future__ import annotations

from functools import partial
from typing import Any

from heredity.configuration.config import Cell, Config
from heredity.judging.bench import Reference, judged_reference
from heredity.judging.judgements import Judgements
from heredity.judging.views import ViewPlan
from heredity.posttraining.inference import Inference
from heredity.posttraining.kind import KIND as CHECKPOINTS
from heredity.posttraining.models.places import CheckpointPlaces
from heredity.posttraining.tasks import PREFIX, PostTrainingTask, PostTrainingTaskset, SeveralTasks
from heredity.protocols.contract import Needs, RunContext, Setup, SuiteContext
from heredity.protocols.post_training.events import RECORD
from heredity.protocols.post_training.gradings import RunGrading, inference_in
from heredity.protocols.post_training.judge import judge
from heredity.protocols.post_training.sections import TrainingSection
from heredity.protocols.post_training.trainers import Base, base_of, build_trainer, check_trainer, task_of
from heredity.rollouts.contract import Runner
from heredity.rollouts.engine import Engine


class TrainingSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Ask for GPUs; a run is bounded by time."""
        return Needs(gpus=config.of(TrainingSection).gpus, episodes=config.budget.episodes or 0)

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check the task, the base model, the agent, and what grades."""
        taskset = suite.tasksets[cell.taskset]
        # Drawing the items of a task takes a while: the runs of a suite share them.
        task = taskset.task if isinstance(taskset, PostTrainingTaskset) else task_of(cell)
        check_trainer(cell, task, suite.secrets)
        inference_in(cell, suite.cells, suite.folder / "runs")

    async def open(self, context: RunContext) -> Setup:
        """Return the run, graded in the place that its configuration names."""
        cell, suite = context.cell, context.suite
        places = context.engine.shared(CheckpointPlaces)
        inference = inference_in(cell, suite.cells, suite.folder / "runs")
        grading = RunGrading(inference, partial(_opened, context.engine), context.lease)
        judgements = context.judgements.under(grading, grading=grading.about)
        base, reference = await _scored_base(context, places, judgements)
        places.roots.append(context.folder / "models")
        return Setup(
            evolver=build_trainer(context, base, reference, grading),
            judge=partial(judge, repeats=cell.config.of(TrainingSection).repeats),
            views=(ViewPlan("heldout", "heldout", cell.config.views.heldout),),
            reference=reference,
            runner=grading,
            judgements=judgements,
            record={RECORD: {**_about(cell), "grading": grading.about}},
        )


def _opened(engine: Engine, inference: Inference) -> Runner:
    return engine.runner(CHECKPOINTS.name, placement=inference)


async def _scored_base(context: RunContext, places: CheckpointPlaces, judgements: Judgements) -> tuple[Base, Reference]:
    """Return the base model of a run, and its scores on the graded view and on held-out.

    Scores are those of what grades the run: of another engine, version or device none are recalled.
    """
    taskset, config = context.taskset, context.cell.config
    async with judgements.store.making:  # two runs must not make the same base model at once
        base = await base_of(context.cell, places)
    judged = partial(judged_reference, judgements, taskset, base.candidate)
    graded, heldout = await judged(config.budget.train_cases, "train"), await judged(config.views.heldout)
    compared = {"graded": graded.comparisons, "heldout": heldout.comparisons}
    return base, Reference(base.candidate, heldout.scores, "base", graded=graded.scores, comparisons=compared)


def _about(cell: Cell) -> dict[str, Any]:
    """Return what is recorded of the task of a run."""
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
    """Return which items of the graded view and of the held-out slice are those of each of several tasks."""
    taskset = PostTrainingTaskset(task)
    graded, heldout = (
        taskset.task_indices(count) for count in (cell.config.budget.train_cases, cell.config.views.heldout)
    )
    return [{"name": PREFIX + n, "task_indices": list(graded[n]), "heldout": list(heldout[n])} for n in graded]
