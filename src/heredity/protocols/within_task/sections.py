"""What a configuration says of evolution within a task."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from heredity.bounds import Cases, Count, Parallel
from heredity.configuration.sections import OpenBudgetSection, Section, ViewsSection

Mode = Literal["prompt", "solution", "both"]
"""What is edited: Prompt-Evo, Solution-Evo, PS-Joint-Evo (Autogenesis, section 5.1)."""

Told = Literal["none", "self", "public", "verdict"]
"""What is told between rounds: nothing, the model's own assessment, public tests, or the verdict, which is an oracle."""


class WithinSection(Section):
    """`[within]`: how the answer to one task evolves.

    Attributes:
        mode: what is edited: the `prompt`, the `solution` itself, or `both`, in this order in each round.
        feedback: what is told between rounds, and all that commits go by: `none`, `self`, `public` tests, or the `verdict`. With
            the last the agent sees ground truth: the run is labelled oracle.
        rounds: most rounds after the first answer (Autogenesis: 3); a task is over sooner if what is seen says that it is solved.
        best_of_k: whether each task is also answered by as many independent samples as the same tokens buy.
        most_samples: most of these samples.
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


class WithinBudgetSection(OpenBudgetSection):
    """`[budget]`: nothing is trained on, and rounds bound a run; tokens, cost and seconds may bound it further."""

    train_cases: Cases = 1


class WithinViewsSection(ViewsSection):
    """`[views]`: how many held-out tasks are worked on; `validation` is not used."""
