"""What a configuration says of a team on tasks beside the general sections."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar

from pydantic import Field

from heredity.configuration.sections import EVERY_KEY, BudgetSection, Count, Locate, Section, ViewsSection
from heredity.plugins import located


class TeamQuestionsSection(Section):
    """`[team]`: who answers.

    Attributes:
        file: a team.toml; `package:path` is one of an installed package.
        concurrent: how many questions are worked on at once.
    """

    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType({"file": located})

    file: Annotated[str, Field(min_length=1)]
    concurrent: Count = 2


class TeamBudgetSection(BudgetSection):
    """`[budget]`: nothing is bought: a team is judged as it stands."""

    train_cases: Count = 1


class TeamViewsSection(ViewsSection):
    """`[views]`: how many questions are asked.

    Attributes:
        heldout: the first so many of the order in which they are drawn.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    heldout: Count = 60
