"""Guessing: what was committed last is compared with hidden numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from acme.kind import KIND, naming
from heredity.analysis.contract import CommonMetrics
from heredity.analysis.evidence import RunEvidence
from heredity.configuration.config import Cell, Config
from heredity.configuration.sections import Count, Section
from heredity.experiments.evolvers import build_evolver
from heredity.judging.bench import Bench, Evolved, Reference, Verdict, conclude, require, score, score_reference
from heredity.judging.views import ViewPlan
from heredity.protocols.contract import Needs, Protocol, RunContext, Setup, SuiteContext
from heredity.records.events import JUDGING_SELECTED
from heredity.results.base import Result
from heredity.results.page import Fact, Facts, Number, Text
from heredity.results.page import Section as PageSection
from heredity.results.report import PlainReport
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.results.words import Words


class GuessSection(Section):
    """`[guess]`: how near is near.

    Attributes:
        near: a guess is near that is no farther away.
    """

    near: Count = 10


class GuessResults(Result):
    """What a guess was worth: mean `distance`, and the share of numbers it was `near` to."""

    distance: float
    near: float


async def judge(near: int, bench: Bench, evolved: Evolved, reference: Reference | None) -> Verdict:
    """Score the last commit on the hidden numbers."""
    commits = [decision for decision in evolved.decisions if decision.accepted]
    digest = commits[-1].candidate if commits else None
    submit_id = next((s.submit_id for s in reversed(evolved.submissions) if s.candidate == digest), None)
    reason = f"the last of {len(commits)} commits, within {near} or not"
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": submit_id, "candidate": digest, "reason": reason}))
    heldout = digest and require(await score(bench, bench.view("heldout"), digest, submit_id), "held-out rollouts")
    scores = await score_reference(bench, reference) if reference else None
    await conclude(bench, evolved.status)
    return Verdict(evolved.status, submit_id, digest, reason, {}, heldout or None, scores)


class Setting:
    """How a run is set up."""

    def needs(self, config: Config) -> Needs:
        """Ask for rollouts alone."""
        return Needs(episodes=config.budget.episodes or 0)

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Find nothing wrong."""

    async def open(self, context: RunContext) -> Setup:
        """Return the run, compared with naming 0."""
        cell, info, near = context.cell, context.taskset.info, context.cell.config.of(GuessSection).near
        scored = await context.judgements.of(context.taskset, naming(0), cell.config.views.heldout)
        return Setup(
            evolver=build_evolver(cell, info, context.folder, context.suite.secrets, context.model),
            judge=partial(judge, near),
            views=(ViewPlan("heldout", "heldout", cell.config.views.heldout),),
            reference=Reference(naming(0), scored.scores, "naming 0"),
            record={"guess": {"near": near, "kind": KIND.name}},
        )


@dataclass(frozen=True)
class Metrics(CommonMetrics):
    """What a guess was worth."""

    run_part: type[Result] | None = GuessResults
    reference: str = "naming 0"
    returns: bool = True

    def of_run(self, evidence: RunEvidence) -> GuessResults | None:
        """Return it, once it is judged."""
        record, near = evidence.record, next(e["data"]["guess"]["near"] for e in evidence.events)
        chosen = record.selected
        scored = record.scores_of("heldout", chosen["submit_id"], chosen["candidate"]) if chosen else None
        if scored is None:
            return None
        distances = [-float(value) for value in scored["scores"] if value is not None]
        count = len(distances)
        return GuessResults(distance=sum(distances) / count, near=sum(d <= near for d in distances) / count)


class Report(PlainReport):
    """Says how far away a guess was."""

    def run(self, run: RunResults) -> list[PageSection]:
        """Return a section with the distance."""
        if not isinstance(run.part, GuessResults):
            return []
        facts = Facts((Fact("Mean distance", Number(run.part.distance)), Fact("Near", Number(run.part.near))))
        return [PageSection("guess", "How far away", (Text("Of numbers that were never shown."), facts))]

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[PageSection]:
        """Return nothing more."""
        return []


PROTOCOL = Protocol(
    name="guessing",
    summary="the last committed guess against hidden numbers",
    setting=Setting(),
    sections={"guess": GuessSection},
    metrics=Metrics(),
    report=Report(Words(score="score", rollout="guess", product="guess", products="guesses")),
)
