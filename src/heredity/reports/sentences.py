"""The sentences a report opens with: what was reached in the task's own units, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from heredity.results import text
from heredity.results.run import RunResults, RunStatus, Verdict
from heredity.results.suite import Comparison, Entry, SuiteResults, TasksetResults
from heredity.results.text import listed, plural
from heredity.results.words import Words

FEW = 3
"""Up to how many tasksets are named one by one in titles and figures."""

JUDGED: Mapping[Verdict, str] = {
    Verdict.BETTER: "a gain beyond noise",
    Verdict.WORSE: "a loss beyond noise",
    Verdict.WITHIN_NOISE: "within noise",
    Verdict.CANNOT_TELL: "not to be told yet",
}


def ranked(suite: SuiteResults) -> list[Entry]:
    """Return the entries that have a score and are no reference, best first."""
    return [entry for entry in suite.leaderboard if not entry.reference and entry.rank_score is not None]


def suite_title(suite: SuiteResults, words: Words) -> str:
    """Say what was run: evolvers on tasksets."""
    names = [text.short_task(taskset.taskset) for taskset in suite.tasksets]
    where = listed(names) if 0 < len(names) <= FEW else plural(len(names), words.taskset)
    evolvers = suite.evolvers
    who = listed(evolvers) if 0 < len(evolvers) <= FEW else plural(len(evolvers), "evolver")
    return f"{who} on {where}" if names else text.clean(suite.suite_id or "unnamed suite")


def suite_summary(suite: SuiteResults, words: Words) -> list[str]:
    """Say what the best reached, on a single taskset, who leads, and whether that is more than noise."""
    entries = ranked(suite)
    if not any(entry.tasksets for entry in entries):
        done = suite.finished + sum(entry.failed for entry in suite.leaderboard)
        return ["Nothing was graded: no run came to a score." if done else "No run has been judged yet."]
    reached = [_reached(taskset, words) for taskset in suite.tasksets] if len(suite.tasksets) == 1 else []
    return [" ".join([line for line in reached if line] + [_lead(suite, entries, words)])]


def _reached(taskset: TasksetResults, words: Words) -> str:
    best = next((cell for cell in taskset.cells if not cell.reference), None)
    if best is None:
        return ""
    bounds = best.ci or (None, None)
    digits = text.decimals_for(text.spread_of([bounds]), best.mean)
    score = text.number(best.mean, digits) + (f" {text.interval(*bounds, digits)}" if best.ci else "")
    start = f"On {text.short_task(taskset.taskset)} {best.evolver} reaches a held-out {words.score} of {score}"
    if taskset.reference_mean is None:
        return f"{start}."
    return f"{start}, against {text.number(taskset.reference_mean, digits)} of the {words.reference}."


def _lead(suite: SuiteResults, entries: list[Entry], words: Words) -> str:
    leader = entries[0]
    reference = next((e.rank_score for e in suite.leaderboard if e.reference), None)
    tied = [e.evolver for e in entries if e.rank_score == leader.rank_score]
    if reference is not None and leader.rank_score is not None and reference >= leader.rank_score:
        closest = f"{listed(tied)} {'come' if len(tied) > 1 else 'comes'} closest"
        return f"No evolver ranks above the {words.reference}; {closest}."
    if len(tied) > 1:
        opening = f"{listed(tied)} share the lead"
    else:
        won = f"{leader.wins} of {plural(len(suite.tasksets), words.taskset)}"
        opening = f"{leader.evolver} leads and is first on {won}"
    if len(entries) < 2:
        return f"{opening}; there is no other evolver to compare it with."
    second = entries[1].evolver
    compared = _compared(suite, leader.evolver, second)
    if compared is None:
        return f"{opening}. It was not compared with {second}."
    difference, row, turned = compared
    gap = f"{text.signed(difference, 3)} in normalised score"
    between = f"between {leader.evolver} and {second}" if len(tied) > 1 else f"to {second}"
    judged = turned(row.evolvers.verdict)
    if judged is Verdict.CANNOT_TELL:
        runs = plural(row.pairs, "paired run")
        chosen = f"the {words.products} that these runs {words.chosen}"
        of_chosen = JUDGED[turned(row.candidates.verdict)]
        return (
            f"{opening}. Whether that holds of the evolvers cannot be told yet, from {runs}; for {chosen}, the difference "
            f"{between} ({gap}) is {of_chosen}."
        )
    if judged is Verdict.BETTER:
        return f"{opening}. Its lead over {second} ({gap}) is beyond noise."
    if judged is Verdict.WORSE:
        return f"{opening}. In normalised score it is behind {second} ({gap}), beyond noise."
    return f"{opening}. The difference {between} ({gap}) is within noise."


def _compared(
    suite: SuiteResults, first: str, second: str
) -> tuple[float, Comparison, Callable[[Verdict], Verdict]] | None:
    """Return the difference of two evolvers over the suite seen from the first, its row, and how that one's verdicts are turned."""
    opposite = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}
    for row in suite.comparisons.suite:
        if (row.a, row.b) == (first, second):
            return row.difference, row, lambda verdict: verdict
        if (row.a, row.b) == (second, first):
            return -row.difference, row, lambda verdict: opposite.get(verdict, verdict)
    return None


def suite_caution(suite: SuiteResults, words: Words) -> str:
    """Say what limits the suite's claims; empty when nothing does."""
    limits: list[str] = []
    if any(row.evolvers.verdict is Verdict.CANNOT_TELL for row in suite.comparisons.suite):
        chosen = f"{words.products} these runs {words.chosen}"
        limits.append(
            f"with fewer than six paired runs, or than three on a {words.taskset}, nobody can tell evolvers apart, whatever "
            f"is said of the {chosen}; buy more seeds"
        )
    missing = [entry.evolver for entry in suite.leaderboard if entry.absent]
    if missing:
        limits.append(f"no score on some {words.tasksets} for {', '.join(missing)}")
    return f"Mind the limits: {'; '.join(limits)}." if limits else ""


def trouble_summary(suite: SuiteResults, words: Words) -> str:
    """Say in one line how much failed or is missing in judging; empty when nothing."""
    rows, rollout = suite.problems, words.rollout
    counts = [
        (sum(len(row.unfinished) for row in rows), "run not finished", "runs not finished"),
        (sum(len(row.absent) for row in rows), "held-out score absent", "held-out scores absent"),
        (sum(row.heldout_missing for row in rows), "held-out rollout missing", "held-out rollouts missing"),
        (sum(row.heldout_failures for row in rows), "held-out rollout failed", "held-out rollouts failed"),
        (sum(row.missing_episodes for row in rows), f"train {rollout} missing", f"train {rollout}s missing"),
    ]
    said = [f"{text.number(n)} {one if n == 1 else many}" for n, one, many in counts if n]
    return f"{', '.join(said).capitalize()}." if said else ""


def state_of(run: RunResults) -> str:
    """Say in what state the run is, to follow "the run"."""
    return {RunStatus.FINISHED: "is finished", RunStatus.FAILED: "failed"}.get(run.status, f"is {run.status}")


def run_summary(run: RunResults, words: Words) -> str:
    """Say what the run reached, against the reference on the same cases, and on what budget."""
    used, heldout = plural(run.budget.used, words.rollout), run.heldout
    if heldout is None or heldout.mean is None:
        best = f" The best validation mean so far is {text.number(run.best_so_far[-1][1])}." if run.best_so_far else ""
        submissions = plural(len(run.submissions), "submission")
        return f"No held-out score: the run {state_of(run)} after {used} and {submissions}.{best}"
    bounds = heldout.ci or (None, None)
    digits = text.decimals_for(text.spread_of([bounds]), heldout.mean)
    score = f"{text.number(heldout.mean, digits)} {text.interval(*bounds, digits)}"
    cases = plural(len(heldout.scores), words.case)
    opening = f"After {used} of feedback the {words.chosen} {words.product} has a {words.score} of {score} on {cases}"
    if run.decisions and len({d.candidate for d in run.decisions if d.accepted}) == 1:
        return f"{opening}. It is the one that the run began with: nothing else was committed."
    gain, reference = run.gain, run.reference
    if gain is None or reference is None or reference.heldout_mean is None:
        return f"{opening}."
    before = f"the {words.reference} has {text.number(reference.heldout_mean, digits)}"
    low, high = gain.ci or (None, None)
    places = text.decimals_for(text.spread_of([(low, high)]), gain.difference)
    paired = text.difference(gain.difference, low, high, places)
    return f"{opening}; {before}, so the paired difference is {paired}: {JUDGED[gain.verdict]}."
