"""Configuration sections of world generation, in addition to the general ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from heredity._core.bounds import Cases, Count
from heredity.configuration.config import Config
from heredity.configuration.sections import EVERY_KEY, BudgetSection, Section, ViewsSection

MOST_REPAIRS = 40
"""Default number of builds per run."""


class BuildBudgetSection(BudgetSection):
    """`[budget]`: the author's budget.

    Attributes:
        episodes: builds of the whole run, 40 by default; alias `builds`.
        max_per_submit: 1: a submission is a build.
        train_cases: 1: every build meets the same gates from the same seed.
    """

    episodes: Annotated[Count, Field(validation_alias=AliasChoices("episodes", "builds", "rollouts"))] = MOST_REPAIRS  # pyright: ignore[reportIncompatibleVariableOverride]
    max_per_submit: Count = 1
    train_cases: Cases = 1

    def agree(self, config: Config) -> None:
        """Reject settings that builds do not use."""
        for key in ("min_per_submit", "max_per_submit", "train_cases"):
            if getattr(self, key) != 1:
                raise ValueError(f"budget.{key} is {getattr(self, key)}; a submission is always one build: remove it")


class GateViewsSection(ViewsSection):
    """`[views]`: final runs of all gates.

    Attributes:
        heldout: number of hidden seeds; a world is admitted if none has findings.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    heldout: Cases = 1

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return the keys of other judges."""
        why = "all gates judge the best build, from views.heldout seeds"
        return {"validation": why, "coverage": why}


class GenerationSection(Section):
    """`[generation]`: handling of worlds.

    Attributes:
        library: True to write admitted worlds into `library/` in the suite's folder.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    library: bool = True
