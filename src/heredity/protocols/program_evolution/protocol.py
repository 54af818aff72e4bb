"""Program evolution: a program is improved by a scorer's feedback; the best few are validated, and one is scored held-out.

It differs from policy evolution in two ways. A run starts from, and is compared with, a program written by a person. Only
few candidates are validated (an evaluation may take minutes, and a scorer without seeds returns the same score each time).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from heredity._core.errors import ConfigError
from heredity.agents.terms import Briefing, RunTerms, submitting
from heredity.analysis.contract import CommonMetrics
from heredity.configuration.config import Cell as SuiteCell
from heredity.configuration.config import Config
from heredity.experiments.evolvers import build_evolver, check_evolver, initial_candidate
from heredity.protocols.contract import Needs, Protocol, RunContext, Setup, SuiteContext
from heredity.protocols.shared.selection import judge, selected
from heredity.protocols.shared.validated_report import ValidatedReport
from heredity.resources import SourceTree
from heredity.results import text
from heredity.results.page import Cell, Column, Folded, Part, Row, Section, Table, Text
from heredity.results.report import Words
from heredity.results.run import RunResults, SubmissionRow
from heredity.results.suite import SuiteResults
from heredity.session.bench import Reference, judged_reference
from heredity.session.views import ViewPlan

WORDS = Words(
    score="score",
    rollout="evaluation",
    taskset="program task",
    product="program",
    products="programs",
    case="hidden seed",
    faulty="the scorer",
    reference="start program",
    mark="start",
    reference_id="start",
    foot="The held-out score is the result. Where the scorer takes no seed, train, validation and held-out scores are the same "
    "measurement, made again.",
)

METRICS = CommonMetrics(reference="start program", returns=True)
"""Scores are the scorer's, in any range."""

PLACE = re.compile(r"\bisland (\d+), size (\d+), change (\d+)\b")
"""Pattern of a submission note that has its program's place on the map."""


@dataclass(frozen=True)
class ProgramReport(ValidatedReport):
    """The report of program evolution."""

    words: Words = WORDS

    def run(self, run: RunResults) -> list[Section]:
        """Return the sections of a run's page, with the map of elites if there is one."""
        sections = super().run(run)
        elites = _map(run)
        return (
            [*sections[:1], Section("elites", "Map of elites", elites, navigation="Elites"), *sections[1:]]
            if elites
            else sections
        )

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return the sections of a suite's page."""
        folded = tuple(
            Folded(f"{run.evolver.name or 'unknown evolver'}, seed {text.number(run.seed)}", parts)
            for run in runs
            if (parts := _map(run))
        )
        elites = [Section("elites", "Maps of elites", folded, "detail", navigation="Elites")] if folded else []
        return [*super().suite(suite, runs), *elites]


def _map(run: RunResults) -> tuple[Part, ...]:
    best: dict[tuple[int, int], tuple[float, SubmissionRow, int]] = {}
    islands: dict[int, float] = {}
    for row in run.submissions:
        niche = PLACE.search(row.note or "")
        if niche is None or row.train_mean is None or row.status != "ok":
            continue
        island, size, change = map(int, niche.groups())
        islands[island] = max(islands.get(island, row.train_mean), row.train_mean)
        if (size, change) not in best or row.train_mean > best[size, change][0]:
            best[size, change] = row.train_mean, row, island
    if not best:
        return ()
    about = (
        "The best program found of each kind, by size and by distance from the start program; the number is its "
        "train score, the letter below its island."
    )
    head = (
        Column("size, syntax nodes"),
        *(Column(f"{10 * c} to {10 * c + 10}% changed", "right") for c in _span(best, 1)),
    )
    scores = [score for score, _, _ in best.values()]
    rows = tuple(
        Row(
            (
                f"{2**size} to {2 ** (size + 1)}",
                *(_cell(best.get((size, c)), min(scores), max(scores)) for c in _span(best, 1)),
            )
        )
        for size in _span(best, 0)
    )
    letters = ", ".join(f"{_letter(i)} {text.number(score)}" for i, score in sorted(islands.items()))
    return (
        Text(about, "about"),
        Table(head, rows, "Elites: train scores", csv="elites.csv"),
        Text(f"Best of each island: {letters}.", "item"),
    )


def _span(best: Mapping[tuple[int, int], object], axis: int) -> range:
    values = [niche[axis] for niche in best]
    return range(min(values), max(values) + 1)


def _cell(best_of_cell: tuple[float, SubmissionRow, int] | None, low: float, top: float) -> Cell | None:
    if best_of_cell is None:
        return None
    score, row, island = best_of_cell
    heat = (score - low) / (top - low) if top > low else 1.0
    return Cell(text.number(score), (f"{_letter(island)}, submission {row.index}",), strong=score == top, heat=heat)


def _letter(island: int) -> str:
    return chr(ord("a") + (island - 1) % 26)


REPORT = ProgramReport()


def task_text(terms: RunTerms) -> str:
    """Return the task in Markdown, for `GET /task` and `TASK.md`."""
    public = terms.taskset.public
    best = "" if public["best_known"] is None else f"\nThe best value that is known: {public['best_known']:.12g}.\n"
    return f"""{terms.taskset.description.strip()}

## How it is scored

Score: {public["metric"]}. It is judged {public["judged"]}. Hidden: {public["hidden"]}.
{best}"""


def agent_text(terms: RunTerms) -> str:
    """Return `AGENTS.md`: the goal, the budget, the files to write, how to submit, and how to read feedback."""
    public, limits, digits = terms.taskset.public, terms.limits, "N" * terms.width
    floor = terms.taskset.failure_return
    failed = f"which counts {floor:g} at most" if math.isfinite(floor) else "which ranks below every one that does not"
    entry = f" Its function `{public['entry']}()` is called; what it returns is what counts." if public["entry"] else ""
    return f"""# Improve the program {public["program_file"]}

Make `system/{public["program_file"]}` score as high as possible. `TASK.md` says what is scored.{entry} Where marks
`EVOLVE-BLOCK-START` and `EVOLVE-BLOCK-END` stand in it, change only what is between them.

You learn by submitting the folder `system/`: the host measures the program and writes down what came of it. You may spend
**{terms.episode_budget} evaluations** in all. When they are spent, or when you finish, the best of what you submitted are
measured again, and one of them is the result. Whatever you compute inside of this sandbox costs nothing.

| path | what it is |
|---|---|
| `system/` | the program; yours to change |
| `feedback/submit_{digits}/` | what each submission gave, written by the host; read-only, counted from 0 |
| `TASK.md`, `run_meta.json` | the task; read-only |
| `bin/` | the commands `heredity`, `submit` and `finish`; already on the path |

An evaluation may take {limits.episode_s:g} s of the processor and {limits.memory_bytes >> 20} MiB. In the feedback,
`trajectory.jsonl` of each evaluation has one line: `reward` is the score, `info.metrics` are the scorer's metrics,
`info.texts` what it says besides; `error.txt` says why a program failed, {failed}.

{submitting(terms)}"""


BRIEFING = Briefing(agent_text, task_text, SourceTree({}))
"""Instructions for an agent that evolves a program, either the task's or one named by the run."""


SHORTLIST = 8
"""Maximum number of validated candidates."""

START = "start"
"""Name of the reference."""


class ProgramSetting:
    """Implements `heredity.protocols.contract.Setting`."""

    def needs(self, config: Config) -> Needs:
        """Request nothing beyond evaluations."""
        return Needs(episodes=config.budget.episodes or 0)

    def check(self, cell: SuiteCell, suite: SuiteContext) -> None:
        """Check the evolver, and that the task has a program to evolve."""
        info = suite.tasksets[cell.taskset].info
        if "program_file" not in info.public:
            raise ConfigError(
                f"run.tasksets has {cell.taskset!r}, of kind {info.kind}; program evolution needs tasks with "
                "a program file, such as program/circle-packing-26 or code/solution/two-gates"
            )
        check_evolver(cell, suite, BRIEFING)

    async def open(self, context: RunContext) -> Setup:
        """Return the run, with its starting program scored on the held-out tasks."""
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


PROTOCOL = Protocol(
    name="program-evolution",
    summary="a scorer measures a program; the best few are validated, one is scored held out against the start",
    setting=ProgramSetting(),
    metrics=METRICS,
    report=REPORT,
    selection=partial(selected, shortlist=SHORTLIST),
)
