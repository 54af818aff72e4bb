"""report.html: one self-contained page for a run or for a suite.

No scripts and no requests: style sheet and pictures are inside the page. Notes, tracebacks and names come from evolvers and
are escaped wherever they are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from heredity.records.run_folder import write_atomic
from heredity.reports import (
    charts,
    commit_pages,
    harness_suite,
    page,
    posttraining_pages,
    posttraining_suite,
    run_charts,
    text,
)
from heredity.reports.annotations import annotation_tables
from heredity.reports.fields import Json, Mean
from heredity.reports.harness_markdown import Table
from heredity.reports.learning import learning_parts
from heredity.reports.model import Run, read_run
from heredity.reports.run_charts import budget_of
from heredity.reports.sentences import run_summary, state_of, suite_caution, suite_summary, trouble_summary
from heredity.reports.suite_model import Place, Suite, labelled, read_suite, shades
from heredity.reports.terms import Terms

MOST_TRACES = 4000
"""Rows of traces a suite's page shows; beyond that they are only on the runs' own pages, to keep the page light."""


def write_run_report(metrics: Json, path: Path) -> None:
    """Write the page of one run, atomically.

    Args:
        metrics: the run's metrics.json.
        path: the file to write.

    Raises:
        ConfigError: if `metrics` is not a metrics object of a known version.
        RecordError: if the file cannot be written.
    """
    write_atomic(path, run_page(metrics, annotation_tables(path.parent)).encode())


def write_suite_report(suite_metrics: Json, runs: Iterable[Json], path: Path) -> None:
    """Write the page of a suite, atomically. It links to the runs whose folders are beside it (`runs/<run-id>/`).

    Args:
        suite_metrics: the suite's metrics.json.
        runs: the metrics.json of its runs; may be empty, then the parts about single runs are left out.
        path: the file to write.

    Raises:
        ConfigError: if an argument is not a metrics object of a known version.
        RecordError: if the file cannot be written.
    """
    listed = list(runs)
    names = [str(run.get("run_id")) for run in listed]
    links = {n: f"runs/{quote(n, safe='')}/report.html" for n in names if (path.parent / "runs" / n).is_dir()}
    write_atomic(path, suite_page(suite_metrics, listed, links).encode())


def run_page(metrics: Json, labels: Sequence[Table] = ()) -> str:
    """Return the page of one run (see `write_run_report`); `labels` are tables of what its attempts were labelled as."""
    run = read_run(metrics)
    if run.terms.commits:
        return commit_pages.run_page(run, labels)
    if run.posttraining:
        return posttraining_pages.run_page(run)
    phases = (f"Phases of {run.run_id}", [("edits", run)], budget_of([run]))
    return page.render(
        "run.html.j2",
        run=run,
        sections=_sections("progress phases submissions traces diagnostics problems reproduce", problems="Failures"),
        summary=run_summary(run),
        state=state_of(run),
        places=_decimals(run),
        progress_plot=page.picture(run_charts.progress(run)),
        heldout_plot=page.picture(run_charts.heldout_strip(run)),
        progress_wide=page.picture(run_charts.progress(run, run_charts.WIDE)),
        phase_plot=page.picture(charts.timeline(*phases, labels=42.0)),
        phase_wide=page.picture(charts.timeline(*phases, labels=42.0, width=run_charts.WIDEST)),
        growth_plot=page.picture(run_charts.growth(run)),
        diagnostics=page.diagnostic_rows(run.diagnostics),
        features=_features(run),
        failed=[s for s in run.submissions if s.failures or s.failure or s.status not in ("ok", "unfinished")],
        tokens=page.token_words(run.tokens, run.agent_accounts),
    )


def _sections(ids: str, **names: str) -> list[tuple[str, str]]:
    return [(name, names.get(name, name.capitalize())) for name in ids.split()]


def _decimals(run: Run) -> int:
    value = run.heldout.value if run.heldout.value is not None else run.selected_validation
    return text.decimals_for(text.spread_of([run.heldout.bounds]), value)


def _features(run: Run) -> list[tuple[str, float | None, float | None]]:
    chosen, first = run.selected, run.submissions[0] if run.submissions else None
    if chosen is None or first is None:
        return []
    names = {
        "functions": "Functions",
        "branches": "Branches",
        "loops": "Loops",
        "state": "Persistent state",
        "lines": "Lines",
    }
    return [(name, chosen.features.get(key), first.features.get(key)) for key, name in names.items()]


def suite_page(suite_metrics: Json, runs: Sequence[Json], links: Json) -> str:
    """Return the page of a suite (see `write_suite_report`); `links` maps run ids to addresses of their pages."""
    suite = read_suite(suite_metrics)
    members = labelled(suite, (read_run(run) for run in runs))
    tones = _tones(suite, members)
    by_taskset = {p.taskset: [c for c in suite.by_taskset if c.taskset == p.taskset] for p in suite.places}
    bins = charts.edit_bins(members)
    families = sorted({name for entry in suite.leaderboard for name in entry.family_scores})
    groups = sorted({name for entry in suite.leaderboard for name in entry.group_scores})
    return page.render(
        "suite.html.j2",
        suite=suite,
        runs=members,
        links=links,
        shades=tones,
        terms=suite.terms,
        names=_Names(suite.names),
        sections=_suite_sections(suite, members),
        summary=suite_summary(suite),
        caution=suite_caution(suite),
        totals=page.budget_totals(suite.budget),
        trouble_count=trouble_summary(suite),
        families=families if len(families) > 1 else [],
        groups=groups if len(groups) > 1 else [],
        leaderboard_plot=page.picture(_leaderboard_plot(suite, tones)),
        matrix=_matrix(suite),
        place_plots=[(place, page.picture(_place_plot(place, suite.terms, tones))) for place in suite.places],
        overall=suite.overall,
        by_taskset=[(name, rows) for name, rows in by_taskset.items() if rows],
        edit_plot=page.picture(charts.edit_sizes("Edit size against improvement", bins, suite.confidence))
        if any(n for _, n, _ in bins)
        else "",
        troubled=[t for t in suite.problems if t.any],
        crashed=[run for run in members if run.evolver_failure],
        tiers=sorted({run.isolation for run in members if run.isolation}),
        packages=_packages(members),
        **learning_parts(suite.learning, suite.skins, tones, suite.terms),
        **harness_suite.suite_parts(suite, members, tones),
        **posttraining_suite.suite_parts(suite, tones),
        **_run_parts(suite, members, tones),
    )


def _suite_sections(suite: Suite, members: Sequence[Run]) -> list[tuple[str, str]]:
    if suite.terms.commits:
        ids = "leaderboard comparisons gains commits usage budget problems runs reproduce"
        alone = "leaderboard comparisons budget problems reproduce"
    elif suite.terms.graded:
        ids, alone = (
            "leaderboard comparisons budget problems runs reproduce",
            "leaderboard comparisons budget problems reproduce",
        )
    else:
        ids = "leaderboard comparisons curves phases edits code budget problems traces runs reproduce"
        alone = "leaderboard comparisons edits code budget problems reproduce"
    more = " ".join(["", *(name for name in ("learning", "skins") if getattr(suite, name))])
    ids, alone = (each.replace("comparisons", f"comparisons{more}") for each in (ids, alone))
    names = {
        "learning": "Learning methods",
        "curves": "Best so far",
        "problems": "Failures and missing",
        "gains": "Before and after",
        "usage": "Model usage",
    }
    first = [*harness_suite.sections(suite), *posttraining_suite.sections(suite)]
    return [*first, *_sections(ids if members else alone, **names)]


def _run_parts(suite: Suite, members: Sequence[Run], tones: dict[str, str]) -> dict[str, Any]:
    if suite.terms.commits:
        return commit_pages.suite_parts(suite, _by_taskset(members), tones)
    if suite.terms.graded:
        return {}
    places = {place.taskset: place for place in suite.places}
    budget = budget_of(members)
    curves: list[tuple[str, Any]] = []
    phases: list[tuple[str, Any]] = []
    for name, group in _by_taskset(members):
        evolvers = list(dict.fromkeys(run.evolver for run in group))
        lines = [charts.best_so_far(e, tones[e], [r for r in group if r.evolver == e]) for e in evolvers]
        baseline = places[name].reference_mean if name in places else None
        curves.append((name, page.picture(charts.curves(f"Best so far on {name}", lines, budget, baseline))))
        rows = [(run.evolver, run) for run in group]
        phases.append((name, page.picture(charts.timeline(f"Phases of edits on {name}", rows, budget))))
    many = sum(len(run.traces) for run in members) > MOST_TRACES
    traced = [(name, [r for r in group if r.traces]) for name, group in _by_taskset(members)]
    return {
        "curve_plots": curves,
        "phase_plots": phases,
        "traced": [] if many else [(name, group) for name, group in traced if group],
        "untraced": "These are too many for one page; each run's own page has its traces."
        if many
        else "No traces yet.",
    }


def _by_taskset(runs: Sequence[Run]) -> list[tuple[str, list[Run]]]:
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.taskset, []).append(run)
    return list(found.items())


class _Names(dict[str, str]):
    """Short names by taskset, also of one that has no score yet."""

    def __missing__(self, key: str) -> str:
        return text.short_task(key)


class _Tones(dict[str, str]):
    """Colour classes by evolver; a name that only a table knows is drawn like a reference."""

    def __missing__(self, key: str) -> str:
        return "ref"


def _tones(suite: Suite, members: Sequence[Run]) -> _Tones:
    return _Tones(shades(suite, members))


def _leaderboard_plot(suite: Suite, tones: dict[str, str]) -> str:
    lines = [charts.Line(e.evolver, e.iqm, tones[e.evolver]) for e in suite.leaderboard if not e.reference]
    scale = f"0: {suite.terms.mark}, 1: best evolver"
    return charts.intervals("Normalised score of each evolver, interquartile mean", lines, scale)


def _place_plot(place: Place, terms: Terms, tones: dict[str, str]) -> str:
    lines = [charts.Line(c.evolver, c.score, tones[c.evolver]) for c in place.cells if not c.reference]
    lines += [charts.Line(name, Mean(), tones[name]) for name in place.absent]
    title, scale = f"Held-out {terms.score} on {place.taskset}", f"held-out {terms.score}"
    return charts.intervals(title, lines, scale, place.reference_mean, terms.mark)


def _matrix(suite: Suite) -> list[dict[str, Any]]:
    columns: list[dict[str, dict[str, Any]]] = []
    for place in suite.places:
        digits = text.decimals_for(text.spread_of(c.score.bounds for c in place.cells), place.reference_mean)
        best = max((c.score.value for c in place.cells if not c.reference and c.score.value is not None), default=None)
        columns.append(
            {
                c.evolver: {
                    "mean": text.number(c.score.value, digits),
                    "bounds": text.interval(*c.score.bounds, digits) if c.score.low is not None else "",
                    "best": not c.reference and best is not None and c.score.value == best,
                }
                for c in place.cells
            }
        )
    unknown = {"mean": text.DASH, "bounds": "", "best": False}
    return [
        {
            "evolver": e.evolver,
            "reference": e.reference,
            "cells": [column.get(e.evolver, unknown) for column in columns],
        }
        for e in suite.leaderboard
    ]


def _packages(members: Sequence[Run]) -> dict[str, str]:
    versions: dict[str, set[str]] = {}
    for run in members:
        for name, version in run.packages.items():
            versions.setdefault(name, set()).add(version)
    return {name: " and ".join(sorted(found)) for name, found in sorted(versions.items())}
