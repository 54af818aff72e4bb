"""Page of a suite: best results, leaderboard, every taskset, comparisons, budget, failures, runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from heredity.pages.report.sections import (
    Head,
    arranged,
    bare,
    entry_cell,
    failed_runs,
    failure_parts,
    headed,
    labelled,
    logged,
    marked,
    mechanisms,
    plain,
    taskset_notes,
    versions,
)
from heredity.pages.report.sentences import (
    behind,
    best_cells,
    cell_mean,
    cell_notes,
    failed_evolvers,
    failure_summary,
    overall_winner,
    places_of,
    seeds_note,
    sequential_summary,
    suite_caution,
    suite_facts,
    suite_summary,
    suite_title,
    trouble_summary,
    unscored,
    winner,
)
from heredity.results import text
from heredity.results.charts import Interval, Intervals, Lines, Reference, Series, Tone
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
from heredity.results.report import Report, Words, taskset_names, tones
from heredity.results.run import RunResults, RunStatus
from heredity.results.suite import Comparison, Problems, Profile, Scale, Sequential, SuiteResults, TasksetResults

PROFILED = (0.0, 0.25, 0.5, 0.75, 0.9)
"""Normalised scores in tables of profiles; charts have more."""


def _name_cell(evolver: str, tones: Mapping[str, Tone]) -> Named:
    return Named(evolver, tones.get(evolver), swatch=True)


def leaderboard(suite: SuiteResults, words: Words, tones: Mapping[str, Tone]) -> Section:
    """Return a table of rank scores and normalised scores."""
    where = "of an environment" if words.taskset == "environment" else f"on a {words.taskset}"
    about = (
        f"The rank score is 1 for the best entry {where} and 0 for the last, averaged over {words.tasksets}. Entries with "
        f"equal means share the better rank. An entry without a score on a {words.taskset}, or failed in all its runs there, "
        f"ranks last. The normalised score is 0 for the {words.reference} and 1 for the best evolver, clipped to that range and "
        "summarised by its interquartile mean. An entry whose runs all failed has neither rank nor wins. Intervals and the "
        f"chance of being first cover new seeds, new cases, and new {words.tasksets} where there are six or more. With fewer "
        f"than six runs, or fewer than three on any {words.taskset}, there is too little data for them."
    )
    if not suite.leaderboard:
        return Section("leaderboard", "Leaderboard", (Text("No run of this suite has been judged yet."),), "lead")
    rows: list[Row] = []
    compared = any(e.tasksets for e in suite.leaderboard if not e.reference)
    first = overall_winner(suite)
    for e in suite.leaderboard:
        share, best = f"{e.tasksets} of {e.tasksets + e.absent} {words.tasksets}", text.number(e.rank_score_at_best)
        absent = (f"{share}; {best} at best",) if e.absent and e.tasksets else ()
        rank = Cell(Number(e.rank_score, 3), absent, strong=e.evolver == first)
        normalised = Mean(e.iqm, *(e.iqm_ci or (None, None)), decimals=3)
        firsts = (e.wins, e.top2) if e.tasksets and compared else (None, None)
        cells = (entry_cell(_name_cell(e.evolver, tones), e, words), rank, normalised, *firsts)
        rows.append(Row(cells, "reference" if e.reference else ""))
    head = columns_of("evolver", "rank score", "normalised", "wins", "top 2")
    caption = f"Leaderboard of {suite.suite_id or 'the suite'}, best first"
    table = Table(head, tuple(rows), caption, csv="leaderboard.csv")
    lines = [
        Interval(e.evolver, e.iqm, *(e.iqm_ci or (None, None)), tone=tones.get(e.evolver))
        for e in suite.leaderboard
        if not e.reference
    ]
    scale = f"0: {words.mark}, 1: best evolver"
    chart = Intervals(
        "Normalised score",
        tuple(lines),
        scale,
        note=f"interquartile mean with {text.percent(suite.confidence)} interval",
    )
    pair = Group((table, chart), "pair")
    parts = (Text(about, "about"), pair, _chance(suite, tones), *_breakdown(suite, words, tones))
    return Section("leaderboard", "Leaderboard", parts, "lead", "all")


def _chance(suite: SuiteResults, tones: Mapping[str, Tone]) -> Part:
    """Return the uncertainty of the leaderboard, or why there is no interval."""
    reason = next((e.spread_unknown for e in suite.leaderboard if e.spread_unknown), None)
    if reason is not None:
        return Text(f"No interval for ranks and normalised scores: {reason}.")
    rows = [
        [
            _name_cell(e.evolver, tones),
            Mean(e.rank, *(e.rank_ci or (None, None)), decimals=0),
            Mean(e.rank_score, *(e.rank_score_ci or (None, None)), decimals=3),
            Number(e.p_best, form="percent"),
        ]
        for e in suite.leaderboard
        if e.tasksets
    ]
    head = ["evolver", "rank", "rank score", "chance to be first"]
    return replace(of_rows(head, rows, caption="Uncertainty of the ranks"), csv="standings.csv")


def _breakdown(suite: SuiteResults, words: Words, tones: Mapping[str, Tone]) -> list[Part]:
    """Return scores by family and by group if there are several."""
    entries = suite.leaderboard
    families = sorted({name for entry in entries for name in entry.family_scores})
    groups = sorted({name for entry in entries for name in entry.group_scores})
    tables: list[Table] = []
    if len(families) > 1:
        rows = [[_name_cell(e.evolver, tones), *(Number(e.family_scores.get(f), 3) for f in families)] for e in entries]
        tables.append(of_rows(["evolver", *families], rows, caption="Rank score by family"))
    if len(groups) > 1:
        own = [e for e in entries if not e.reference]
        rows = [[_name_cell(e.evolver, tones), *(Number(e.group_scores.get(g), 3) for g in groups)] for e in own]
        caption = f"Mean normalised score by group of {words.tasksets}"
        tables.append(of_rows(["evolver", *groups], rows, caption=caption))
    return [Folded("By family and group", tuple(tables))] if tables else []


def profiles(suite: SuiteResults, words: Words, tones: Mapping[str, Tone]) -> Section:
    """Return the share of runs of each evolver that reach each normalised score."""
    about = (
        "The share of runs whose normalised score is above each value, all of them on all "
        f"{words.tasksets} together (Agarwal et al. 2021): where one line is above another everywhere, it is better. Bands are "
        f"pointwise {text.percent(suite.confidence)} intervals, if there are enough runs."
    )
    lines = tuple(
        Series(
            p.evolver,
            tones.get(p.evolver),
            tuple((point.above, point.share) for point in p.points),
            tuple((point.above, *point.ci) for point in p.points if point.ci),
        )
        for p in suite.profiles
    )
    chart = Lines(
        "Performance profiles", "normalised score", "share of runs above", lines, x_range=(0.0, 1.0), y_from=0.0
    )
    head = ["evolver", *(f"above {at:g}" for at in PROFILED)]
    rows = [[_name_cell(p.evolver, tones), *(_above(p, at) for at in PROFILED)] for p in suite.profiles]
    table = of_rows(head, rows, caption="Share of runs above a normalised score")
    parts = (Text(about, "about"), Group((table, chart), "pair")) if suite.profiles else ()
    return Section("profiles", "Performance profiles", parts, "lead", navigation="Profiles")


def _above(profile: Profile, at: float) -> Mean | None:
    point = next((p for p in profile.points if p.above == at), None)
    return point and Mean(point.share, *(point.ci or (None, None)), decimals=2)


def sequential_section(sequence: Sequential | None) -> Section:
    """Return what each look said; without parts for a suite that was not run seed after seed."""
    if sequence is None:
        return Section("sequential", "Sequential test")
    unit = "rescaled score" if sequence.scale is Scale.NORMALISED else "score"
    about = (
        f"{sequence.a} and {sequence.b} were run and compared seed after seed, until one was shown to be better or "
        f"{text.plural(sequence.most_seeds, 'seed')} were run. All intervals hold simultaneously in at least "
        f"{text.percent(1.0 - sequence.level)} of such suites, and p at most {sequence.level:g} occurs falsely in at most "
        f"{text.percent(sequence.level)}, at any stopping time: over seeds, if differences are symmetric around zero, "
        "as for equal entries; over cases, under the assumptions of Student's t."
    )
    rows = [
        [
            look.seed,
            look.pairs,
            Mean(look.difference, *(look.ci or (None, None)), signed=True),
            Number(look.p, form="p"),
        ]
        for look in sequence.looks
    ]
    named = of_rows(("after seed", "paired seeds", f"{sequence.a} less {sequence.b}", "p, at any time"), rows, left=0)
    table = Table(named.columns, named.rows, f"Result after each seed, in {unit}", csv="sequential.csv", page_only=True)
    points = tuple((float(look.pairs), look.difference) for look in sequence.looks if look.difference is not None)
    band = tuple((float(look.pairs), *look.ci) for look in sequence.looks if look.ci is not None)
    line = Series("difference", 0, points, band, dots=True)
    chart = Lines(
        f"{sequence.a} less {sequence.b}", "paired seeds", unit, (line,), reference=Reference(0.0, "alike"), whole=True
    )
    parts = (Text(sequential_summary(sequence)), Text(about, "about"), Group((table, chart), "pair"))
    return Section("sequential", "Sequential test", parts, "lead", "files")


SEEDS = 8
"""Number of seeds up to which a cell shows each score next to the mean; charts and the table of runs show all."""


def suite_page(suite: SuiteResults, runs: Sequence[RunResults], report: Report) -> Page:
    """Return the page of a suite.

    Args:
        suite: its results.
        runs: results of its runs; without them, parts about single runs are left out.
        report: the protocol's part of the report.
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
        # There is no result, even if the protocol reports one.
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
    """General sections of a suite's page."""

    def __init__(self, suite: SuiteResults, runs: Sequence[RunResults], words: Words) -> None:
        self._suite, self._runs, self._words = suite, runs, words
        self._tones = tones(suite, runs)
        self._names = taskset_names(suite, runs)
        self._interval = f"{text.percent(suite.confidence)} interval"

    def _name_cell(self, evolver: str, run: str | None = None) -> Named:
        return Named(evolver, self._tone(evolver), run, swatch=True)

    def _tone(self, evolver: str) -> Tone:
        return self._tones.get(evolver)

    def _taskset(self, name: str) -> Named:
        return Named(self._names.get(name, name), title=name)

    def best(self) -> Section:
        """Return the best evolver's result on each taskset, in the task's units."""
        words, rows = self._words, []
        for taskset in self._suite.tasksets:
            places = places_of(taskset)
            best = best_cells(taskset)
            score = Cell(cell_mean(best[0], places), seeds_note(best[0], places)) if best else None
            others = tuple(self._name_cell(cell.evolver) for cell in best[1:])
            none = (f"not above the {best[0].against or words.reference}",) if best and behind(best[0]) else ()
            if best and not none and winner(self._suite, taskset) is None:
                none = ("not shown to be better than the others",)
            named = Cell(self._name_cell(best[0].evolver), (*others, *none)) if best else None
            rows.append(
                [
                    self._taskset(taskset.taskset),
                    named,
                    score,
                    Number(best[0].reference_mean if best else taskset.reference_mean, places),
                ]
            )
        head = (words.taskset, "highest mean", f"held-out {words.score}", words.mark)
        table = of_rows(head, rows, left=2, caption=f"Highest held-out {words.score} on each {words.taskset}")
        return Section("best", "Highest results", (table,) if rows else (), "lead", "all")

    def scores(self) -> Section:
        """Return every evolver on every taskset, as a table and as charts."""
        suite, words = self._suite, self._words
        by_taskset: list[dict[str, Cell]] = []
        for taskset in suite.tasksets:
            places = places_of(taskset)
            best = winner(suite, taskset)
            by_taskset.append(
                {
                    c.evolver: Cell(
                        cell_mean(c, places),
                        cell_notes(c, places),
                        "bad" if c.failed else None,
                        strong=c.evolver == best and suite.ranked,
                    )
                    for c in taskset.cells
                }
            )
        rows = tuple(
            Row(
                (self._name_cell(e.evolver), *(c.get(e.evolver, Cell()) for c in by_taskset)),
                "reference" if e.reference else "",
            )
            for e in suite.leaderboard
        )
        rows += tuple(self._further(name) for name in dict.fromkeys(r.name for t in suite.tasksets for r in t.further))
        head = columns_of("evolver", *(self._names[t.taskset] for t in suite.tasksets))
        inferred = f"; {self._interval} over seeds, over cases of a single one; bold if better than every other evolver"
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
        return Row((self._name_cell(name), *means), "reference")

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
        """Return pairwise comparisons of evolvers, over the suite and on each taskset."""
        suite, words = self._suite, self._words
        about = (
            "Each difference answers two questions. Which evolver is better, for new runs with new seeds: this needs four "
            f"seeds on one {words.taskset}, or three on each of several. And which {words.products} are better, of those that "
            f"these runs {words.chosen}, on new cases: this says nothing about the evolvers. Paired by seed and case, "
            "corrected for the number of tests. Better or worse means a corrected p-value of at most 0.05, and that the "
            "interval leaves out 0. The detectable effect is found with 80% power."
        )
        caption = (
            f"Over the whole suite, in rescaled score (0: {words.mark}, 1: best evolver, not clipped); a positive difference "
            "favours the first"
        )
        none = Text(
            f"No rescaled scores to compare over the whole suite: no evolver beats the {words.reference}. Compared in held-out "
            f"{words.score}, by {words.taskset}:"
            if suite.comparisons.tasksets
            else "No two evolvers have been judged on common cases yet."
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
                    *claim_cells(c.difference, c.evolvers, c.candidates, places, c.more_cost),
                    Mean(c.probability_of_improvement, *(c.probability_of_improvement_ci or (None, None)), decimals=2),
                    c.pairs,
                    Cell(c.cases, (f"{c.unpaired} unpaired",) if c.unpaired else ()),
                )
            )
            for c in rows
        ]
        return Table(head, tuple(shown), caption, csv=csv)

    def selection(self) -> Section:
        """Return the gap between validation and held-out scores if validation selected the result."""
        rows = [
            [
                *(self._name_cell(row.evolver), self._taskset(row.taskset), row.runs, Number(row.candidates, 1)),
                *(Number(row.validation_mean), Number(row.corrected), Number(row.heldout_mean)),
                Number(row.gap, form="signed"),
            ]
            for row in self._suite.selection
        ]
        head = ("evolver", self._words.taskset, "runs", "candidates", "validation", "selected on other cases")
        about = (
            f"Validation selected each result among the {self._words.products}, so its score is optimistic; the "
            "next column is the score of the best when other cases select it. The gap is validation less held-out. Means over runs."
        )
        table = of_rows(
            (*head, "held-out", "gap"), rows, left=2, caption="Selected results, on validation and held-out"
        )
        return Section("selection", "Selection", (Text(about, "about"), table) if rows else (), "detail")

    def budget(self) -> Section:
        """Return each evolver's usage; tokens if any are on record."""
        words, rows = self._words, self._suite.budget
        tokens = any(v is not None for r in rows for v in (r.input_tokens, r.cache_tokens, r.output_tokens, r.cost_usd))
        head = ["evolver", "runs", f"{words.rollouts} used", "submissions", f"{words.rollouts} per submission"]
        head += ["rejected", "resumes", "wall time", *(("input tokens", "cached", "output", "cost") if tokens else ())]
        shown = [
            [
                self._name_cell(r.evolver),
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
            "Usage of each evolver, summed over its runs, without judging. A dash is an unrecorded cost, "
            "not a cost of zero."
        )
        table = of_rows(head, shown, caption="Sums over runs")
        parts = (Text(about, "about"), table, *self._usage()) if rows else (Text("No budget used yet."),)
        return Section("budget", "Budget and cost", parts, "detail", "page", "Budget")

    def _usage(self) -> tuple[Part, ...]:
        """Return the tokens of agents by taskset (EvoPolicyGym, table 9) if there are several and any are known."""
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
            rows.append(
                [self._taskset(taskset), self._name_cell(evolver), len(own), *cells, Number(cost, form="dollars")]
            )
        head = [self._words.taskset, "evolver", "runs", "input tokens", "cached", "output", "cost"]
        caption = f"Tokens by {self._words.taskset}, sums over runs; a sum with an unknown part is unknown"
        return (replace(of_rows(head, rows, left=2, caption=caption), folded=True, csv="tokens.csv"),)

    def problems(self) -> Section:
        """Return failures and missing results."""
        words = self._words
        about = (
            f"Failures of a {words.subject} count as scores. Rollouts that the host, {words.faulty} or a provider broke are "
            "missing: they are left out, never counted as zero."
        )
        troubled = [row for row in self._suite.problems if any(self._counts(row)) or row.unfinished or row.absent]
        head = ["evolver", "failed submissions", f"failed {words.rollouts}", f"missing {words.rollouts}"]
        head += ["held-out failures", "held-out missing"]
        columns = (*columns_of(*head), Column("runs that failed, did not finish, or have no score"))
        shown = [[self._name_cell(row.evolver), *self._counts(row), self._absent(row)] for row in troubled]
        unused = [
            Text(text.clean(f"{run.run_id}: {run.model_usage.unused}."), "item")
            for run in self._runs
            if run.model_usage and run.model_usage.unused
        ]
        none = () if shown or unused else (Text("No failures, nothing missing."),)
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
                *(self._name_cell(run.evolver.name or "unknown evolver"), Number(run.seed)),
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
            Fact("Configuration", "suite.toml in this folder, resolved; each run has a run.toml"),
            Fact("Logged", logged(self._runs)),
        )
        commands = "# the same suite, on newly drawn hidden cases\nheredity run suite.toml\n\n"
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
