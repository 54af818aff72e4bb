"""The judges of protocols, by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from heredity.judging.bench import Bench, Evolved, Reference, Verdict
from heredity.protocols.harness_evolution import judge as harness_evolution
from heredity.protocols.policy_evolution import judge as policy_evolution
from heredity.protocols.post_training import judge as post_training
from heredity.protocols.resource_evolution import judge as resource_evolution

Judge = Callable[[Bench, Evolved, Reference | None], Awaitable[Verdict]]

JUDGES: Mapping[str, Judge] = MappingProxyType(
    {
        "policy-evolution": policy_evolution.judge,
        "resource-evolution": resource_evolution.judge,
        "agent-learning": resource_evolution.judge,
        "harness-evolution": harness_evolution.judge,
        "post-training": post_training.judge,
    }
)
"""Name of a protocol to its judge."""
