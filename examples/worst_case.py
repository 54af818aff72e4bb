"""A protocol: the last submission, judged by its worst held-out episodes, with a metric and a section of the report."""

from dataclasses import dataclass

from heredity.analysis.contract import CommonMetrics
from heredity.configuration.sections import Count, Section
from heredity.experiments.evolvers import build_evolver
from heredity.protocols.contract import Needs, Protocol, Setup
from heredity.records.events import JUDGING_SELECTED
from heredity.results.base import Result
from heredity.results.page import Fact, Facts, Number, Text
from heredity.results.page import Section as PageSection
from heredity.results.report import PlainReport, Words
from heredity.session.bench import Verdict, conclude, require, score
from heredity.session.views import ViewPlan


class WorstSection(Section):
    """`[worst]` of the configuration: `of`, how many of the worst episodes are averaged."""

    of: Count = 1


async def judge(bench, evolved, reference):
    """Score the last submission on held-out tasks, unless the journal already has the scores."""
    last = evolved.submissions[-1] if evolved.submissions else None
    digest, submit_id = (last.candidate, last.submit_id) if last else (None, None)
    reason = "the last submission"
    await bench.journal_once(JUDGING_SELECTED.line({"submit_id": submit_id, "candidate": digest, "reason": reason}))
    heldout = (
        require(await score(bench, bench.view("heldout"), digest, submit_id), "held-out rollouts") if digest else None
    )
    await conclude(bench, evolved.status)
    return Verdict(evolved.status, submit_id, digest, reason, {}, heldout)


class Setting:
    def needs(self, config):
        """Return the run's needs, for the preflight."""
        return Needs(episodes=config.budget.episodes or 0)

    def check(self, cell, suite):
        """Raise ConfigError, with the key, for errors that can be found before the run starts."""

    async def open(self, context):
        """Return the run's evolver, judge and hidden views."""
        cell, info = context.cell, context.taskset.info
        return Setup(
            evolver=build_evolver(cell, info, context.folder, context.suite.secrets, context.model),
            judge=judge,
            views=(ViewPlan("heldout", "heldout", cell.config.views.heldout),),
            record={"worst": {"of": cell.config.of(WorstSection).of}},
        )


class WorstResults(Result):
    """The mean return of the `of` worst held-out episodes."""

    of: int
    worst: float


@dataclass(frozen=True)
class Metrics(CommonMetrics):
    run_part: type[Result] | None = WorstResults
    returns: bool = True

    def of_run(self, evidence):
        """Return the part; None until the run is judged."""
        chosen, of = evidence.record.selected, next(e["data"]["worst"]["of"] for e in evidence.events)
        scored = chosen and evidence.record.scores_of("heldout", chosen["submit_id"], chosen["candidate"])
        scores = sorted(score for score in scored["scores"] if score is not None)[:of] if scored else []
        return WorstResults(of=of, worst=sum(scores) / len(scores)) if scores else None


class Report(PlainReport):
    def run(self, run):
        """Return the sections of a run's page."""
        if not isinstance(run.part, WorstResults):
            return []
        about = Text(f"The mean return of the {run.part.of} worst held-out episodes.")
        return [PageSection("worst", "At worst", (about, Facts((Fact("Worst return", Number(run.part.worst)),))))]

    def suite(self, suite, runs):
        """Return further sections of a suite's page."""
        return []


PROTOCOL = Protocol(
    name="worst-case",
    summary="the last submission by its worst held-out episodes",
    setting=Setting(),
    sections={"worst": WorstSection},
    metrics=Metrics(),
    report=Report(Words(score="return", rollout="episode", product="policy", products="policies")),
)

print(PROTOCOL.summary)
