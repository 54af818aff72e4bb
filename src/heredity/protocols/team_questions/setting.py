"""How a run of a team on tasks is set up: nothing evolves in it by a session; the team is judged as it is."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path

from heredity.configuration.config import Cell, Config
from heredity.errors import ConfigError
from heredity.judging.session import Session
from heredity.judging.views import ViewPlan
from heredity.protocols.contract import Evolver, Needs, RunContext, Setup, SuiteContext
from heredity.protocols.team_questions.judge import TeamBench, judge
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
        team_of(cell)

    async def open(self, context: RunContext) -> Setup:
        """Return the run."""
        cell = context.cell
        first = cell.taskset.partition("?")[0].removeprefix(_SITE_OF)
        team = TeamBench(
            team_of(cell),
            context.folder / "teams",
            SITES.load(first) if first in SITES else None,
            no_browser(),
            cell.config.of(TeamQuestionsSection).concurrent,
            cell.config.engine.unsafe,
        )
        return Setup(
            evolver=Evolver(_nothing, True, {"name": cell.label, "kind": "team", "method": cell.label, "options": {}}),
            judge=partial(judge, team=team),
            views=(ViewPlan("heldout", "heldout", cell.config.views.heldout),),
        )


async def _nothing(session: Session) -> None:
    """Leave the session as it is: a team that is judged as it stands buys no attempts."""


def team_of(cell: Cell) -> TeamSettings:
    """Return the team that a configuration names, under its execution model and gateway.

    Raises:
        ConfigError: if the file is missing or wrong.
    """
    config = cell.config
    model = config.gateway.execution
    team = load_team(Path(config.of(TeamQuestionsSection).file), {"model": model} if model else None)
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
