"""Terms of a protocol: a policy has returns in environments, an agent that answers questions has an accuracy."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Words:
    """Terms on pages; every protocol has its terms.

    Attributes:
        score: the measure; higher is better.
        rollout: one unit of the budget.
        taskset: readers' word for a taskset.
        product: the thing selected and scored; `products` are several.
        chosen: how it became the result: `selected` or `committed`.
        case: one hidden case that it is scored on.
        subject: the thing whose failures count as scores.
        faulty: what may break a rollout, apart from host and provider, without being the failure source.
        reference: the baseline of every run.
        mark: the baseline in pictures, in one word.
        reference_id: the baseline in results.
        foot: how to read scores, in one or two sentences.
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
        """Plural of `rollout`."""
        return f"{self.rollout}s"

    @property
    def tasksets(self) -> str:
        """Plural of `taskset`."""
        return f"{self.taskset}s"

    def against(self, reference: str | None) -> Words:
        """Return the words for results that name another reference.

        Args:
            reference: its name or description; None for the protocol's reference.
        """
        if not reference or reference in (self.reference_id, self.reference):
            return self
        return replace(self, reference=reference, mark=reference, reference_id=reference)


POLICIES = Words()
"""Terms for programs that act in environments."""
