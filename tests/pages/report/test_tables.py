from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
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

from heredity.pages.report import csv as tables
from heredity.pages.report import page_of, terminal, write_reports
from heredity.protocols.policy_evolution.protocol import REPORT
from heredity.results.page import Column, File, Mean, Number, Page, Row, Section, Table, Text
from heredity.results.report import PlainReport
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.results.text import DASH


def _shown(results: RunResults | SuiteResults, width: int = 120) -> str:
    written = io.StringIO()
    Console(width=width, file=written).print(terminal.render(page_of(results, [], REPORT)))
    return written.getvalue()


def test_the_leaderboard_shows_every_evolver_with_score_and_interval() -> None:
    suite = suite_results_of(suite_runs())
    shown = _shown(suite)
    board = shown[shown.index("Leaderboard of demo") :]
    for entry in suite.leaderboard:
        line = next(row for row in board.splitlines() if row.startswith(entry.evolver))
        assert f"{entry.rank_score:.3f}" in line
        assert entry.iqm_ci is None or "[" in line
    assert all(name in shown for name in EVOLVERS)


def test_the_suite_names_no_winner_that_is_none_and_what_is_missing() -> None:
    shown = " ".join(_shown(suite_results_of(suite_runs())).split())
    assert "No evolver is shown to be better than all others" in shown
    assert "1 run failed" in shown


def test_evolvers_that_are_no_better_than_chance_do_not_lead() -> None:
    runs = suite_runs()
    for run in runs:
        if run["heldout"]["scores"]:
            run["heldout"] |= {"scores": [-1e6] * len(run["heldout"]["scores"]), "mean": -1e6}
    shown = " ".join(_shown(suite_results_of(runs)).split())
    assert "No evolver ranks above the random policy" in shown
    assert "leads" not in shown


def test_each_environment_names_its_best_evolver_and_the_random_policy() -> None:
    suite = suite_results_of(suite_runs())
    shown = _shown(suite, width=80).splitlines()
    for taskset in suite.tasksets:
        best = max((c for c in taskset.cells if not c.reference), key=lambda c: c.mean)
        line = next(row for row in shown if row.startswith(taskset.taskset.split("/")[1]))
        assert best.evolver in line


def test_the_tables_fit_a_terminal_of_eighty_columns() -> None:
    assert "…" not in _shown(suite_results_of(suite_runs()), width=80)


def test_a_run_is_summed_up_with_its_interval() -> None:
    run = results(run_metrics("gymnasium/CartPole-v1", "structural", 1))
    shown = _shown(run)
    assert run.run_id is not None
    assert run.heldout is not None
    assert run.run_id in shown
    assert f"{run.heldout.mean:.1f}" in shown or f"{run.heldout.mean:.0f}" in shown


def test_an_unfinished_run_shows_dashes() -> None:
    shown = _shown(results(unfinished(run_metrics("gymnasium/CartPole-v1", "structural", 1))))
    line = next(row for row in shown.splitlines() if row.startswith("Held-out return"))
    assert line.split()[-1] == DASH


def test_names_are_not_read_as_terminal_markup() -> None:
    run = results(run_metrics("gymnasium/CartPole-v1", "structural", 1), run_id="[bold]x[/bold]\x1b[31m")
    shown = _shown(run)
    assert "[bold]x[/bold]" in shown
    assert "\x1b" not in shown
    titled = Table((Column("[red]a[/red]"),), (Row(("[b]c[/b]",)),), "[i]t[/i]")
    written = io.StringIO()
    Console(width=80, file=written).print(terminal.table(titled))
    assert all(part in written.getvalue() for part in ("[red]a[/red]", "[b]c[/b]", "[i]t[/i]"))


def test_empty_metrics_have_summaries_too() -> None:
    assert "No run has been judged yet." in _shown(suite_results_of([]))
    assert "unnamed run" in _shown(nothing())


def test_a_table_as_csv_has_figures_unrounded_and_the_ends_of_intervals() -> None:
    rows = (Row(("a", Mean(0.123456, 0.1, None), Number(1 / 3, 2))), Row(("b", Mean(), Number(None))))
    table = Table((Column("name"), Column("mean"), Column("share")), rows)
    read = list(csv.reader(io.StringIO(tables.render(table))))
    assert read[0] == ["name", "mean", "mean low", "mean high", "share"]
    assert read[1] == ["a", "0.123456", "0.1", "", repr(1 / 3)]
    assert read[2] == ["b", "", "", "", ""]


def test_rows_under_the_heading_of_a_group_carry_it_in_files() -> None:
    rows = (Row(("tuning",), "group"), Row(("a", 1)))
    assert tables.render(Table((Column("name"), Column("n")), rows)) == "name,n\ntuning: a,1\n"


def test_tables_and_files_are_written_beside_the_report(tmp_path: Path) -> None:
    listing = Table((Column("n"),), (Row((1,)),))
    sections = (Section("steps", "Steps", (Text("First."),)),)

    class Report(PlainReport):
        def run(self, run: RunResults) -> list[Section]:
            files = (
                File("results.csv", listing),
                File("reports/summary.md", sections, "Summary"),
                File("a.jsonl", "{}\n"),
            )
            return [Section("files", "Files", files)]

    write_reports(tmp_path, results(run_metrics("gymnasium/CartPole-v1", "structural", 1)), [], Report())
    assert (tmp_path / "results.csv").read_text() == "n\n1\n"
    assert (tmp_path / "reports" / "summary.md").read_text() == "# Summary\n\n## Steps\n\nFirst.\n"
    assert (tmp_path / "a.jsonl").read_text() == "{}\n"


def test_a_suite_has_its_tables_as_files(tmp_path: Path) -> None:
    runs = suite_runs(1)
    write_reports(tmp_path, suite_results_of(runs), [results(run) for run in runs], REPORT)
    names = {path.name for path in (tmp_path / "tables").iterdir()}
    assert {"leaderboard.csv", "scores.csv", "comparisons.csv", "runs.csv"} <= names
    assert len((tmp_path / "tables" / "runs.csv").read_text().splitlines()) == 1 + len(runs)


def test_a_protocol_without_sections_still_has_pages() -> None:
    page = page_of(results(run_metrics("gymnasium/CartPole-v1", "structural", 1)), [], PlainReport())
    assert isinstance(page, Page)
    assert [section.id for section in page.sections] == ["heldout", "product", "problems", "reproduce"]


def test_tokens_are_summed_by_environment_and_unknown_where_a_run_is() -> None:
    runs = [run_metrics(place, "hillclimb-agent", seed) for place in list(PLACES)[:2] for seed in (0, 1)]
    runs[-1]["tokens"] = None
    (table,) = [
        part
        for section in page_of(suite_results_of(runs), [results(run) for run in runs], REPORT).sections
        for part in section.parts
        if isinstance(part, Table) and part.csv == "tokens.csv"
    ]
    sums = [[getattr(cell, "value", cell) for cell in row.cells[2:]] for row in table.rows]
    assert sums == [
        [2, 2 * 182_400, 2 * 2_310_000, 2 * 41_250, pytest.approx(3.74)],
        [2, None, None, None, None],
    ]
    one = page_of(suite_results_of(runs[:2]), [results(run) for run in runs[:2]], REPORT)
    assert all(getattr(part, "csv", "") != "tokens.csv" for section in one.sections for part in section.parts)
