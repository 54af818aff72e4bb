"""The words of a protocol: a policy has returns in environments, an agent that answers questions is more or less accurate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Terms:
    """What things are called in a report.

    Attributes:
        score: what is measured, higher is better.
        attempt: what the budget buys.
        place: a taskset, to a reader.
        product: what is selected and scored.
        products: several of them.
        reference: what every run is compared with.
        mark: the same in pictures, in one word.
        commits: whether candidates are committed, rather than selected on validation.
        graded: whether the best of a view whose score is fed back is what counts, rather than validation.
    """

    score: str = "return"
    attempt: str = "episode"
    place: str = "environment"
    product: str = "policy"
    products: str = "policies"
    reference: str = "random policy"
    mark: str = "random"
    commits: bool = False
    graded: bool = False

    @property
    def attempts(self) -> str:
        """Several of what the budget buys."""
        return f"{self.attempt}s"

    @property
    def places(self) -> str:
        """Several tasksets."""
        return f"{self.place}s"


POLICIES = Terms()
_AGENTS = Terms("accuracy", "attempt", "taskset", "candidate", "candidates", "starting point", "start", commits=True)
_BY_PROTOCOL: Mapping[str, Terms] = MappingProxyType(
    {
        "policy-evolution": POLICIES,
        "resource-evolution": _AGENTS,
        "agent-learning": replace(_AGENTS, score="score", place="environment"),
        "harness-evolution": replace(_AGENTS, score="score", product="harness", products="harnesses"),
        "post-training": Terms(
            "score", "graded answer", "task", "checkpoint", "checkpoints", "base model", "base", graded=True
        ),
    }
)
_REFERENCES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"random": ("random policy", "random"), "initial": ("starting point", "start"), "base": ("base model", "base")}
)
"""Name of a reference in the journal to what it is called, and in one word."""


def terms_of(protocol: str, reference: str = "") -> Terms:
    """Return the words of a protocol.

    Args:
        protocol: as in metrics.json; one that is unknown, or none, has the words of policy evolution.
        reference: the reference's name in a run (`"random"`, `"initial"`), or what a suite calls it; `""` for the protocol's own.
    """
    found = _BY_PROTOCOL.get(protocol, POLICIES)
    known = {label: (label, mark) for label, mark in _REFERENCES.values()} | dict(_REFERENCES)
    label, mark = known.get(reference, (reference, reference)) if reference else (found.reference, found.mark)
    return replace(found, reference=label, mark=mark)
