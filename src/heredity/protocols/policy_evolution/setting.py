"""How a run of policy evolution is set up: anything that evolves programs, compared with chance and with doing nothing."""

from __future__ import annotations

from functools import partial

from heredity.configuration.config import Cell, Config
from heredity.evolution.starter import starter_candidate
from heredity.experiments.evolvers import build_evolver, check_evolver
from heredity.judging.bench import Reference, judged_reference
from heredity.judging.drawn import check_sizes
from heredity.judging.gathering import gather
from heredity.judging.views import ViewPlan
from heredity.protocols.contract import Needs, RunContext, Setup, SuiteContext
from heredity.protocols.policy_evolution.briefing import BRIEFING
from heredity.protocols.policy_evolution.judge import judge
from heredity.protocols.policy_evolution.sections import ReferencesSection
from heredity.resources import Candidate
from heredity.rollouts.kind import KINDS

NULL, CONSTANT = "null action", "constant action"
"""What the references are called that look at nothing."""


class PolicySetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Ask for nothing but episodes."""
        return Needs(episodes=config.budget.episodes or 0)

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check what evolves, and that every split has its tasks."""
        check_sizes(
            suite.tasksets[cell.taskset],
            {
                "budget.train_cases": ("train", cell.config.budget.train_cases),
                "views.validation": ("validation", cell.config.views.validation),
                "views.heldout": ("heldout", cell.config.views.heldout),
            },
        )
        check_evolver(cell, suite, BRIEFING)

    async def open(self, context: RunContext) -> Setup:
        """Return the run, with the random policy scored on its held-out cases."""
        cell, info, views = context.cell, context.taskset.info, context.cell.config.views
        random = starter_candidate(info)
        scored = await judged_reference(context.judgements, context.taskset, random, views.heldout)
        return Setup(
            evolver=build_evolver(cell, info, context.folder, context.suite.secrets, context.model, briefing=BRIEFING),
            judge=partial(judge, others=await _constant(context)),
            views=(
                ViewPlan("validation", "validation", views.validation),
                ViewPlan("heldout", "heldout", views.heldout),
            ),
            reference=Reference(random, scored.scores, "random"),
        )


async def _constant(context: RunContext) -> list[Reference]:
    """Return the references that look at nothing, with their held-out scores; none where actions hold no numbers."""
    section, views = context.cell.config.of(ReferencesSection), context.cell.config.views
    info, judged = context.taskset.info, partial(judged_reference, context.judgements, context.taskset)
    programs = KINDS.load(info.kind).candidates.constant(info)
    chosen: dict[str, Candidate] = {}
    if programs and section.null:
        chosen[NULL] = programs[0]
    if programs and section.constant:
        validated = await gather([judged(program, views.validation, "validation") for program in programs])
        means = [scores.mean for scores in validated]
        chosen[CONSTANT] = programs[means.index(max(means))]
    scored = [await judged(program, views.heldout) for program in chosen.values()]
    return [
        Reference(program, scores.scores, name) for (name, program), scores in zip(chosen.items(), scored, strict=True)
    ]
