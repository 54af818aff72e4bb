"""Data that operators exchange: the turn, and the revisions of a candidate made in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import Field

from heredity.methods.operators.dialogue import Dialogue, Failed
from heredity.methods.operators.measure import Measured
from heredity.methods.registry import MethodOptions
from heredity.methods.targets import Editable, Target, chosen_variables, new_variables
from heredity.resources import Candidate


class LoopOptions(MethodOptions):
    """Options that all optimizers share."""

    target: tuple[Target, ...] = Field(
        ("prompt",), min_length=1, description="targets that may change: prompt, solution, tool, memory, agent"
    )
    rounds: int = Field(20, ge=1, le=10_000, description="maximum rounds")
    patience: int = Field(
        5, ge=0, le=10_000, description="rounds without a commit after which it has converged; 0: never"
    )
    candidates: int = Field(1, ge=1, le=64, description="candidates proposed in each round")
    batch: int = Field(8, ge=1, le=10_000, description="train tasks of each round")
    repeats: int = Field(1, ge=1, le=100, description="rollouts per task")
    evidence: int = Field(6, ge=1, le=1_000, description="rollouts shown to the model, worst first")
    evidence_chars: int = Field(2000, ge=100, le=1_000_000, description="maximum characters of each of their texts")
    value_chars: int = Field(20_000, ge=1, le=10_000_000, description="maximum characters of one new text")
    history: int = Field(6, ge=0, le=1_000, description="rejected proposals shown to the model, the latest ones")
    min_gain: float = Field(0.0, ge=0, le=1e12, description="a commit needs a mean difference greater than this")
    tolerance: float = Field(0.0, ge=0, le=1e12, description="largest allowed drop of a shorter or cheaper candidate")
    protect: float = Field(0.0, ge=0, le=1, description="share of the solved tasks that must stay solved")
    canaries: tuple[int, ...] = Field((), description="train tasks attempted in every round that must stay solved")
    solved: float = Field(1.0, description="lowest score that counts as solved")
    confirm: int = Field(0, ge=0, le=10_000, description="fresh train tasks to confirm a gain on")
    temperature: float | None = Field(None, ge=0, le=100, description="sampling temperature of the model that proposes")


@dataclass(frozen=True, slots=True)
class Revision:
    """A candidate made by edits.

    Attributes:
        candidate: the committed candidate with the edits applied.
        edits: variable to its new text; None removes it.
        why: reason, one line for people.
        expects: the model's expectation.
    """

    candidate: Candidate
    edits: Mapping[str, str | None]
    why: str = ""
    expects: str = ""


@dataclass(frozen=True)
class Turn:
    """One stage of one round, the input of operators. Values that a model sees are JSON.

    Attributes:
        number: the round, from 1.
        stage: the stage in the round, from 0.
        base: the committed candidate with its results on this round's tasks.
        targets: targets that may change in this stage.
        evidence: rollouts of the committed candidate, worst first.
        rejected: the latest proposals that were not committed, with reasons.
        signals: values of the previous stage's candidates.
        options: the method's options.
        dialogue: access to the model.
    """

    number: int
    stage: int
    base: Measured
    targets: tuple[Editable, ...]
    evidence: Sequence[dict[str, Any]]
    rejected: Sequence[dict[str, Any]]
    signals: Sequence[dict[str, Any]]
    options: LoopOptions
    dialogue: Dialogue

    @cached_property
    def variables(self) -> dict[str, str]:
        """Variables that may change: name to text."""
        return chosen_variables(self.base.candidate, self.targets)

    def data(self, **more: Any) -> dict[str, Any]:
        """Return the content of a request's JSON block in this turn."""
        return {
            "round": self.number,
            "variables": self.variables,
            "evidence": list(self.evidence),
            "score": self.base.mean if self.base.scores else None,
            "rejected": list(self.rejected),
            "signals": list(self.signals),
            "limits": {
                "targets": list(self.targets),
                "new_variables": new_variables(self.base.candidate, self.targets),
                "value_chars": self.options.value_chars,
            },
            **more,
        }


Proposed = Revision | Failed
"""Result of a proposal: a candidate, or the reason why there is none."""
