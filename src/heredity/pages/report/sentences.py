"""Opening sentences of a report: the result in the task's units, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heredity.results import text
from heredity.results.base import Unknown
from heredity.results.claims import in_clusters, missing_note, said_more
from heredity.results.page import Fact, Facts, Mean, Number
from heredity.results.report import Words
from heredity.results.run import RunResults, RunStatus, Verdict
from heredity.results.suite import (
    CellResults,
    Comparison,
    Entry,
    Scale,
    Sequential,
    Stop,
    SuiteResults,
    TasksetComparison,
    TasksetResults,
    Unit,
)
from heredity.results.text import listed, plural

FEW = 3
"""Maximum number of tasksets named individually in titles, sentences and figures."""


def best_cells(taskset: TasksetResults) -> list[CellResults]:
    """Return the cells of the evolvers with the greatest mean: several if they are equal, none without a ranking."""
    cells = [cell for cell in taskset.cells if not (cell.reference or cell.failed)]
    return [cell for cell in cells if cell.mean == max(c.mean for c in cells)]


def behind(cell: CellResults) -> bool:
    """Report whether a cell's mean is at most that of the reference: then the best evolver gained nothing."""
    return cell.reference_mean is not None and cell.mean <= cell.reference_mean


def few_seeds(cell: CellResults) -> bool:
    """Report whether a cell has several seeds, but too few for an interval over them, so each is shown."""
    return cell.ci_unit is Unit.CASE and len(cell.seeds) > 1


def cell_digits(cell: CellResults) -> int:
    """Return the number of decimals of a cell."""
    return text.decimals_for(text.spread_of([cell.ci or (None, None)]), cell.mean)


def cell_mean(cell: CellResults, places: int | None = None) -> Mean:
    """Return a cell's mean with its interval, but without one if its few seeds are shown (`seeds_note`)."""
    bounds = (None, None) if few_seeds(cell) else cell.ci or (None, None)
    return Mean(cell.mean, *bounds, decimals=cell_digits(cell) if places is None else places)


def seeds_note(cell: CellResults, places: int) -> tuple[str, ...]:
    """Return the means of a few seeds, which have no interval; nothing otherwise."""
    return (f"seeds {', '.join(text.number(seed.mean, places) for seed in cell.seeds)}",) if few_seeds(cell) else ()


def cell_notes(cell: CellResults, places: int) -> tuple[str, ...]:
    """Return notes on failures, the kind of interval or why there is none, few seeds and missing values."""
    failed = "failed: mean of earlier submissions" if cell.failed else ""
    about = "over new runs" if cell.ci_unit is Unit.RUN else "this candidate, over new cases"
    unknown = f"no interval: {cell.ci_unknown}" if cell.ci_unknown else ""
    interval = unknown if cell.ci is None else "" if cell.reference or few_seeds(cell) else about
    together = () if cell.clusters is None else (in_clusters(cell.clusters),)
    missing = (missing_note(cell.missing, cell.if_missing),) if cell.if_missing else ()
    return tuple(note for note in (failed, interval, *together, *seeds_note(cell, places), *missing) if note)


def places_of(taskset: TasksetResults) -> int:
    """Return the number of decimals of a taskset's scores."""
    return text.decimals_for(text.spread_of(cell.ci or (None, None) for cell in taskset.cells), taskset.reference_mean)


def suite_facts(suite: SuiteResults, words: Words) -> Facts:
    """Return the key figures; if tasksets are few and evolvers ranked, the best scores come first."""
    facts: list[Fact] = []
    for taskset in suite.tasksets if suite.ranked and len(suite.tasksets) <= FEW else ():
        best = best_cells(taskset)
        if best:
            names = text.listed([cell.evolver for cell in best])
            notes = [
                f"{names}, not above the {best[0].against or words.reference}" if behind(best[0]) else names,
                *seeds_note(best[0], places_of(taskset)),
                f"{words.mark} {text.number(best[0].reference_mean)}",
            ]
            named = "Best" if winner(suite, taskset) else "Highest mean"
            name = f"{named} {words.score}, {text.short_task(taskset.taskset)}"
            facts.append(Fact(name, cell_mean(best[0]), "; ".join(notes)))
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


JUDGED: Mapping[Verdict, str] = {
    Verdict.BETTER: "a gain beyond noise",
    Verdict.WORSE: "a loss beyond noise",
    Verdict.WITHIN_NOISE: "within noise",
    Verdict.CANNOT_TELL: "not conclusive yet",
}


def ranked(suite: SuiteResults) -> list[Entry]:
    """Return the scored entries that are not references, best first."""
    return [entry for entry in suite.leaderboard if not entry.reference and entry.rank_score is not None]


def suite_title(suite: SuiteResults, words: Words) -> str:
    """Describe the experiment: evolvers on tasksets."""
    names = [text.short_task(taskset.taskset) for taskset in suite.tasksets]
    where = listed(names) if 0 < len(names) <= FEW else plural(len(names), words.taskset)
    evolvers = suite.evolvers
    who = listed(evolvers) if 0 < len(evolvers) <= FEW else plural(len(evolvers), "evolver")
    return f"{who} on {where}" if names else text.clean(suite.suite_id or "unnamed suite")


def suite_summary(suite: SuiteResults, words: Words) -> list[str]:
    """Describe the best result on each of a few tasksets, the leader, and whether the lead exceeds noise."""
    if unscored(suite):
        return [_ungraded(suite, words)]
    if not suite.ranked:
        return []
    reached = [_reached(suite, taskset, words) for taskset in suite.tasksets] if len(suite.tasksets) <= FEW else []
    few = [cell for taskset in suite.tasksets for cell in best_cells(taskset) if few_seeds(cell)] if reached else []
    unknown = "There are too few seeds for an interval over seeds." if few else ""
    entries = [entry for entry in ranked(suite) if entry.tasksets]
    sequence = suite.sequential
    lead = _lead(suite, entries, words) if sequence is None else sequential_summary(sequence)
    return [" ".join(line for line in (*reached, unknown, not_better(suite, words), lead) if line)]


def unscored(suite: SuiteResults) -> bool:
    """Report whether no evolver has a valid score: none was judged, or all failed."""
    return not any(entry.tasksets for entry in suite.leaderboard if not entry.reference)


def failed_evolvers(suite: SuiteResults) -> list[str]:
    """Return the evolvers that failed in all their runs."""
    own = [entry for entry in suite.leaderboard if not entry.reference]
    return [entry.evolver for entry in own if entry.runs and entry.failed == entry.runs]


def failure_summary(suite: SuiteResults) -> str:
    """Name the evolvers that failed in all their runs, with the reason; empty if there are none."""
    names = failed_evolvers(suite)
    if not names:
        return ""
    reasons = {row.evolver: [run.why for run in row.unfinished if run.why] for row in suite.problems}
    who = listed(names) if len(names) <= FEW else plural(len(names), "evolver")
    first = next(((name, why) for name in names for why in reasons.get(name, ())), None)
    of = f", {first[0]}" if first and len(names) > 1 else ""
    why = f" ({text.shorten(text.clean(first[1]), 300)}{of})" if first else ""
    rank = f", so {'it has' if len(names) == 1 else 'they have'} no rank" if suite.ranked else ""
    return f"{who} failed in every run{why}{rank}."


def not_better(suite: SuiteResults, words: Words) -> str:
    """Name the tasksets on which the best evolver is not shown to beat trivial baselines; empty if it always is."""
    rows = {t.taskset: [row for row in t.further if row.verdict is not Verdict.BETTER] for t in suite.tasksets}
    unbeaten = {taskset: max(listed, key=lambda row: row.mean) for taskset, listed in rows.items() if listed}
    if not unbeaten:
        return ""
    where = [
        f"on {text.short_task(taskset)} the {row.name} has {text.number(row.mean)}, from which {row.best} "
        f"differs by {text.difference(row.difference, *(row.difference_ci or (None, None)))}"
        for taskset, row in list(unbeaten.items())[:FEW]
    ]
    rest = f", and on {len(unbeaten) - FEW} more" if len(unbeaten) > FEW else ""
    share = (
        f"On {len(unbeaten)} of {plural(len(suite.tasksets), words.taskset)} the" if len(suite.tasksets) > 1 else "The"
    )
    return f"{share} best evolver is not shown to be better than a null or constant action: {'; '.join(where)}{rest}."


def _ungraded(suite: SuiteResults, words: Words) -> str:
    if not suite.finished and not any(
        run.status is RunStatus.FAILED for row in suite.problems for run in row.unfinished
    ):
        return "No run has been judged yet."
    failed = sum(run.status is RunStatus.FAILED for row in suite.problems for run in row.unfinished)
    if any(cell.failed for taskset in suite.tasksets for cell in taskset.cells):
        count = len(suite.evolvers)
        everyone = {1: "the evolver", 2: "both evolvers"}.get(count, f"all {count} evolvers")
        return f"Nothing was learned: {everyone} failed, so nothing is ranked. This says nothing about their abilities."
    broke = f"; {plural(failed, 'run')} failed" if failed else ""
    return f"Nothing was graded: no run has a held-out {words.score}{broke}. This says nothing about the evolvers."


def _reached(suite: SuiteResults, taskset: TasksetResults, words: Words) -> str:
    """Name the winner on a taskset with its score, or the scores of all evolvers if there is none."""
    best = best_cells(taskset)
    if not best:
        return ""
    task, cells = text.short_task(taskset.taskset), [c for c in taskset.cells if not (c.reference or c.failed)]
    digits = cell_digits(best[0])
    if len(cells) > 1 and winner(suite, taskset) is None:
        start = f"On {task} {_range(cells, words, digits)}"
    else:
        start = f"On {task} {best[0].evolver} reaches a held-out {words.score} of {_score(best[0], words, digits)}"
    if best[0].reference_mean is None:
        return f"{start}."
    against = best[0].against or words.reference
    none = ", so nothing is gained" if behind(best[0]) else ""
    return f"{start}, against {text.number(best[0].reference_mean, digits)} of the {against}{none}."


def _range(cells: Sequence[CellResults], words: Words, digits: int) -> str:
    """List the scores of a few evolvers, or the least and the greatest of many."""
    shown = [f"{text.number(c.mean, digits)} ({c.evolver})" for c in sorted(cells, key=lambda c: -c.mean)]
    if len(shown) > FEW:
        return f"the held-out {words.score}s of {len(shown)} evolvers lie between {shown[-1]} and {shown[0]}"
    return f"the held-out {words.score}s are {listed(shown)}"


def winner(suite: SuiteResults, taskset: TasksetResults) -> str | None:
    """Return the evolver that is shown to be better than every other one on a taskset; None if there is none.

    A single evolver wins if it is shown to be better than the reference.
    """
    best = best_cells(taskset)
    others = {c.evolver for c in taskset.cells if not (c.reference or c.failed)} - {c.evolver for c in best}
    if len(best) != 1:
        return None
    rivals = others or {best[0].against or ""}
    rows = [
        r.seen_from(best[0].evolver)
        for r in suite.comparisons.tasksets
        if r.taskset == taskset.taskset and best[0].evolver in (r.a, r.b)
    ]
    beaten = {row.b for row in rows if row.verdict is Verdict.BETTER}
    return best[0].evolver if rivals <= beaten else None


def _score(cell: CellResults, words: Words, digits: int) -> str:
    """Format a cell's mean with its interval and the interval's unit, or the score of each of a few seeds."""
    mean = text.number(cell.mean, digits)
    if few_seeds(cell):
        seeds = listed([text.number(seed.mean, digits) for seed in cell.seeds])
        return f"{mean} (seeds {seeds})"
    if cell.ci is None:
        return mean
    over = "over new seeds" if cell.ci_unit is Unit.RUN else f"over {words.case}s, of one seed"
    together = f" ({in_clusters(cell.clusters)})" if cell.clusters else ""
    return f"{mean} {text.interval(*cell.ci, digits)} {over}{together}"


def _lead(suite: SuiteResults, entries: list[Entry], words: Words) -> str:
    if not entries:
        return "There is no baseline to compare with."
    leader = entries[0]
    against = {c.against for t in suite.tasksets for c in t.cells if c.evolver == leader.evolver}
    reference = next((e.rank_score for e in suite.leaderboard if e.reference and e.evolver in against), None)
    if reference is not None and leader.rank_score is not None and reference >= leader.rank_score:
        return f"No evolver ranks above the {words.reference}."
    if len(entries) < 2:
        other = "no other evolver has a score" if len(suite.evolvers) > 1 else "there is no other evolver"
        return f"{leader.evolver} ranks above the {words.reference}; {other} to compare it with."
    rows: Sequence[Comparison] = suite.comparisons.tasksets if len(suite.tasksets) == 1 else suite.comparisons.suite
    evolvers = {entry.evolver for entry in entries}
    pairs = [row for row in rows if row.a in evolvers and row.b in evolvers]
    if not pairs:
        return "No two evolvers have common cases to be compared on yet."
    own = [row.seen_from(leader.evolver) for row in pairs if leader.evolver in (row.a, row.b)]
    if len(own) == len(entries) - 1 and all(row.verdict is Verdict.BETTER for row in own):
        closest = min(own, key=lambda row: row.difference)
        over = f"than {closest.b}" if len(own) == 1 else f"than each of the other {len(own)} evolvers"
        nearest = "" if len(own) == 1 else f" over {closest.b}, the closest,"
        return f"{leader.evolver} is better {over}, for new runs too: its lead{nearest} is {_gap(closest, words)}."
    return _no_winner(pairs, entries, words)


def overall_winner(suite: SuiteResults) -> str | None:
    """Return the evolver that is shown to be better than every other one over the whole suite; None if there is none."""
    names = [entry.evolver for entry in ranked(suite) if entry.tasksets]
    rows: Sequence[Comparison] = suite.comparisons.tasksets if len(suite.tasksets) == 1 else suite.comparisons.suite
    own = [row.seen_from(names[0]) for row in rows if names and names[0] in (row.a, row.b)]
    beaten = {row.b for row in own if row.verdict is Verdict.BETTER}
    return names[0] if len(names) > 1 and beaten >= set(names[1:]) else None


def _no_winner(pairs: Sequence[Comparison], entries: Sequence[Entry], words: Words) -> str:
    """Say that no evolver wins, which differences are decided, and how many more seeds would decide that of the first two."""
    turned = [row if row.verdict is not Verdict.WORSE else row.seen_from(row.b) for row in pairs]
    decided = [f"{row.a} is better than {row.b}" for row in turned if row.verdict is Verdict.BETTER]
    if len(pairs) == 1:
        opening = f"{pairs[0].a} and {pairs[0].b} cannot be told apart"
    else:
        opening = f"No evolver is shown to be better than all others; {len(decided)} of {len(pairs)} pairs differ beyond noise"
        opening += f" ({listed(decided)})" if 0 < len(decided) <= FEW else ""
    names = [entry.evolver for entry in entries[:2]]
    row = next((row for row in turned if {row.a, row.b} == set(names)), pairs[0])
    if row.verdict in (Verdict.BETTER, Verdict.WORSE):
        return f"{opening}."
    row = row.seen_from(names[0]) if names[0] in (row.a, row.b) else row
    because = row.evolvers.because
    runs = plural(row.pairs, "paired run")
    which = "" if len(pairs) == 1 else f" between {row.a} and {row.b}, the first two,"
    untold = f"cannot be judged yet, from {runs}{f': {because}' if because else ''}"
    why = untold if row.verdict is Verdict.CANNOT_TELL else f"is within noise, over {runs}"
    more = more_seeds(row)
    return f"{opening}. The difference{which} is {_gap(row, words)}, which {why}.{f' {more}' if more else ''}"


def _gap(row: Comparison, words: Words) -> str:
    """Format the difference of two evolvers with the interval of the claim about them."""
    low, high = row.evolvers.ci or (None, None)
    places = 3 if row.scale is Scale.NORMALISED else text.decimals_for(text.spread_of([(low, high)]), row.difference)
    unit = f"held-out {words.score}" if row.scale is Scale.RETURN else "rescaled score"
    return f"{text.difference(row.difference, low, high, places)} in {unit}"


def more_seeds(row: Comparison) -> str:
    """Say how many more seeds would decide a comparison, and at what cost; empty if it is decided or unknown."""
    return said_more(row.evolvers.more_seeds, row.more_cost)


def sequential_summary(sequence: Sequential) -> str:
    """Describe whether two entries were distinguished, after how many seeds, and by which difference."""
    seeds, last = text.plural(len(sequence.looks), "seed"), sequence.looks[-1] if sequence.looks else None
    pair = f"{sequence.a} and {sequence.b}"
    if last is None or last.difference is None:
        return f"{pair} have no pair of scores yet, after {seeds} of at most {sequence.most_seeds}."
    unit = " in rescaled score" if sequence.scale is Scale.NORMALISED else ""
    spread = f" {text.interval(*last.ci)}" if last.ci else ""
    gap = (
        f"{text.signed(last.difference)}{spread}{unit}, p = {text.p_value(last.p)}, which holds at every stopping time"
    )
    if sequence.stopped is Stop.DECIDED:
        word = "better" if last.difference > 0.0 else "worse"
        return f"Decided after {seeds}, of at most {sequence.most_seeds}: {sequence.a} is {word} than {sequence.b} ({gap})."
    if sequence.stopped is Stop.MOST_SEEDS:
        return f"After {seeds}, the maximum, neither {sequence.a} nor {sequence.b} is shown to be better ({gap})."
    return f"Not decided yet, after {seeds} of at most {sequence.most_seeds}: {pair} differ by {gap}."


def suite_caution(suite: SuiteResults, words: Words) -> str:
    """List the limits of the suite's claims; empty without any."""
    limits: list[str] = []
    if suite.conditions:
        limits.append(
            f"runs differ in {listed(suite.conditions)}, which affects all scores: each is compared with the "
            f"{words.reference} under its own conditions"
        )
    if suite.sequential is not None:
        limits.append(
            f"it was analysed after every seed, so only the difference of {suite.sequential.a} and {suite.sequential.b} has "
            "a valid test and interval; intervals of single means and ranks assume a fixed number of seeds"
        )
    elif any(row.evolvers.because is Unknown.FEW_SEEDS for row in suite.comparisons.suite):
        limits.append(
            f"two evolvers cannot be told apart with fewer than four seeds on one {words.taskset}, or three on each of several"
        )
    limits += _uncovered(suite, words)
    missing = [entry.evolver for entry in suite.leaderboard if entry.absent and entry.failed < max(entry.runs, 1)]
    if missing:
        limits.append(f"no score on some {words.tasksets} for {', '.join(missing)}")
    return f"Mind the limits: {'; '.join(limits)}." if limits else ""


def _uncovered(suite: SuiteResults, words: Words) -> list[str]:
    """Name the comparisons with too few scores, over the suite or else by taskset; nothing for a sequence."""
    rows: Sequence[Comparison] = suite.comparisons.suite if suite.sequential is None else ()
    shortage = f"scores of both for less than {text.percent(suite.coverage)} of the cases (views.coverage)"
    lacking = [f"{row.a} and {row.b}" for row in rows if row.candidates.because is Unknown.MISSING]
    if lacking:
        pairs = listed(lacking) if len(lacking) <= FEW else plural(len(lacking), "pair")
        return [f"there are {shortage} of {pairs}, which cannot be compared yet; values may not be missing at random"]
    singly: Sequence[TasksetComparison] = suite.comparisons.tasksets if suite.sequential is None else ()
    where = list(dict.fromkeys(row.taskset for row in singly if row.candidates.because is Unknown.MISSING))
    if not where:
        return []
    tasksets = (
        listed([text.short_task(name) for name in where]) if len(where) <= FEW else plural(len(where), words.taskset)
    )
    return [f"on {tasksets} some pairs have {shortage} and cannot be compared there yet"]


def trouble_summary(suite: SuiteResults, words: Words) -> str:
    """Count failures and missing results of judging in one line; empty without any."""
    rows, rollout = suite.problems, words.rollout
    counts = [
        (sum(run.status is RunStatus.FAILED for row in rows for run in row.unfinished), "run failed", "runs failed"),
        (
            sum(run.status is not RunStatus.FAILED for row in rows for run in row.unfinished),
            "run not finished",
            "runs not finished",
        ),
        (sum(len(row.absent) for row in rows), "held-out score absent", "held-out scores absent"),
        (sum(row.heldout_missing for row in rows), "held-out rollout missing", "held-out rollouts missing"),
        (sum(row.heldout_failures for row in rows), "held-out rollout failed", "held-out rollouts failed"),
        (sum(row.missing_episodes for row in rows), f"train {rollout} missing", f"train {rollout}s missing"),
    ]
    counts_said = [f"{text.number(n)} {one if n == 1 else many}" for n, one, many in counts if n]
    return f"{', '.join(counts_said).capitalize()}." if counts_said else ""


def state_of(run: RunResults) -> str:
    """Describe the state of the run, to follow "the run"."""
    return {RunStatus.FINISHED: "is finished", RunStatus.FAILED: "failed"}.get(run.status, f"is {run.status}")


def run_summary(run: RunResults, words: Words) -> str:
    """Describe the run's result, against the reference on the same cases, and its budget."""
    used, heldout = plural(run.budget.used, words.rollout), run.heldout
    submissions = plural(len(run.submissions), "submission")
    if heldout is None or heldout.mean is None:
        if run.status is not RunStatus.UNFINISHED and not run.best_so_far:
            why = "its evolver failed" if run.status is RunStatus.FAILED else "the run is finished"
            return f"Nothing was graded: {why} after {used} and {submissions}. This says nothing about the evolver."
        best = f" The best validation mean so far is {text.number(run.best_so_far[-1][1])}." if run.best_so_far else ""
        return f"No held-out score: the run {state_of(run)} after {used} and {submissions}.{best}"
    bounds = heldout.ci or (None, None)
    digits = text.decimals_for(text.spread_of([bounds]), heldout.mean)
    interval = text.interval(*bounds, digits) if heldout.ci else f"(no interval: {heldout.ci_unknown or 'one score'})"
    score = f"{text.number(heldout.mean, digits)} {interval}"
    cases = plural(len(heldout.scores), words.case)
    failed = "The evolver failed; its earlier submissions were judged. " if run.evolver_failure else ""
    opening = f"{failed}After {used} of feedback the {words.chosen} {words.product} has a {words.score} of {score} over {cases}"
    if heldout.drawn:
        opening += f" of {plural(heldout.drawn, 'cluster')}, over which the interval is taken"
    if heldout.if_missing:
        opening += f" ({missing_note(heldout.missing, heldout.if_missing)})"
    if run.decisions and len({d.candidate for d in run.decisions if d.accepted}) == 1:
        return f"{opening}. It is the initial one: nothing else was committed."
    gain, reference = run.gain, run.reference
    if gain is None or reference is None or reference.heldout_mean is None:
        return f"{opening}."
    before = f"the {words.reference} has {text.number(reference.heldout_mean, digits)}"
    low, high = gain.ci or (None, None)
    places = text.decimals_for(text.spread_of([(low, high)]), gain.difference)
    paired = text.difference(gain.difference, low, high, places)
    if run.stand_ins:
        return f"{opening}; {before}."
    because = f", with {gain.because}" if gain.because else ""
    judged = f"{JUDGED[gain.verdict]}{because}, for this {words.product} on new cases"
    return f"{opening}; {before}, so the paired difference is {paired}: {judged}.{_unbeaten(run)}"


def _unbeaten(run: RunResults) -> str:
    """Say what looks at nothing that the run is not better than."""
    listed = [r for r in run.further if r.gain is not None and r.gain.verdict is not Verdict.BETTER]
    named = [f"the {r.name} ({text.number(r.heldout_mean)})" for r in listed]
    return f" It is not shown to be better than {' and '.join(named)}." if named else ""
