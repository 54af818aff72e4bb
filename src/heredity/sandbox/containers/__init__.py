"""Environments of container tasks, under bubblewrap or Docker."""

from heredity.sandbox.containers.bubblewrap import BubblewrapSandbox
from heredity.sandbox.containers.contract import (
    Backend,
    ContainerLimits,
    ContainerSandbox,
    ExecResult,
    Image,
    Phase,
    Settled,
)
from heredity.sandbox.containers.replay import BubblewrapBackend

__all__ = [
    "Backend",
    "BubblewrapBackend",
    "BubblewrapSandbox",
    "ContainerLimits",
    "ContainerSandbox",
    "ExecResult",
    "Image",
    "Phase",
    "Settled",
]
