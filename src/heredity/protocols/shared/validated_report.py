"""Pages of protocols that validate submissions: best so far, edit phases, successful edits, code, use of feedback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from heredity.analysis.samples import wilson
from heredity.results import text
from heredity.results.charts import (
    Bar,
    Bars,
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
from heredity.results.report import POLICIES, Words, budget_of, by_taskset, taskset_names, tones
from heredity.results.run import EditHits, EditKind, RunResults, SubmissionRow
from heredity.results.suite import EditRate, EditsRow, FeaturesRow, SuiteResults, TasksetResults

EDIT_BINS = ((0, 0), (1, 2), (3, 5), (6, 10), (11, 20), (21, 50), (51, None))
"""Ranges of edit sizes for grouping, in lines: minimum and maximum."""
FEATURES = {
    "functions": "functions",
    "branches": "branches",
    "loops": "loops",
    "state": "persistent state",
    "lines": "lines",
}
"""Features of code and their headings."""

_Grouped = TypeVar("_Grouped", EditsRow, FeaturesRow)


def written_hits(counts: EditHits | EditRate) -> str:
    """Write `3 of 9`."""
    return f"{counts.hits} of {counts.n}"


def edits(suite: SuiteResults, runs: Sequence[RunResults]) -> tuple[Part, ...]:
    """Return the success rate of edits by kind and size: edits that raised the best."""
    about = (
        "An edit pays off if it raises its run's best validation mean. Rollbacks and retests are counted separately. Large "
        "edits differ from small ones in more than size, so the chart shows an association."
    )
    colours = tones(suite, runs)
    rows: list[Row] = []
    for group, members in _groups(suite, suite.edits).items():
        rows.append(Row((f"{group} environments",), "group"))
        rows += [
            Row(
                (
                    Named(r.evolver, colours.get(r.evolver), swatch=True),
                    *(
                        v
                        for rate in (r.synthesis, r.parametric)
                        for v in (written_hits(rate), Number(rate.rate, form="percent"))
                    ),
                    *(r.rollbacks, r.retests),
                )
            )
            for r in members
        ]
    columns = columns_of("evolver", "synthesis", "rate", "parametric", "rate ", "rollbacks", "retests")
    caption = "Edits that raised the best, as a share of their kind, by group of environments"
    table = Table(columns, tuple(rows), caption, empty="No edits recorded yet.")
    bins = edit_bins(runs)
    chart = Bars(
        "Edit size against improvement",
        tuple(_bar(name, n, hits, suite.confidence) for name, n, hits in bins),
        "lines changed (below: number of edits)",
        "edits that raised the validation best",
        f"All runs together; {text.percent(suite.confidence)} intervals (Wilson).",
    )
    return Text(about, "about"), Group((table, chart) if any(n for _, n, _ in bins) else (table,), "pair")


def _groups(suite: SuiteResults, rows: Sequence[_Grouped]) -> dict[str, list[_Grouped]]:
    """Group rows by group of tasksets, the evolvers of each in leaderboard order."""
    order = {entry.evolver: i for i, entry in enumerate(suite.leaderboard)}
    groups: dict[str, list[_Grouped]] = {}
    for row in sorted(rows, key=lambda r: (r.group, order.get(r.evolver, len(order)))):
        groups.setdefault(row.group or "no group", []).append(row)
    return groups


def _bar(name: str, n: int, hits: int, confidence: float) -> Bar:
    if not n:
        return Bar(name, text.DASH, None)
    low, high = wilson(hits, n, confidence)
    tip = f"{name} lines: {hits} of {n} edits ({text.percent(hits / n)}) raised the best"
    return Bar(name, str(n), hits / n, low, high, tip)


def edit_bins(runs: Sequence[RunResults]) -> list[tuple[str, int, int]]:
    """Count edits by size over runs: (lines changed, edits, edits that raised the validation best)."""
    bins: list[tuple[str, int, int]] = []
    for low, high in EDIT_BINS:
        sizes = [edit for run in runs for edit in run.diagnostics.edit_size]
        within = [edit.improved for edit in sizes if low <= edit.lines and (high is None or edit.lines <= high)]
        name = str(low) if low == high else f"{low}\u2013{high}" if high else f"> {low - 1}"
        bins.append((name, len(within), sum(within)))
    return bins


def code(suite: SuiteResults) -> tuple[Part, ...]:
    """Return mean features of the selected programs."""
    about = "Counted in the syntax tree of policy.py and the local modules it reaches; means over runs."
    rows: list[Row] = []
    colours = tones(suite)
    for group, members in _groups(suite, suite.features).items():
        rows.append(Row((f"{group} environments",), "group"))
        rows += [
            Row(
                (
                    Named(r.evolver, colours.get(r.evolver), swatch=True),
                    *(r.runs, *(Number(getattr(r, key), 1) for key in FEATURES)),
                )
            )
            for r in members
        ]
    columns = columns_of("evolver", "runs", *FEATURES.values())
    caption = "Features of the programs that validation selected, by group of environments"
    return Text(about, "about"), Table(columns, tuple(rows), caption, empty="No policy selected yet.")


def demands(suite: SuiteResults, names: Mapping[str, str]) -> tuple[Part, ...]:
    """Return normalised scores by environment and group; none if nothing is ranked or there is only one environment."""
    if not suite.ranked or len(suite.tasksets) < 2:
        return ()
    about = (
        "Held-out means between the random policy (0) and the best evolver of the environment (1), clipped to that range: the "
        "best evolver has 1, by any margin. In a group mean, an evolver without a score has 0. The uncertainty of "
        "normalised scores is shown with the leaderboard."
    )
    entries = [entry for entry in suite.leaderboard if not entry.reference]
    evolvers = [entry.evolver for entry in entries]
    rows: list[Row] = []
    for group in sorted({taskset.group for taskset in suite.tasksets}):
        own = [taskset for taskset in suite.tasksets if taskset.group == group]
        rows.append(Row((f"{group or 'no group'} environments",), "group"))
        rows += [_row(taskset, evolvers, names) for taskset in own]
        rows.append(Row(("mean", *(Number(entry.group_scores.get(group), 3) for entry in entries)), "chosen"))
    columns = (Column("environment"), *(Column(evolver, "right") for evolver in evolvers))
    caption = "Normalised held-out score by task demand"
    return Text(about, "about"), Table(columns, tuple(rows), caption, csv="demands.csv")


def _row(taskset: TasksetResults, evolvers: list[str], names: Mapping[str, str]) -> Row:
    cells = (Number(_normalised(taskset, evolver), 3) for evolver in evolvers)
    return Row((Named(names.get(taskset.taskset, taskset.taskset), title=taskset.taskset), *cells))


def _normalised(taskset: TasksetResults, evolver: str) -> float | None:
    return next((cell.normalised for cell in taskset.cells if cell.evolver == evolver), None)


MOST_TRACES = 4000
"""Maximum trace rows on a suite's page; further rows are only on the runs' pages, to keep the page light."""


LEGEND = (
    Key("span", 5, "synthesis edits: a new structure"),
    Key("low-span", 4, "parametric edits: same structure, other numbers"),
    Key("triangle", 2, "new validation best"),
    Key("back", "ink", "rollback"),
    Key("ring", "ink", "retest"),
)
_TONES: Mapping[EditKind, Tone] = {EditKind.SYNTHESIS: 5, EditKind.PARAMETRIC: 4}
_EVENTS = {EditKind.ROLLBACK: "back", EditKind.RETEST: "ring"}


@dataclass(frozen=True)
class ValidatedReport:
    """The report of policy evolution (EvoPolicyGym) and of other protocols that validate submissions."""

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
        "The line is the best hidden-validation mean so far, selected on other cases and so unbiased; the thin line is "
        "the best mean itself, which selection biases upwards. Filled marks are validation means, rings the train means "
        "the evolver saw, the large ring is the selected submission, crosses are submissions with failures."
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
    table = Table(head, rows, caption, empty="No submissions yet.", csv="submissions.csv")
    return (table, Text("▲ raised the best validation mean of the run.", "item")) if rows else (table,)


def _size(s: SubmissionRow) -> str | None:
    return None if s.edit is None else f"+{s.edit.lines_added} {text.MINUS}{s.edit.lines_removed}"


def _diagnostics(run: RunResults, words: Words) -> tuple[Part, ...]:
    d = run.diagnostics
    growth = None if d.complexity_growth is None else f"{text.number(d.complexity_growth, 2)}\u00d7"
    measures: list[list[Value]] = [
        ["Improvements of the validation best", d.improvements],
        [f"{words.rollouts.capitalize()} until the first improvement", Number(d.first_improvement)],
        ["Synthesis edits that paid off", written_hits(d.edits.synthesis)],
        ["Parametric edits that paid off", written_hits(d.edits.parametric)],
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
        return (Text("Fewer than two submissions so far."),)
    head = (Column("submission", "right"), *(Column(n, prose=True) for n in ("evidence before it", "edit", "outcome")))
    rows = tuple(Row((t.submission, t.evidence, t.edit, t.outcome)) for t in run.traces)
    return (Table(head, rows, "Feedback, edit and effect"),)


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
        title, y = f"Best so far on {names[taskset]}", "validation mean, selected on other cases"
        empty = "no validation score yet"
        charts.append(
            Lines(title, _used(words), y, tuple(series), reference=reference, x_range=(0.0, budget), empty=empty)
        )
    about = (
        f"Hidden-validation score of the best {words.product} so far, after each {words.rollout} spent: selected on "
        "four fifths of the cases and scored on the rest, so selection does not bias it. Lines are means over "
        "seeds, bands span all seeds. Evolvers never see these values."
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
        "The kind of edit over the budget, one row per run; the small number is the seed. The "
        "first submission counts as synthesis. Marks that are close together are drawn as one."
    )
    # Explain the marks only once, below the first of them.
    first = Timeline(charts[0].title, charts[0].rows, charts[0].x, charts[0].stop, legend=LEGEND)
    return Text(about, "about"), Group((first, *charts[1:]))


def _all_traces(suite: SuiteResults, runs: Sequence[RunResults], names: Mapping[str, str]) -> tuple[Part, ...]:
    if not runs:
        return ()
    if sum(len(run.traces) for run in runs) > MOST_TRACES:
        return (Text("Too many for one page; see the page of each run."),)
    about = "For each submission: the feedback before it, the edit, and its effect."
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
