"""What a configuration says of world generation beside the general sections."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from heredity.bounds import Cases, Count
from heredity.configuration.config import Config
from heredity.configuration.sections import EVERY_KEY, BudgetSection, Section, ViewsSection

MOST_REPAIRS = 40
"""Builds of a run where nothing else is said."""


class BuildBudgetSection(BudgetSection):
    """`[budget]`: what an author may spend.

    Attributes:
        episodes: builds of the whole run, 40 by default; `builds` is another name for it.
        max_per_submit: 1: a submission is a build.
        train_cases: 1: every build meets the same gates from the same seed.
    """

    episodes: Annotated[Count, Field(validation_alias=AliasChoices("episodes", "builds", "rollouts"))] = MOST_REPAIRS  # pyright: ignore[reportIncompatibleVariableOverride]
    max_per_submit: Count = 1
    train_cases: Cases = 1

    def agree(self, config: Config) -> None:
        """Refuse what a build has no use for."""
        for key in ("min_per_submit", "max_per_submit", "train_cases"):
            if getattr(self, key) != 1:
                raise ValueError(f"budget.{key} is {getattr(self, key)}; a submission is one build, so leave it out")


class GateViewsSection(ViewsSection):
    """`[views]`: how often the last world meets all gates.

    Attributes:
        heldout: from how many hidden seeds; it is admitted if nothing is found from any.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    heldout: Cases = 1


class GenerationSection(Section):
    """`[generation]`: what becomes of worlds.

    Attributes:
        library: whether admitted worlds are written into `library/` of the suite's folder.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    library: bool = True
