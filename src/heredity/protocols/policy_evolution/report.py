"""What policy evolution has to say on pages: best so far, phases of edits, which edits paid, code, how feedback was used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heredity.protocols.policy_evolution.demand_section import demands
from heredity.protocols.policy_evolution.edit_sections import FEATURES, code, edits, written_hits
from heredity.results import text
from heredity.results.charts import (
    Key,
    Lines,
    Mark,
    Reference,
    Series,
    Span,
    Timeline,
    TimelineRow,
    Tone,
    mean_steps,
)
from heredity.results.page import (
    Cell,
    Column,
    Folded,
    Group,
    Mono,
    Number,
    Part,
    Row,
    Section,
    Table,
    Text,
    Value,
    of_rows,
)
from heredity.results.report import budget_of, by_taskset, taskset_names, tones
from heredity.results.run import EditKind, RunResults, SubmissionRow
from heredity.results.suite import SuiteResults
from heredity.results.words import POLICIES, Words

MOST_TRACES = 4000
"""Rows of traces a suite's page shows; beyond that they are only on the runs' own pages, to keep the page light."""


LEGEND = (
    Key("span", 5, "synthesis edits: a structure not seen before"),
    Key("low-span", 4, "parametric edits: same structure, other numbers"),
    Key("triangle", 2, "new validation best"),
    Key("back", "ink", "rollback"),
    Key("ring", "ink", "retest"),
)
_TONES: Mapping[EditKind, Tone] = {EditKind.SYNTHESIS: 5, EditKind.PARAMETRIC: 4}
_EVENTS = {EditKind.ROLLBACK: "back", EditKind.RETEST: "ring"}


@dataclass(frozen=True)
class PolicyReport:
    """The report of policy evolution (EvoPolicyGym)."""

    words: Words = POLICIES

    def run(self, run: RunResults) -> list[Section]:
        """Return the sections of a run's page."""
        title = f"Phases of {run.run_id}"
        row = timeline_row(run, "edits", "", self.words)
        phases = Timeline(title, (row,), _used(self.words), budget_of([run]), legend=LEGEND, wide=True)
        return [
            Section("progress", "Progress over the budget", _progress(run, self.words), "lead", "page", "Progress"),
            Section("phases", "Phases of edits", (phases,), media="page", navigation="Phases"),
            Section("submissions", "Submissions", _submissions(run)),
            Section("diagnostics", "Diagnostics", _diagnostics(run, self.words)),
            Section("traces", "How feedback was used", _traces(run), "detail", "page", "Traces"),
        ]

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return the sections of a suite's page."""
        names = taskset_names(suite, runs)
        return [
            Section(
                "curves",
                "Best so far over the budget",
                _curves(suite, runs, names, self.words),
                navigation="Best so far",
            ),
            Section("phases", "Phases of edits", _phases(runs, names, self.words), media="page", navigation="Phases"),
            Section("edits", "Which edits paid", edits(suite, runs), navigation="Edits"),
            Section("demands", "By task demand", demands(suite, names), navigation="Demands"),
            Section("code", f"Code of the selected {self.words.products}", code(suite), "detail", "page", "Code"),
            Section("traces", "How feedback was used", _all_traces(suite, runs, names), "detail", "page", "Traces"),
        ]


def _progress(run: RunResults, words: Words) -> tuple[Part, ...]:
    about = (
        "The line is the best hidden-validation mean so far when other cases pick it, which is what it is worth; the thin line is "
        "the best mean itself, which having been picked raises. Filled marks are validation means, rings are the train means "
        "the evolver saw, the large ring is the submission that was selected, crosses are submissions with failures."
    )
    marks: list[Mark] = []
    for s in run.submissions:
        if s.train_mean is not None:
            tip = f"submission {s.index}: train mean {text.number(s.train_mean)}"
            marks.append(Mark(s.budget_used, s.train_mean, "ring", 6, tip, 0.85))
        if s.validation_mean is not None:
            tip = f"submission {s.index}: validation mean {text.number(s.validation_mean)}"
            marks.append(Mark(s.budget_used, s.validation_mean, "circle", 0, tip))
        if s.failures or s.failure:
            marks.append(Mark(s.budget_used, None, "cross", "bad", f"submission {s.index}: {s.status or 'unfinished'}"))
    chosen = _selected(run)
    if chosen is not None and chosen.validation_mean is not None:
        tip = f"selected: submission {chosen.index}"
        marks.append(Mark(chosen.budget_used, chosen.validation_mean, "ring", "ink", tip, 2.2))
    until = run.budget.used
    best = (
        Series("", 0, tuple(run.best_so_far), steps=True, until=until, thin=bool(run.best_corrected)),
        Series("", 0, tuple(run.best_corrected), steps=True, until=until),
    )
    scores = Lines(
        "Scores",
        _used(words),
        f"mean {words.score}",
        best,
        tuple(marks),
        x_range=(0.0, budget_of([run])),
        empty="no submission yet",
        wide=True,
    )
    return Text(about, "about"), Group((scores, _growth(run)), "pair")


def _selected(run: RunResults) -> SubmissionRow | None:
    index = run.selected.index if run.selected else None
    return next((s for s in run.submissions if s.index == index), None)


def _growth(run: RunResults) -> Lines:
    sizes = [(float(s.index), float(s.features.lines)) for s in run.submissions if s.features is not None]
    chosen = _selected(run)
    marks = ()
    if chosen is not None and chosen.features is not None:
        tip = f"selected: submission {chosen.index}, {chosen.features.lines} lines"
        marks = (Mark(chosen.index, chosen.features.lines, "ring", "ink", tip, 2.0),)
    line = Series("", 1, tuple(sizes), steps=True)
    last = max([1.0, *(at for at, _ in sizes)])
    return Lines(
        "Code size",
        "submission",
        "lines of code",
        (line,),
        marks,
        x_range=(0.0, last),
        y_from=0.0,
        whole=True,
        height=0.8,
    )


def timeline_row(run: RunResults, name: str, note: str, words: Words = POLICIES) -> TimelineRow:
    """Return a run's phases of edits with its improvements, rollbacks and retests."""
    spans = tuple(
        Span(
            p.start,
            p.stop,
            _TONES.get(p.kind, 6),
            p.kind is not EditKind.SYNTHESIS,
            f"{p.kind}, {words.rollouts} {text.number(p.start)} to {text.number(p.stop)}",
        )
        for p in run.phases
        if p.kind not in _EVENTS
    )
    marks: list[Mark] = []
    for s in run.submissions:
        if s.edit is None:
            continue
        where = f"submission {s.index}, {s.budget_used} {words.rollouts}"
        if s.edit.kind is EditKind.ROLLBACK:
            marks.append(Mark(s.budget_used, 0.0, "back", "ink", f"rollback: {where}"))
        elif s.edit.kind is EditKind.RETEST:
            marks.append(Mark(s.budget_used, 0.0, "ring", "ink", f"retest: {where}"))
        if s.edit.hit:
            marks.append(Mark(s.budget_used, 1.0, "triangle", 2, f"new best: {where}"))
    return TimelineRow(name, note, spans, tuple(marks))


def _used(words: Words) -> str:
    return f"{words.rollouts} of budget used"


def _submissions(run: RunResults) -> tuple[Part, ...]:
    values = [s.validation_mean for s in run.submissions if s.validation_mean is not None]
    bounds = run.heldout.ci if run.heldout and run.heldout.ci else (None, None)
    places = text.decimals_for(text.spread_of([bounds]), max(map(abs, values), default=None))
    index = run.selected.index if run.selected else None
    rows = tuple(
        Row(
            (
                Cell(s.index, ("selected",) if s.index == index else ()),
                *(s.budget_used, Number(s.train_mean, places), Number(s.validation_mean, places)),
                Number(s.best_so_far, places),
                (s.edit.kind + (" ▲" if s.edit.hit else "")) if s.edit else None,
                _size(s),
                Cell(s.status or "unfinished", tone=None if s.status == "ok" else "bad"),
                *(s.note, Mono(s.candidate, 10)),
            ),
            "chosen" if s.index == index else "",
        )
        for s in run.submissions
    )
    head = (
        *(Column("#", "right"), Column("budget used", "right"), Column("train mean", "right")),
        *(Column("validation mean", "right"), Column("best so far", "right"), Column("edit"), Column("lines", "right")),
        *(Column("status"), Column("note", prose=True), Column("candidate")),
    )
    caption = "In order; the selected one is shaded. Means are returns, higher is better"
    table = Table(head, rows, caption, empty="Nothing has been submitted yet.", csv="submissions.csv")
    return (table, Text("▲ raised the best validation mean of the run.", "item")) if rows else (table,)


def _size(s: SubmissionRow) -> str | None:
    return None if s.edit is None else f"+{s.edit.lines_added} {text.MINUS}{s.edit.lines_removed}"


def _diagnostics(run: RunResults, words: Words) -> tuple[Part, ...]:
    d = run.diagnostics
    growth = None if d.complexity_growth is None else f"{text.number(d.complexity_growth, 2)}\u00d7"
    measures: list[list[Value]] = [
        ["Improvements of the validation best", d.improvements],
        [f"{words.rollouts.capitalize()} until the first improvement", Number(d.first_improvement)],
        ["Synthesis edits that paid", written_hits(d.edits.synthesis)],
        ["Parametric edits that paid", written_hits(d.edits.parametric)],
        ["Rollbacks", d.rollbacks],
        ["Retests", d.retests],
        ["Score drops on validation", d.score_drops],
        ["Invalid actions, share of steps", Number(d.invalid_transition_rate, 1, "percent")],
        ["Code size, last over first", growth],
        [f"{words.rollouts.capitalize()} per submission", Number(d.budget_per_submission)],
    ]
    table = of_rows(["measure", "value"], measures, caption="Of the run")
    chosen, first = _selected(run), run.submissions[0] if run.submissions else None
    if chosen is None or chosen.features is None:
        return (table,)
    before = first.features if first else None
    rows = [
        [name.capitalize(), getattr(chosen.features, key), getattr(before, key, None)] for key, name in FEATURES.items()
    ]
    caption = f"Code of the selected {words.product}, against the first submission"
    return (Group((table, of_rows(["feature", "selected", "first"], rows, caption=caption)), "pair"),)


def _traces(run: RunResults) -> tuple[Part, ...]:
    if not run.traces:
        return (Text("No submission has followed another yet."),)
    head = (Column("submission", "right"), *(Column(n, prose=True) for n in ("evidence before it", "edit", "outcome")))
    rows = tuple(Row((t.submission, t.evidence, t.edit, t.outcome)) for t in run.traces)
    return (Table(head, rows, "What the feedback showed, what was edited, what came of it"),)


def _curves(
    suite: SuiteResults, runs: Sequence[RunResults], names: Mapping[str, str], words: Words
) -> tuple[Part, ...]:
    colours, budget = tones(suite, runs), budget_of(runs)
    references = {t.taskset: t.reference_mean for t in suite.tasksets}
    charts: list[Lines] = []
    for taskset, members in by_taskset(runs).items():
        series: list[Series] = []
        for evolver in dict.fromkeys(run.evolver.name or "" for run in members):
            own = [run for run in members if run.evolver.name == evolver]
            used = float(max(run.budget.used for run in own))
            lines = [run.best_corrected for run in own if run.best_corrected]
            series.append(mean_steps(evolver, colours.get(evolver), lines, used))
        mean = references.get(taskset)
        reference = None if mean is None else Reference(mean, words.mark)
        title, y = f"Best so far on {names[taskset]}", "validation mean, picked by other cases"
        empty = "no validation score yet"
        charts.append(
            Lines(title, _used(words), y, tuple(series), reference=reference, x_range=(0.0, budget), empty=empty)
        )
    about = (
        f"What the best of the {words.products} so far is worth on hidden validation after each {words.rollout} bought: picked on "
        "four fifths of the cases and scored on the last, so that having been picked does not raise it. Lines are means over "
        "seeds, bands run from the least to the greatest seed. Evolvers never see these values."
    )
    return (Text(about, "about"), Group(tuple(charts))) if charts else ()


def _phases(runs: Sequence[RunResults], names: Mapping[str, str], words: Words) -> tuple[Part, ...]:
    budget = budget_of(runs)
    charts = tuple(
        Timeline(
            f"Phases of edits on {names[taskset]}",
            tuple(timeline_row(run, run.evolver.name or "", text.number(run.seed), words) for run in members),
            _used(words),
            budget,
        )
        for taskset, members in by_taskset(runs).items()
    )
    if not charts:
        return ()
    about = (
        "What kind of edit each stretch of the budget went into, one row for each run; the small number is the seed. The "
        "first submission counts as synthesis. Marks that are close together are drawn as one."
    )
    # The meaning of marks is said once, below the first of them.
    first = Timeline(charts[0].title, charts[0].rows, charts[0].x, charts[0].stop, legend=LEGEND)
    return Text(about, "about"), Group((first, *charts[1:]))


def _all_traces(suite: SuiteResults, runs: Sequence[RunResults], names: Mapping[str, str]) -> tuple[Part, ...]:
    if not runs:
        return ()
    if sum(len(run.traces) for run in runs) > MOST_TRACES:
        return (Text("These are too many for one page; each run's own page has its traces."),)
    about = "For each submission: what the feedback before it showed, what was edited, and what came of it."
    folded: list[Part] = []
    for taskset, members in by_taskset(runs).items():
        traced = [run for run in members if run.traces]
        inner = [
            Folded(
                run.evolver.name or "unknown evolver",
                _traces(run),
                f"seed {text.number(run.seed)} · {text.plural(len(run.traces), 'row')}",
            )
            for run in traced
        ]
        if inner:
            folded.append(Folded(names[taskset], tuple(inner), text.plural(len(inner), "run")))
    return (Text(about, "about"), *(folded or [Text("No traces yet.")]))


REPORT = PolicyReport()
