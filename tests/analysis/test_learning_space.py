from __future__ import annotations

import numpy as np
import pytest

from heredity.analysis.suite_results import suite_results
from heredity.analysis.suite_table import REFERENCE, Cell, TasksetScores
from heredity.pages.report import markdown, page_of
from heredity.protocols.agent_learning.protocol import METRICS, learning_space
from heredity.protocols.agent_learning.results import REPORT, LearningSuite


def taskset(name: str, reference: float, **means: float) -> TasksetScores:
    cells = {label: Cell([], np.array([[mean]])) for label, mean in means.items()}
    return TasksetScores(name, "", "", cells, {REFERENCE: np.array([reference])})


SPACE = [
    taskset("a", 0.1, x=0.5, y=0.2, z=0.1, adaptive=0.4),
    taskset("b", 0.1, x=0.1, y=0.6, z=0.2, adaptive=0.6),
    taskset("c", 0.3, x=0.3, y=0.3, z=0.9, adaptive=0.3),
]


def test_the_upper_bound_picks_the_best_method_of_each_taskset() -> None:
    space = learning_space(SPACE)
    assert space is not None
    assert space.methods == ["x", "y", "z"]
    assert [p.method for p in space.upper_bound.picked] == ["x", "y", "z"]
    assert space.upper_bound.mean == pytest.approx(2.0 / 3)
    assert space.upper_bound.gain == pytest.approx((0.4 + 0.5 + 0.6) / 3)
    assert space.best_fixed.model_dump() == {
        "method": "z",
        "mean": pytest.approx(0.4),
        "gap": pytest.approx(2.0 / 3 - 0.4),
    }


def test_the_bound_grows_with_the_number_of_methods() -> None:
    space = learning_space(SPACE)
    assert space is not None
    assert [row.subsets for row in space.by_methods] == [3, 3, 1]
    one, two, three = (row.mean for row in space.by_methods)
    assert one == pytest.approx((0.9 + 1.1 + 1.2) / 9)
    assert one < two < three == pytest.approx(2.0 / 3)


def test_gains_are_means_over_the_tasksets_of_most_gain() -> None:
    space = learning_space(SPACE)
    assert space is not None
    curves = {row.evolver: row.gains for row in space.by_tasksets}
    assert curves["x"] == pytest.approx([0.4, 0.2, 0.4 / 3])
    assert curves["upper bound"] == pytest.approx([0.6, 0.55, 0.5])


def test_a_controller_is_measured_between_the_best_fixed_method_and_the_bound() -> None:
    space = learning_space(SPACE)
    assert space is not None
    (row,) = space.controllers
    assert row.covered == pytest.approx((1.3 / 3 - 0.4) / (2.0 / 3 - 0.4))


@pytest.mark.parametrize(
    ("methods", "controller", "said"),
    [
        ({"x": (0.5, 0.1), "y": (0.1, 0.5)}, (0.0, 0.1), "0.250 below the best fixed method"),
        ({"x": (0.5, 0.1), "y": (0.1, 0.5)}, (0.9, 0.9), "0.400 above the bound"),
        # The bound is 0.0005 above the best method; the controller, 0.002 behind it, would be at minus 400% of the way.
        ({"x": (0.5, 0.499), "y": (0.499, 0.5)}, (0.4975, 0.4975), "0.002 below the best fixed method"),
        ({"x": (0.5, 0.499), "y": (0.499, 0.5)}, (0.4998, 0.4998), "no share: the two differ by only 0.001"),
    ],
)
def test_a_share_of_the_way_is_told_of_who_is_on_it(
    methods: dict[str, tuple[float, float]], controller: tuple[float, float], said: str
) -> None:
    means = {**methods, "adaptive": controller}
    space = learning_space([taskset(f"t{i}", 0.1, **{e: m[i] for e, m in means.items()}) for i in (0, 1)])
    assert space is not None
    (row,) = space.controllers
    assert row.covered is None
    part = LearningSuite(board=[], learning=space, skins=[])
    suite = suite_results([], lambda _: METRICS).model_copy(update={"part": part})
    page = markdown.render(page_of(suite, [], REPORT))
    assert said in next(line for line in page.splitlines() if line.startswith("| adaptive (controller)"))


def test_a_gain_over_a_start_that_is_not_known_is_not_known() -> None:
    unknown = TasksetScores("d", "", "", taskset("d", 0.0, x=0.5, y=0.2, z=0.1).cells, {})
    space = learning_space([*SPACE, unknown])
    assert space is not None
    assert (space.upper_bound.gain, space.by_tasksets) == (None, [])


def test_one_method_makes_no_space() -> None:
    assert learning_space([taskset("a", 0.0, x=1.0, adaptive=1.0)]) is None
    assert learning_space([]) is None
