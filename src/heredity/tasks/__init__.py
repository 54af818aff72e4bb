"""Tasks and tasksets: what is attempted, and where it comes from."""

from heredity.tasks.contract import SPLITS, Task, Taskset, TasksetInfo

__all__ = ["SPLITS", "Task", "Taskset", "TasksetInfo"]
