"""Normalised scores by environment and task demand: figures are computed again from held-out means."""

from __future__ import annotations

import pytest
from tests.page_reader import Page
from tests.pages.report.sample_metrics import EVOLVERS, PLACES, run_metrics, suite_results_of

from heredity.pages.report import html, page_of
from heredity.protocols.policy_evolution.protocol import REPORT


def test_normalised_scores_are_grouped_by_what_the_environments_ask_for() -> None:
    suite = suite_results_of([run_metrics(place, evolver, 0) for place in PLACES for evolver in EVOLVERS])
    document = Page(html.render(page_of(suite, [], REPORT)))
    start = 1 + next(
        i for i, row in enumerate(document.rows) if row and row[0].strip() == "environment" and len(row) == 6
    )
    head = [cell.strip() for cell in document.rows[start - 1]]
    rows = {row[0].strip(): [cell.strip() for cell in row[1:]] for row in document.rows[start : start + 7]}
    assert head[0] == "environment"
    assert set(head[1:]) == set(EVOLVERS)
    for taskset in suite.tasksets:
        means = {cell.evolver: cell.mean for cell in taskset.cells}
        random, best = taskset.reference_mean, max(means[evolver] for evolver in EVOLVERS)
        shown = next(values for name, values in rows.items() if name and name in taskset.taskset)
        expected = [min(max((means[e] - random) / (best - random), 0.0), 1.0) for e in head[1:]]
        assert [float(value) for value in shown] == pytest.approx(expected, abs=5e-4)


def test_of_one_environment_there_is_no_such_table() -> None:
    suite = suite_results_of([run_metrics(next(iter(PLACES)), evolver, 0) for evolver in EVOLVERS])
    assert "By task demand" not in html.render(page_of(suite, [], REPORT))
