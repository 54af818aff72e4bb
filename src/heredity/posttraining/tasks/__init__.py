"""Tasks on which a base model is to be made better: what the agent is given, and what grades its checkpoints."""

from heredity.posttraining.tasks.contract import PREFIX, BaseRecipe, PostTrainingTask, plain_solver
from heredity.posttraining.tasks.registry import SOURCE, posttraining_task, single_task, task_names, workspace_files
from heredity.posttraining.tasks.several import SeveralTasks
from heredity.posttraining.tasks.taskset import Inner, PostTrainingTaskset, inner_of, part_of

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
