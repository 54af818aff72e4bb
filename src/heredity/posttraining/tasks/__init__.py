"""Tasks on which a base model is to be made better: what the agent is given, and what grades its checkpoints."""

from heredity.posttraining.tasks.contract import (
    BaseRecipe,
    Inner,
    PostTrainingTask,
    PostTrainingTaskset,
    inner_of,
    plain_solver,
)
from heredity.posttraining.tasks.registry import SOURCE, posttraining_task, task_names, workspace_files

__all__ = [
    "SOURCE",
    "BaseRecipe",
    "Inner",
    "PostTrainingTask",
    "PostTrainingTaskset",
    "inner_of",
    "plain_solver",
    "posttraining_task",
    "task_names",
    "workspace_files",
]
