from __future__ import annotations

import io
import re

from rich.console import Console
from sample_metrics import EVOLVERS, PLACES, run_metrics, suite_runs, unfinished

from heredity.analysis.suite_metrics import suite_metrics
from heredity.reports.html import run_page
from heredity.reports.markdown import escaped, run_markdown, suite_markdown, table
from heredity.reports.tables import run_summary_block


def _tables(markdown: str) -> list[list[str]]:
    blocks = [block.splitlines() for block in markdown.split("\n\n")]
    return [block for block in blocks if block[0].startswith("|")]


def test_columns_line_up_in_plain_text() -> None:
    runs = suite_runs(1)
    for document in (suite_markdown(suite_metrics(runs), runs), run_markdown(runs[0])):
        for rows in _tables(document):
            assert len({len(row) for row in rows}) == 1


def test_the_suite_names_every_evolver_environment_and_run() -> None:
    runs = suite_runs(2)
    document = suite_markdown(suite_metrics(runs), runs)
    for name in [*EVOLVERS, *(t.split("/")[1] for t in PLACES), *(r["run_id"] for r in runs)]:
        assert escaped(name) in document


def test_untrusted_text_cannot_break_a_table_or_become_markup() -> None:
    assert escaped("a|b\n<script>`x`[l](u)") == "a\\|b &lt;script&gt;\\`x\\`\\[l](u)"
    run = run_metrics("gymnasium/Acrobot-v1", "parametric", 0)
    run["submissions"][0]["status"] = "x | y\n# <b>"
    document = run_markdown(run)
    assert "<b>" not in document
    assert not re.search(r"^# <", document, flags=re.MULTILINE)


def test_an_unfinished_run_and_an_empty_suite_have_summaries() -> None:
    document = run_markdown(unfinished(run_metrics("gymnasium/Acrobot-v1", "parametric", 0)))
    assert "No held-out score: the run failed" in document
    assert "nan" not in document.lower()
    assert "No run has been judged yet." in suite_markdown(suite_metrics([]), [])
    assert "Nothing has been submitted yet." in run_markdown({})


def test_a_table_aligns_names_left_and_numbers_right() -> None:
    assert table(["name", "n"], [["a", "1"], ["long name", "22"]]).splitlines() == [
        "| name      |   n |",
        "| --------- | --: |",
        "| a         |   1 |",
        "| long name |  22 |",
    ]


def test_every_report_of_a_run_says_whose_wall_time_it_shows() -> None:
    metrics = run_metrics("gymnasium/Acrobot-v1", "parametric", 0)
    shown = io.StringIO()
    Console(file=shown).print(run_summary_block(metrics))
    for document in (run_markdown(metrics), run_page(metrics), shown.getvalue()):
        assert re.search("wall time", document, re.IGNORECASE)
        assert not re.search("wall time(?! of the evolver)", document, re.IGNORECASE)
