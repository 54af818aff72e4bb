"""Configuration sections of evolution within a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from heredity._core.bounds import Cases, Count, Parallel
from heredity.configuration.config import Config
from heredity.configuration.sections import OpenBudgetSection, Section, ViewsSection

Mode = Literal["prompt", "solution", "both"]
"""The edited parts: Prompt-Evo, Solution-Evo, PS-Joint-Evo (Autogenesis, section 5.1)."""

Told = Literal["none", "self", "public", "verdict"]
"""Feedback between rounds: none, the model's self-assessment, public tests, or the verdict, which is an oracle."""


class WithinSection(Section):
    """`[within]`: evolution of the answer to one task.

    Attributes:
        mode: the edited parts: the `prompt`, the `solution` itself, or `both`, in this order in each round.
        feedback: feedback between rounds, the only basis of commits: `none`, `self`, `public` tests, or the `verdict`. With
            the last the agent sees ground truth: the run is labelled oracle.
        rounds: most rounds after the first answer (Autogenesis: 3); a task ends early once it looks solved.
        best_of_k: True to also answer each task with as many independent samples as the same tokens buy.
        most_samples: maximum number of these samples.
        concurrent: tasks at the same time.
    """

    varied: ClassVar[bool] = True
    labelled: ClassVar[bool] = True
    indifferent: ClassVar[tuple[str, ...]] = ("best_of_k", "most_samples", "concurrent")

    mode: Mode = "both"
    feedback: Told = "self"
    rounds: Annotated[int, Field(ge=1, le=100)] = 3
    best_of_k: bool = True
    most_samples: Count = 256
    concurrent: Parallel = 4

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return `most_samples` if no samples are made."""
        return {} if self.best_of_k else {"most_samples": "within.best_of_k is false, so no samples are made"}


class WithinBudgetSection(OpenBudgetSection):
    """`[budget]`: rounds bound a run, without training; tokens, cost and seconds may bound it further."""

    train_cases: Cases = 1

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return `train_cases`."""
        return {"train_cases": "nothing is trained: the tasks are those of views.heldout"}


class WithinViewsSection(ViewsSection):
    """`[views]`: number of held-out tasks to work on; `validation` is unused."""

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return `validation`."""
        return {"validation": "the tasks are those of views.heldout"}
