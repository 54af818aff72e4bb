"""Configuration sections of a team on tasks, in addition to the general ones."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from heredity._core.bounds import Cases, CountOrZero, Parallel
from heredity._core.plugins import located
from heredity.configuration.sections import (
    EVERY_KEY,
    BudgetSection,
    EvolverSection,
    LimitsSection,
    Locate,
    Section,
    SolverSection,
    ViewsSection,
)

if TYPE_CHECKING:
    from heredity.configuration.config import Config


class TeamQuestionsSection(Section):
    """`[team]`: the team that answers.

    Attributes:
        file: path of a team.toml; `package:path` for one in an installed package.
        concurrent: number of questions worked on at once; 1 if the team evolves across them.
        evolution: overrides the file's `evolution.mode`; vary it in a matrix to compare runs with and without evolution.
        practice: number of train questions, with answers, that a team evolving across questions works on first: those it
            solves become its canaries. It never learns the answers of judged questions.
        evolves: ids of questions whose record must show a commit and a refusal if the team evolves, and across questions a
            rollback; for tests with programs in place of models.
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

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return the keys of evolution for a team that does not evolve."""
        if self.evolution in ("", "across"):  # Empty leaves it to the file.
            return {}
        idle = {"practice": "only a team that evolves across questions practises; set team.evolution"}
        if self.evolution == "none":
            idle["evolves"] = "the team does not evolve; set team.evolution"
        return idle

    def agree(self, config: Config) -> None:
        """Reject tools that no agent would get, and evolvers that would do nothing."""
        if config.evolver.outside:
            raise ValueError(
                f"evolver: a team answers, and {config.evolver.label!r} would never be started; name it as an agent in "
                f"{self.file}, with launcher, and leave evolver out"
            )
        if config.solver.tools:
            raise ValueError(f"solver.tools has no effect: {self.file} sets the tools of each agent; remove it")


class TeamBudgetSection(BudgetSection):
    """`[budget]`: unused; a team is judged as it stands."""

    train_cases: Cases = 1

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return every key."""
        why = "a team is judged as it stands; bound its models with gateway.max_cost_usd or gateway.max_tokens"
        return dict.fromkeys(type(self).model_fields, why)


class TeamEvolverSection(EvolverSection):
    """`[evolver]` of a team: its name in reports."""

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return the keys of methods too."""
        why = "a team answers by itself: its agents and their prompts are in its file"
        return {**super().idle(config), "initial": why, "options": why}


class TeamSolverSection(SolverSection):
    """`[solver]` of a team: unused."""

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return every key."""
        return dict.fromkeys(type(self).model_fields, "the team's file sets turns and seconds of each agent")


class TeamLimitsSection(LimitsSection):
    """`[limits]` of a team: unused."""

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return every key."""
        return dict.fromkeys(type(self).model_fields, "the team's file limits its tasks and steps (team.seconds)")


class TeamViewsSection(ViewsSection):
    """`[views]`: number of questions.

    Attributes:
        heldout: number of questions, the first in drawing order.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    heldout: Cases = 60

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return `validation`."""
        return {"validation": "every question is held out; set views.heldout"}
