from __future__ import annotations

from xml.etree import ElementTree

import pytest
from sample_metrics import run_metrics, unfinished

from heredity.reports import charts, run_charts
from heredity.reports.model import Mean, read_run

RUNS = [read_run(run_metrics("gymnasium/Acrobot-v1", "structural", seed)) for seed in range(3)]


def test_a_curve_is_the_mean_over_seeds_from_where_all_have_a_value() -> None:
    one = read_run({"best_so_far": [[2, 1.0], [6, 3.0]], "budget": {"used": 10}})
    two = read_run({"best_so_far": [[4, 5.0]], "budget": {"used": 8}})
    curve = charts.best_so_far("a", "c0", [one, two])
    assert curve.points == ((4.0, 3.0, 1.0, 5.0), (6.0, 4.0, 3.0, 5.0))
    assert curve.until == 10


def test_a_curve_of_runs_without_scores_has_no_points() -> None:
    assert charts.best_so_far("a", "c0", [read_run({})]).points == ()
    assert "no validation score yet" in charts.curves("t", [charts.Curve("a", "c0", ())], 128)


def test_edits_are_counted_by_size() -> None:
    sizes = [(0, False), (1, True), (2, False), (7, True), (400, False), (None, True)]
    run = read_run({"diagnostics": {"edit_size": [{"lines": n, "improved": hit} for n, hit in sizes]}})
    counted = {name: (n, hits) for name, n, hits in charts.edit_bins([run, run])}
    assert counted["0"] == (2, 0)
    assert counted["1\u20132"] == (4, 2)
    assert counted["6\u201310"] == (2, 2)
    assert counted["> 50"] == (2, 0)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"), [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0)]
)
def test_wilson_intervals_have_their_published_values(hits: int, n: int, low: float, high: float) -> None:
    assert charts.wilson(hits, n) == pytest.approx((low, high), abs=1e-4)


def test_a_far_reference_does_not_squeeze_the_intervals() -> None:
    lines = [charts.Line("a", Mean(10.0, 9.0, 11.0), "c0"), charts.Line("b", Mean(12.0, 11.0, 13.0), "c1")]
    near = charts.interval_axis(lines, 8.5, 0, 100)
    far = charts.interval_axis(lines, -500.0, 0, 100)
    assert near.low < 8.5
    assert far.low > 8
    assert "← random" in charts.intervals("t", lines, "return", -500.0)


def test_a_timeline_marks_phases_rollbacks_retests_and_improvements() -> None:
    run = RUNS[0]
    titles = [t.text or "" for t in ElementTree.fromstring(charts.timeline("t", [("x", run)], 128)).iter("title")]
    kinds = [s.edit.kind for s in run.submissions]
    assert sum(t.startswith("rollback") for t in titles) == kinds.count("rollback")
    assert sum(t.startswith("retest") for t in titles) == kinds.count("retest")
    assert sum(t.startswith("new best") for t in titles) == sum(s.edit.hit for s in run.submissions)
    assert sum(", episodes " in t for t in titles) == len(run.phases)


@pytest.mark.parametrize(
    "run", [RUNS[0], read_run(unfinished(run_metrics("gymnasium/Acrobot-v1", "parametric", 0))), read_run({})]
)
def test_every_picture_of_a_run_is_well_formed(run: charts.Run) -> None:
    for made in (
        run_charts.progress(run),
        run_charts.progress(run, 680),
        run_charts.heldout_strip(run),
        run_charts.growth(run),
    ):
        assert ElementTree.fromstring(made).tag == "svg"


def test_each_heldout_case_is_a_tick() -> None:
    made = ElementTree.fromstring(run_charts.heldout_strip(RUNS[0]))
    assert sum(line.get("class") == "episode" for line in made.iter("line")) == 32
