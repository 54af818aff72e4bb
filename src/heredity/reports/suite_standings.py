"""The standings of a suite: the leaderboard with what chance may make of it, and performance profiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from heredity.reports.sections import entry_cell
from heredity.results import text
from heredity.results.charts import Interval, Intervals, Lines, Series, Tone
from heredity.results.page import (
    Cell,
    Folded,
    Group,
    Mean,
    Named,
    Number,
    Part,
    Row,
    Section,
    Table,
    Text,
    columns_of,
    of_rows,
)
from heredity.results.suite import Profile, SuiteResults
from heredity.results.words import Words

PROFILED = (0.0, 0.25, 0.5, 0.75, 0.9)
"""Normalised scores at which profiles are written; charts show them at more."""


def _named(evolver: str, tones: Mapping[str, Tone]) -> Named:
    return Named(evolver, tones.get(evolver), swatch=True)


def leaderboard(suite: SuiteResults, words: Words, tones: Mapping[str, Tone]) -> Section:
    """Return rank scores and normalised scores."""
    where = "of an environment" if words.taskset == "environment" else f"on a {words.taskset}"
    about = (
        f"The rank score is 1 for the best entry {where} and 0 for the last, averaged over {words.tasksets}. Entries with "
        f"equal means share the better rank. An entry that has no score on a {words.taskset}, or failed in all its runs there, "
        f"ranks last. The normalised score is 0 for the {words.reference} and 1 for the best evolver, clipped to that range and "
        "summarised by its interquartile mean. An entry that failed everywhere has neither rank nor wins. Intervals and the "
        f"chance of being first cover new seeds, new cases, and new {words.tasksets} where there are six or more. With fewer "
        f"than six runs, or fewer than three on any {words.taskset}, there is too little data for them."
    )
    if not suite.leaderboard:
        return Section("leaderboard", "Leaderboard", (Text("No run of this suite has been judged yet."),), "lead")
    rows: list[Row] = []
    compared = any(e.tasksets for e in suite.leaderboard if not e.reference)
    for i, e in enumerate(suite.leaderboard):
        share, best = f"{e.tasksets} of {e.tasksets + e.absent} {words.tasksets}", text.number(e.rank_score_at_best)
        absent = (f"{share}; {best} at best",) if e.absent and e.tasksets else ()
        rank = Cell(Number(e.rank_score, 3), absent, strong=i == 0 and not e.reference and e.tasksets > 0)
        normalised = Mean(e.iqm, *(e.iqm_ci or (None, None)), decimals=3)
        firsts = (e.wins, e.top2) if e.tasksets and compared else (None, None)
        cells = (entry_cell(_named(e.evolver, tones), e, words), rank, normalised, *firsts)
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
    """Return what chance may make of the leaderboard, or why nobody can tell."""
    reason = next((e.spread_unknown for e in suite.leaderboard if e.spread_unknown), None)
    if reason is not None:
        return Text(f"How far ranks and normalised scores may be chance, nobody can tell: {reason}.")
    rows = [
        [
            _named(e.evolver, tones),
            Mean(e.rank, *(e.rank_ci or (None, None)), decimals=0),
            Mean(e.rank_score, *(e.rank_score_ci or (None, None)), decimals=3),
            Number(e.p_best, form="percent"),
        ]
        for e in suite.leaderboard
        if e.tasksets
    ]
    head = ["evolver", "rank", "rank score", "chance to be first"]
    return replace(of_rows(head, rows, caption="What chance may make of the ranks"), csv="standings.csv")


def _breakdown(suite: SuiteResults, words: Words, tones: Mapping[str, Tone]) -> list[Part]:
    """Return scores by family and by group, where there are several."""
    entries = suite.leaderboard
    families = sorted({name for entry in entries for name in entry.family_scores})
    groups = sorted({name for entry in entries for name in entry.group_scores})
    tables: list[Table] = []
    if len(families) > 1:
        rows = [[_named(e.evolver, tones), *(Number(e.family_scores.get(f), 3) for f in families)] for e in entries]
        tables.append(of_rows(["evolver", *families], rows, caption="Rank score by family"))
    if len(groups) > 1:
        own = [e for e in entries if not e.reference]
        rows = [[_named(e.evolver, tones), *(Number(e.group_scores.get(g), 3) for g in groups)] for e in own]
        caption = f"Mean normalised score by group of {words.tasksets}"
        tables.append(of_rows(["evolver", *groups], rows, caption=caption))
    return [Folded("By family and group", tuple(tables))] if tables else []


def profiles(suite: SuiteResults, words: Words, tones: Mapping[str, Tone]) -> Section:
    """Return how many runs of each evolver reach each normalised score."""
    about = (
        "The share of runs whose normalised score is above each value, all of them on all "
        f"{words.tasksets} together (Agarwal et al. 2021): where one line is above another everywhere, it is better. Bands are "
        f"pointwise {text.percent(suite.confidence)} intervals, where there are runs enough."
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
    rows = [[_named(p.evolver, tones), *(_above(p, at) for at in PROFILED)] for p in suite.profiles]
    table = of_rows(head, rows, caption="Share of runs above a normalised score")
    parts = (Text(about, "about"), Group((table, chart), "pair")) if suite.profiles else ()
    return Section("profiles", "Performance profiles", parts, "lead", navigation="Profiles")


def _above(profile: Profile, at: float) -> Mean | None:
    point = next((p for p in profile.points if p.above == at), None)
    return point and Mean(point.share, *(point.ci or (None, None)), decimals=2)
