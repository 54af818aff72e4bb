"""How a run of world generation is set up: an author, builds, and gates that it never sees."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from heredity.configuration.config import Cell, Config
from heredity.errors import ConfigError
from heredity.experiments.config import slug
from heredity.experiments.evolvers import build_evolver, check_evolver
from heredity.judging.views import ViewPlan
from heredity.protocols.contract import Needs, RunContext, Setup, SuiteContext
from heredity.protocols.world_generation.author import WorldAuthor
from heredity.protocols.world_generation.briefing import BRIEFING
from heredity.protocols.world_generation.events import RECORD
from heredity.protocols.world_generation.judge import judge
from heredity.protocols.world_generation.sections import GenerationSection
from heredity.worlds.themes.taskset import PREFIX

LIBRARY = "library"
"""The folder of a suite that holds admitted worlds."""


class GenerationSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Ask for builds alone."""
        return Needs(episodes=config.budget.episodes or 0)

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check the theme, and that the author has a model to ask."""
        if not cell.taskset.startswith(PREFIX):
            raise ConfigError(f"world generation runs on themes, and {cell.taskset} is none; name themes/FILE#NAME")
        if cell.evolver.method == WorldAuthor.name and not cell.config.gateway.optimisation:
            raise ConfigError(
                "the author has no model to ask: set gateway.optimisation, such as offline/world-author to try it, or openai/gpt-5"
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
    """Return where an admitted world is written; authors and seeds have folders of their own where there are several."""
    cells = context.suite.cells
    several = len({(cell.label, cell.seed) for cell in cells}) > 1
    home = context.suite.folder / LIBRARY
    return home / f"{slug(context.cell.label)}-s{context.cell.seed}" if several else home
