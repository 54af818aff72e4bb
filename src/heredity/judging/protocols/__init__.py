"""Protocols: the rules by which a closed session is judged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from heredity.judging.bench import Bench, Evolved, Reference, Verdict
from heredity.judging.protocols import harness_evolution, policy_evolution, post_training, resource_evolution

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
