"""What a configuration says of a team on tasks beside the general sections."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from heredity.bounds import Cases, CountOrZero, Parallel
from heredity.configuration.sections import EVERY_KEY, BudgetSection, Locate, Section, ViewsSection
from heredity.plugins import located

if TYPE_CHECKING:
    from heredity.configuration.config import Config


class TeamQuestionsSection(Section):
    """`[team]`: who answers.

    Attributes:
        file: a team.toml; `package:path` is one of an installed package.
        concurrent: how many questions are worked on at once; 1 where the team evolves across them.
        evolution: takes the place of the file's `evolution.mode`; with a matrix, runs with and without evolution are compared.
        practice: train questions, with their answers, that a team works on first where it evolves across questions: those it
            solves become its canaries. Answers of the questions that are judged it is never told.
        evolves: ids of questions whose record has to show a commit and a refusal where the team evolves, and across questions a
            rollback: for checks with programs in the place of models.
    """

    indifferent: ClassVar[tuple[str, ...]] = ("concurrent", "evolution", "practice", "evolves")
    varied: ClassVar[bool] = True
    labelled: ClassVar[bool] = True
    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType({"file": located})

    file: Annotated[str, Field(min_length=1)]
    concurrent: Parallel = 2
    evolution: Literal["", "none", "within", "across"] = ""
    practice: CountOrZero = 0
    evolves: list[str] = Field(default_factory=list[str])

    def agree(self, config: Config) -> None:
        """Refuse tools that nobody would be given."""
        if config.solver.tools:
            raise ValueError(f"solver.tools: each agent names its own in {self.file}; leave it out")


class TeamBudgetSection(BudgetSection):
    """`[budget]`: nothing is bought: a team is judged as it stands."""

    train_cases: Cases = 1


class TeamViewsSection(ViewsSection):
    """`[views]`: how many questions are asked.

    Attributes:
        heldout: the first so many of the order in which they are drawn.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    heldout: Cases = 60
