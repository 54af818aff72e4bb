from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from tests.page_reader import Page
from tests.pages.report.sample_metrics import (
    EVOLVERS,
    PLACES,
    nothing,
    results,
    run_metrics,
    suite_results_of,
    suite_runs,
    unfinished,
)

from heredity._core.errors import RecordError
from heredity.pages.report import html, page_of, write_reports
from heredity.protocols.policy_evolution.protocol import REPORT
from heredity.protocols.shared import validated_report as policies
from heredity.results.report import Source, Sources
from heredity.results.run import RunResults, Verdict
from heredity.results.suite import SuiteResults
from heredity.results.text import DASH

ATTACK = "<script>alert('x')</script><img src=x onerror=1>\"'>&\x00\x1b[31m"


def run_page(run: RunResults, sources: Sources | None = None) -> str:
    return html.render(page_of(run, [], REPORT, sources))


def suite_page(suite: SuiteResults, runs: list[RunResults]) -> str:
    return html.render(page_of(suite, runs, REPORT))


@pytest.fixture(scope="module")
def runs() -> list[RunResults]:
    return [results(run) for run in suite_runs()]


@pytest.fixture(scope="module")
def suite() -> SuiteResults:
    return suite_results_of(suite_runs())


@pytest.fixture(scope="module")
def page(suite: SuiteResults, runs: list[RunResults]) -> Page:
    return Page(suite_page(suite, runs))


def test_the_leaderboard_has_a_row_for_every_evolver_and_the_random_policy(page: Page, suite: SuiteResults) -> None:
    rows = [[cell.strip() for cell in row] for row in page.rows]
    for entry in suite.leaderboard:
        assert any(row[0].startswith(entry.evolver) and row[1].startswith(f"{entry.rank_score:.3f}") for row in rows)


def test_every_environment_has_its_intervals_curves_and_phases(page: Page) -> None:
    titles = [attributes.get("aria-label") or "" for tag, attributes in page.tags if tag == "svg"]
    for taskset in PLACES:
        for opening in ("Held-out return on", "Best so far on", "Phases of edits on"):
            assert f"{opening} {taskset.split('/')[1]}" in titles


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
def test_a_page_asks_for_nothing_outside_itself(kind: str, suite: SuiteResults, runs: list[RunResults]) -> None:
    markup = suite_page(suite, runs) if kind == "suite" else run_page(runs[0])
    assert not re.search(r"https?://|//[a-z]+\.|@import|url\(", markup)
    assert {"script", "link", "iframe", "object", "img"}.isdisjoint(tag for tag, _ in Page(markup).tags)
    assert "prefers-color-scheme: dark" in markup


def _poisoned(run: dict[str, Any]) -> dict[str, Any]:
    bad = copy.deepcopy(run)
    bad |= {"run_id": ATTACK, "isolation": ATTACK, "packages": {ATTACK: ATTACK}, "family": ATTACK}
    bad["evolver"] = {"name": ATTACK, "kind": ATTACK, "options": {}}
    bad["taskset"] = f"{ATTACK}/{ATTACK}"
    bad["evolver_failure"] = {"message": ATTACK, "traceback": ATTACK}
    failure = {"category": ATTACK, "message": ATTACK, "traceback": ATTACK}
    first = bad["submissions"][0]
    first |= {"note": ATTACK, "candidate": ATTACK, "status": ATTACK, "failures": 2, "failure": failure}
    bad["traces"] = [{"submission": 1, "evidence": ATTACK, "edit": ATTACK, "outcome": ATTACK}]
    return bad


def test_what_evolvers_write_is_shown_but_never_runs() -> None:
    bad, good = _poisoned(suite_runs()[0]), suite_runs()[1]
    both = [results(bad), results(good)]
    shown = (
        run_page(both[0], lambda _: Source({ATTACK: ATTACK}, ATTACK)),
        suite_page(suite_results_of([bad, good]), both),
    )
    for markup in shown:
        page = Page(markup)
        assert {"script", "img"}.isdisjoint(tag for tag, _ in page.tags)
        assert not any("onerror" in attributes for _, attributes in page.tags)
        assert "<script>alert('x')</script>" in page.text
        assert "\x00" not in markup
        assert "\x1b" not in markup


def test_unknown_numbers_are_a_dash_and_never_a_zero_or_nan() -> None:
    run = unfinished(run_metrics("gymnasium/CartPole-v1", "parametric", 0))
    run["submissions"][1] |= {"train_mean": None, "validation_mean": None, "best_so_far": None}
    markup = run_page(results(run))
    row = Page(markup).row("2")
    assert [cell.strip() for cell in row[2:5]] == [DASH, DASH, DASH]
    assert not re.search(r"\b(nan|inf|None|null)\b", re.sub(r"<style>.*?</style>", "", markup, flags=re.DOTALL))


def test_an_unfinished_run_says_that_it_has_no_result() -> None:
    text = Page(run_page(results(unfinished(run_metrics("gymnasium/CartPole-v1", "parametric", 0))))).text
    assert "This run failed, so it has no final result." in text
    assert "Not judged on hidden cases yet." in text


def test_a_run_of_which_nothing_is_known_still_has_a_page() -> None:
    assert "No submissions yet." in Page(run_page(nothing())).text


def test_an_empty_suite_and_a_suite_of_one_run_have_pages() -> None:
    empty = Page(suite_page(suite_results_of([]), []))
    assert "No run has been judged yet." in empty.text
    one = run_metrics("gymnasium/Acrobot-v1", "parametric", 0)
    single = Page(suite_page(suite_results_of([one]), [results(one)]))
    assert "there is no other evolver to compare it with" in single.text


def test_a_suite_without_its_runs_leaves_out_only_what_needs_them(suite: SuiteResults) -> None:
    page = Page(suite_page(suite, []))
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    general = {
        "best",
        "leaderboard",
        "profiles",
        "scores",
        "comparisons",
        "selection",
        "budget",
        "problems",
        "reproduce",
    }
    assert ids == general | {"edits", "code", "demands"}


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (
            Verdict.WITHIN_NOISE,
            "first two, is +0.010 [−0.100, 0.120] in rescaled score, which is within noise, over 6 paired runs.",
        ),
        (Verdict.WORSE, "No evolver is shown to be better than all others"),
        (Verdict.CANNOT_TELL, "which cannot be judged yet, from 6 paired runs"),
    ],
)
def test_the_lead_is_called_what_it_is(
    suite: SuiteResults, runs: list[RunResults], verdict: Verdict, said: str
) -> None:
    first, second = (e.evolver for e in suite.leaderboard[:2])
    rows = [
        row.model_copy(
            update={
                "difference": 0.01,
                "pairs": 6,
                "evolvers": row.evolvers.model_copy(update={"ci": (-0.1, 0.12), "verdict": verdict}),
                "candidates": row.candidates.model_copy(update={"verdict": Verdict.BETTER}),
            }
        )
        if {row.a, row.b} == {first, second}
        else row
        for row in suite.comparisons.suite
    ]
    compared = suite.comparisons.model_copy(update={"suite": rows})
    page = Page(suite_page(suite.model_copy(update={"comparisons": compared}), runs))
    assert said in page.text
    assert "new cases" not in page.text.split("Leaderboard")[0], "no claim about policies opens a page"
    assert any(verdict.value in cell for row in page.rows for cell in row)


def test_a_suite_says_what_was_run_and_what_was_reached_before_any_rank(page: Page, suite: SuiteResults) -> None:
    title = next(line for line in page.text.splitlines() if "evolvers on" in line)
    assert title.strip() == "5 evolvers on Acrobot-v1, CartPole-v1 and MiniGrid-FourRooms-v0"
    best = next(cell for cell in suite.tasksets[1].cells if not cell.reference)
    assert page.text.index("return, CartPole-v1") < page.text.index("rank score")
    assert f"{best.evolver}; seeds " in page.text


def test_too_many_traces_are_left_to_the_pages_of_the_runs(
    suite: SuiteResults, runs: list[RunResults], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policies, "MOST_TRACES", 10)
    assert "see the page of each run" in Page(suite_page(suite, runs)).text


def test_the_selected_program_is_shown_with_its_difference_from_the_first(runs: list[RunResults]) -> None:
    run = runs[0]
    first = run.submissions[0].candidate
    texts = {first: "GAIN = 1\nSIGN = 2\n"}

    def source(digest: str) -> Source:
        return Source({"policy.py": texts.get(digest, "GAIN = 3\nSIGN = 2\n")}, "ab" * 32)

    page = Page(run_page(run, source))
    assert run.selected is not None
    assert run.selected.candidate in page.text
    assert f"blobs/{'ab' * 32}" in page.text
    assert "GAIN = 3\nSIGN = 2" in page.text
    lines = [a.get("class") for tag, a in page.tags if tag == "span" and a.get("class") in ("add", "del")]
    assert lines == ["del", "add", "del", "add"], "names of files, then the line"
    assert "+1 −1 lines" in page.text


def test_long_programs_are_cut_with_a_note(runs: list[RunResults]) -> None:
    page = Page(run_page(runs[0], lambda _: Source({"policy.py": "x = 1\n" * 2000}, "c" * 64)))
    assert "2000 lines, the first 600 shown; the blob has all" in page.text
    assert page.text.count("x = 1") == 600


def test_programs_that_are_gone_leave_the_digest(runs: list[RunResults]) -> None:
    page = Page(run_page(runs[0], lambda _: None))
    assert runs[0].selected is not None
    assert runs[0].selected.candidate in page.text
    assert "What changed" not in page.text


def test_a_suite_links_to_the_runs_whose_folders_are_beside_it(
    tmp_path: Path, suite: SuiteResults, runs: list[RunResults]
) -> None:
    run_id = runs[0].run_id
    assert run_id is not None
    (tmp_path / "runs" / run_id).mkdir(parents=True)
    write_reports(tmp_path, suite, runs, REPORT)
    page = Page((tmp_path / "report.html").read_text())
    links = [a["href"] for tag, a in page.tags if tag == "a" and not (a.get("href") or "").startswith("#")]
    assert links == [f"runs/{run_id}/report.html"]


def test_reports_are_written_whole_and_again(tmp_path: Path, runs: list[RunResults]) -> None:
    write_reports(tmp_path, runs[1], [], REPORT)
    page, summary = write_reports(tmp_path, runs[0], [], REPORT)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.html", "report.md", "tables"]
    assert page.read_text().endswith("</html>")
    assert runs[0].run_id is not None
    assert runs[0].run_id in summary.read_text()


def test_a_folder_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="could not be written"):
        write_reports(tmp_path / "missing", nothing(), [], REPORT)
    assert list(tmp_path.iterdir()) == []


def test_the_same_metrics_give_the_same_page(suite: SuiteResults, runs: list[RunResults]) -> None:
    assert suite_page(suite, runs) == suite_page(copy.deepcopy(suite), copy.deepcopy(runs))


def test_every_evolver_has_a_colour_of_its_own(page: Page) -> None:
    swatches = {a["class"] for tag, a in page.tags if tag == "span" and (a.get("class") or "").startswith("swatch c")}
    assert len(swatches) == len(EVOLVERS)


def test_letters_of_charts_are_at_least_twelve_pixels_on_the_narrowest_phone(page: Page) -> None:
    widths = {float(a.get("width") or 0) for tag, a in page.tags if tag == "svg" and a.get("role") == "img"}
    style = (Path(html.__file__).parent / "templates" / "page.css").read_text()
    size = min(float(pixels) for pixels in re.findall(r"\.plot[^{}]*\{[^}]*font-size: ([\d.]+)px", style))
    assert min(widths) == 310
    assert size * 300 / 310 >= 12, "a card is 300 pixels wide where the screen has 360"


def test_tables_that_scroll_say_so_and_long_ones_are_folded(
    page: Page, suite: SuiteResults, runs: list[RunResults]
) -> None:
    cues = [a for tag, a in page.tags if a.get("class") == "cue"]
    assert len(cues) > 3
    many = Page(suite_page(suite, runs))
    assert f"Every run of the suite {len(runs)} rows" in " ".join(many.text.split())


def test_seeds_that_are_too_few_for_an_interval_are_shown_one_by_one() -> None:
    runs = [run_metrics("gymnasium/CartPole-v1", "parametric", seed) for seed in range(2)]
    for run, mean in zip(runs, (499.2, 198.9), strict=True):
        run["heldout"] |= {"scores": [mean] * 32, "mean": mean, "ci": [mean - 1.0, mean + 1.0]}
    whole = suite_results_of(runs)
    page = Page(suite_page(whole, [results(run) for run in runs]))
    said = " ".join(page.text.split())
    assert "a held-out return of 349.1 (seeds 499.2 and 198.9)" in said
    assert "There are too few seeds for an interval over seeds." in said
    (cell,) = [c for c in whole.tasksets[0].cells if not c.reference]
    assert cell.ci_unit == "case"
    shown = page.row("parametric")
    assert not any("[" in value for value in shown), shown
    compared = [row for row in page.rows if any("against" in value for value in row)]
    assert compared
    assert all("cannot tell yet" in "".join(row) for row in compared)


def test_a_suite_of_which_nothing_was_graded_is_no_finding() -> None:
    empty = {"heldout": None, "selected": None, "selection": None, "gain": None}
    empty |= {"best_so_far": [], "best_corrected": [], "submissions": [], "status": "failed"}
    runs = [run_metrics("gymnasium/CartPole-v1", "parametric", seed) | empty for seed in range(2)]
    text = " ".join(Page(suite_page(suite_results_of(runs), [])).text.split())
    assert "Nothing was graded: no run has a held-out return; 2 runs failed. This says nothing" in text
    assert "ranks above" not in text
    assert "No run has been judged yet" not in text
