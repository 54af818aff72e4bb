"""How a run of a team on tasks is set up: nothing evolves in it by a session; the team is judged as it is."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path

from heredity.configuration.config import Cell, Config
from heredity.errors import ConfigError
from heredity.judging.drawn import check_sizes
from heredity.judging.session import Session
from heredity.judging.views import ViewPlan
from heredity.protocols.contract import Evolver, Needs, RunContext, Setup, SuiteContext
from heredity.protocols.team_questions.judge import PRACTICE, TeamBench, judge
from heredity.protocols.team_questions.sections import TeamQuestionsSection
from heredity.sandbox.browser_bubblewrap import find_browser
from heredity.tasks.questions.sites import SITES
from heredity.team.settings import TeamSettings, load_team

_SITE_OF = "questions/"


class TeamSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Ask for no attempts of the engine: teams work by themselves."""
        return Needs(episodes=0)

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check the team and the taskset."""
        if suite.tasksets[cell.taskset].info.group != "questions":
            raise ConfigError(f"a team answers questions, and the tasks of {cell.taskset} are none; name questions/…")
        check_sizes(suite.tasksets[cell.taskset], {"views.heldout": ("heldout", cell.config.views.heldout)})
        mode, section = team_of(cell).evolution.mode, cell.config.of(TeamQuestionsSection)
        if mode == "across" and section.concurrent != 1:
            raise ConfigError(
                f"team.concurrent is {section.concurrent}, and the team evolves across questions, each of which begins with what "
                "those before it have learned; set team.concurrent=1"
            )

    async def open(self, context: RunContext) -> Setup:
        """Return the run."""
        cell = context.cell
        first = cell.taskset.partition("?")[0].removeprefix(_SITE_OF)
        settings, section = team_of(cell), cell.config.of(TeamQuestionsSection)
        team = TeamBench(
            settings,
            context.folder / "teams",
            SITES.load(first) if first in SITES else None,
            no_browser(),
            section.concurrent,
            frozenset(section.evolves),
            cell.config.engine.unsafe,
        )
        about = {
            "name": cell.label,
            "kind": "team",
            "method": cell.label,
            "options": {"evolution": settings.evolution.mode},
        }
        views = [ViewPlan("heldout", "heldout", cell.config.views.heldout)]
        if section.practice and settings.evolution.mode == "across":
            views.append(ViewPlan(PRACTICE, "train", section.practice))
        return Setup(
            evolver=Evolver(_nothing, True, {**about, "models": settings.models_named()}),
            judge=partial(judge, team=team),
            views=views,
        )


async def _nothing(session: Session) -> None:
    """Leave the session as it is: a team that is judged as it stands buys no attempts."""


def team_of(cell: Cell) -> TeamSettings:
    """Return the team that a configuration names, under its execution model, its gateway and its mode of evolution.

    Raises:
        ConfigError: if the file is missing or wrong, or a team with agents of elsewhere is to evolve.
    """
    config, section = cell.config, cell.config.of(TeamQuestionsSection)
    model = config.gateway.execution
    team = load_team(Path(section.file), {"model": model} if model else None, mode=section.evolution)
    return team.model_copy(update={"gateway": config.gateway})


def no_browser() -> str:
    """Return why no browser can be started here; empty if one can."""
    if importlib.util.find_spec("playwright") is None:
        return "the extra browser is not installed: pip install 'heredity[browser]'"
    try:
        find_browser()
    except ConfigError as error:
        return str(error)
    return ""
