"""Resource evolution (Autogenesis): edits of registered resources are committed on evidence, and judged before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heredity.analysis.contract import CommonMetrics, SuiteEvidence
from heredity.configuration.sections import ModelLimitsSection
from heredity.protocols.contract import Protocol
from heredity.protocols.resource_evolution.results import Improvement, ResourceSuite, improvements
from heredity.protocols.shared.commit_report import CommitReport
from heredity.protocols.shared.commits import CommitSetting, CommitViewsSection, selected
from heredity.results import text
from heredity.results.base import Result
from heredity.results.charts import Tone
from heredity.results.claims import claimed
from heredity.results.page import Cell, Column, Mean, Named, Number, Row, Section, Table, Text, Value
from heredity.results.report import Words, taskset_names, tones
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults


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
