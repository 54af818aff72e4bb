"""The sentences a report opens with: what was found, and how far it can be trusted."""

from __future__ import annotations

from heredity.reports import text
from heredity.reports.model import Run
from heredity.reports.suite_model import Suite


def plural(count: float, word: str) -> str:
    """Write a count with its noun."""
    return f"{text.number(count)} {word}" if count == 1 else f"{text.number(count)} {word}s"


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
            f"No evolver ranks above the random policy ({text.number(random, 3)}); "
            f"{' and '.join(tied)} {'come' if len(tied) > 1 else 'comes'} closest with a rank score of {score}."
        )
    if len(tied) > 1:
        opening = f"{' and '.join(tied)} share the lead with a rank score of {score}"
    else:
        opening = f"{leader.evolver} leads with a rank score of {score} and wins {leader.wins} of {len(suite.places)} environments"
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
    return f"{opening}. The difference to {second.evolver} ({gap}) is within noise."


def suite_caution(suite: Suite) -> str:
    """Say what limits the suite's claims; empty when nothing does."""
    limits: list[str] = []
    if any(c.unit == "case" for c in suite.overall):
        limits.append(
            "with so few paired runs, comparisons hold for the policies these runs selected, not for the evolvers in general"
        )
    missing = [e.evolver for e in suite.leaderboard if e.absent]
    if missing:
        limits.append(f"no score on some environments for {', '.join(missing)}")
    return f"Mind the limits: {'; '.join(limits)}." if limits else ""


def trouble_summary(suite: Suite) -> str:
    """Say in one line how much failed or is missing in judging; empty when nothing."""

    def total(key: str) -> float:
        return sum(t.counts.get(key) or 0 for t in suite.problems)

    parts = [
        (len([name for t in suite.problems for name in t.unfinished]), "run not finished", "runs not finished"),
        (len([name for t in suite.problems for name in t.absent]), "held-out score absent", "held-out scores absent"),
        (total("heldout_missing"), "held-out attempt missing", "held-out attempts missing"),
        (total("heldout_failures"), "held-out attempt failed", "held-out attempts failed"),
        (total("missing_episodes"), "train episode missing", "train episodes missing"),
    ]
    said = [f"{text.number(n)} {one if n == 1 else many}" for n, one, many in parts if n]
    return f"{', '.join(said).capitalize()}." if said else ""


def state_of(run: Run) -> str:
    """Say in what state the run is, to follow "the run"."""
    return {"finished": "is finished", "failed": "failed"}.get(run.status, f"is {run.status}")


def run_summary(run: Run) -> str:
    """Say what the run reached, against the random policy, and on what budget."""
    digits = text.decimals_for(text.spread_of([run.heldout.bounds]), run.heldout.value)
    used = plural(run.budget.get("used") or 0, "episode")
    if run.heldout.value is None:
        best = run.best_so_far[-1][1] if run.best_so_far else None
        reached = f" The best validation mean so far is {text.number(best)}." if best is not None else ""
        return f"No held-out score: the run {state_of(run)} after {used} and {plural(len(run.submissions), 'submission')}.{reached}"
    score = f"{text.number(run.heldout.value, digits)} {text.interval(*run.heldout.bounds, digits)}"
    opening = f"After {used} of feedback the selected policy scores {score} on {plural(len(run.heldout_scores), 'hidden case')}"
    low, high = run.heldout.bounds
    if run.reference_mean is None or low is None or high is None:
        return f"{opening}."
    against = f"the random policy's {text.number(run.reference_mean, digits)}"
    if low > run.reference_mean:
        return f"{opening}, above {against}."
    if high < run.reference_mean:
        return f"{opening}, below {against}."
    return f"{opening}; {against} is inside that interval, so the difference is within noise."
