"""The page of a suite: what the best reached, the leaderboard, every taskset, comparisons, budget, failures, runs."""

from __future__ import annotations

from collections.abc import Sequence

from heredity.reports.sections import Head, arranged, entry_cell, failed_runs, failure_parts, headed, versions
from heredity.reports.sentences import FEW, suite_caution, suite_summary, suite_title, trouble_summary
from heredity.results import text
from heredity.results.charts import Interval, Intervals, Reference, Tone
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
    Verdict,
    of_rows,
)
from heredity.results.report import Report, taskset_names, tones
from heredity.results.run import RunResults, RunStatus
from heredity.results.suite import CellResults, Comparison, Problems, SuiteResults, TasksetResults
from heredity.results.words import Words


def suite_page(suite: SuiteResults, runs: Sequence[RunResults], report: Report) -> Page:
    """Return what the page of a suite says.

    Args:
        suite: its results.
        runs: those of its runs; may be empty, then what is about single runs is left out.
        report: what its protocol has to say.
    """
    words = report.words.against(suite.reference)
    members = labelled(suite, runs)
    own = report.suite(suite, members)
    said = [Text(line, "summary") for line in suite_summary(suite, words)]
    cautions = [Text(line, "caution") for line in (suite_caution(suite, words),) if line]
    trouble = trouble_summary(suite, words)
    warnings = (Text(f"{trouble} See failures and missing.", "caution"),) if trouble else ()
    head = headed(Head((*said, *cautions, *warnings), _facts(suite, words), failed_runs(runs)), own)
    shown = _Shown(suite, members, words)
    general = [
        *(shown.best(), shown.leaderboard(), shown.scores(), shown.comparisons()),
        *(shown.budget(), shown.problems(), shown.runs(), shown.reproduce()),
    ]
    return Page(
        title=suite_title(suite, words),
        summary=head.summary,
        facts=head.facts,
        sections=arranged(general, own),
        subtitle=f"suite {suite.suite_id or 'unnamed'} · {suite.finished} of {text.plural(suite.runs, 'run')} finished",
        warnings=head.warnings,
        foot=f"Intervals are {text.percent(suite.confidence)} intervals. {words.foot}",
        name=suite.suite_id or "",
    )


def labelled(suite: SuiteResults, runs: Sequence[RunResults]) -> list[RunResults]:
    """Return the runs under the evolver names that the suite compares, in the suite's order of tasksets and evolvers."""
    labels = {seed.run_id: cell.evolver for t in suite.tasksets for cell in t.cells for seed in cell.seeds}
    labels |= {row.run_id: problems.evolver for problems in suite.problems for row in problems.unfinished}
    named = [
        run.model_copy(
            update={"evolver": run.evolver.model_copy(update={"name": labels.get(run.run_id, run.evolver.name)})}
        )
        for run in runs
    ]
    tasksets = {t.taskset: i for i, t in enumerate(suite.tasksets)}
    evolvers = {entry.evolver: i for i, entry in enumerate(suite.leaderboard)}

    def key(run: RunResults) -> tuple[int, str, int, str, int, str]:
        taskset, name = run.taskset or "", run.evolver.name or ""
        places = tasksets.get(taskset, len(tasksets)), evolvers.get(name, len(evolvers))
        return places[0], taskset, places[1], name, run.seed or 0, run.run_id or ""

    return sorted(named, key=key)


def _facts(suite: SuiteResults, words: Words) -> Facts:
    facts: list[Fact] = []
    for taskset in suite.tasksets if len(suite.tasksets) <= FEW else ():
        best = next((cell for cell in taskset.cells if not cell.reference), None)
        if best is not None:
            against = f"{best.evolver}; {words.mark} {text.number(taskset.reference_mean)}"
            facts.append(Fact(f"Best {words.score}, {text.short_task(taskset.taskset)}", _mean(best), against))
    sums = [row.wall_seconds for row in suite.budget]
    seconds = None if None in sums or not sums else sum(v for v in sums if v is not None)
    bought = [row.episodes for row in suite.budget]
    allowed = (
        None if None in bought or not bought else f"of {text.number(sum(v for v in bought if v is not None))} bought"
    )
    used = sum(row.used for row in suite.budget)
    return Facts(
        (
            *facts,
            Fact("Evolvers", len(suite.evolvers)),
            *(() if facts else (Fact(words.tasksets.capitalize(), len(suite.tasksets)),)),
            Fact("Runs finished", f"{suite.finished} of {suite.runs}"),
            Fact(f"{words.rollouts.capitalize()} used", used, allowed),
            Fact("Wall time of evolvers", Number(seconds, form="duration"), "added up, without judging"),
        )
    )


def _mean(cell: CellResults, places: int | None = None) -> Mean:
    return Mean(cell.mean, *(cell.ci or (None, None)), decimals=places)


def _places(taskset: TasksetResults) -> int:
    return text.decimals_for(text.spread_of(cell.ci or (None, None) for cell in taskset.cells), taskset.reference_mean)


def _columns(*names: str, left: int = 1) -> tuple[Column, ...]:
    return tuple(Column(name, "left" if i < left else "right") for i, name in enumerate(names))


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
            places = _places(taskset)
            best = next((cell for cell in taskset.cells if not cell.reference), None)
            score = _mean(best, places) if best else None
            reference = Number(taskset.reference_mean, places)
            rows.append([self._taskset(taskset.taskset), self._named(best.evolver) if best else None, score, reference])
        head = (words.taskset, "best evolver", f"held-out {words.score}", words.mark)
        table = of_rows(head, rows, left=2, caption=f"Best held-out {words.score} of each {words.taskset}")
        return Section("best", "What was reached", (table,) if rows else (), "lead", "all")

    def leaderboard(self) -> Section:
        """Return rank scores and normalised scores."""
        suite, words = self._suite, self._words
        where = "of an environment" if words.taskset == "environment" else f"on a {words.taskset}"
        about = (
            f"Rank score is 1 for the best entry {where} and 0 for the last, averaged over {words.tasksets}; equal means "
            "share the better rank, and who has no score is last. The normalised score sets the "
            f"{words.reference} to 0 and the best evolver to 1, and is summarised by its interquartile mean."
        )
        if not suite.leaderboard:
            return Section("leaderboard", "Leaderboard", (Text("No run of this suite has been judged yet."),), "lead")
        rows: list[Row] = []
        for i, e in enumerate(suite.leaderboard):
            share, best = f"{e.tasksets} of {e.tasksets + e.absent} {words.tasksets}", text.number(e.rank_score_at_best)
            absent = (f"{share}; {best} at best",) if e.absent else ()
            rank = Cell(Number(e.rank_score, 3), absent, strong=i == 0 and not e.reference)
            normalised = Mean(e.iqm, *(e.iqm_ci or (None, None)), decimals=3)
            cells = (entry_cell(self._named(e.evolver), e, words), rank, normalised, e.wins, e.top2)
            rows.append(Row(cells, "reference" if e.reference else ""))
        head = _columns("evolver", "rank score", "normalised", "wins", "top 2")
        caption = f"Leaderboard of {suite.suite_id or 'the suite'}, best first"
        table = Table(head, tuple(rows), caption, csv="leaderboard.csv")
        lines = [
            Interval(e.evolver, e.iqm, *(e.iqm_ci or (None, None)), tone=self._tone(e.evolver))
            for e in suite.leaderboard
            if not e.reference
        ]
        scale = f"0: {words.mark}, 1: best evolver"
        chart = Intervals("Normalised score", tuple(lines), scale, note=f"interquartile mean with {self._interval}")
        pair = Group((table, chart), "pair")
        return Section("leaderboard", "Leaderboard", (Text(about, "about"), pair, *self._breakdown()), "lead", "all")

    def _breakdown(self) -> list[Part]:
        """Return scores by family and by group, where there are several."""
        entries = self._suite.leaderboard
        families = sorted({name for entry in entries for name in entry.family_scores})
        groups = sorted({name for entry in entries for name in entry.group_scores})
        tables: list[Table] = []
        if len(families) > 1:
            rows = [[self._named(e.evolver), *(Number(e.family_scores.get(f), 3) for f in families)] for e in entries]
            tables.append(of_rows(["evolver", *families], rows, caption="Rank score by family"))
        if len(groups) > 1:
            own = [e for e in entries if not e.reference]
            rows = [[self._named(e.evolver), *(Number(e.group_scores.get(g), 3) for g in groups)] for e in own]
            caption = f"Mean normalised score by group of {self._words.tasksets}"
            tables.append(of_rows(["evolver", *groups], rows, caption=caption))
        return [Folded("By family and group", tuple(tables))] if tables else []

    def scores(self) -> Section:
        """Return every evolver on every taskset, as a table and as charts."""
        suite, words = self._suite, self._words
        columns: list[dict[str, Cell]] = []
        for taskset in suite.tasksets:
            places = _places(taskset)
            best = max((cell.mean for cell in taskset.cells if not cell.reference), default=None)
            columns.append(
                {c.evolver: Cell(_mean(c, places), strong=not c.reference and c.mean == best) for c in taskset.cells}
            )
        rows = tuple(
            Row(
                (self._named(e.evolver), *(c.get(e.evolver, Cell()) for c in columns)),
                "reference" if e.reference else "",
            )
            for e in suite.leaderboard
        )
        head = _columns("evolver", *(self._names[t.taskset] for t in suite.tasksets))
        caption = f"Mean over seeds and held-out cases with {self._interval}; the best of each {words.taskset} is bold"
        table = Table(head, rows, caption, csv="scores.csv")
        charts = tuple(self._chart(taskset) for taskset in suite.tasksets)
        parts = (table, Group(charts)) if len(charts) > 1 else (Group((table, *charts), "pair"),) if charts else ()
        title = f"Held-out {words.score} by {words.taskset}"
        return Section("scores", title, parts, "lead", navigation=f"{words.tasksets.capitalize()}")

    def _chart(self, taskset: TasksetResults) -> Intervals:
        words = self._words
        lines = [
            Interval(c.evolver, c.mean, *(c.ci or (None, None)), tone=self._tone(c.evolver))
            for c in taskset.cells
            if not c.reference
        ]
        lines += [Interval(name, tone=self._tone(name)) for name in taskset.absent]
        reference = None if taskset.reference_mean is None else Reference(taskset.reference_mean, words.mark)
        note = " · ".join(part for part in (taskset.family, taskset.group) if part)
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
        caption = "Over the whole suite, in normalised score; a positive difference is in favour of the first"
        parts: list[Part] = [Text(about, "about")]
        if suite.comparisons.suite:
            parts.append(self._compared(suite.comparisons.suite, caption, 3, "comparisons.csv"))
        else:
            parts.append(Text("No two evolvers have been judged on the same cases yet."))
        for taskset in suite.tasksets:
            rows = [row for row in suite.comparisons.tasksets if row.taskset == taskset.taskset]
            if rows:
                decided = sum(row.evolvers.verdict in ("better", "worse") for row in rows)
                note = f"{decided} of {len(rows)} differences of evolvers beyond noise"
                inner = self._compared(rows, f"{taskset.taskset}, in held-out {words.score}", None)
                parts.append(Folded(self._names[taskset.taskset], (inner,), note))
        return Section("comparisons", "Pairwise comparisons", tuple(parts), "lead", navigation="Comparisons")

    def _compared(self, rows: Sequence[Comparison], caption: str, places: int | None, csv: str = "") -> Table:
        products = self._words.products
        named = ("over new runs", "p (Holm)", "detectable effect")
        cases = ("over new cases", "p of cases (Holm)", "chance of improvement", "paired runs", "paired cases")
        head = (
            Column("first"),
            Column("evolvers"),
            *_columns("", *named)[1:],
            Column(f"these {products}"),
            *_columns("", *cases)[1:],
        )
        shown = [
            Row(
                (
                    Cell(c.a, (f"against {c.b}",)),
                    Verdict(c.evolvers.verdict),
                    Mean(c.difference, *(c.evolvers.ci or (None, None)), decimals=places, signed=True),
                    Number(c.evolvers.p_holm, form="p"),
                    Number(c.evolvers.mde, places),
                    Verdict(c.candidates.verdict),
                    Mean(c.difference, *(c.candidates.ci or (None, None)), decimals=places, signed=True),
                    Number(c.candidates.p_holm, form="p"),
                    Number(c.probability_of_improvement, form="percent"),
                    c.pairs,
                    Cell(c.cases, (f"{c.unpaired} unpaired",) if c.unpaired else ()),
                )
            )
            for c in rows
        ]
        return Table(head, tuple(shown), caption, csv=csv)

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
        parts = (Text(about, "about"), table) if rows else (Text("Nothing has been spent yet."),)
        return Section("budget", "Budget and cost", parts, "detail", "page", "Budget")

    def problems(self) -> Section:
        """Return what failed or is missing."""
        words = self._words
        about = (
            f"Failures of a {words.subject} count as scores. Rollouts that the host, {words.faulty} or a provider broke are "
            "missing: they are left out, never counted as zero."
        )
        troubled = [row for row in self._suite.problems if any(self._counts(row)) or row.unfinished or row.absent]
        head = ["evolver", "failed submissions", f"failed {words.rollouts}", f"missing {words.rollouts}"]
        head += ["held-out failures", "held-out missing", "runs not finished, or without a score"]
        shown = [[self._named(row.evolver), *self._counts(row), self._absent(row)] for row in troubled]
        none = () if shown else (Text("Nothing failed and nothing is missing."),)
        crashed = [
            Folded(run.run_id or "unnamed run", failure_parts(run.evolver_failure), "the evolver stopped with an error")
            for run in self._runs
            if run.evolver_failure
        ]
        parts = (Text(about, "about"), of_rows(head, shown, caption="Counts over runs"), *none, *crashed)
        return Section("problems", "Failures and missing", parts, "detail")

    @staticmethod
    def _counts(row: Problems) -> list[int]:
        failed = [row.failed_submissions, row.failed_episodes, row.missing_episodes]
        return [*failed, row.heldout_failures, row.heldout_missing]

    @staticmethod
    def _absent(row: Problems) -> str:
        unfinished = [f"{run.run_id or 'unnamed run'} ({run.status})" for run in row.unfinished]
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


def _gain(run: RunResults) -> Mean | None:
    return Mean(run.gain.difference, *(run.gain.ci or (None, None)), signed=True) if run.gain else None
