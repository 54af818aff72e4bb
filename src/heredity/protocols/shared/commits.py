"""Runs that commit candidates: set up with a starting candidate, judged by the last commit on the same held-out tasks.

The method makes commits on the session's evidence (Autogenesis, section 3.2). The judge only measures their effect:
accuracy before and after, paired by task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heredity.configuration.config import Cell, Config
from heredity.configuration.sections import ViewsSection
from heredity.experiments.evolvers import build_evolver, check_evolver, initial_candidate
from heredity.protocols.contract import Needs, RunContext, Setup, SuiteContext
from heredity.records import Event
from heredity.records.events import JUDGING_SELECTED
from heredity.session.bench import (
    Bench,
    Evolved,
    Reference,
    Verdict,
    conclude,
    judged_reference,
    require,
    score,
    score_reference,
)
from heredity.session.views import ViewPlan, check_sizes


async def judge(bench: Bench, evolved: Evolved, reference: Reference | None = None) -> Verdict:
    """Judge a closed session and finish the run's journal; recorded results are reused.

    Args:
        bench: the judge's inputs (validation is unused).
        evolved: the closed session.
        reference: the candidate the run started with.

    Raises:
        HostError: if the runner fails, or all held-out rollouts are missing; resume the run to
            continue judging.
        RecordError: if the disk is full or fails.
    """
    committed = [d for d in evolved.decisions if d.accepted]
    candidate = selected(evolved)
    submit_id = next((s.submit_id for s in reversed(evolved.submissions) if s.candidate == candidate), None)
    refused = sum(not d.accepted for d in evolved.decisions)
    reason = (
        f"the last of {len(committed)} commits; {refused} candidates were refused"
        if committed
        else "nothing was committed"
    )
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": submit_id, "candidate": candidate, "reason": reason}))
    heldout = (
        None
        if candidate is None
        else require(await score(bench, bench.view("heldout"), candidate, submit_id), "held-out rollouts")
    )
    scores = await score_reference(bench, reference) if reference else None
    await conclude(bench, evolved.status)
    return Verdict(evolved.status, submit_id, candidate, reason, {}, heldout, scores)


def selected(evolved: Evolved, events: Sequence[Event] = ()) -> str | None:
    """Return the last committed candidate, from the decisions alone (see `Selection`)."""
    return next((decision.candidate for decision in reversed(evolved.decisions) if decision.accepted), None)


class CommitViewsSection(ViewsSection):
    """`[views]`: `validation` is unused, because the last commit is judged."""

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return `validation`."""
        return {"validation": "commits select the candidate; set views.heldout"}


class CommitSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Request nothing beyond rollouts: on train tasks, and held-out ones of the first and the last candidate."""
        episodes, heldout = config.budget.episodes or 0, config.views.heldout
        return Needs(episodes=episodes, attempts=(heldout, episodes + 2 * heldout))

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Require a method: an outside agent submits but commits nothing to judge."""
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
