"""Guessing: what was committed last is compared with hidden numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from acme.kind import KIND, naming
from heredity import (
    JUDGING_SELECTED,
    Cell,
    CommonMetrics,
    Config,
    ConfigSection,
    Count,
    PlainReport,
    Protocol,
    ProtocolNeeds,
    Result,
    RunContext,
    RunEvidence,
    RunResults,
    Setup,
    SuiteContext,
    SuiteResults,
    ViewPlan,
    Words,
    build_evolver,
    judging,
    page,
)


class GuessSection(ConfigSection):
    """`[guess]`: how near is near.

    Attributes:
        near: a guess is near that is no farther away.
    """

    near: Count = 10


class GuessResults(Result):
    """What a guess was worth: mean `distance`, and the share of numbers it was `near` to."""

    distance: float
    near: float


async def judge(
    near: int, bench: judging.Bench, evolved: judging.Evolved, reference: judging.Reference | None
) -> judging.Verdict:
    """Score the last commit on the hidden numbers."""
    commits = [decision for decision in evolved.decisions if decision.accepted]
    digest = commits[-1].candidate if commits else None
    submit_id = next((s.submit_id for s in reversed(evolved.submissions) if s.candidate == digest), None)
    reason = f"the last of {len(commits)} commits, within {near} or not"
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": submit_id, "candidate": digest, "reason": reason}))
    heldout = digest and judging.require(
        await judging.score(bench, bench.view("heldout"), digest, submit_id), "held-out rollouts"
    )
    scores = await judging.score_reference(bench, reference) if reference else None
    await judging.conclude(bench, evolved.status)
    return judging.Verdict(evolved.status, submit_id, digest, reason, {}, heldout or None, scores)


class Setting:
    """How a run is set up."""

    def needs(self, config: Config) -> ProtocolNeeds:
        """Ask for rollouts alone."""
        return ProtocolNeeds(episodes=config.budget.episodes or 0)

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
            reference=judging.Reference(naming(0), scored.scores, "naming 0"),
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

    def run(self, run: RunResults) -> list[page.Section]:
        """Return a section with the distance."""
        if not isinstance(run.part, GuessResults):
            return []
        facts = page.Facts(
            (
                page.Fact("Mean distance", page.Number(run.part.distance)),
                page.Fact("Near", page.Number(run.part.near)),
            )
        )
        return [page.Section("guess", "How far away", (page.Text("Of numbers that were never shown."), facts))]

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[page.Section]:
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
