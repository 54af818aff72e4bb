from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest
from tests.pages.report.sample_metrics import nothing, results, run_metrics, unfinished

from heredity.analysis.samples import wilson
from heredity.pages.report import html as drawing
from heredity.pages.report.csv import everything
from heredity.pages.report.run_page import run_page
from heredity.protocols.policy_evolution.protocol import REPORT
from heredity.protocols.shared.validated_report import edit_bins, timeline_row
from heredity.results.charts import (
    Bar,
    Bars,
    Chart,
    Grid,
    Interval,
    Intervals,
    Key,
    Lines,
    Mark,
    Reference,
    Series,
    Strip,
    Timeline,
    TimelineRow,
    mean_steps,
)
from heredity.results.run import EditSize, RunResults

ACROBOT = "gymnasium/Acrobot-v1"
RUNS = [results(run_metrics(ACROBOT, "structural", seed)) for seed in range(3)]


def parsed(chart: Chart, width: float = drawing.WIDTH) -> ElementTree.Element:
    return ElementTree.fromstring(drawing.draw(chart, width))


def tips(chart: Chart) -> list[str]:
    return [title.text or "" for title in parsed(chart).iter("title")]


def test_a_curve_is_the_mean_over_seeds_from_where_all_have_a_value() -> None:
    curve = mean_steps("a", 0, [[(2, 1.0), (6, 3.0)], [(4, 5.0)]], 10)
    assert curve.points == ((4.0, 3.0), (6.0, 4.0))
    assert curve.band == ((4.0, 1.0, 5.0), (6.0, 3.0, 5.0))
    assert curve.until == 10


def test_a_curve_of_runs_without_scores_has_no_points() -> None:
    curve = mean_steps("a", 0, [], 0)
    assert curve.points == ()
    assert "no score yet" in drawing.draw(Lines("t", "x", "y", (curve,), empty="no score yet"))


def test_edits_are_counted_by_size() -> None:
    sizes = [(0, False), (1, True), (2, False), (7, True), (400, False)]
    edits = [EditSize(lines=n, improved=hit) for n, hit in sizes]
    run = RUNS[0].model_copy(update={"diagnostics": RUNS[0].diagnostics.model_copy(update={"edit_size": edits})})
    counted = {name: (n, hits) for name, n, hits in edit_bins([run, run])}
    assert counted["0"] == (2, 0)
    assert counted["1\u20132"] == (4, 2)
    assert counted["6\u201310"] == (2, 2)
    assert counted["> 50"] == (2, 0)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"), [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0)]
)
def test_wilson_intervals_have_their_published_values(hits: int, n: int, low: float, high: float) -> None:
    assert wilson(hits, n) == pytest.approx((low, high), abs=1e-4)


def test_a_far_reference_does_not_squeeze_the_intervals() -> None:
    ends = [9.0, 10.0, 11.0, 12.0, 13.0]
    near = drawing.interval_axis(ends, Reference(8.5, "random"), 0, 100)
    far = drawing.interval_axis(ends, Reference(-500.0, "random"), 0, 100)
    assert near.low < 8.5
    assert far.low > 8
    lines = (Interval("a", 10.0, 9.0, 11.0, 0), Interval("b", 12.0, 11.0, 13.0, 1))
    assert "← random" in drawing.draw(Intervals("t", lines, "return", Reference(-500.0, "random")))


def test_a_timeline_marks_phases_rollbacks_retests_and_improvements() -> None:
    run = RUNS[0]
    row = timeline_row(run, "x", "")
    kinds = [s.edit.kind for s in run.submissions if s.edit]
    assert sum(mark.tip.startswith("rollback") for mark in row.marks) == kinds.count("rollback")
    assert sum(mark.tip.startswith("retest") for mark in row.marks) == kinds.count("retest")
    assert sum(mark.tip.startswith("new best") for mark in row.marks) == sum(
        bool(s.edit and s.edit.hit) for s in run.submissions
    )
    titles = tips(Timeline("t", (row,), "episodes", 128))
    assert sum(", episodes " in title for title in titles) == len(run.phases)


def test_marks_that_would_lie_over_one_another_are_drawn_as_one_that_says_so() -> None:
    marks = tuple(Mark(float(at), 0.0, "back", "ink", f"rollback {at}") for at in (10, 11, 12, 90))
    titles = tips(Timeline("t", (TimelineRow("a", "", (), marks),), "x", 100))
    assert [title for title in titles if title.startswith("rollback")] == [
        "rollback 10; 3 close together",
        "rollback 90",
    ]


@pytest.mark.parametrize("run", [RUNS[0], results(unfinished(run_metrics(ACROBOT, "parametric", 0))), nothing()])
def test_every_picture_of_a_run_is_well_formed(run: RunResults) -> None:
    drawn = [part for section in run_page(run, REPORT).sections for part in everything(section.parts)]
    charts = [part for part in drawn if isinstance(part, Chart)]
    assert len(charts) >= 3
    for chart in charts:
        for width in (drawing.WIDTH, drawing.WIDE, drawing.WIDEST):
            assert parsed(chart, width).tag == "svg"


def test_each_heldout_case_is_a_tick() -> None:
    heldout = RUNS[0].heldout
    assert heldout is not None
    values = tuple(v for v in heldout.scores if v is not None)
    made = parsed(Strip("t", values, (heldout.mean, None, None), "return"))
    assert sum("tick-mark" in (line.get("class") or "") for line in made.iter("line")) == 32


def test_scores_that_are_few_and_alike_are_counted() -> None:
    strip = Strip("t", (1.0, 1.0, 0.0), (0.67, None, None), "accuracy", counted=True)
    written = [text.text for text in parsed(strip).iter("text")]
    assert "× 2" in written
    assert "× 1" in written


def test_long_names_of_lines_stand_below_the_picture_where_they_are_whole() -> None:
    name = "a-method-with-a-name-of-forty-letters-12"
    line = Series(name, 0, ((1.0, 0.1), (2.0, 0.2)), dots=True)
    chart = Lines("t", "x", "y", (line,), whole=True)
    drawn = parsed(chart)
    assert name in [text.text for text in drawn.iter("text")]
    short = parsed(Lines("t", "x", "y", (Series("a", 0, line.points),), whole=True))
    assert float((drawn.get("viewBox") or "").split()[3]) > float((short.get("viewBox") or "").split()[3])


def test_a_grid_has_a_cell_for_every_letter_with_its_meaning() -> None:
    legend = (Key("cell", "good", "solved", "S"), Key("cell", "faint", "failed", "F"))
    titles = tips(Grid("t", ("A_0", "A_1"), (("gcd 1", "SF"),), legend))
    assert titles == ["t", "gcd 1 at A_0: solved", "gcd 1 at A_1: failed"]


@pytest.mark.parametrize(
    "chart",
    [
        Intervals("t", (), "x"),
        Lines("t", "x", "y"),
        Lines("t", "x", "y", marks=(Mark(1.0, 2.0, tip="<b>"), Mark(3.0, None, "cross", "bad"))),
        Bars("t", (Bar("1", "0", None), Bar("2", "4", 0.5, 0.2, 0.8)), "x", "y"),
        Strip("t", (), (None, None, None), "x"),
        Timeline("t", (), "x", 0.0),
        Grid("t", (), (), ()),
    ],
)
def test_charts_with_little_or_nothing_to_draw_are_well_formed(chart: Any) -> None:
    assert parsed(chart).get("aria-label") == "t"
