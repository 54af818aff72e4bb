from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from tests.page_reader import Page
from tests.protocols.harness_evolution.analysis.journals import HarnessJournal, Told

from heredity.analysis.suite_results import suite_results
from heredity.pages.report import html, markdown
from heredity.pages.report.html import draw
from heredity.pages.report.run_page import run_page
from heredity.pages.report.sections import labelled
from heredity.pages.report.suite_page import suite_page
from heredity.protocols.harness_evolution.protocol import METRICS, REPORT
from heredity.protocols.harness_evolution.results import Collapse, CollapsedView, FileChange, HarnessSuiteResults
from heredity.protocols.harness_evolution.run_sections import LEGEND, collapse_lines, over_batches, run_sections
from heredity.protocols.harness_evolution.suite_sections import short
from heredity.results.charts import Grid, Series
from heredity.results.page import Cell, Group, Section, Table, Text
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.results.text import in_order, view_name

REASON = "middleware/guard.py: after_model gave <None>, and a Reply was expected"
ATTACK = "<script>alert('x')</script><img src=x onerror=1>\"'>&\x00"


def run(design: Told) -> RunResults:
    return HarnessJournal(design).results()


@cache
def runs() -> tuple[RunResults, ...]:
    designs: list[Told] = []
    for seed in (0, 1):
        designs += [
            Told("ace", seed),
            Told("ace", seed, (0.3, 0.4, 0.5), batch_size=10),
            Told("ahe", seed, broken=(3,)),
            Told("ahe", seed, gate=True, refusals={3: REASON}, models=("other/model",)),
        ]
    return tuple(map(run, designs))


def suite() -> SuiteResults:
    return suite_results(runs(), lambda protocol: METRICS)


def changed(of: RunResults, **fields: Any) -> RunResults:
    """Return a run with other fields in its part."""
    return of.model_copy(update={"part": of.part.model_copy(update=fields)})


def page(of: RunResults) -> str:
    return html.render(run_page(of, REPORT))


def page_of_suite(of: SuiteResults, members: tuple[RunResults, ...]) -> str:
    return html.render(suite_page(of, members, REPORT))


def sections(of: RunResults) -> dict[str, Section]:
    return {section.id: section for section in run_sections(of, of.part)}


def words(markup: str) -> str:
    return " ".join(Page(markup).text.split())


def ids(markup: str) -> list[str | None]:
    return [attributes["id"] for _, attributes in Page(markup).tags if "id" in attributes]


def test_a_page_opens_with_plain_words() -> None:
    results = runs()[3]
    (final,) = [row for row in results.part.transfer if (row.metric, row.of) == ("IDG", "final")]
    (summary,) = run_page(results, REPORT).summary
    assert summary.text.startswith(
        f"After 4 train batches: on new tasks in distribution it gained {final.micro.difference:+.3f}"
    )
    assert "out of distribution it gained" in summary.text
    assert "on its train tasks it forgot" in summary.text
    assert "training and updates used 27.9k tokens at an unknown cost" in summary.text
    assert not {"UVG", "IDG", "OODG", "FR"} & set(re.findall(r"\w+", summary.text))
    facts = {fact.name: fact.value for fact in run_page(results, REPORT).facts.facts}
    assert facts["Gain in distribution"].value == final.micro.difference
    assert facts["Score in distribution"].value == results.part.views["id"].snapshots["A_T"].perf.micro


def test_abbreviations_are_explained_where_they_stand() -> None:
    for section in (sections(runs()[3])["gains"], REPORT.suite(suite(), runs())[0]):
        about = next(part.text for part in section.parts if isinstance(part, Text))
        assert {"in distribution", "out of distribution", "forgetting"} <= set(
            re.findall("in distribution|out of distribution|forgetting", about)
        )
        assert {"IDG", "OODG", "FR"} <= set(re.findall(r"\w+", about))


def test_a_run_has_its_snapshots_on_every_view() -> None:
    results = runs()[3]
    shown = Page(html.render(run_page(results, REPORT)))
    level = results.part.views["id"].snapshots["A_T"]
    row = next(cells for cells in shown.rows if cells[0].startswith("A_T") and "SR" in cells[1])
    assert [cell.split("[")[0].strip() for cell in row[1:]] == [
        f"{results.part.views[view].snapshots['A_T'].perf.macro:.3f}"
        for view in ("update_validation", "id", "ood", "replay")
    ]
    assert f"SR {level.sr.macro:.2f} · clean {level.execution_success.macro:.2f} · n 16" in row[2]
    first = next(cells for cells in shown.rows if cells[0].startswith("E_1") and "SR" in cells[1])
    assert "15 not trained yet" in first[4]


def test_the_sections_of_a_run_are_those_that_its_navigation_names() -> None:
    for results in (runs()[3], runs()[0], run(Told(finished=False))):
        markup = page(results)
        assert re.findall(r'<a href="#([\w-]+)"', markup) == ids(markup)
    assert {"views", "curves", "gains", "replay", "updates", "cost", "models", "commits"} <= set(ids(page(runs()[3])))
    assert "models" not in ids(page(runs()[0]))


def test_a_collapse_is_said_at_the_top_and_in_markdown() -> None:
    broken, sound = runs()[2], runs()[3]
    assert "Collapse at E_3: every task that A_0 solved fails on" in words(page(broken))
    assert "It works again at the end. Most rollouts there end with: hook_error" in words(page(broken))
    assert "Collapse at E\\_3" in markdown.render(run_page(broken, REPORT))
    assert "Collapse at" not in words(page(sound))


def test_neighbours_that_collapse_alike_are_told_in_one_line_and_chance_is_named() -> None:
    def fallen(snapshot: str, lost: int, *, every: bool = True) -> Collapse:
        views = (CollapsedView(view="id", lost=lost), CollapsedView(view="ood", lost=5))[: 2 if every else 1]
        return Collapse(
            snapshot=snapshot, train_batch_index=1, views=views, every=every, recovered=not every, reason=None
        )

    assert collapse_lines([fallen("E_1", 1), fallen("A_T", 2), fallen("A_T", 1, every=False)]) == [
        "Collapse at E_1 and A_T: every task that A_0 solved fails on ID (2 tasks) and OOD (5 tasks), "
        "every view where it could collapse. It does not recover.",
        "Collapse at A_T: every task that A_0 solved fails on ID (1 task), "
        "not every view, so this may be chance. It works again at the end.",
    ]


def test_the_gate_says_why_it_refused() -> None:
    shown = Page(page(runs()[3]))
    assert [cell.strip() for cell in shown.row("middleware/guard.py")] == [REASON, "1", "3"]
    assert "on, 2 canaries: 1 of 4 harnesses refused" in " ".join(shown.text.split())
    assert "gave &lt;None&gt;" in markdown.render(run_page(runs()[3], REPORT))


def test_what_is_not_known_of_cost_is_a_dash() -> None:
    shown = Page(page(run(Told(costs=False))))
    assert [cell.strip() for cell in shown.row("train batches")] == ["train batches", "20", *"–" * 4]
    assert [cell.strip() for cell in shown.row("updates")[2:]] == ["3.92k", "–", "–", "–"]
    priced = Page(page(run(Told())))
    assert [cell.strip() for cell in priced.row("train batches")[2:]] == ["24k", "60", "40 s", "$0.04"]


def test_a_replay_grid_has_a_letter_for_each_snapshot() -> None:
    markup = draw(Grid("grid", ("A_0", "E_1", "E_2", "E_3", "A_T"), (("a", "SFE.u"),), LEGEND))
    assert re.findall(r">([SFE.u])</text>", markup) == ["S", "F", "E", ".", "u"]
    assert "a at E_2: failed with an error" in markup
    assert [key.letter for key in LEGEND] == ["S", "F", "E", ".", "u"]
    many = draw(Grid("grid", tuple(f"E_{i}" for i in range(100)), (("a", "S" * 100),), LEGEND))
    assert "</text></g>" not in many, "letters need room"
    assert many.count("<rect") == 100


def test_a_run_of_many_tasks_shows_those_that_changed() -> None:
    replay = runs()[0].part.replay["replay"]
    grid = replay.grid.model_copy(
        update={
            "tasks": tuple(f"t{i}" for i in range(400)),
            "sources": ("one",) * 400,
            "cells": ("FFFFF",) * 399 + ("FFFFS",),
        }
    )
    results = changed(runs()[0], replay={"replay": replay.model_copy(update={"grid": grid})})
    shown = Page(page(results))
    assert "160 more tasks are in metrics.json" in shown.text
    assert "t399 at A_T: solved" in shown.text


def test_pictures_without_points_say_so() -> None:
    assert "nothing judged yet" in draw(over_batches("x", [Series("a", 0, ())], "score"))


def test_a_suite_puts_methods_side_by_side() -> None:
    compared = suite()
    markup = page_of_suite(compared, runs())
    shown = Page(markup)
    assert {"methods", "validation", "gate", "sweeps", "spent", "models"} <= set(ids(markup))
    assert ids(markup)[0] == "methods"
    assert re.findall(r'<a href="#([\w-]+)"', markup.split("</nav>")[0]) == ids(markup)
    assert isinstance(compared.part, HarnessSuiteResults)
    method = next(m for m in compared.part.methods if m.evolver == "ahe (gate=off)")
    row = next(cells for cells in shown.rows if cells[0].strip() == "ahe (gate=off)")
    mean = next(m.mean for m in method.measures if (m.measure, m.of) == ("IDG", "final"))
    assert row[2].strip().startswith(f"{mean:+.3f}".replace("-", "−"))
    assert "16 tasks" in row[2]
    assert "▼ 2 in 2 of 2 runs" in row[-1]
    members = labelled(compared, runs())
    curves = next(section for section in REPORT.suite(compared, members) if section.id == "validation")
    (charts,) = [part for part in curves.parts if isinstance(part, Group)]
    names = [series.name for series in charts.parts[0].series]
    assert [series.thin for series in charts.parts[0].series] == [not name for name in names], "runs are thin lines"
    assert names.index("") < names.index("ace 5"), "runs lie below their mean"


def test_what_runs_spent_is_shown_beside_what_they_gained() -> None:
    members = labelled(suite(), [run(Told(name, 0)) for name in ("ace", "ahe")])
    (spent,) = [section for section in REPORT.suite(suite(), members) if section.id == "spent"]
    (chart,) = [chart for part in spent.parts if isinstance(part, Group) for chart in part.parts]
    costs = members[0].part.costs
    assert chart.marks[0].x == costs.views["train"].tokens.total + costs.update.tokens.total
    assert chart.marks[0].y == members[0].gain.difference
    assert len(chart.legend) == len(chart.marks) == 2


def test_a_suite_whose_runs_are_not_at_hand_has_its_tables() -> None:
    markup = page_of_suite(suite(), ())
    assert "The runs are not available." in words(markup)
    assert "ace (batch_size=10)" in words(markup)


def test_suites_without_harnesses_have_no_such_sections() -> None:
    members = tuple(member.model_copy(update={"part": None}) for member in runs())
    compared = suite_results(members, lambda protocol: METRICS)
    assert "methods" not in ids(page_of_suite(compared, members))
    assert "Gains over" not in markdown.render(suite_page(compared, members, REPORT))


def test_markdown_has_the_tables() -> None:
    text = markdown.render(run_page(runs()[3], REPORT))
    assert "## Snapshots on views" in text
    assert "Reasons for refusals by the contract gate" in text
    compared = markdown.render(suite_page(suite(), runs(), REPORT))
    assert "Gains over A\\_0 of the final snapshot" in compared
    assert "## With and without the contract gate" in compared


def test_unfinished_runs_have_pages_without_figures_that_are_not_known() -> None:
    markup = page(run(Told(finished=False)))
    assert not re.search(r"\b(nan|None|null)\b", re.sub(r"<style>.*?</style>", "", markup, flags=re.DOTALL))
    assert "No comparisons yet." in words(markup)


def test_what_evolvers_write_is_shown_but_never_runs() -> None:
    harness = runs()[3].part
    point = harness.points[1]
    file: FileChange = point.changed[0].model_copy(update={"file": ATTACK})
    replay = harness.replay["replay"]
    grid = replay.grid.model_copy(update={"tasks": (ATTACK, *replay.grid.tasks[1:])})
    reason = harness.gate.reasons[0].model_copy(update={"reason": ATTACK})
    attacked_run = changed(
        runs()[3],
        gate=harness.gate.model_copy(update={"reasons": (reason,)}),
        points=(harness.points[0], point.model_copy(update={"changed": (file,)}), *harness.points[2:]),
        replay={"replay": replay.model_copy(update={"grid": grid})},
        plan=harness.plan.model_copy(update={"sources": (ATTACK,)}),
        cross_model={ATTACK: harness.cross_model["other/model"]},
    )
    members = (*runs()[:3], attacked_run, *runs()[4:])
    for markup in (page(attacked_run), page_of_suite(suite_results(members, lambda protocol: METRICS), members)):
        shown = Page(markup)
        assert {"script", "img"}.isdisjoint(tag for tag, _ in shown.tags)
        assert not any("onerror" in attributes for _, attributes in shown.tags)
        assert "\x00" not in markup


def test_views_are_named_and_ordered_as_they_are_shown() -> None:
    views = ["zebra", "replay", "ood:tasks/shell", "id", "update_validation", "canary", "train", "id under m"]
    assert [view_name(view) for view in in_order(views)] == [
        "train batches", "canaries", "update-validation", "ID", "OOD shell", "replay", "zebra", "ID under m",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("label", "shown"),
    [("ace", "ace"), ("ace (batch_size=5, gate=on)", "ace 5, gate on"), ("own (v2)", "own (v2)"), ("a (x=)", "a x")],
)
def test_names_are_short_in_pictures(label: str, shown: str) -> None:
    assert short(label) == shown


def test_a_gain_on_train_tasks_is_not_headed_forgetting() -> None:
    (methods,) = [section for section in REPORT.suite(suite(), ()) if section.id == "methods"]
    tables = [part for part in methods.parts if isinstance(part, Table)]
    assert tables
    for table in tables:
        heads = [column.name for column in table.columns]
        assert "train tasks again" in heads
        assert not [head for head in heads if "FR" in head]
        for row in table.rows:
            cell = row.cells[heads.index("train tasks again")]
            assert isinstance(cell, Cell)
            assert any(str(note).startswith("forgetting (FR) ") for note in cell.notes), (
                "what is lost stands below by its name"
            )
    gained = sections(runs()[0])["gains"]
    (table,) = [part for part in gained.parts if isinstance(part, Table) and "forgetting (FR)" in str(part.columns)]
    assert "(FR)" not in " ".join(str(row.cells[0]) for row in table.rows)
