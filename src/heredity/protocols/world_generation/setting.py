"""Setup of world-generation runs: an author, builds, and hidden gates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from heredity._core.bounds import Cases, Count
from heredity._core.errors import ConfigError
from heredity.agents.terms import Briefing, RunTerms
from heredity.configuration.config import Cell, Config
from heredity.configuration.sections import EVERY_KEY, BudgetSection, Section, ViewsSection
from heredity.experiments.config import slug
from heredity.experiments.evolvers import build_evolver, check_evolver
from heredity.kinds.world.themes.taskset import PREFIX
from heredity.protocols.contract import Needs, RunContext, Setup, SuiteContext
from heredity.protocols.world_generation import stages
from heredity.protocols.world_generation.author import WorldAuthor
from heredity.protocols.world_generation.judge import RECORD, judge
from heredity.resources import SourceTree
from heredity.session.views import ViewPlan

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
        library: true to write admitted worlds into `library/` in the suite's folder.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    library: bool = True


def task_text(terms: RunTerms) -> str:
    """Return the theme in Markdown, for `GET /task` and `TASK.md`."""
    return terms.taskset.description


def agent_text(terms: RunTerms) -> str:
    """Return `AGENTS.md`: the goal, the budget, how to build, how to read findings, and how to write a world."""
    digits = "N" * terms.width
    world, gates = terms.taskset.public["world"], ", ".join(terms.taskset.public["gates"])
    return f"""# Make a world named `{world}`

`TASK.md` holds a theme. Write a small text world on it as `system/world.yaml`, with `meta.name` `{world}`. Begin with
`system/design.md`, a page that says what the world is; both are kept with every build.

You may build **{terms.episode_budget} times**. A build makes the levels and executes the gates {gates}:

```sh
heredity submit --episodes 0
```

What was found stands in `feedback/submit_{digits}/episodes/ep_{digits}/stdout.txt`; the score is the share of these gates that
passed. Mend what was found and build again until all of them pass, then end with `heredity finish`. The last of the best builds
then meets all gates from seeds that nobody knows, with others that tell you nothing: players of different strength, and the worlds
that there are already. It is admitted if nothing is found.

Nothing but rules is built: no code is run, and `levels.json` is made from the rules. There is no network.

{stages.guide()}"""


BRIEFING = Briefing(agent_text, task_text, SourceTree({}))


LIBRARY = "library"
"""Folder of a suite's admitted worlds."""


class GenerationSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Request nothing beyond builds."""
        builds = config.budget.episodes or 0
        return Needs(episodes=builds, proposals=(2, 3 * builds))

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check the theme, and that the author has a model."""
        if not cell.taskset.startswith(PREFIX):
            raise ConfigError(
                f"world generation runs on themes, but {cell.taskset} is not a theme; use themes/FILE#NAME"
            )
        if cell.evolver.method == WorldAuthor.name and not cell.config.gateway.optimisation:
            raise ConfigError(
                "the author needs a model; set gateway.optimisation, such as openai/gpt-5, or offline/world-author to try it"
            )
        check_evolver(cell, suite, BRIEFING)

    async def open(self, context: RunContext) -> Setup:
        """Return the run."""
        cell, info = context.cell, context.taskset.info
        shelf = _shelf(context) if cell.config.of(GenerationSection).library else None
        about = {key: info.public[key] for key in ("world", "theme", "source", "reviewed", "gates")}
        return Setup(
            evolver=build_evolver(cell, info, context.folder, context.suite.secrets, context.model, briefing=BRIEFING),
            judge=partial(judge, world=info.public["world"], shelf=shelf),
            views=(ViewPlan("heldout", "heldout", cell.config.views.heldout),),
            record={RECORD: about},
        )


def _shelf(context: RunContext) -> Path:
    """Return the folder for an admitted world; several authors or seeds get separate folders."""
    cells = context.suite.cells
    several = len({(cell.label, cell.seed) for cell in cells}) > 1
    home = context.suite.folder / LIBRARY
    return home / f"{slug(context.cell.label)}-s{context.cell.seed}" if several else home
