from __future__ import annotations

import io
import re

from rich.console import Console
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

from heredity.pages.report import html, markdown, page_of, terminal
from heredity.pages.report.markdown import escaped, table
from heredity.protocols.policy_evolution.protocol import REPORT
from heredity.results.run import RunResults


def run_markdown(run: RunResults) -> str:
    return markdown.render(page_of(run, [], REPORT))


def suite_markdown(seeds: int) -> str:
    runs = suite_runs(seeds)
    return markdown.render(page_of(suite_results_of(runs), [results(run) for run in runs], REPORT))


def _tables(document: str) -> list[list[str]]:
    blocks = [block.splitlines() for block in document.split("\n\n")]
    return [block for block in blocks if block[0].startswith("|")]


def test_columns_line_up_in_plain_text() -> None:
    for document in (suite_markdown(1), run_markdown(results(suite_runs(1)[0]))):
        assert len(_tables(document)) > 2
        for rows in _tables(document):
            assert len({len(row) for row in rows}) == 1


def test_the_suite_names_every_evolver_environment_and_run() -> None:
    document = suite_markdown(2)
    for name in [*EVOLVERS, *(t.split("/")[1] for t in PLACES), *(r["run_id"] for r in suite_runs(2))]:
        assert escaped(name) in document


def test_untrusted_text_cannot_break_a_table_or_become_markup() -> None:
    assert escaped("a|b\n<script>`x`[l](u)") == "a\\|b &lt;script&gt;\\`x\\`\\[l](u)"
    run = run_metrics("gymnasium/Acrobot-v1", "parametric", 0)
    run["submissions"][0]["status"] = "x | y\n# <b>"
    document = run_markdown(results(run))
    assert "<b>" not in document
    assert not re.search(r"^# <", document, flags=re.MULTILINE)


def test_an_unfinished_run_and_an_empty_suite_have_summaries() -> None:
    document = run_markdown(results(unfinished(run_metrics("gymnasium/Acrobot-v1", "parametric", 0))))
    assert "No held-out score: the run failed" in document
    assert "nan" not in document.lower()
    assert "No run has been judged yet." in markdown.render(page_of(suite_results_of([]), [], REPORT))
    assert "No submissions yet." in run_markdown(nothing())


def test_a_table_aligns_names_left_and_numbers_right() -> None:
    assert table(["name", "n"], [["a", "1"], ["long name", "22"]], [True, False]).splitlines() == [
        "| name      |   n |",
        "| --------- | --: |",
        "| a         |   1 |",
        "| long name |  22 |",
    ]


def test_every_report_of_a_run_says_whose_wall_time_it_shows() -> None:
    page = page_of(results(run_metrics("gymnasium/Acrobot-v1", "parametric", 0)), [], REPORT)
    shown = io.StringIO()
    Console(file=shown).print(terminal.render(page))
    for document in (markdown.render(page), html.render(page), shown.getvalue()):
        assert re.search("wall time", document, re.IGNORECASE)
        assert not re.search("wall time(?! of the evolver)", document, re.IGNORECASE)
