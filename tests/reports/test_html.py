from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from pages import Page
from sample_metrics import EVOLVERS, PLACES, run_metrics, suite_runs, unfinished

from heredity.analysis.suite_metrics import suite_metrics
from heredity.errors import ConfigError, RecordError
from heredity.reports import write_reports
from heredity.reports.html import run_page, suite_page, write_suite_report
from heredity.reports.text import DASH

ATTACK = "<script>alert('x')</script><img src=x onerror=1>\"'>&\x00\x1b[31m"


@pytest.fixture(scope="module")
def runs() -> list[dict[str, Any]]:
    return suite_runs()


@pytest.fixture(scope="module")
def suite(runs: list[dict[str, Any]]) -> dict[str, Any]:
    return suite_metrics(runs)


@pytest.fixture(scope="module")
def page(suite: dict[str, Any], runs: list[dict[str, Any]]) -> Page:
    return Page(suite_page(suite, runs, {}))


def test_the_leaderboard_has_a_row_for_every_evolver_and_the_random_policy(page: Page, suite: dict[str, Any]) -> None:
    for entry in suite["leaderboard"]:
        assert page.row(entry["evolver"])[1].startswith(f"{entry['rank_score']:.3f}")


def test_every_environment_has_its_intervals_curves_and_phases(page: Page) -> None:
    titles = [attributes.get("aria-label") or "" for tag, attributes in page.tags if tag == "svg"]
    for taskset in PLACES:
        for opening in ("Held-out return on", "Best so far on", "Phases of edits on"):
            assert f"{opening} {taskset}" in titles


def test_every_picture_has_a_name_and_every_table_a_caption(page: Page) -> None:
    pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert all(a.get("aria-hidden") == "true" or (a.get("role") == "img" and a.get("aria-label")) for a in pictures)
    assert page.count("table") == page.count("caption") > 10


def test_ids_are_unique_and_the_navigation_reaches_every_section(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    targets = {a["href"] for tag, a in page.tags if tag == "a" and (a.get("href") or "").startswith("#")}
    assert len(ids) == len(set(ids))
    assert targets == {f"#{name}" for name in ids}


@pytest.mark.parametrize("kind", ["suite", "run"])
def test_a_page_asks_for_nothing_outside_itself(kind: str, suite: dict[str, Any], runs: list[dict[str, Any]]) -> None:
    markup = suite_page(suite, runs, {}) if kind == "suite" else run_page(runs[0])
    assert not re.search(r"https?://|//[a-z]+\.|@import|url\(", markup)
    assert {"script", "link", "iframe", "object", "img"}.isdisjoint(tag for tag, _ in Page(markup).tags)


def _poisoned(run: dict[str, Any]) -> dict[str, Any]:
    bad = copy.deepcopy(run)
    bad |= {"run_id": ATTACK, "status": ATTACK, "isolation": ATTACK, "packages": {ATTACK: ATTACK}, "family": ATTACK}
    bad["evolver"] = {"name": ATTACK, "kind": ATTACK, "options": {}}
    bad["taskset"] = f"{ATTACK}/{ATTACK}"
    bad["evolver_failure"] = {"category": ATTACK, "message": ATTACK, "traceback": ATTACK}
    first = bad["submissions"][0]
    first |= {"note": ATTACK, "candidate": ATTACK, "status": ATTACK, "failures": 2, "failure": bad["evolver_failure"]}
    first["edit"] = first["edit"] | {"kind": ATTACK}
    bad["traces"] = [{"submission": 1, "evidence": ATTACK, "edit": ATTACK, "outcome": ATTACK}]
    bad["phases"] = [{"kind": ATTACK, "from": 0, "to": 9, "first": 1, "last": 2}]
    return bad


def test_what_evolvers_write_is_shown_but_never_runs(runs: list[dict[str, Any]]) -> None:
    bad = _poisoned(runs[0])
    for markup in (run_page(bad), suite_page(suite_metrics([bad, runs[1]]), [bad, runs[1]], {})):
        page = Page(markup)
        assert {"script", "img"}.isdisjoint(tag for tag, _ in page.tags)
        assert not any("onerror" in attributes for _, attributes in page.tags)
        assert "<script>alert('x')</script>" in page.text
        assert "\x00" not in markup
        assert "\x1b" not in markup


def test_unknown_numbers_are_a_dash_and_never_a_zero_or_nan() -> None:
    run = unfinished(run_metrics("gymnasium/CartPole-v1", "parametric", 0))
    run["submissions"][1] |= {"train_mean": float("nan"), "validation_mean": None, "best_so_far": float("inf")}
    markup = run_page(run)
    row = Page(markup).row("2")
    assert [cell.strip() for cell in row[2:5]] == [DASH, DASH, DASH]
    assert not re.search(r"\b(nan|inf|None|null)\b", re.sub(r"<style>.*?</style>", "", markup, flags=re.DOTALL))


def test_an_unfinished_run_says_that_it_has_no_result() -> None:
    text = Page(run_page(unfinished(run_metrics("gymnasium/CartPole-v1", "parametric", 0)))).text
    assert "This run failed, so it has no final result." in text
    assert "Not judged on hidden cases yet." in text


@pytest.mark.parametrize("metrics", [{}, {"submissions": None, "heldout": None, "evolver": None, "best_so_far": [[1]]}])
def test_a_run_of_which_nothing_is_known_still_has_a_page(metrics: dict[str, Any]) -> None:
    assert "Nothing has been submitted yet." in Page(run_page(metrics)).text


def test_an_empty_suite_and_a_suite_of_one_run_have_pages() -> None:
    empty = Page(suite_page(suite_metrics([]), [], {}))
    assert "No run has been judged yet." in empty.text
    one = run_metrics("gymnasium/Acrobot-v1", "parametric", 0)
    single = Page(suite_page(suite_metrics([one]), [one], {}))
    assert "there is no other evolver to compare it with" in single.text


def test_a_suite_without_its_runs_leaves_out_only_what_needs_them(suite: dict[str, Any]) -> None:
    page = Page(suite_page(suite, [], {}))
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    assert ids == {"leaderboard", "comparisons", "edits", "code", "budget", "problems", "reproduce"}


def test_a_difference_within_noise_is_called_that(suite: dict[str, Any], runs: list[dict[str, Any]]) -> None:
    changed = copy.deepcopy(suite)
    first, second = (e["evolver"] for e in changed["leaderboard"][:2])
    for row in changed["comparisons"]["suite"]:
        if {row["a"], row["b"]} == {first, second}:
            row |= {"difference": 0.01, "ci": [-0.1, 0.12], "verdict": "within noise"}
    page = Page(suite_page(changed, runs, {}))
    assert f"The difference to {second} (+0.010 in normalised score) is within noise." in page.text
    assert any("≈ within noise" in cell for row in page.rows for cell in row)


def test_too_many_traces_are_left_to_the_pages_of_the_runs(
    suite: dict[str, Any], runs: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heredity.reports.html.MOST_TRACES", 10)
    assert "each run's own page has its traces" in Page(suite_page(suite, runs, {})).text


def test_a_suite_links_to_the_runs_whose_folders_are_beside_it(
    tmp_path: Path, suite: dict[str, Any], runs: list[dict[str, Any]]
) -> None:
    known = runs[0]["run_id"]
    (tmp_path / "runs" / known).mkdir(parents=True)
    write_suite_report(suite, runs, tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text())
    links = [a["href"] for tag, a in page.tags if tag == "a" and not (a.get("href") or "").startswith("#")]
    assert links == [f"runs/{known}/report.html"]


def test_reports_are_written_whole_and_again(tmp_path: Path, runs: list[dict[str, Any]]) -> None:
    write_reports(tmp_path, runs[1])
    page, summary = write_reports(tmp_path, runs[0])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.html", "report.md"]
    assert page.read_text().endswith("</html>")
    assert runs[0]["run_id"] in summary.read_text()


def test_a_suite_is_recognised_by_its_leaderboard(
    tmp_path: Path, suite: dict[str, Any], runs: list[dict[str, Any]]
) -> None:
    write_reports(tmp_path / ".", suite, runs)
    with_runs = (tmp_path / "report.html").read_text()
    write_reports(tmp_path, suite)
    assert "Pairwise comparisons" in (tmp_path / "report.html").read_text()
    assert len(with_runs) > len((tmp_path / "report.html").read_text())


def test_a_folder_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="could not be written"):
        write_reports(tmp_path / "missing", {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("metrics", [{"schema_version": 2}, [], None])
def test_metrics_of_another_kind_are_refused(metrics: Any) -> None:
    with pytest.raises(ConfigError, match="metrics"):
        run_page(metrics)


def test_the_same_metrics_give_the_same_page(suite: dict[str, Any], runs: list[dict[str, Any]]) -> None:
    assert suite_page(suite, runs, {}) == suite_page(copy.deepcopy(suite), copy.deepcopy(runs), {})


def test_every_evolver_has_a_colour_of_its_own(page: Page) -> None:
    swatches = {a["class"] for tag, a in page.tags if tag == "span" and (a.get("class") or "").startswith("swatch c")}
    assert len(swatches) == len(EVOLVERS)
