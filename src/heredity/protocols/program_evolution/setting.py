"""How a run of program evolution is set up: anything that evolves programs, compared with the program it began with."""

from __future__ import annotations

from functools import partial

from heredity.configuration.config import Cell, Config
from heredity.errors import ConfigError
from heredity.experiments.evolvers import build_evolver, check_evolver, initial_candidate
from heredity.judging.bench import Reference, judged_reference
from heredity.judging.views import ViewPlan
from heredity.protocols.contract import Needs, RunContext, Setup, SuiteContext
from heredity.protocols.policy_evolution.judge import judge
from heredity.protocols.program_evolution.briefing import BRIEFING

SHORTLIST = 8
"""How many candidates are validated at most."""

START = "start"
"""What the reference is called."""


class ProgramSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Ask for nothing but evaluations."""
        return Needs(episodes=config.budget.episodes or 0)

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check what evolves, and that it evolves a program."""
        info = suite.tasksets[cell.taskset].info
        if "program_file" not in info.public:
            raise ConfigError(
                f"run.tasksets names {cell.taskset!r}, of the kind {info.kind}; program evolution takes tasks that "
                "name a program's file, such as program/circle-packing-26 or code/solution/two-gates"
            )
        check_evolver(cell, suite, BRIEFING)

    async def open(self, context: RunContext) -> Setup:
        """Return the run, with the program it begins with scored on its held-out tasks."""
        cell, info, views = context.cell, context.taskset.info, context.cell.config.views
        start = initial_candidate(cell, info)
        scored = await judged_reference(context.judgements, context.taskset, start, views.heldout)
        return Setup(
            evolver=build_evolver(cell, info, context.folder, context.suite.secrets, context.model, briefing=BRIEFING),
            judge=partial(judge, shortlist=SHORTLIST),
            views=(
                ViewPlan("validation", "validation", views.validation),
                ViewPlan("heldout", "heldout", views.heldout),
            ),
            reference=Reference(start, scored.scores, START),
        )
