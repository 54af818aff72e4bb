"""Running container tasks: environments under bubblewrap or Docker, agents in them, and their verification."""

from heredity.rollouts.containers.attempts import Agent, ContainerAttempt, Verdict, attempt, oracle, verify
from heredity.rollouts.containers.bubblewrap import BubblewrapSandbox
from heredity.rollouts.containers.contract import (
    Backend,
    ContainerLimits,
    ContainerSandbox,
    ExecResult,
    Image,
    Phase,
    Settled,
)
from heredity.rollouts.containers.replay import BubblewrapBackend

__all__ = [
    "Agent",
    "Backend",
    "BubblewrapBackend",
    "BubblewrapSandbox",
    "ContainerAttempt",
    "ContainerLimits",
    "ContainerSandbox",
    "ExecResult",
    "Image",
    "Phase",
    "Settled",
    "Verdict",
    "attempt",
    "oracle",
    "verify",
]
