"""Post-training tasks: the agent's materials, and the grading of its checkpoints."""

from heredity.kinds.checkpoint.tasks.contract import PREFIX, BaseRecipe, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.registry import (
    SOURCE,
    posttraining_task,
    single_task,
    task_names,
    workspace_files,
)
from heredity.kinds.checkpoint.tasks.taskset import Inner, PostTrainingTaskset, SeveralTasks, inner_of, part_of

__all__ = [
    "PREFIX",
    "SOURCE",
    "BaseRecipe",
    "Inner",
    "PostTrainingTask",
    "PostTrainingTaskset",
    "SeveralTasks",
    "inner_of",
    "part_of",
    "plain_solver",
    "posttraining_task",
    "single_task",
    "task_names",
    "workspace_files",
]
