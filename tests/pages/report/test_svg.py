from __future__ import annotations

import math
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError
from heredity.pages.report import svg

finite = st.floats(-1e12, 1e12, allow_nan=False)


@given(finite, st.floats(1e-6, 1e12), st.integers(1, 9))
def test_ticks_are_round_ordered_and_inside(low: float, width: float, count: int) -> None:
    high = low + width
    if not low < high or width < abs(low) * 1e-9:
        return
    ticks = svg.nice_ticks(low, high, count)
    slack = (high - low) * 1e-6
    assert ticks == sorted(ticks)
    assert all(low - slack <= t <= high + slack for t in ticks)
    assert len(ticks) <= 3 * count + 2


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 100, [0, 20, 40, 60, 80, 100]),
        (-0.3, 0.2, [-0.3, -0.2, -0.1, 0, 0.1, 0.2]),
        (0, 128, [0, 20, 40, 60, 80, 100, 120]),
    ],
)
def test_ticks_of_common_ranges(low: float, high: float, expected: list[float]) -> None:
    assert svg.nice_ticks(low, high, 5) == pytest.approx(expected)


@given(st.lists(st.one_of(st.none(), finite, st.just(math.nan)), max_size=8))
def test_a_fitted_axis_covers_every_known_value(values: list[float | None]) -> None:
    axis = svg.fit(values, 0, 100)
    assert axis.low < axis.high
    for value in values:
        if value is not None and math.isfinite(value):
            assert axis.low <= value <= axis.high
            assert 0 <= axis.at(value) <= 100


def test_an_axis_can_grow_upwards_and_clamps_beyond_its_ends() -> None:
    axis = svg.Axis(0, 10, 200, 100)
    assert [axis.at(v) for v in (0, 5, 10, 99)] == [200, 150, 100, 100]


def test_an_axis_without_length_is_refused() -> None:
    with pytest.raises(ConfigError, match="expected finite ends"):
        svg.Axis(1.0, 1.0, 0, 10)


def test_text_and_attributes_are_escaped() -> None:
    made = svg.label("<b>&\"'", 1, 2, class_='x"><script>')
    parsed = ElementTree.fromstring(made)
    assert parsed.text == "<b>&\"'"
    assert parsed.attrib["class"] == 'x"><script>'


def test_a_figure_is_well_formed_and_named() -> None:
    x, y = svg.Axis(0, 10, 0, 100), svg.Axis(0, 1, 50, 0)
    body = [
        svg.step_line([(0, 0.1), (4, 0.5)], x, y, "c0", until=10),
        svg.band([(0, 0.0, 0.2), (4, 0.4, 0.6)], x, y, "c0", until=10),
        svg.dot_interval(x, 5, 3, (2, None), "c1", "tip"),
        svg.x_axis(x, 50, 0, "episodes"),
        svg.end_labels([(10, "a", "c0"), (11, "b", "c1")], 90, 0, 50),
        *(svg.mark(shape, 1, 1, "c0") for shape in ("circle", "ring", "triangle", "back", "diamond", "cross")),
    ]
    parsed = ElementTree.fromstring(svg.figure(100, 60, "A <title>", *body))
    assert parsed.attrib["aria-label"] == "A <title>"
    assert parsed[0].text == "A <title>"


def test_a_step_line_holds_its_value_until_the_next_point() -> None:
    x, y = svg.Axis(0, 10, 0, 100), svg.Axis(0, 1, 100, 0)
    line = ElementTree.fromstring(svg.step_line([(0, 0.0), (5, 1.0)], x, y, "c0", until=10))
    assert line.attrib["d"] == "M0 100L50 100L50 0L100 0"


def test_lines_without_points_are_nothing() -> None:
    axis = svg.Axis(0, 1, 0, 1)
    assert svg.step_line([], axis, axis, "c0") == svg.band([], axis, axis, "c0") == ""


@given(st.lists(st.floats(0, 200), max_size=8).map(sorted))
def test_labels_are_moved_apart_and_stay_inside(places: list[float]) -> None:
    moved = svg.spread(places, 0, 200, 12.5)
    assert len(moved) == len(places)
    assert all(-1e-6 <= p <= 200 + 1e-6 for p in moved)
    assert all(b - a >= 12.5 - 1e-6 for a, b in pairwise(moved))


def test_an_unknown_mark_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="triangle"):
        svg.mark("star", 0, 0, "c0")
