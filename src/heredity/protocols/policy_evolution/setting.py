"""How a run of policy evolution is set up: anything that evolves programs, compared with the uniform random policy."""

from __future__ import annotations

from heredity.configuration.config import Cell, Config
from heredity.evolution.starter import starter_candidate
from heredity.experiments.evolvers import build_evolver, check_evolver
from heredity.judging.bench import OF_REFERENCE, Reference, require
from heredity.judging.views import ViewPlan
from heredity.protocols.contract import Needs, RunContext, Setup, SuiteContext
from heredity.protocols.policy_evolution.briefing import BRIEFING
from heredity.protocols.policy_evolution.judge import judge


class PolicySetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Ask for nothing but episodes."""
        return Needs(episodes=config.budget.episodes or 0)

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check what evolves."""
        check_evolver(cell, suite, BRIEFING)

    async def open(self, context: RunContext) -> Setup:
        """Return the run, with the random policy scored on its held-out cases."""
        cell, info, views = context.cell, context.taskset.info, context.cell.config.views
        random = starter_candidate(info)
        scored = await context.judgements.of(context.taskset, random, views.heldout)
        return Setup(
            evolver=build_evolver(cell, info, context.folder, context.suite.secrets, context.model, briefing=BRIEFING),
            judge=judge,
            views=(
                ViewPlan("validation", "validation", views.validation),
                ViewPlan("heldout", "heldout", views.heldout),
            ),
            reference=Reference(random, require(scored, OF_REFERENCE).scores, "random"),
        )
