from __future__ import annotations

from typing import Any

import pytest
from tests.page_reader import Page
from tests.pages.report.sample_commits import commit_suite
from tests.pages.report.sample_metrics import suite_results_of

from heredity.pages.report import html, markdown, page_of
from heredity.protocols.agent_learning.results import REPORT, LearningSuite
from heredity.results.suite import SuiteResults

LEARNING: dict[str, Any] = {
    "methods": ["a", "b"],
    "upper_bound": {
        "mean": 0.5,
        "gain": 0.2,
        "picked": [{"taskset": "worlds/x", "method": "a", "mean": 0.5, "tied": []}],
    },
    "best_fixed": {"method": "a", "mean": 0.4, "gap": 0.1},
    "controllers": [{"evolver": "adaptive", "mean": 0.45, "gap": 0.05, "covered": 0.5}],
    "by_methods": [
        {"methods": 1, "subsets": 2, "mean": 0.35, "low": 0.3, "high": 0.4},
        {"methods": 2, "subsets": 1, "mean": 0.5, "low": 0.5, "high": 0.5},
    ],
    "by_tasksets": [{"evolver": "a", "gains": [0.3, 0.1]}, {"evolver": "upper bound", "gains": [0.3, 0.2]}],
}
SKIN = {
    "taskset": "worlds/x", "evolver": "a", "plain": 0.9, "inverse": 0.1, "difference": -0.8, "cases": 10,
    "evolvers": {"unit": "run", "ci": None, "p": None, "p_holm": None, "mde": None, "verdict": "cannot tell yet"},
    "candidates": {"unit": "case", "ci": [-0.9, -0.7], "p": 0.01, "p_holm": 0.01, "mde": 0.1, "verdict": "worse"},
}  # fmt: skip


def sections(page: Page) -> set[str | None]:
    return {attributes.get("id") for tag, attributes in page.tags if tag == "section"}


@pytest.fixture
def suite() -> SuiteResults:
    part = LearningSuite.model_validate({"board": [], "learning": LEARNING, "skins": [SKIN]})
    return suite_results_of(commit_suite(), "starting point").model_copy(update={"part": part})


def test_the_page_shows_the_space_of_methods_and_what_an_inversion_costs(suite: SuiteResults) -> None:
    shown = html.render(page_of(suite, [], REPORT))
    assert {"learning", "skins"} <= sections(Page(shown))
    assert "50%" in shown
    assert "Upper bound by number of methods" in shown
    assert "s choice: the best method of each" in shown
    assert "−0.800" in shown


def test_the_summary_in_markdown_says_the_same(suite: SuiteResults) -> None:
    document = markdown.render(page_of(suite, [], REPORT))
    row = next(line for line in document.splitlines() if line.startswith("| adaptive (controller)"))
    assert "50%" in row
    assert "## Skins and their inverse" in document
    assert "evolver: cannot tell yet; these agents: worse \\[−0.900, −0.700] over levels" in document


def test_a_suite_without_them_has_no_such_sections() -> None:
    plain = suite_results_of(commit_suite(), "starting point")
    assert not {"learning", "skins"} & sections(Page(html.render(page_of(plain, [], REPORT))))


def test_a_controller_below_the_best_fixed_method_is_not_on_the_way_to_the_bound(suite: SuiteResults) -> None:
    behind = LEARNING | {"controllers": [{"evolver": "adaptive", "mean": 0.0, "gap": 0.5, "covered": None}]}
    part = LearningSuite.model_validate({"board": [], "learning": behind, "skins": []})
    document = markdown.render(page_of(suite.model_copy(update={"part": part}), [], REPORT))
    assert "below the best fixed method" in document
    assert "437%" not in document
