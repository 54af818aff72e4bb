from __future__ import annotations

import io

from rich.console import Console, RenderableType
from sample_metrics import EVOLVERS, run_metrics, suite_runs, unfinished

from heredity.analysis.suite_metrics import suite_metrics
from heredity.reports.tables import (
    comparisons_table,
    environments_table,
    leaderboard_table,
    render,
    run_summary_block,
    suite_summary_block,
)
from heredity.reports.text import DASH


def _shown(renderable: RenderableType, width: int = 120) -> str:
    written = io.StringIO()
    Console(width=width, file=written).print(renderable)
    return written.getvalue()


def test_the_leaderboard_shows_every_evolver_with_score_and_interval() -> None:
    metrics = suite_metrics(suite_runs())
    shown = _shown(leaderboard_table(metrics))
    for entry in metrics["leaderboard"]:
        line = next(row for row in shown.splitlines() if row.startswith(entry["evolver"]))
        assert f"{entry['rank_score']:.3f}" in line
    assert all(name in shown for name in EVOLVERS)


def test_the_suite_ends_with_who_leads_and_what_is_missing() -> None:
    shown = " ".join(_shown(suite_summary_block(suite_metrics(suite_runs()))).split())
    assert "leads with a rank score of" in shown
    assert "1 run not finished" in shown


def test_evolvers_that_are_no_better_than_chance_do_not_lead() -> None:
    runs = suite_runs()
    for run in runs:
        if run["heldout"]["scores"]:
            run["heldout"] |= {"scores": [-1e6] * len(run["heldout"]["scores"]), "mean": -1e6}
    shown = " ".join(_shown(suite_summary_block(suite_metrics(runs))).split())
    assert "No evolver ranks above the random policy" in shown
    assert "leads" not in shown


def test_each_environment_names_its_best_evolver_and_the_random_policy() -> None:
    metrics = suite_metrics(suite_runs())
    shown = _shown(environments_table(metrics), width=80).splitlines()
    for place in metrics["tasksets"]:
        best = max((c for c in place["cells"] if not c["reference"]), key=lambda c: c["mean"])
        line = next(row for row in shown if row.startswith(place["taskset"].split("/")[1]))
        assert best["evolver"] in line


def test_the_tables_fit_a_terminal_of_eighty_columns() -> None:
    shown = _shown(suite_summary_block(suite_metrics(suite_runs())), width=80)
    assert "…" not in shown


def test_comparisons_carry_their_verdicts() -> None:
    metrics = suite_metrics(suite_runs())
    shown = _shown(comparisons_table(metrics))
    assert all(row["verdict"] in shown for row in metrics["comparisons"]["suite"])


def test_a_run_is_summed_up_with_its_interval() -> None:
    run = run_metrics("gymnasium/CartPole-v1", "structural", 1)
    shown = _shown(run_summary_block(run))
    assert run["run_id"] in shown
    assert f"{run['heldout']['mean']:.1f}" in shown or f"{run['heldout']['mean']:.0f}" in shown


def test_an_unfinished_run_shows_dashes() -> None:
    shown = _shown(run_summary_block(unfinished(run_metrics("gymnasium/CartPole-v1", "structural", 1))))
    line = next(row for row in shown.splitlines() if row.startswith("held-out mean"))
    assert line.split()[-1] == DASH


def test_names_are_not_read_as_terminal_markup() -> None:
    run = run_metrics("gymnasium/CartPole-v1", "structural", 1) | {"run_id": "[bold]x[/bold]\x1b[31m"}
    shown = _shown(run_summary_block(run))
    assert "[bold]x[/bold]" in shown
    assert "\x1b" not in shown


def test_what_the_metrics_are_of_is_recognised() -> None:
    run = run_metrics("gymnasium/CartPole-v1", "structural", 1)
    assert _shown(render(run)) == _shown(run_summary_block(run))
    assert "Leaderboard of demo" in _shown(render(suite_metrics([run])))


def test_empty_metrics_have_tables_too() -> None:
    assert "No run has been judged yet." in _shown(suite_summary_block(suite_metrics([])))
    assert "unnamed run" in _shown(run_summary_block({}))
