"""Tasks and tasksets."""

from heredity.tasks.contract import SPLITS, Task, Taskset, TasksetInfo

__all__ = ["SPLITS", "Task", "Taskset", "TasksetInfo"]
