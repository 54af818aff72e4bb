"""An evolver that failed never looks like a result: it has no rank and no win, and is the best nowhere, on no page."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console
from tests.page_reader import Page
from tests.pages.report.sample_metrics import results, run_metrics, suite_results_of

from heredity.pages.report import html, markdown, page_of, terminal
from heredity.pages.report.sentences import best_cells
from heredity.protocols.policy_evolution.protocol import REPORT
from heredity.results.run import RunResults
from heredity.results.suite import Entry, SuiteResults

TASKS = ("gymnasium/CartPole-v1", "gymnasium/Acrobot-v1")
WHY = "the model replied 4 times, and no candidate came of it: reflect: the reply could not be used"
NAMES = ("parametric", "structural", "best-of-n")


def wrecked(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run whose model gave nothing usable: what it began with was judged."""
    return run | {"status": "failed", "evolver_failure": {"message": WHY, "traceback": ""}}


def runs_with(*failed: str, seeds: int = 2, tasks: tuple[str, ...] = TASKS) -> list[dict[str, Any]]:
    made = [run_metrics(task, name, seed) for task in tasks for name in NAMES for seed in range(seeds)]
    return [wrecked(run) if run["evolver"]["name"] in failed else run for run in made]


def entries(suite: SuiteResults) -> dict[str, Entry]:
    return {entry.evolver: entry for entry in suite.leaderboard}


def shown(suite: SuiteResults, runs: list[RunResults] | None = None) -> str:
    written = io.StringIO()
    Console(width=100, file=written).print(terminal.render(page_of(suite, runs or [], REPORT)))
    return " ".join(written.getvalue().split())


@pytest.mark.parametrize("failed", [("parametric",), ("parametric", "best-of-n"), NAMES], ids=len)
def test_who_failed_in_all_runs_has_no_rank_and_is_nowhere_the_best(failed: tuple[str, ...]) -> None:
    suite = suite_results_of(runs_with(*failed))
    for name in failed:
        entry = entries(suite)[name]
        assert (entry.rank, entry.rank_score, entry.iqm, entry.p_best) == (None, None, None, None)
        assert (entry.wins, entry.top2, entry.tasksets) == (0, 0, 0)
        assert (entry.failed, entry.runs) == (4, 4)
        assert suite.leaderboard.index(entry) >= len(suite.leaderboard) - len(failed), "it stands last"
    for taskset in suite.tasksets:
        assert {cell.evolver for cell in best_cells(taskset)}.isdisjoint(failed)
        cells = {cell.evolver: cell for cell in taskset.cells}
        assert all(cells[name].failed and cells[name].rank is None for name in failed)
        assert all(cells[name].mean is not None for name in failed), "what it had submitted was judged"
    compared = {name for row in suite.comparisons.suite for name in (row.a, row.b)}
    assert compared.isdisjoint(failed)
    assert {profile.evolver for profile in suite.profiles}.isdisjoint(failed)


def test_the_others_are_ranked_as_if_it_had_not_been_there() -> None:
    with_it = entries(suite_results_of(runs_with("parametric")))
    without = [run for run in runs_with() if run["evolver"]["name"] != "parametric"]
    for name, entry in entries(suite_results_of(without)).items():
        assert (with_it[name].rank, with_it[name].rank_score) == (entry.rank, entry.rank_score)
        assert with_it[name].iqm == entry.iqm


def test_who_failed_on_one_taskset_is_last_there() -> None:
    runs = [
        wrecked(run) if (run["evolver"]["name"], run["taskset"]) == ("parametric", TASKS[0]) else run
        for run in runs_with()
    ]
    entry = entries(suite_results_of(runs))["parametric"]
    assert (entry.tasksets, entry.absent) == (1, 1)
    assert entry.rank_score is not None
    assert entry.rank_score <= 0.5


def test_a_run_of_several_that_failed_keeps_its_score_in_the_mean() -> None:
    runs = runs_with()
    first = next(i for i, run in enumerate(runs) if run["evolver"]["name"] == "parametric")
    suite = suite_results_of([*runs[:first], wrecked(runs[first]), *runs[first + 1 :]])
    cell = next(cell for cell in suite.tasksets[0].cells if cell.evolver == "parametric")
    assert (cell.failed, len(cell.seeds)) == (False, 2)
    assert entries(suite)["parametric"].rank is not None
    assert "parametric failed in every run" not in shown(suite)


def test_a_page_of_which_all_failed_says_first_that_nothing_was_learned() -> None:
    runs = runs_with(*NAMES)
    suite, members = suite_results_of(runs), [results(run) for run in runs]
    page = page_of(suite, members, REPORT)
    assert page.summary[0].text.startswith("Nothing was learned: all 3 evolvers failed, so nothing is ranked.")
    assert WHY in page.summary[1].text
    for text in (shown(suite), markdown.render(page), Page(html.render(page)).text):
        assert "Nothing was learned" in text
        assert "beyond noise, over new runs" not in text
        assert "ranks first" not in text
        assert "Nothing failed and nothing is missing" not in text


def test_a_page_of_which_one_failed_says_which_and_why_and_ranks_the_others() -> None:
    runs = runs_with("parametric")
    suite, members = suite_results_of(runs), [results(run) for run in runs]
    text = shown(suite)
    assert f"parametric failed in every run ({WHY}), so it has no rank." in text
    assert "4 runs failed." in text
    page = Page(html.render(page_of(suite, members, REPORT)))
    row = next(cells for cells in page.rows if cells[0].startswith("parametric") and "failed" in cells[0])
    assert "4 of 4 runs failed" in row[0]
    assert row[1:] == ["–"] * 4, "neither rank nor normalised score nor wins"
    assert page.row("CartPole-v1")[1].split()[0] != "parametric"


def test_a_single_evolver_that_failed_is_no_result() -> None:
    runs = [wrecked(run_metrics(TASKS[0], "parametric", 0))]
    text = shown(suite_results_of(runs))
    assert "Nothing was learned: the evolver failed" in text
    assert "reaches a held-out" not in text


def test_the_page_of_a_run_that_failed_says_so_first() -> None:
    run = results(wrecked(run_metrics(TASKS[0], "parametric", 0)))
    page = page_of(run, [], REPORT)
    assert page.summary[0].text.startswith("The evolver failed; its earlier submissions were judged. After ")
    assert WHY in Page(html.render(page)).text


@pytest.mark.parametrize(("gap", "said"), [(1.5, "1.5 above held-out"), (-1.5, "1.5 below held-out")])
def test_validation_is_above_held_out_or_below_it(gap: float, said: str) -> None:
    run = results(run_metrics(TASKS[0], "parametric", 0))
    assert run.selection is not None
    changed = run.model_copy(update={"selection": run.selection.model_copy(update={"gap": gap})})
    notes = " ".join(str(fact.note) for fact in page_of(changed, [], REPORT).facts.facts)
    assert said in notes.replace("1.50", "1.5")
