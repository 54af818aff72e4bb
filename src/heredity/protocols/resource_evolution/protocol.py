"""Resource evolution (Autogenesis): edits of registered resources are committed on evidence, and judged before and after.

A suite's part has the improvements of each method under each model (table 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heredity.analysis.claims import Both, claims, compare
from heredity.analysis.contract import CommonMetrics, SuiteEvidence
from heredity.analysis.samples import GAP, Floats
from heredity.analysis.statistics import evolver_mean
from heredity.analysis.suite_table import Cell as EvolverScores
from heredity.analysis.suite_table import TasksetScores, differing_conditions
from heredity.configuration.sections import ModelLimitsSection
from heredity.protocols.contract import Protocol
from heredity.protocols.shared.commit_report import CommitReport
from heredity.protocols.shared.commits import CommitSetting, CommitViewsSection, selected
from heredity.results import text
from heredity.results.base import Interval, Result, Unknown
from heredity.results.charts import Tone
from heredity.results.claims import claimed
from heredity.results.page import Cell, Column, Mean, Named, Number, Row, Section, Table, Text, Value
from heredity.results.report import Words, taskset_names, tones
from heredity.results.run import RunResults
from heredity.results.suite import Claim, SuiteResults, Unit

MODEL = "gateway.execution"
"""The condition with the execution model."""


@dataclass(frozen=True, slots=True)
class _Scored:
    taskset: TasksetScores
    evolver: str
    cell: EvolverScores
    start: Floats
    both: Both


def improvements(
    tasksets: Sequence[TasksetScores], runs: Sequence[RunResults], *, ranked: bool = True
) -> list[Improvement]:
    """Return a row per evolver and taskset with a known start, in the order of the suite.

    Args:
        tasksets: the scores of every evolver.
        runs: of the suite.
        ranked: True to compute intervals and test differences (otherwise means are shown as they are).
    """
    conditions = differing_conditions(runs)
    rows = [row for taskset in tasksets for evolver in taskset.cells if (row := _scored(taskset, evolver, tasksets))]
    pairs: Sequence[tuple[Claim | None, Claim | None]] = claims([row.both for row in rows])
    return [
        _improvement(row, pair if ranked else (None, None), conditions, ranked=ranked)
        for row, pair in zip(rows, pairs, strict=True)
    ]


def _scored(taskset: TasksetScores, evolver: str, tasksets: Sequence[TasksetScores]) -> _Scored | None:
    cell = taskset.cells[evolver]
    start = taskset.references.get(cell.reference)
    if start is None or start.size != cell.scores.shape[1]:
        return None
    tests = sum(len(other.cells) for other in tasksets)
    bounds, clusters = GAP if taskset.bounds else None, [taskset.clusters]
    both = compare([cell.asked - start], tests, bounds, clusters=clusters, least=taskset.coverage)
    return None if both is None else _Scored(taskset, evolver, cell, start, both)


def _improvement(
    row: _Scored, pair: tuple[Claim | None, Claim | None], conditions: Sequence[str], *, ranked: bool
) -> Improvement:
    first = row.cell.runs[0][0]
    estimate = evolver_mean([row.cell.scores], row.taskset.bounds, [row.taskset.clusters]) if ranked else None
    before, after = float(np.nanmean(row.start)), row.cell.mean
    return Improvement(
        evolver=row.evolver,
        method=_method(row.evolver, first.conditions, conditions),
        model=first.conditions.get(MODEL),
        taskset=row.taskset.name,
        before=before,
        after=after,
        ci=estimate[0].interval if estimate else None,
        ci_unit=estimate[1] if estimate else None,
        ci_unknown=estimate[0].unknown if estimate else None,
        percent=100.0 * (after - before) / before if before > 0.0 else None,
        difference=row.both.candidates.difference,
        evolvers=pair[0],
        candidates=pair[1],
        runs=len(row.cell.runs),
    )


def _method(label: str, values: Mapping[str, object], conditions: Sequence[str]) -> str:
    """Return a label without the conditions, which have a column."""
    name, options, rest = label.partition(" (")
    if not options:
        return label
    shown = {f"{key}={values[key]}" for key in conditions if key in values}
    kept = [part for part in rest.removesuffix(")").split(", ") if part not in shown]
    return f"{name} ({', '.join(kept)})" if kept else name


class Improvement(Result):
    """One method under one model on one taskset, against its start.

    Attributes:
        evolver: its label in the suite.
        method: its name without the conditions.
        model: the execution model (None without one).
        before, after: held-out means of the start and of the last commit; `ci` is of `after`, over `ci_unit`.
        percent: improvement in per cent of `before`; None where that is 0 or less.
        difference: `after` minus `before`, paired by case.
        evolvers: the claim about the method: new runs on new tasks.
        candidates: the claim about these candidates on new tasks. Both None if nothing is ranked.
    """

    evolver: str
    method: str
    model: str | None
    taskset: str
    before: float
    after: float
    ci: Interval | None
    ci_unit: Unit | None
    ci_unknown: Unknown | None
    percent: float | None
    difference: float
    evolvers: Claim | None
    candidates: Claim | None
    runs: int


class ResourceSuite(Result):
    """The part of resource evolution in a suite's results: improvements by model, method and taskset."""

    improvements: list[Improvement]


def improvement_section(
    rows: Sequence[Improvement], names: Mapping[str, str], tones: Mapping[str, Tone], words: Words, *, ranked: bool
) -> Section:
    """Return the section; an empty one without rows."""
    if not rows:
        return Section("improvements", "")
    about = (
        f"Held-out {words.score} of the {words.reference} and of each method's last commit, by execution model, and the "
        f"improvement in per cent of the former: the lower the start, the larger the percentage for the same gain."
        + (" Below it the gain itself, with its claims about the method and about these candidates." if ranked else "")
    )
    tasksets = list(dict.fromkeys(row.taskset for row in rows))
    heads = [head for t in tasksets for head in (names.get(t, t), f"{names.get(t, t)}: improvement, %")]
    shown: list[Row] = []
    models = list(dict.fromkeys(row.model for row in rows))
    for model in models:
        own = [row for row in rows if row.model == model]
        shown += [Row((model or "no model",), "group")] if len(models) > 1 or model else []
        starts = {row.taskset: row.before for row in own}
        cells = [cell for t in tasksets for cell in (Number(starts.get(t), 3), None)]
        shown.append(Row((words.reference, *cells), "reference"))
        shown += [_row(evolver, own, tasksets, tones) for evolver in dict.fromkeys(row.evolver for row in own)]
    columns = (Column("method"), *(Column(head, "right") for head in heads))
    table = Table(columns, tuple(shown), "By model and method, mean over seeds", csv="improvements.csv")
    return Section("improvements", "Improvement by model", (Text(about, "about"), table), "lead" if ranked else "main")


def _row(evolver: str, own: Sequence[Improvement], tasksets: Sequence[str], tones: Mapping[str, Tone]) -> Row:
    by_taskset = {row.taskset: row for row in own if row.evolver == evolver}
    cells: list[Value | Cell] = []
    for taskset in tasksets:
        row = by_taskset.get(taskset)
        cells += [_score(row), _improved(row)] if row else [None, None]
    method = next(iter(by_taskset.values())).method
    return Row((Named(method, tones.get(evolver), title=evolver, swatch=True), *cells))


def _score(row: Improvement) -> Cell:
    unknown = f"no interval: {row.ci_unknown}" if row.ci_unknown else ""
    notes = (unknown,) if unknown else (text.plural(row.runs, "run"),)
    return Cell(Mean(row.after, *(row.ci or (None, None)), 3), notes)


def _improved(row: Improvement) -> Cell:
    gain = claimed(row.difference, row.evolvers, row.candidates, ("method", "candidates", "task"))
    share = "no share of nothing" if row.percent is None else Number(row.percent, 1, "signed")
    return Cell(share, (f"gain {text.signed(row.difference, 3)}", *gain.notes))


@dataclass(frozen=True)
class ResourceReport(CommitReport):
    """The report of resource evolution (Autogenesis)."""

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return the sections of a suite's page."""
        rows = suite.part.improvements if isinstance(suite.part, ResourceSuite) else []
        names, colours = taskset_names(suite, runs), tones(suite, runs)
        improved = [improvement_section(rows, names, colours, self.words, ranked=suite.ranked)] if rows else []
        return [*improved, *super().suite(suite, runs)]


REPORT = ResourceReport()


@dataclass(frozen=True)
class ResourceMetrics(CommonMetrics):
    """Metrics of resource evolution: improvements by model, method and taskset."""

    suite_part: type[Result] | None = ResourceSuite

    def of_suite(self, evidence: SuiteEvidence) -> ResourceSuite:
        """Return each method's improvement under each model."""
        return ResourceSuite(improvements=improvements(evidence.tasksets, evidence.runs, ranked=evidence.ranked))


METRICS = ResourceMetrics()


PROTOCOL = Protocol(
    name="resource-evolution",
    summary="the last committed candidate against the first, on the same held-out tasks",
    setting=CommitSetting(),
    sections={"limits": ModelLimitsSection, "views": CommitViewsSection},
    baselines=("best-of-n-edits", "sequential-edits"),
    metrics=METRICS,
    report=REPORT,
    selection=selected,
)
