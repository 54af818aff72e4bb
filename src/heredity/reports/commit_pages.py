"""The pages of runs that commit candidates by evidence, and what the page of a suite of them has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from heredity.gateway import Usage
from heredity.gateway.contract import NOTHING_USED
from heredity.reports import charts, commit_charts, harness_markdown, harness_pages, page, run_charts, text
from heredity.reports.model import Run
from heredity.reports.run_charts import budget_of
from heredity.reports.sentences import run_summary, state_of
from heredity.reports.suite_model import Suite

_SECTIONS = {"progress": "Progress", "commits": "Commits", "changes": "What changed", "usage": "Model usage"}
_LAST = {"submissions": "Submissions", "reproduce": "Lineage and reproduction"}
_PURPOSES = ("attempts", "method", "judging")


def run_page(run: Run, labels: Sequence[harness_markdown.Table] = ()) -> str:
    """Return the page of one run; `labels` are tables of what its attempts were labelled as."""
    scores = (run.heldout, run.commits.gain.difference) if run.commits.gain else (run.heldout,)
    changed = [change.name.partition(":")[0] for change in run.commits.changes or ()]
    more = harness_pages.sections(run)
    return page.render(
        "run_harness.html.j2" if more else "run_commits.html.j2",
        run=run,
        sections=[*more.items(), *([("labels", "Labels")] if labels else ()), *_SECTIONS.items(), *_LAST.items()],
        labels=labels,
        summary=run_summary(run),
        state=state_of(run),
        places=text.decimals_for(text.spread_of(score.bounds for score in scores), run.heldout.value),
        interval_name="95% interval",
        progress_plot=page.picture(commit_charts.progress(run)),
        progress_wide=page.picture(commit_charts.progress(run, run_charts.WIDE)),
        heldout_plot=page.picture(run_charts.heldout_strip(run)),
        decisions_plot=page.picture(commit_charts.differences(run)),
        decisions_wide=page.picture(commit_charts.differences(run, run_charts.WIDEST)),
        failed=[s for s in run.submissions if s.failures or s.failure or s.status not in ("ok", "unfinished")],
        parts=list(dict.fromkeys(name for name in changed if "/" in name)),
        **(harness_pages.run_parts(run) if more else {}),
    )


def suite_parts(suite: Suite, groups: Sequence[tuple[str, list[Run]]], tones: Mapping[str, str]) -> dict[str, Any]:
    """Return what the page of a suite shows of its runs: commits over the budget, and model usage.

    Args:
        suite: the suite.
        groups: its runs by taskset.
        tones: the colour class of each evolver.
    """
    members = [run for _, group in groups for run in group]
    budget = budget_of(members)
    curves: list[tuple[str, Any]] = []
    for name, group in groups:
        lines = [replace(run, best_so_far=run.commits.line) for run in group]
        evolvers = dict.fromkeys(run.evolver for run in group)
        found = [charts.best_so_far(e, tones[e], [r for r in lines if r.evolver == e]) for e in evolvers]
        curves.append((name, page.picture(charts.curves(f"Commits on {name}", found, budget, None, suite.terms))))
    rows = [
        _usage_row(name, [r for r in members if r.evolver == name])
        for name in dict.fromkeys(r.evolver for r in members)
    ]
    return {"curve_plots": curves, "usage": [row for row in rows if row], "usage_names": _PURPOSES}


def _usage_row(evolver: str, runs: Sequence[Run]) -> dict[str, Any] | None:
    used = [used for run in runs for used in run.commits.used]
    if not used:
        return None
    each = [sum((u.usage for u in used if u.purpose == name), NOTHING_USED) for name in _PURPOSES]
    return {
        "evolver": evolver,
        "used": each,
        "calls": sum(u.calls or 0 for u in used),
        "failed": sum(run.commits.failed_calls for run in runs),
        "cost": sum(each, Usage(0, 0, 0, 0.0)).cost_usd,
    }
