"""The sentences a report opens with: what was found, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Sequence

from heredity.reports import text
from heredity.reports.model import Run
from heredity.reports.suite_model import Suite


def plural(count: float, word: str) -> str:
    """Write a count with its noun."""
    return f"{text.number(count)} {word}" if count == 1 else f"{text.number(count)} {word}s"


def listed(names: Sequence[str]) -> str:
    """Write names as people would: `a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def suite_summary(suite: Suite) -> str:
    """Say who leads, by how much, and whether the lead over the next is more than noise."""
    leader = suite.leader
    if leader is None:
        return "No run has been judged yet."
    ranked = [e for e in suite.leaderboard if not e.reference and e.rank_score is not None]
    tied = [e.evolver for e in ranked if e.rank_score == leader.rank_score]
    score = text.number(leader.rank_score, 3)
    random = next((e.rank_score for e in suite.leaderboard if e.reference), None)
    if random is not None and leader.rank_score is not None and random >= leader.rank_score:
        return (
            f"No evolver ranks above the {suite.terms.reference} ({text.number(random, 3)}); "
            f"{listed(tied)} {'come' if len(tied) > 1 else 'comes'} closest with a rank score of {score}."
        )
    if len(tied) > 1:
        opening = f"{listed(tied)} share the lead with a rank score of {score}"
    else:
        won = f"{leader.wins} of {plural(len(suite.places), suite.terms.place)}"
        opening = f"{leader.evolver} leads with a rank score of {score} and wins {won}"
    if len(ranked) < 2:
        return f"{opening}; there is no other evolver to compare it with."
    second = ranked[1]
    found = suite.verdict_of_leader()
    if found is None:
        return f"{opening}. It was not compared with {second.evolver}."
    gap = f"{text.signed(found.difference.value, 3)} in normalised score"
    if found.verdict == "better":
        return f"{opening}. Its lead over {second.evolver} ({gap}) is beyond noise."
    if found.verdict == "worse":
        return f"{opening}. In normalised score it is behind {second.evolver} ({gap}), beyond noise."
    between = f"between {leader.evolver} and {second.evolver}" if len(tied) > 1 else f"to {second.evolver}"
    return f"{opening}. The difference {between} ({gap}) is within noise."


def suite_caution(suite: Suite) -> str:
    """Say what limits the suite's claims; empty when nothing does."""
    limits: list[str] = []
    if any(c.unit == "case" for c in suite.overall):
        chosen = f"{suite.terms.products} these runs {'committed' if suite.terms.commits else 'selected'}"
        limits.append(f"with so few paired runs, comparisons hold for the {chosen}, not for the evolvers in general")
    missing = [e.evolver for e in suite.leaderboard if e.absent]
    if missing:
        limits.append(f"no score on some {suite.terms.places} for {', '.join(missing)}")
    return f"Mind the limits: {'; '.join(limits)}." if limits else ""


def trouble_summary(suite: Suite) -> str:
    """Say in one line how much failed or is missing in judging; empty when nothing."""

    def total(key: str) -> float:
        return sum(t.counts.get(key) or 0 for t in suite.problems)

    attempt = suite.terms.attempt
    parts = [
        (len([name for t in suite.problems for name in t.unfinished]), "run not finished", "runs not finished"),
        (len([name for t in suite.problems for name in t.absent]), "held-out score absent", "held-out scores absent"),
        (total("heldout_missing"), "held-out attempt missing", "held-out attempts missing"),
        (total("heldout_failures"), "held-out attempt failed", "held-out attempts failed"),
        (total("missing_episodes"), f"train {attempt} missing", f"train {attempt}s missing"),
    ]
    said = [f"{text.number(n)} {one if n == 1 else many}" for n, one, many in parts if n]
    return f"{', '.join(said).capitalize()}." if said else ""


def state_of(run: Run) -> str:
    """Say in what state the run is, to follow "the run"."""
    return {"finished": "is finished", "failed": "failed"}.get(run.status, f"is {run.status}")


def run_summary(run: Run) -> str:
    """Say what the run reached, against the reference, and on what budget."""
    digits = text.decimals_for(text.spread_of([run.heldout.bounds]), run.heldout.value)
    used = plural(run.budget.get("used") or 0, run.terms.attempt)
    if run.heldout.value is None:
        best = run.best_so_far[-1][1] if run.best_so_far else None
        reached = f" The best validation mean so far is {text.number(best)}." if best is not None else ""
        return f"No held-out score: the run {state_of(run)} after {used} and {plural(len(run.submissions), 'submission')}.{reached}"
    score = f"{text.number(run.heldout.value, digits)} {text.interval(*run.heldout.bounds, digits)}"
    cases = plural(len(run.heldout_scores), "hidden case")
    if run.terms.commits:
        return _gained(run, f"After {used} of feedback the committed {run.terms.product} scores {score} on {cases}")
    opening = f"After {used} of feedback the selected {run.terms.product} scores {score} on {cases}"
    low, high = run.heldout.bounds
    if run.reference_mean is None or low is None or high is None:
        return f"{opening}."
    against = f"the {run.terms.reference}'s {text.number(run.reference_mean, digits)}"
    if low > run.reference_mean:
        return f"{opening}, above {against}."
    if high < run.reference_mean:
        return f"{opening}, below {against}."
    return f"{opening}; {against} is inside that interval, so the difference is within noise."


def _gained(run: Run, opening: str) -> str:
    gain = run.commits.gain
    if len({d.candidate for d in run.commits.accepted}) == 1:
        return f"{opening}. It is the one that the run began with: nothing else was committed."
    if gain is None or run.reference_mean is None:
        return f"{opening}."
    digits = text.decimals_for(text.spread_of([gain.difference.bounds]), gain.difference.value)
    told = f"{text.signed(gain.difference.value, digits)} {text.interval(*gain.difference.bounds, digits)}"
    before = f"the {run.terms.reference} scores {text.number(run.reference_mean, digits)}"
    judged = {"better": "a gain beyond noise", "worse": "a loss beyond noise", "within noise": "within noise"}
    return (
        f"{opening}; {before}, so the paired difference is {told}: {judged.get(gain.verdict, 'too few cases to tell')}."
    )
