"""Pages of protocols whose runs commit candidates: commits with evidence, gains, model usage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heredity.results import text
from heredity.results.charts import Lines, Mark, Reference, Series, mean_steps
from heredity.results.claims import judged
from heredity.results.page import (
    Cell,
    Column,
    Folded,
    Group,
    Mean,
    Mono,
    Named,
    Number,
    Part,
    Row,
    Section,
    Table,
    Text,
    Value,
    Verdict,
    columns_of,
)
from heredity.results.report import Words, budget_of, by_taskset, taskset_names, tones
from heredity.results.run import Decision, ModelTokens, RunResults, SubmissionRow
from heredity.results.suite import SuiteResults

WORDS = Words(
    score="accuracy",
    rollout="rollout",
    taskset="taskset",
    product="candidate",
    products="candidates",
    chosen="committed",
    case="hidden task",
    subject="candidate",
    faulty="a verifier",
    reference="starting point",
    mark="start",
    reference_id="initial",
    foot="The held-out score is the result. The evolver saw only train scores and committed by them.",
)
_PURPOSES = ("rollouts", "method", "judging")


@dataclass(frozen=True)
class CommitReport:
    """The report of a protocol whose runs commit candidates on evidence."""

    words: Words = WORDS

    def run(self, run: RunResults) -> list[Section]:
        """Return the sections of a run's page."""
        words = self.words
        return [
            Section("progress", "Progress over the budget", _progress(run, words), "lead", "page", "Progress"),
            Section("commits", "Commits", _commits(run, words)),
            Section("usage", "Model usage", _usage(run, words)),
            Section("submissions", "Submissions", _submissions(run, words), "detail", "page"),
        ]

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return the sections of a suite's page."""
        words = self.words
        if not runs:
            return []
        return [
            Section("gains", "Before and after", _gains(suite, runs, words)),
            Section("commits", "Commits over the budget", _curves(suite, runs, words), navigation="Commits"),
            Section("usage", "Model usage", _suite_usage(suite, runs, words), "detail", "page"),
        ]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A decision and its place in the run: number, rollouts used so far, train mean of its candidate, note of the edit."""

    number: int
    decision: Decision
    at: int
    train_mean: float | None
    note: str

    @property
    def mean(self) -> Mean:
        """The paired difference to the committed candidate."""
        return Mean(self.decision.difference, *(self.decision.interval or (None, None)), decimals=3, signed=True)


def weighed(run: RunResults) -> list[Weighed]:
    """Return the decisions of a run in order; the train mean covers all rollouts of a candidate."""
    sums: dict[str, tuple[float, int]] = {}
    for s in run.submissions:
        if s.train_mean is not None and s.episodes:
            total, n = sums.get(s.candidate, (0.0, 0))
            sums[s.candidate] = total + s.train_mean * s.episodes, n + s.episodes
    means = {candidate: total / n for candidate, (total, n) in sums.items()}
    notes = {s.candidate: s.note for s in reversed(run.submissions)}
    used = {s.index: s.budget_used for s in run.submissions}
    return [
        Weighed(
            number,
            d,
            max([used.get(i, 0) for i in d.submissions], default=0),
            means.get(d.candidate),
            notes.get(d.candidate, ""),
        )
        for number, d in enumerate(run.decisions)
    ]


def committed_line(run: RunResults) -> tuple[tuple[float, float], ...]:
    """Return (rollouts used, train mean) of the committed candidate, from each commit on."""
    accepted = [w for w in weighed(run) if w.decision.accepted]
    return tuple((float(w.at), w.train_mean) for w in accepted if w.train_mean is not None)


def _progress(run: RunResults, words: Words) -> tuple[Part, ...]:
    about = (
        f"The line is the train {words.score} of the committed {words.product}, the mean over all its {words.rollouts}; "
        "filled marks are commits, rings single submissions, crosses submissions with failures. Submissions use "
        "different tasks, so their rings scatter."
    )
    marks: list[Mark] = []
    for s in run.submissions:
        if s.train_mean is not None:
            tip = f"submission {s.index}: {text.number(s.train_mean)} over {s.episodes} {words.rollouts}"
            marks.append(Mark(s.budget_used, s.train_mean, "ring", 6, tip, 0.85))
        if s.failures or s.failure:
            marks.append(Mark(s.budget_used, None, "cross", "bad", f"submission {s.index}: {s.status or 'unfinished'}"))
    for w in weighed(run):
        if w.decision.accepted and w.train_mean is not None:
            tip = f"commit at {w.at} {words.rollouts}: {text.number(w.train_mean)}; {w.decision.reason}"
            marks.append(Mark(w.at, w.train_mean, "circle", 0, tip, 1.35))
    line = Series("", 0, committed_line(run), steps=True, until=run.budget.used)
    title, x = "Train scores over the budget", f"{words.rollouts} of budget used"
    span = (0.0, budget_of([run]))
    empty = "no submission yet"
    chart = Lines(title, x, f"train {words.score}", (line,), tuple(marks), x_range=span, empty=empty, wide=True)
    return Text(about, "about"), chart


def _commits(run: RunResults, words: Words) -> tuple[Part, ...]:
    decisions = weighed(run)
    if not decisions:
        return (Text("No commits yet."),)
    about = (
        "A candidate is accepted on evidence: its mean difference to the committed one, on the same train tasks. "
        "Filled marks were accepted, hollow ones refused; lines are 95% intervals."
    )
    accepted = [w for w in decisions if w.decision.accepted]
    refused = f"{len(decisions) - len(accepted)} refused"
    every = decision_table(decisions, words, "In order; accepted decisions are shaded")
    folded = Folded(f"All {len(decisions)} decisions", (every,), refused, page_only=False)
    shown = decision_table(accepted, words, "Commits, in order", accepted=True)
    return Text(about, "about"), _differences(decisions, words), shown, folded


def decision_table(decisions: Sequence[Weighed], words: Words, caption: str, *, accepted: bool = False) -> Table:
    """Return decisions as a table; with `accepted`, only the accepted ones, without their reasons on the page."""
    head = (
        *(Column("#", "right"), *((Column("decision"),) if not accepted else ())),
        *(Column(f"{words.rollouts} used", "right"), Column(f"train {words.score}", "right")),
        *(Column("difference", "right"), Column("paired tasks", "right")),
        *((Column("reason", prose=True),) if not accepted else ()),
        *(Column("edit", prose=True), Column("candidate")),
    )
    rows: list[Row] = []
    for w in decisions:
        d = w.decision
        verdict = Verdict("accepted", "good") if d.accepted else Verdict("refused")
        cells: tuple[Value, ...] = (
            *(w.number, *((verdict,) if not accepted else ()), w.at, Number(w.train_mean, 3), w.mean, d.pairs or None),
            *(*((d.reason,) if not accepted else ()), w.note, Mono(d.candidate, 10)),
        )
        rows.append(Row(cells, "chosen" if d.accepted and not accepted else ""))
    return Table(head, tuple(rows), caption, page_only=accepted)


def _differences(decisions: Sequence[Weighed], words: Words) -> Lines:
    marks: list[Mark] = []
    for w in decisions:
        d = w.decision
        if not d.baseline:
            continue
        if d.difference is None:
            marks.append(Mark(w.number, 0.0, "cross", "bad", f"decision {w.number}: {d.reason}"))
            continue
        low, high = d.interval or (None, None)
        tip = f"decision {w.number}, {'accepted' if d.accepted else 'refused'}: "
        tip += f"{text.difference(d.difference, low, high)}; {d.reason}"
        shape, tone = ("circle", 2) if d.accepted else ("ring", 6)
        marks.append(Mark(w.number, d.difference, shape, tone, tip, 1.2, low, high))
    return Lines(
        "Evidence of the decisions",
        "decision",
        f"difference in train {words.score}",
        marks=tuple(marks),
        reference=Reference(0.0, ""),
        x_range=(0.5, max([1.5, *(w.number + 0.5 for w in decisions)])),
        y_from=0.0,
        whole=True,
        empty="no decisions yet",
        wide=True,
    )


def _tokens(used: ModelTokens) -> list[Value]:
    counts = (used.input_tokens, used.cached_tokens, used.output_tokens)
    return [*(Number(v, form="tokens") for v in counts), Number(used.cost_usd, form="cost")]


def _usage(run: RunResults, words: Words) -> tuple[Part, ...]:
    used = run.model_usage
    if used is None:
        return (Text("No model was asked.", "note"),)
    method = Cell("the method", (text.plural(used.method.calls, "call"),))
    purposes = ((f"{words.rollouts} at train tasks", used.rollouts), (method, used.method), ("judging", used.judging))
    head = columns_of("calls for", "input tokens", "of them cached", "output tokens", "cost")
    rows = tuple(Row((name, *_tokens(tokens))) for name, tokens in purposes)
    table = Table(head, rows, "Usage that a provider did not report is unknown, as is every sum that includes it")
    failed = f"{text.plural(used.failed_calls, 'call')} of the method failed."
    return (table, Text(failed, "note")) if used.failed_calls else (table,)


def _submissions(run: RunResults, words: Words) -> tuple[Part, ...]:
    head = (
        *(Column("#", "right"), Column(f"{words.rollouts} used", "right"), Column(words.rollouts, "right")),
        *(Column(f"train {words.score}", "right"), Column("failures", "right"), Column("status")),
        *(Column("edit", prose=True), Column("candidate")),
    )

    def row(s: SubmissionRow) -> Row:
        status = Cell(s.status or "unfinished", tone=None if s.status == "ok" else "bad")
        mean = Number(s.train_mean, 3)
        return Row((s.index, s.budget_used, s.episodes, mean, s.failures, status, s.note, Mono(s.candidate, 10)))

    caption = f"In order; {text.plural(run.budget.rejected, 'rejected request')}"
    return (Table(head, tuple(map(row, run.submissions)), caption, empty="No submissions yet."),)


def _gains(suite: SuiteResults, runs: Sequence[RunResults], words: Words) -> tuple[Part, ...]:
    about = (
        f"Held-out {words.score} of the {words.product} each run started with and of the last one it committed, on the "
        "same hidden tasks. The gain is the mean of the paired differences"
        + (
            f". Its verdict is about this {words.product} on new tasks; a claim about the evolver takes several runs."
            if suite.ranked
            else "."
        )
    )
    names, colours = taskset_names(suite, runs), tones(suite, runs)
    several = len(suite.tasksets) > 1
    head = ["evolver", *((words.taskset,) if several else ()), "seed", "before", "after", "gain", "verdict"]
    head += ["detectable effect", "commits", "refused", words.rollouts]
    rows: list[Row] = []
    for run in runs:
        gain, evolver = run.gain, run.evolver.name or "unknown evolver"
        where = (Named(names[run.taskset], title=run.taskset),) if several and run.taskset else ()
        difference = Mean(gain.difference, *(gain.ci or (None, None)), decimals=3, signed=True) if gain else None
        cells: tuple[Value, ...] = (
            *(Named(evolver, colours.get(evolver), run.run_id, swatch=True), *where, Number(run.seed)),
            Number(run.reference.heldout_mean if run.reference else None, 3),
            Number(run.heldout.mean if run.heldout else None, 3),
            *(difference, judged(gain), Number(gain.mde if gain else None, 3)),
            sum(d.accepted and bool(d.baseline) for d in run.decisions),
            *(sum(not d.accepted for d in run.decisions), run.budget.used),
        )
        rows.append(Row(cells))
    left = {"evolver", words.taskset, "verdict"}
    columns = columns_of(*head, left=left)
    caption = "Every run" + (
        f", with {text.percent(suite.confidence)} intervals over hidden tasks" if suite.ranked else ""
    )
    return Text(about, "about"), Table(columns, tuple(rows), caption, csv="gains.csv")


def _curves(suite: SuiteResults, runs: Sequence[RunResults], words: Words) -> tuple[Part, ...]:
    names, colours, budget = taskset_names(suite, runs), tones(suite, runs), budget_of(runs)
    charts: list[Lines] = []
    for taskset, members in by_taskset(runs).items():
        series: list[Series] = []
        for evolver in dict.fromkeys(run.evolver.name or "" for run in members):
            own = [run for run in members if run.evolver.name == evolver]
            lines = [line for run in own if (line := committed_line(run))]
            series.append(mean_steps(evolver, colours.get(evolver), lines, float(max(r.budget.used for r in own))))
        title, x = f"Commits on {names[taskset]}", f"{words.rollouts} of budget used"
        empty = "nothing committed yet"
        charts.append(Lines(title, x, f"train {words.score}", tuple(series), x_range=(0.0, budget), empty=empty))
    about = (
        f"Train {words.score} of the committed {words.product}, from each commit on: the mean over all its {words.rollouts}. "
        "Lines are means over seeds, bands span all seeds. The evolver sees the "
        f"train tasks; the result is the held-out {words.score}."
    )
    return Text(about, "about"), Group(tuple(charts))


def _suite_usage(suite: SuiteResults, runs: Sequence[RunResults], words: Words) -> tuple[Part, ...]:
    about = (
        f"Usage of model calls, over all runs of an evolver: {words.rollouts} on train tasks, the method's requests, "
        "judging. Usage that a provider did not report is unknown, as is every sum that includes it."
    )
    colours = tones(suite, runs)
    rows: list[Row] = []
    for evolver in dict.fromkeys(run.evolver.name or "" for run in runs):
        used = [run.model_usage for run in runs if run.evolver.name == evolver and run.model_usage]
        if not used:
            continue
        spent: Mapping[str, list[ModelTokens]] = {name: [getattr(u, name) for u in used] for name in _PURPOSES}
        counts = [_sum([getattr(t, key) for t in spent[name]]) for name in _PURPOSES for key in _IN_AND_OUT]
        cost = _sum([t.cost_usd for tokens in spent.values() for t in tokens])
        cells = (
            Named(evolver, colours.get(evolver), swatch=True),
            *(Number(count, form="tokens") for count in counts),
            *(sum(u.method.calls for u in used), sum(u.failed_calls for u in used), Number(cost, form="cost")),
        )
        rows.append(Row(cells))
    head = ["evolver", *(f"{name}, {what}" for name in _PURPOSES for what in ("input", "output"))]
    columns = tuple(
        Column(n, "right" if i else "left") for i, n in enumerate([*head, "method calls", "failed calls", "cost"])
    )
    table = Table(columns, tuple(rows), "Tokens of input and output, and cost", empty="No model was asked.")
    return Text(about, "about"), table


_IN_AND_OUT = ("input_tokens", "output_tokens")


def _sum(values: Sequence[float | None]) -> float | None:
    """Add up the parts; one unknown part makes the sum unknown."""
    present = [v for v in values if v is not None]
    return sum(present) if len(present) == len(values) else None
