"""Container tasks: folders of the Harbor format, and the tasksets that are made of them."""

from heredity.tasks.containers.dockerfile import Copy, Dockerfile, Run, Workdir, read_dockerfile
from heredity.tasks.containers.format import read_task
from heredity.tasks.containers.task import (
    AgentPart,
    Artifact,
    CollectHook,
    ContainerTask,
    EnvironmentPart,
    Healthcheck,
    NetworkPolicy,
    StepPart,
    VerifierPart,
)

__all__ = [
    "AgentPart",
    "Artifact",
    "CollectHook",
    "ContainerTask",
    "Copy",
    "Dockerfile",
    "EnvironmentPart",
    "Healthcheck",
    "NetworkPolicy",
    "Run",
    "StepPart",
    "VerifierPart",
    "Workdir",
    "read_dockerfile",
    "read_task",
]
