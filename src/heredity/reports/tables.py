"""Tables for the terminal, as rich renderables: the leaderboard of a suite, the comparisons, and the summary of a run."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heredity.reports import text
from heredity.reports.fields import Json
from heredity.reports.model import read_run
from heredity.reports.sentences import run_summary, suite_caution, suite_summary, trouble_summary
from heredity.reports.suite_model import read_suite

_VERDICT_STYLES = {"better": "green", "worse": "red"}


def _table(title: str, *columns: str, left: int = 1) -> Table:
    made = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    for i, name in enumerate(columns):
        made.add_column(name, justify="left" if i < left else "right", no_wrap=i >= left)
    return made


def render(metrics: Json) -> RenderableType:
    """Return what a command prints about a run or a suite, whichever these metrics are.

    Args:
        metrics: a run's or a suite's metrics.json; a suite's has a `leaderboard`.

    Raises:
        ConfigError: if it is not a metrics object of a known version.
    """
    return suite_summary_block(metrics) if "leaderboard" in metrics else run_summary_block(metrics)


def leaderboard_table(suite_metrics: Json) -> Table:
    """Return the leaderboard: rank score, normalised score with its interval, wins and second places, best first.

    Args:
        suite_metrics: the suite's metrics.json.

    Raises:
        ConfigError: if it is not a metrics object of a known version.
    """
    suite = read_suite(suite_metrics)
    made = _table(
        f"Leaderboard of {suite.suite_id}", "evolver", "rank score", "normalised", "interval", "wins", "top 2"
    )
    for e in suite.leaderboard:
        cells = [
            text.number(e.rank_score, 3),
            text.number(e.iqm.value, 3),
            text.interval(*e.iqm.bounds, 3),
            str(e.wins),
            str(e.top2),
        ]
        made.add_row(Text(e.evolver), *map(Text, cells), style="dim" if e.reference else None)
    return made


def environments_table(suite_metrics: Json) -> Table:
    """Return the best evolver of each taskset with its held-out mean and interval, beside the reference's mean.

    Args:
        suite_metrics: the suite's metrics.json.

    Raises:
        ConfigError: if it is not a metrics object of a known version.
    """
    suite = read_suite(suite_metrics)
    terms = suite.terms
    title, score = terms.places.capitalize(), f"held-out {terms.score if terms.commits else 'mean'}"
    made = _table(title, terms.place, "best evolver", score, "interval", terms.mark, left=2)
    for place in suite.places:
        best = next((c for c in place.cells if not c.reference and c.score.value is not None), None)
        bounds = best.score.bounds if best else (None, None)
        digits = text.decimals_for(text.spread_of([bounds]), best.score.value if best else place.reference_mean)
        cells = [
            best.evolver if best else text.DASH,
            text.number(best.score.value if best else None, digits),
            text.interval(*bounds, digits),
            text.number(place.reference_mean, digits),
        ]
        made.add_row(Text(suite.names[place.taskset]), *map(Text, cells))
    return made


def comparisons_table(suite_metrics: Json) -> Table:
    """Return the suite-wide pairwise comparisons with their verdicts.

    Args:
        suite_metrics: the suite's metrics.json.

    Raises:
        ConfigError: if it is not a metrics object of a known version.
    """
    suite = read_suite(suite_metrics)
    made = _table(
        "Comparisons", "first", "second", "verdict", "difference", "interval", "p (Holm)", "detectable", left=3
    )
    for c in suite.overall:
        made.add_row(
            Text(c.a),
            Text(c.b),
            Text(c.verdict or text.DASH, style=_VERDICT_STYLES.get(c.verdict, "dim")),
            Text(text.signed(c.difference.value, 3)),
            Text(text.interval(*c.difference.bounds, 3)),
            Text(text.p_value(c.p_holm)),
            Text(text.number(c.mde, 3)),
        )
    return made


def suite_summary_block(suite_metrics: Json) -> RenderableType:
    """Return what a command prints at the end of a suite: leaderboard, environments, who leads, and what limits the claim.

    Args:
        suite_metrics: the suite's metrics.json.

    Raises:
        ConfigError: if it is not a metrics object of a known version.
    """
    suite = read_suite(suite_metrics)
    said = [line for line in (suite_summary(suite), suite_caution(suite), trouble_summary(suite)) if line]
    tables = [leaderboard_table(suite_metrics), Text(), environments_table(suite_metrics), Text()]
    return Group(*tables, *map(Text, said))


def run_summary_block(metrics: Json) -> RenderableType:
    """Return what a command prints at the end of a run: a sentence, then the facts.

    Args:
        metrics: the run's metrics.json.

    Raises:
        ConfigError: if it is not a metrics object of a known version.
    """
    run = read_run(metrics)
    places = text.decimals_for(text.spread_of([run.heldout.bounds]), run.heldout.value)
    terms, commits = run.terms, run.commits
    validation = f"{text.number(run.selected_validation, places)}, submission {text.number(run.selected_index)}"
    facts = [
        ("held-out mean", f"{text.number(run.heldout.value, places)} {text.interval(*run.heldout.bounds, places)}"),
        (terms.reference, text.number(run.reference_mean, places)),
        ("commits", f"{commits.gained}, {commits.refused} refused") if terms.commits else ("validation", validation),
        (terms.attempts, f"{text.number(run.budget.get('used'))} of {text.number(run.budget.get('episodes'))}"),
        ("submissions", f"{len(run.submissions)}, {text.number(run.budget.get('rejected'))} rejected"),
        (
            "failed, missing",
            f"{run.heldout_failures}, {run.heldout_missing} of {len(run.heldout_scores)} held-out cases",
        ),
        ("wall time of the evolver", text.duration(run.budget.get("wall_seconds"))),
    ]
    made = Table.grid(padding=(0, 2))
    for name, value in facts:
        made.add_row(Text(name, style="dim"), Text(value))
    title = Text(f"{run.run_id}: {run.status}", style="bold" if run.finished else "bold red")
    return Group(title, Text(run_summary(run)), made)
