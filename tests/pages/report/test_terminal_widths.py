"""Every table that a terminal shows, at the widths that terminals have: no figure is ever cut, broken or left out."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from rich.console import Console, RenderableType
from rich.text import Text as RichText
from tests.pages.report.sample_commits import commit_suite
from tests.pages.report.sample_metrics import results, run_metrics, suite_results_of, suite_runs
from tests.protocols.harness_evolution.analysis import journals
from tests.protocols.post_training import posttraining_journals
from tests.protocols.test_learning_board import worlds
from tests.protocols.test_team_evolution_results import run as team_run

from heredity.analysis.suite_results import suite_results
from heredity.pages.report import page_of, terminal, values
from heredity.pages.report.fitted import FittedTable
from heredity.protocols.agent_learning import results as learning_report
from heredity.protocols.agent_learning.protocol import learning_board
from heredity.protocols.agent_learning.results import LearningSuite
from heredity.protocols.harness_evolution import protocol as harness_report
from heredity.protocols.harness_evolution.protocol import METRICS as HARNESS
from heredity.protocols.policy_evolution import protocol as policy_report
from heredity.protocols.post_training import protocol as training_report
from heredity.protocols.post_training.protocol import METRICS as TRAINING
from heredity.protocols.resource_evolution import protocol as commit_report
from heredity.protocols.team_questions.protocol import gains
from heredity.protocols.team_questions.report import gain_section
from heredity.protocols.within_task import report as within_report
from heredity.protocols.within_task.results import Contrast, WithinRow, WithinSuite
from heredity.protocols.world_generation import protocol as generation_report
from heredity.protocols.world_generation.metrics import FaultRow, GenerationSuite, Share, YieldRow
from heredity.results.page import Cell, Column, Mean, Page, Row, Section, Table
from heredity.results.report import Report
from heredity.results.run import Verdict
from heredity.results.suite import SuiteResults

WIDTHS = (40, 60, 80, 120)


def policies() -> Page:
    return page_of(suite_results_of(suite_runs()), [results(run) for run in suite_runs()], policy_report.REPORT)


def policy_run() -> Page:
    return page_of(results(run_metrics("gymnasium/MiniGrid-FourRooms-v0", "structural", 1)), [], policy_report.REPORT)


def commits() -> Page:
    return page_of(suite_results_of(commit_suite(), "starting point"), [], commit_report.REPORT)


def learning() -> Page:
    board = learning_board(worlds({"adaptive": 0.2, "an-evolver-with-a-long-name": 0.1, "b": 0.1}, leave_out="b"))
    part = LearningSuite(board=board, learning=None, skins=[])
    suite = suite_results_of(commit_suite(), "starting point").model_copy(update={"part": part})
    return page_of(suite, [], learning_report.REPORT)


def harnesses() -> Page:
    designs = [journals.Told(name, seed) for name in ("ace", "a-method-with-a-rather-long-name") for seed in (0, 1)]
    runs = [journals.HarnessJournal(design).results() for design in designs]
    return page_of(suite_results(runs, lambda _: HARNESS), runs, harness_report.REPORT)


def harness_run() -> Page:
    return page_of(journals.HarnessJournal(journals.Told("ace", 0)).results(), [], harness_report.REPORT)


def training() -> Page:
    acts = (posttraining_journals.Act(0.5, "torch_sft"), posttraining_journals.Act(0.8, "torch_grpo"))
    told = [posttraining_journals.Told(acts, seed=seed, repeats=2, tokens=True) for seed in (0, 1, 2)]
    runs = [posttraining_journals.results(one) for one in told]
    return page_of(suite_results(runs, lambda _: TRAINING), runs, training_report.REPORT)


def teams() -> Page:
    rows = gains(
        [team_run("none", "100110001000"), team_run("within", "110111011000"), team_run("across", "111111011010")]
    )
    return _page(gain_section(rows))


def within() -> Page:
    contrast = Contrast(
        over="one-shot", difference=0.125, percent=37.5, ci=(0.031, 0.219), p=0.01, p_holm=0.02, mde=0.1, pairs=16,
        clusters=None, verdict=Verdict.BETTER, because=None,
    )  # fmt: skip
    rows = [
        WithinRow(
            evolver="grpo", method="grpo", model="openai/gpt-5-mini", taskset="questions/aime", mode=mode, feedback="self",
            oracle=False, runs=3, programs=False, one_shot=0.333, evolved=0.458, best_of_k=0.417, token_ratio=1.25, lost=2,
            slipped=1, contrasts=[contrast, contrast.model_copy(update={"over": "best-of-k", "difference": -0.042})],
        )
        for mode in ("prompt", "solution", "both")
    ]  # fmt: skip
    return _suite_page(within_report.REPORT, WithinSuite(rows=rows, languages=[]))


def generation() -> Page:
    share = Share(hits=11, of=36, interval=(0.18, 0.469))
    row = YieldRow(
        group="an author with a long name", execution=share, levels=share, reliability=share, novel=share, overall=share,
        cost_usd=1.234, builds=7.5,
    )  # fmt: skip
    fault = FaultRow(gate="solvability", kind="a level cannot be solved", worlds=12, builds=31, mended=7, at_the_end=5)
    return _suite_page(generation_report.REPORT, GenerationSuite(authors=[row], sources=[row], faults=[fault]))


def _suite_page(report: Report, part: WithinSuite | GenerationSuite) -> Page:
    suite: SuiteResults = suite_results_of(commit_suite(), "starting point")
    return _page(*report.suite(suite.model_copy(update={"part": part}), []))


def _page(*sections: Section) -> Page:
    page = policy_run()
    return Page(page.title, page.summary, page.facts, sections)


PAGES = (policies, policy_run, commits, learning, harnesses, harness_run, training, teams, within, generation)


@cache
def tables(page: Callable[[], Page]) -> tuple[Table, ...]:
    parts = [part for section in page().sections for part in values.flat(section.parts)]
    return tuple(part for part in parts if isinstance(part, Table) and part.rows)


def printed(shown: RenderableType, width: int) -> str:
    written = io.StringIO()
    Console(width=width, file=written).print(shown)
    lines = written.getvalue().splitlines()
    assert all(len(line) <= width for line in lines), f"a line is wider than {width}"
    return written.getvalue()


def figures(table: Table) -> Iterator[str]:
    """Yield what must stand whole: values and intervals of the columns to the right."""
    for row in values.rows_of(table):
        for column, given in zip(table.columns, row.cells, strict=True):
            value = values.as_cell(given).value
            if column.align == "right":
                shown, beside = values.written(value)
                yield from filter(None, (shown, beside if isinstance(value, Mean) else ""))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.__name__)
def test_every_figure_of_every_table_stands_whole(page: Callable[[], Page], width: int) -> None:
    assert tables(page)
    for table in tables(page):
        shown = printed(terminal.table(table), width)
        for figure, count in Counter(figures(table)).items():
            whole = re.findall(rf"(?<!\S){re.escape(figure)}(?!\S)", shown)
            assert len(whole) >= count, f"{figure!r} stands {len(whole)} of {count} times in\n{shown}"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.__name__)
def test_the_names_of_columns_stand_whole(page: Callable[[], Page], width: int) -> None:
    for table in tables(page):
        words = {word for column in table.columns for word in column.name.split() if len(word) <= 20}
        shown = set(printed(terminal.table(table), width).split())
        assert {word for word in words if not {word, f"{word}:"} & shown} == set()


def test_what_a_command_prints_of_a_suite_fits_every_terminal() -> None:
    for width in WIDTHS:
        shown = printed(terminal.render(policies()), width)
        assert "rank score" in " ".join(shown.split())


def test_a_reason_is_not_set_under_the_heading_of_an_interval() -> None:
    from heredity.results.page import Verdict as Shown

    verdict = Shown("cannot tell yet", because="fewer than six paired runs")
    table = Table((Column("first"), Column("evolvers")), (Row(("a", verdict)), Row(("b", Shown("better")))))
    shown = printed(terminal.table(table), 80)
    assert "interval" not in shown
    assert "cannot tell yet (fewer than six paired runs)" in shown


def test_rows_are_blocks_where_there_is_no_room_for_columns() -> None:
    heads = ("name", "first figure", "second figure", "third figure", "fourth figure")
    rows = [("a", "1 000 000", "2 000 000", "3 000 000", "4 000 000")]
    assert len(printed(FittedTable.plain(heads, rows), 80).splitlines()) == 2
    blocks = printed(FittedTable.plain(heads, rows), 30).splitlines()
    assert len(blocks) > 4
    assert [number for line in blocks for number in re.findall(r"\d 000 000", line)] == list(rows[0][1:])


def test_notes_stand_below_their_values_where_rows_are_too_wide() -> None:
    cell = Cell(Mean(0.5, 0.25, 0.75, 2), ("of 12 runs that ended", "3 missing"))
    table = Table((Column("evolver"), Column("gain", "right")), (Row(("parametric", cell)),), "Gains")
    wide = printed(terminal.table(table), 120).splitlines()
    assert len(wide) == 3
    narrow = printed(terminal.table(table), 34).splitlines()
    assert narrow[2].split() == ["parametric", "0.50"]
    assert [line.strip() for line in narrow[3:5]] == ["[0.25, 0.75]", "of 12 runs that ended"]


def test_styles_of_cells_are_kept() -> None:
    console = Console(width=80, file=io.StringIO(), force_terminal=True, color_system="standard")
    console.print(FittedTable.plain(("check", "result"), [("a", RichText("failed", style="red"))], left=2))
    assert "\x1b[31mfailed" in console.file.getvalue()  # type: ignore[attr-defined]
