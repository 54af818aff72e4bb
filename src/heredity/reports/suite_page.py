"""The page of a suite: what the best reached, the leaderboard, every taskset, comparisons, budget, failures, runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heredity.reports.cells import behind, best_cells, cell_mean, cell_notes, places_of, seeds_note, suite_facts
from heredity.reports.mechanisms import bare, mechanisms, plain
from heredity.reports.sections import (
    Head,
    arranged,
    failed_runs,
    failure_parts,
    headed,
    labelled,
    marked,
    taskset_notes,
    versions,
)
from heredity.reports.sentences import (
    failed_evolvers,
    failure_summary,
    suite_caution,
    suite_summary,
    suite_title,
    trouble_summary,
    unscored,
)
from heredity.reports.sequential_section import sequential_section
from heredity.reports.suite_standings import leaderboard, profiles
from heredity.results import text
from heredity.results.charts import Interval, Intervals, Reference, Tone
from heredity.results.claims import claim_cells, claim_columns
from heredity.results.page import (
    Cell,
    Code,
    Column,
    Fact,
    Facts,
    Folded,
    Group,
    Mean,
    Named,
    Number,
    Page,
    Part,
    Row,
    Section,
    Table,
    Text,
    Value,
    columns_of,
    of_rows,
)
from heredity.results.report import Report, taskset_names, tones
from heredity.results.run import RunResults, RunStatus
from heredity.results.suite import Comparison, Problems, SuiteResults, TasksetResults
from heredity.results.words import Words

SEEDS = 8
"""Up to how many seeds of a cell have their scores written beside their mean; charts and the table of runs show all."""


def suite_page(suite: SuiteResults, runs: Sequence[RunResults], report: Report) -> Page:
    """Return what the page of a suite says.

    Args:
        suite: its results.
        runs: those of its runs; may be empty, then what is about single runs is left out.
        report: what its protocol has to say.
    """
    words = report.words.against(suite.reference)
    members = labelled(suite, runs if suite.ranked else list(map(bare, runs)))
    own = report.suite(suite, members)
    summary = [Text(line, "summary") for line in suite_summary(suite, words)]
    cautions = [Text(line, "caution") for line in (failure_summary(suite), suite_caution(suite, words)) if line]
    trouble = trouble_summary(suite, words)
    warnings = (Text(f"{trouble} See failures and missing.", "caution"),) if trouble else ()
    head = headed(Head((*summary, *cautions, *warnings), suite_facts(suite, words), failed_runs(runs)), own)
    if unscored(suite):
        # Nothing was reached, whatever the protocol says of what was.
        head = replace(head, summary=(*summary, *(text_ for text_ in head.summary if text_.role != "summary")))
    shown = _Shown(suite, members, words)
    sequence = sequential_section(suite.sequential)
    toned = tones(suite, members)
    standings = (leaderboard(suite, words, toned), profiles(suite, words, toned))
    compared = (sequence, shown.best(), *standings, shown.scores(), shown.comparisons())
    general = [
        *(compared if suite.ranked else (mechanisms(suite, members, words), shown.scores())),
        *(shown.selection(), shown.budget(), taskset_notes(members), shown.problems(), shown.runs(), shown.reproduce()),
    ]
    page = Page(
        title=suite_title(suite, words),
        summary=head.summary,
        facts=head.facts,
        sections=marked(arranged(general, own), failed_evolvers(suite)),
        subtitle=f"suite {suite.suite_id or 'unnamed'} · {suite.finished} of {text.plural(suite.runs, 'run')} finished",
        warnings=head.warnings,
        foot=f"Intervals are {text.percent(suite.confidence)} intervals. {words.foot}",
        name=suite.suite_id or "",
    )
    return plain(page, suite.unranked_because) if suite.unranked_because else page


class _Shown:
    """The general sections of a suite's page."""

    def __init__(self, suite: SuiteResults, runs: Sequence[RunResults], words: Words) -> None:
        self._suite, self._runs, self._words = suite, runs, words
        self._tones = tones(suite, runs)
        self._names = taskset_names(suite, runs)
        self._interval = f"{text.percent(suite.confidence)} interval"

    def _named(self, evolver: str, run: str | None = None) -> Named:
        return Named(evolver, self._tone(evolver), run, swatch=True)

    def _tone(self, evolver: str) -> Tone:
        return self._tones.get(evolver)

    def _taskset(self, name: str) -> Named:
        return Named(self._names.get(name, name), title=name)

    def best(self) -> Section:
        """Return what the best evolver of each taskset reached, in the task's own units."""
        words, rows = self._words, []
        for taskset in self._suite.tasksets:
            places = places_of(taskset)
            best = best_cells(taskset)
            score = Cell(cell_mean(best[0], places), seeds_note(best[0], places)) if best else None
            others = tuple(self._named(cell.evolver) for cell in best[1:])
            none = (f"not above the {best[0].against or words.reference}",) if best and behind(best[0]) else ()
            named = Cell(self._named(best[0].evolver), (*others, *none)) if best else None
            rows.append(
                [
                    self._taskset(taskset.taskset),
                    named,
                    score,
                    Number(best[0].reference_mean if best else taskset.reference_mean, places),
                ]
            )
        head = (words.taskset, "best evolver", f"held-out {words.score}", words.mark)
        table = of_rows(head, rows, left=2, caption=f"Best held-out {words.score} of each {words.taskset}")
        return Section("best", "What was reached", (table,) if rows else (), "lead", "all")

    def scores(self) -> Section:
        """Return every evolver on every taskset, as a table and as charts."""
        suite, words = self._suite, self._words
        by_taskset: list[dict[str, Cell]] = []
        for taskset in suite.tasksets:
            places = places_of(taskset)
            best = {cell.evolver for cell in best_cells(taskset) if not behind(cell)}
            by_taskset.append(
                {
                    c.evolver: Cell(
                        cell_mean(c, places),
                        cell_notes(c, places),
                        "bad" if c.failed else None,
                        strong=c.evolver in best and suite.ranked,
                    )
                    for c in taskset.cells
                }
            )
        rows = tuple(
            Row(
                (self._named(e.evolver), *(c.get(e.evolver, Cell()) for c in by_taskset)),
                "reference" if e.reference else "",
            )
            for e in suite.leaderboard
        )
        rows += tuple(self._further(name) for name in dict.fromkeys(r.name for t in suite.tasksets for r in t.further))
        head = columns_of("evolver", *(self._names[t.taskset] for t in suite.tasksets))
        inferred = (
            f"; {self._interval} over seeds, over cases of a single one; the best of each {words.taskset} is bold"
        )
        caption = "Mean over seeds and held-out cases" + (inferred if suite.ranked else "")
        table = Table(head, rows, caption, csv="scores.csv")
        charts = tuple(self._chart(taskset) for taskset in suite.tasksets)
        parts = (table, Group(charts)) if len(charts) > 1 else (Group((table, *charts), "pair"),) if charts else ()
        title = f"Held-out {words.score} by {words.taskset}"
        return Section("scores", title, parts, "lead", navigation=f"{words.tasksets.capitalize()}")

    def _further(self, name: str) -> Row:
        """Return the scores of a reference that is not ranked."""
        means_of = [(t, next((r for r in t.further if r.name == name), None)) for t in self._suite.tasksets]
        means = (Mean(r.mean, *(r.ci or (None, None)), decimals=places_of(t)) if r else None for t, r in means_of)
        return Row((self._named(name), *means), "reference")

    def _chart(self, taskset: TasksetResults) -> Intervals:
        words = self._words
        lines = [
            Interval(
                c.evolver,
                c.mean,
                *cell_mean(c).bounds,
                tone=self._tone(c.evolver),
                singles=tuple(seed.mean for seed in c.seeds),
            )
            for c in taskset.cells
            if not (c.reference or c.failed)
        ]
        unplaced = [*(cell.evolver for cell in taskset.cells if cell.failed), *taskset.absent]
        lines += [Interval(name, tone=self._tone(name)) for name in unplaced]
        reference = None if taskset.reference_mean is None else Reference(taskset.reference_mean, words.mark)
        note = " · ".join(part for part in (taskset.family, taskset.group, "a ring for each seed") if part)
        title = f"Held-out {words.score} on {self._names[taskset.taskset]}"
        return Intervals(title, tuple(lines), f"held-out {words.score}", reference, note)

    def comparisons(self) -> Section:
        """Return evolvers against one another, over the suite and on each taskset."""
        suite, words = self._suite, self._words
        about = (
            "Paired by seed and case, corrected for the number of tests. Each difference is judged twice: of the evolvers, for "
            f"new runs with new seeds, which takes six paired runs and three on each {words.taskset}; and of the "
            f"{words.products} that these runs {words.chosen}, on new cases. Better or worse is what a corrected p-value of at "
            f"most 0.05 finds, against the {words.reference} and of evolvers 0.002. The detectable effect is found four times "
            "in five."
        )
        caption = (
            f"Over the whole suite, in rescaled score (0: {words.mark}, 1: best evolver, may lie beyond); a positive difference is "
            "in favour of the first"
        )
        none = Text(
            f"No rescaled scores to compare over the whole suite: no evolver beats the {words.reference}. Compared in held-out "
            f"{words.score}, by {words.taskset}:"
            if suite.comparisons.tasksets
            else "No two evolvers have been judged on the same cases yet."
        )
        whole = suite.comparisons.suite
        parts: list[Part] = [Text(about, "about")]
        parts.append(self._compared(whole, caption, 3, "comparisons.csv") if whole else none)
        for taskset in suite.tasksets:
            rows = [row for row in suite.comparisons.tasksets if row.taskset == taskset.taskset]
            if rows:
                decided = sum(row.evolvers.verdict in ("better", "worse") for row in rows)
                note = f"{decided} of {len(rows)} differences of evolvers beyond noise"
                inner = self._compared(rows, f"{taskset.taskset}, in held-out {words.score}", None)
                parts.append(Folded(self._names[taskset.taskset], (inner,), note))
        return Section("comparisons", "Pairwise comparisons", tuple(parts), "lead", navigation="Comparisons")

    def _compared(self, rows: Sequence[Comparison], caption: str, places: int | None, csv: str = "") -> Table:
        claims = claim_columns("evolvers", self._words.products)
        head = (Column("first"), *claims, *columns_of("", "chance of improvement", "paired runs", "paired cases")[1:])
        shown = [
            Row(
                (
                    Cell(c.a, (f"against {c.b}",)),
                    *claim_cells(c.difference, c.evolvers, c.candidates, places),
                    Mean(c.probability_of_improvement, *(c.probability_of_improvement_ci or (None, None)), decimals=2),
                    c.pairs,
                    Cell(c.cases, (f"{c.unpaired} unpaired",) if c.unpaired else ()),
                )
            )
            for c in rows
        ]
        return Table(head, tuple(shown), caption, csv=csv)

    def selection(self) -> Section:
        """Return how far validation is above held-out where it picked the result."""
        rows = [
            [
                *(self._named(row.evolver), self._taskset(row.taskset), row.runs, Number(row.candidates, 1)),
                *(Number(row.validation_mean), Number(row.corrected), Number(row.heldout_mean)),
                Number(row.gap, form="signed"),
            ]
            for row in self._suite.selection
        ]
        head = ("evolver", self._words.taskset, "runs", "candidates looked at", "validation", "picked by other cases")
        about = (
            f"Validation picked each result among the {self._words.products} that were looked at, so its own score flatters; the "
            "next column is what the best is worth when other cases pick it. The gap is validation less held-out. Means over runs."
        )
        table = of_rows((*head, "held-out", "gap"), rows, left=2, caption="What was picked, on validation and held-out")
        return Section("selection", "Selection", (Text(about, "about"), table) if rows else (), "detail")

    def budget(self) -> Section:
        """Return what each evolver used; tokens where any are on record."""
        words, rows = self._words, self._suite.budget
        tokens = any(v is not None for r in rows for v in (r.input_tokens, r.cache_tokens, r.output_tokens, r.cost_usd))
        head = ["evolver", "runs", f"{words.rollouts} used", "submissions", f"{words.rollouts} per submission"]
        head += ["rejected", "resumes", "wall time", *(("input tokens", "cached", "output", "cost") if tokens else ())]
        shown = [
            [
                self._named(r.evolver),
                r.runs,
                Cell(r.used, (f"of {text.number(r.episodes)}",) if r.episodes is not None else ()),
                *(r.submissions, Number(r.episodes_per_submission, 1), r.rejected, r.resumes),
                Number(r.wall_seconds, form="duration"),
                *(Number(v, form="amount") for v in (r.input_tokens, r.cache_tokens, r.output_tokens) if tokens),
                *((Number(r.cost_usd, form="dollars"),) if tokens else ()),
            ]
            for r in rows
        ]
        about = (
            "What each evolver used over all its runs, judging not counted; sums. A dash is a cost that was not recorded, "
            "not a cost of zero."
        )
        table = of_rows(head, shown, caption="Sums over runs")
        parts = (Text(about, "about"), table, *self._usage()) if rows else (Text("Nothing has been spent yet."),)
        return Section("budget", "Budget and cost", parts, "detail", "page", "Budget")

    def _usage(self) -> tuple[Part, ...]:
        """Return the tokens of agents by taskset (EvoPolicyGym, table 9), where there are several and any are known."""
        used = [(run, run.tokens) for run in self._runs if run.tokens is not None]
        tasksets = dict.fromkeys(run.taskset or "unknown taskset" for run in self._runs)
        if not used or len(tasksets) < 2:
            return ()
        rows: list[list[Value | Cell]] = []
        for taskset, evolver in dict.fromkeys(
            (r.taskset or "unknown taskset", r.evolver.name or "") for r in self._runs
        ):
            own = [
                r.tokens
                for r in self._runs
                if (r.taskset or "unknown taskset", r.evolver.name or "") == (taskset, evolver)
            ]
            counts = (
                [t and getattr(t, name) for t in own] for name in ("input_tokens", "cache_tokens", "output_tokens")
            )
            cost = _sum([t and t.cost_usd for t in own])
            cells = (Number(_sum(listed), form="amount") for listed in counts)
            rows.append([self._taskset(taskset), self._named(evolver), len(own), *cells, Number(cost, form="dollars")])
        head = [self._words.taskset, "evolver", "runs", "input tokens", "cached", "output", "cost"]
        caption = f"Tokens by {self._words.taskset}, sums over runs; what is not known of a run is not known of the sum"
        return (replace(of_rows(head, rows, left=2, caption=caption), folded=True, csv="tokens.csv"),)

    def problems(self) -> Section:
        """Return what failed or is missing."""
        words = self._words
        about = (
            f"Failures of a {words.subject} count as scores. Rollouts that the host, {words.faulty} or a provider broke are "
            "missing: they are left out, never counted as zero."
        )
        troubled = [row for row in self._suite.problems if any(self._counts(row)) or row.unfinished or row.absent]
        head = ["evolver", "failed submissions", f"failed {words.rollouts}", f"missing {words.rollouts}"]
        head += ["held-out failures", "held-out missing"]
        columns = (*columns_of(*head), Column("runs that failed, did not finish, or have no score"))
        shown = [[self._named(row.evolver), *self._counts(row), self._absent(row)] for row in troubled]
        unused = [
            Text(text.clean(f"{run.run_id}: {run.model_usage.unused}."), "item")
            for run in self._runs
            if run.model_usage and run.model_usage.unused
        ]
        none = () if shown or unused else (Text("Nothing failed and nothing is missing."),)
        crashed = [
            Folded(run.run_id or "unnamed run", failure_parts(run.evolver_failure), "the evolver failed")
            for run in self._runs
            if run.evolver_failure
        ]
        parts = (
            Text(about, "about"),
            Table(columns, tuple(Row(tuple(row)) for row in shown), "Counts over runs"),
            *unused,
            *none,
            *crashed,
        )
        return Section("problems", "Failures and missing", parts, "detail")

    @staticmethod
    def _counts(row: Problems) -> list[int]:
        failed = [row.failed_submissions, row.failed_episodes, row.missing_episodes]
        return [*failed, row.heldout_failures, row.heldout_missing]

    @staticmethod
    def _absent(row: Problems) -> str:
        unfinished = [
            f"{run.run_id or 'unnamed run'} ({run.status}{f': {run.why}' if run.why else ''})" for run in row.unfinished
        ]
        absent = [f"no score on {text.short_task(a.taskset or '')}, seed {text.number(a.seed)}" for a in row.absent]
        return "; ".join([*unfinished, *absent]) or "none"

    def runs(self) -> Section:
        """Return every run, linked to its page."""
        words = self._words
        gains = any(run.gain for run in self._runs)
        head = ["run", words.taskset, "evolver", "seed", "status", f"held-out {words.score}"]
        head += [*(("paired gain",) if gains else ()), "submissions", words.rollouts]
        rows = [
            [
                Named(run.run_id or "unnamed run", run=run.run_id),
                self._taskset(run.taskset or "unknown taskset"),
                *(self._named(run.evolver.name or "unknown evolver"), Number(run.seed)),
                Cell(str(run.status), tone=None if run.status is RunStatus.FINISHED else "bad"),
                Mean(run.heldout.mean, *(run.heldout.ci or (None, None))) if run.heldout else None,
                *((_gain(run),) if gains else ()),
                *(len(run.submissions), run.budget.used),
            ]
            for run in self._runs
        ]
        columns = tuple(Column(name, "left" if i in (0, 1, 2, 4) else "right") for i, name in enumerate(head))
        table = Table(columns, tuple(Row(tuple(row)) for row in rows), "Every run of the suite", csv="runs.csv")
        return Section("runs", "Runs", (table,) if rows else (), "detail")

    def reproduce(self) -> Section:
        """Return isolation, versions and commands."""
        tiers = sorted({run.isolation for run in self._runs if run.isolation})
        facts = (
            Fact("Isolation", "; ".join(tiers) or "not recorded"),
            Fact("Packages", versions(run.packages for run in self._runs)),
            Fact("Configuration", "suite.toml in this folder, resolved; each run keeps its own run.toml"),
        )
        commands = "# the same suite, on hidden cases drawn afresh\nheredity run suite.toml\n\n"
        commands += "# these pages, rebuilt from the journals\nheredity report ."
        note = (
            "Hidden cases come from secret entropy drawn once for each suite, so a new suite is judged on new cases and "
            "its scores will differ."
        )
        parts = (Facts(facts), Code(commands, "sh", "Run it again"), Text(note, "note"))
        return Section("reproduce", "Isolation, versions and reproduction", parts, "detail", navigation="Reproduce")


def _sum(values: Sequence[float | None]) -> float | None:
    figures = [value for value in values if value is not None]
    return sum(figures) if len(figures) == len(values) else None


def _gain(run: RunResults) -> Mean | None:
    return Mean(run.gain.difference, *(run.gain.ci or (None, None)), signed=True) if run.gain else None
