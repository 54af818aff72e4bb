"""The words of a protocol: a policy has returns in environments, an agent that answers questions is more or less accurate."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Words:
    """What things are called on pages; every protocol has its own.

    Attributes:
        score: what is measured, higher is better.
        rollout: what the budget buys, one of it.
        taskset: a taskset, to a reader.
        product: what is selected and scored; `products` are several.
        chosen: how it became the result: `selected` or `committed`.
        case: one hidden thing that it is scored on.
        subject: whose failures count as scores.
        faulty: what may break a rollout without being to blame, besides host and provider.
        reference: what every run is compared with.
        mark: the same in pictures, in one word.
        reference_id: the same in results.
        foot: how scores are to be read, one or two sentences.
    """

    score: str = "return"
    rollout: str = "episode"
    taskset: str = "environment"
    product: str = "policy"
    products: str = "policies"
    chosen: str = "selected"
    case: str = "hidden case"
    subject: str = "program"
    faulty: str = "the environment"
    reference: str = "random policy"
    mark: str = "random"
    reference_id: str = "random"
    foot: str = "The held-out score is the result. Validation only selects, and train scores are what the evolver saw."

    @property
    def rollouts(self) -> str:
        """Several of what the budget buys."""
        return f"{self.rollout}s"

    @property
    def tasksets(self) -> str:
        """Several tasksets."""
        return f"{self.taskset}s"

    def against(self, reference: str | None) -> Words:
        """Return the words for results that name their own reference.

        Args:
            reference: its name or what it is called; None for the protocol's own.
        """
        if not reference or reference in (self.reference_id, self.reference):
            return self
        return replace(self, reference=reference, mark=reference, reference_id=reference)


POLICIES = Words()
"""The words for programs that act in environments."""
