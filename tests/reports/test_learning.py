from __future__ import annotations

from typing import Any

import pytest
from pages import Page
from sample_commits import commit_suite

from heredity.analysis.suite_metrics import suite_metrics
from heredity.reports.html import suite_page
from heredity.reports.learning import Line, chart
from heredity.reports.markdown import suite_markdown

LEARNING: dict[str, Any] = {
    "methods": ["a", "b"],
    "upper_bound": {"mean": 0.5, "gain": 0.2, "picked": [{"taskset": "worlds/x", "method": "a", "mean": 0.5}]},
    "best_fixed": {"method": "a", "mean": 0.4, "gap": 0.1},
    "controllers": [{"evolver": "adaptive", "mean": 0.45, "gap": 0.05, "covered": 0.5}],
    "by_methods": [
        {"methods": 1, "subsets": 2, "mean": 0.35, "low": 0.3, "high": 0.4},
        {"methods": 2, "subsets": 1, "mean": 0.5, "low": 0.5, "high": 0.5},
    ],
    "by_tasksets": [{"evolver": "a", "gains": [0.3, 0.1]}, {"evolver": "upper bound", "gains": [0.3, 0.2]}],
}
SKIN = {
    "taskset": "worlds/x", "evolver": "a", "plain": 0.9, "inverse": 0.1, "difference": -0.8, "ci": [-0.9, -0.7],
    "p": 0.01, "unit": "case", "cases": 10, "verdict": "worse",
}  # fmt: skip


def sections(page: Page) -> set[str | None]:
    return {attributes.get("id") for tag, attributes in page.tags if tag == "section"}


@pytest.fixture
def metrics() -> dict[str, Any]:
    return {**suite_metrics(commit_suite()), "protocol": "agent-learning", "learning": LEARNING, "skins": [SKIN]}


def test_the_page_shows_the_space_of_methods_and_what_an_inversion_costs(metrics: dict[str, Any]) -> None:
    html = suite_page(metrics, [], {})
    page = Page(html)
    assert {"learning", "skins"} <= sections(page)
    assert "50%" in html
    assert "Upper bound by number of methods" in html
    assert "−0.800" in html


def test_the_summary_in_markdown_says_the_same(metrics: dict[str, Any]) -> None:
    text = suite_markdown(metrics, [])
    assert "controller, 50% of the way to the bound" in text
    assert "## Skins and their inverse" in text
    assert "worse |" in text


def test_a_suite_without_them_has_no_such_sections() -> None:
    page = Page(suite_page(suite_metrics(commit_suite()), [], {}))
    assert not {"learning", "skins"} & sections(page)


def test_a_long_name_keeps_its_end_and_no_line_is_no_error() -> None:
    drawn = chart("t", [Line("a-very-long-name-of-a-method-with-its-end", "c0", ((1.0, 0.1), (2.0, 0.2)))], "x", "y")
    assert "with-its-end" in drawn
    assert "a-very-long-name-of-a-method-with" not in drawn.replace("<title>", "", 1).split("</title>")[-1]
    assert "<svg" in chart("t", [], "x", "y")
