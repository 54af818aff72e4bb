"""Pages of suites whose scores are extreme, alike, few or none."""

from __future__ import annotations

import io
import math
from typing import Any

import pytest
from pydantic import ValidationError
from rich.console import Console
from tests.pages.report.sample_metrics import PLACES, results, run_metrics, suite_results_of

from heredity.pages.report import csv, html, markdown, page_of, terminal
from heredity.protocols.policy_evolution.protocol import REPORT
from heredity.results.base import Unknown
from heredity.results.run import RunResults

CASES = 8
SCORES: dict[str, list[float | None]] = {
    "huge": [1e308, -1e308, 1e307, 5e307, 1e308, 1e308, 1e306, 0.0],
    "tiny": [1e-308, -1e-308, 3e-308, 0.0, 5e-324, 1e-308, 2e-308, 1e-308],
    "huge and tiny": [1e308, 1e-308, 0.0, -0.0, 1.0, 1e308, 1e-308, -1.0],
    "minus nought": [-0.0] * CASES,
    "all equal": [500.0] * CASES,
    "mostly missing": [None, None, 3.0, None, None, None, None, None],
    "none": [None] * CASES,
}


def suite(scores: list[float | None], seeds: int) -> list[dict[str, Any]]:
    runs = [run_metrics(t, e, s) for t in list(PLACES)[:2] for e in ("parametric", "structural") for s in range(seeds)]
    present = [s for s in scores if s is not None]
    mean = math.fsum(s / len(present) for s in present) if present else None
    for i, run in enumerate(runs):
        turned = scores[i % CASES :] + scores[: i % CASES]
        run["heldout"] |= {
            "scores": turned,
            "mean": mean,
            "ci": None,
            "n": len(present),
            "missing": CASES - len(present),
        }
        run["reference"]["heldout_scores"] = [0.0 if s is None else s / 2 for s in scores]
    return runs


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("seeds", [1, 6])
@pytest.mark.parametrize("name", SCORES)
def test_extreme_scores_never_break_a_page(name: str, seeds: int) -> None:
    runs = suite(SCORES[name], seeds)
    measured = suite_results_of(runs)
    assert type(measured).model_validate_json(measured.model_dump_json()) == measured
    page = page_of(measured, [results(run) for run in runs], REPORT)
    assert "<svg" in html.render(page)
    assert "parametric" in markdown.render(page)
    written = io.StringIO()
    Console(width=120, file=written).print(terminal.render(page))
    assert "nan" not in written.getvalue().lower()
    tables = [csv.render(table) for table in csv.tables(page.sections)]
    assert not any("inf" in table or "nan" in table for table in tables)
    for cell in (c for t in measured.tasksets for c in t.cells):
        assert (cell.ci is None) is (cell.ci_unknown is not None)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_no_number_is_refused(value: float) -> None:
    run = run_metrics("gymnasium/CartPole-v1", "structural", 0)
    run["heldout"]["scores"][0] = value
    with pytest.raises(ValidationError, match="finite"):
        RunResults.model_validate(run)


def test_every_seed_and_why_there_is_no_interval_stand_beside_the_mean() -> None:
    runs = suite(SCORES["all equal"], 2)
    page = page_of(suite_results_of(runs), [results(run) for run in runs], REPORT)
    said = markdown.render(page)
    assert "seeds 500.0, 500.0" in said
    assert Unknown.ALIKE.value in said
    assert html.render(page).count('class="ring c') >= 8
    assert "No interval for ranks and normalised scores: fewer than six runs" in said


def test_a_mean_with_missing_scores_stands_beside_its_bounds() -> None:
    runs = suite([0.0, 1.0, 0.5, None, None, 0.25, 0.75, 1.0], 6)
    measured = suite_results_of(runs)
    cell = next(c for c in measured.tasksets[0].cells if not c.reference)
    assert cell.if_missing is not None
    assert (cell.if_missing.low, cell.if_missing.high) == pytest.approx((3.5 / 8, 5.5 / 8))
    assert "12 missing: " in markdown.render(page_of(measured, [], REPORT))


def test_evolvers_that_beat_nothing_are_still_compared_in_raw_scores() -> None:
    runs = suite(SCORES["all equal"], 1)
    for run in runs:
        run["reference"]["heldout_scores"] = [500.0] * CASES
    measured = suite_results_of(runs)
    assert measured.comparisons.tasksets
    assert not measured.comparisons.suite
    said = markdown.render(page_of(measured, [results(run) for run in runs], REPORT))
    assert "No two evolvers have been judged on the same cases" not in said
    assert "no evolver beats the random policy. Compared in held-out return, by environment" in said
