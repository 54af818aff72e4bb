"""World generation (AutoEnv, section 3.2): an author builds and repairs a world on a theme; all gates admit or reject it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heredity.protocols.contract import Protocol
from heredity.protocols.world_generation.judge import (
    EVENTS,
    GATES_EXECUTED,
    BuildBudgetSection,
    GateViewsSection,
    GenerationSection,
    GenerationSetting,
    selected,
)
from heredity.protocols.world_generation.metrics import (
    METRICS,
    BuildRow,
    FaultRow,
    GenerationRun,
    GenerationSuite,
    Share,
    YieldRow,
    runs_of,
)
from heredity.records.events import JUDGING_SCORED
from heredity.results import text
from heredity.results.page import (
    Cell,
    Column,
    Fact,
    Facts,
    Mono,
    Named,
    Number,
    Part,
    Row,
    Section,
    Table,
    Text,
    Value,
    columns_of,
    of_rows,
)
from heredity.results.report import PlainReport, Words
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

WORDS = Words(
    score="admission",
    rollout="build",
    taskset="theme",
    product="world",
    products="worlds",
    case="hidden seed of the gates",
    subject="world",
    reference="nothing",
    mark="nothing",
    reference_id="nothing",
    foot="A world is admitted if no gate has findings from hidden seeds. The author saw only the gates of its builds.",
)
_PHASES = ("execution", "levels", "reliability", "novel", "overall")
_HEADS = ("execution", "level generation", "reliability", "novelty and leaks", "overall")
PAPER = (
    "The paper's table 2 has execution, level generation and reliability (90.0, 96.7 and 74.7% of 100 themes), 65.0% overall and "
    "$4.12 per world, with one weak and one strong language model as its reliability gate."
)


@dataclass(frozen=True)
class GenerationReport(PlainReport):
    """The report of world generation."""

    words: Words = WORDS

    def run(self, run: RunResults) -> list[Section]:
        """Return the results of a theme."""
        part = run.part
        return [] if not isinstance(part, GenerationRun) else [_world(part), _builds(part.builds)]

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return the yield, the faults, and the worlds."""
        part = suite.part
        if not isinstance(part, GenerationSuite):
            return []
        return [
            Section("yield-said", "", (Text(_headline_text(part), "summary"),), "head", "all"),
            Section("yield", "Yield", _yields(part), "lead", "all"),
            Section("faults", "Faults and repairs", _faults(part.faults), navigation="Faults"),
            Section("worlds", "Worlds", (_worlds(runs),)),
        ]


def _headline_text(part: GenerationSuite) -> str:
    row = part.authors[-1]
    return f"{row.overall.hits} of {row.overall.of} runs ended with an admitted world."


def _yields(part: GenerationSuite) -> tuple[Part, ...]:
    about = (
        "Each phase counts among the runs that passed the phases before it; overall is the share of all runs. Intervals are "
        f"95% Wilson intervals, shown if anything is compared. Costs are those of the author's model. {PAPER}"
    )
    authors, sources = _table("author", part.authors, "yield.csv"), _table("themes", part.sources, "")
    return (Text(about, "about"), authors, sources)


def _table(first: str, rows: Sequence[YieldRow], csv: str) -> Table:
    columns = columns_of(first, *_HEADS, "builds a theme", "cost a theme")
    cells = tuple(
        Row(
            (
                row.group,
                *(_cell(getattr(row, phase)) for phase in _PHASES),
                Number(row.builds, 1),
                text.dollars(row.cost_usd),
            )
        )
        for row in rows
    )
    return Table(columns, cells, f"Success by phase, by {first}", csv=csv)


def _cell(share: Share) -> Cell:
    if not share.of:
        return Cell(None)
    bounds = share.interval
    between = f"{bounds[0]:.0%} to {bounds[1]:.0%}" if bounds else ""
    return Cell(f"{share.hits / share.of:.1%}", (f"{share.hits} of {share.of}", *((between,) if between else ())))


def _faults(rows: Sequence[FaultRow]) -> tuple[Part, ...]:
    about = (
        "Findings of the gates: number of runs and of their builds, runs that fixed the fault, and runs that ended with it. "
        "Hidden gates only report faults at the end."
    )
    listed: list[list[Value]] = [
        [row.gate, row.kind, row.worlds, row.builds, row.mended, row.at_the_end] for row in rows
    ]
    table = of_rows(["gate", "fault", "runs", "builds", "mended", "at the end"], listed, left=2)
    return (Text(about, "about"), table) if rows else (Text("No gate found anything."),)


def _worlds(runs: Sequence[RunResults]) -> Table:
    heads = ("world", "author", "themes", "builds", "verdict", "rejected at", "tokens", "cost")
    columns = columns_of(*heads, left=heads)
    rows = tuple(
        Row(
            (
                Named(part.world, run=run.run_id, title=part.theme[:200]),
                run.evolver.name,
                f"{part.source}{', reviewed' if part.reviewed else ''}",
                len(part.builds),
                _verdict(part),
                part.first_failed or None,
                text.tokens(part.tokens),
                text.dollars(part.cost_usd),
            )
        )
        for run, part in runs_of(runs)
    )
    return Table(columns, rows, "Every run", empty="No run has begun.", csv="worlds.csv")


def _verdict(part: GenerationRun) -> Cell:
    if part.admitted is None:
        return Cell("not judged yet")
    return Cell("admitted", tone="good") if part.admitted else Cell("rejected", tone="bad")


def _world(part: GenerationRun) -> Section:
    facts = Facts(
        (
            Fact("World", part.world),
            Fact("Verdict", _verdict(part).value, part.first_failed and f"at the gate {part.first_failed}"),
            Fact("Builds", len(part.builds)),
            Fact("Tokens", text.tokens(part.tokens)),
            Fact("Cost", text.dollars(part.cost_usd)),
        )
    )
    gates = of_rows(
        ["gate", "result", "found"],
        [[row.gate, "passed" if row.passed else "rejected", ", ".join(row.kinds) or None] for row in part.gates],
        left=3,
        caption="All gates, from hidden seeds",
    )
    stages = of_rows(
        ["file", "versions", "digest"],
        [[row.file, row.versions, Mono(row.digest, 12)] for row in part.stages],
        caption="Files of the world",
    )
    return Section("world", "The world", (Text(part.theme[:2000]), facts, gates, stages))


def _builds(builds: Sequence[BuildRow]) -> Section:
    columns = (
        *(Column("build", "right"), Column("gates passed", "right"), Column("found", prose=True)),
        *(Column("changed"), Column("candidate")),
    )
    rows = tuple(
        Row(
            (
                build.index,
                f"{build.passed} of {build.gates}",
                "; ".join(f"{f.gate}: {f.kind}: {f.message[:160]}" for f in build.findings) or build.status,
                ", ".join(build.changed) or None,
                Mono(build.candidate, 10),
            )
        )
        for build in builds
    )
    return Section(
        "builds", "Builds and repairs", (Table(columns, rows, empty="Nothing was built.", csv="builds.csv"),)
    )


REPORT = GenerationReport()


PROTOCOL = Protocol(
    name="world-generation",
    summary="the best build of a world on a theme, admitted by all gates or not",
    setting=GenerationSetting(),
    sections={"budget": BuildBudgetSection, "views": GateViewsSection, "generation": GenerationSection},
    metrics=METRICS,
    report=REPORT,
    events=EVENTS,
    measured=frozenset({GATES_EXECUTED.name, JUDGING_SCORED.name}),
    selection=selected,
)
