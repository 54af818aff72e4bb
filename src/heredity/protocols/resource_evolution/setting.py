"""How a run of resource evolution is set up: what evolves commits, and is compared with the candidate that it began with."""

from __future__ import annotations

from heredity.configuration.config import Cell, Config
from heredity.experiments.evolvers import build_evolver, check_evolver, initial_candidate
from heredity.judging.bench import Reference, judged_reference
from heredity.judging.drawn import check_sizes
from heredity.judging.views import ViewPlan
from heredity.protocols.contract import Needs, RunContext, Setup, SuiteContext
from heredity.protocols.resource_evolution.judge import judge


class ResourceSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Ask for nothing but attempts."""
        return Needs(episodes=config.budget.episodes or 0)

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check what evolves: a method, since an agent from outside submits, and commits nothing that could be judged."""
        check_sizes(
            suite.tasksets[cell.taskset],
            {
                "budget.train_cases": ("train", cell.config.budget.train_cases),
                "views.heldout": ("heldout", cell.config.views.heldout),
            },
        )
        check_evolver(cell, suite)

    async def open(self, context: RunContext) -> Setup:
        """Return the run, with its first candidate scored on its held-out tasks."""
        cell, info, heldout = context.cell, context.taskset.info, context.cell.config.views.heldout
        initial = initial_candidate(cell, info)
        scored = await judged_reference(context.judgements, context.taskset, initial, heldout)
        return Setup(
            evolver=build_evolver(cell, info, context.folder, context.suite.secrets, context.model),
            judge=judge,
            views=(ViewPlan("heldout", "heldout", heldout),),
            reference=Reference(initial, scored.scores, "initial"),
        )
