from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from heredity._core.ids import generator
from heredity.analysis import paired
from heredity.analysis import statistics as stats
from heredity.analysis.run_results import gain
from heredity.analysis.samples import GAP, SHARE, mean_bounds, missing_bounds, missing_gap, share
from heredity.protocols.harness_evolution.analysis.paired import estimate
from heredity.results.base import MissingBounds
from heredity.results.run import HeldOut, Reference


def test_scores_that_are_all_alike_give_the_exact_interval_of_a_share():
    # Clopper and Pearson, as printed tables have it: 5 of 5, and 0 of 10.
    assert stats.mean_interval([1.0] * 5, bounds=SHARE) == pytest.approx((0.4782, 1.0), abs=5e-5)
    assert stats.mean_interval([0.0] * 10, bounds=SHARE) == pytest.approx((0.0, 0.3085), abs=5e-5)
    assert stats.mean_interval([0.0] * 10) is None


def test_what_is_alike_inside_of_the_bounds_is_uncertain_to_both_sides():
    low, high = stats.mean_interval([0.5] * 5, bounds=SHARE)
    assert (low, high) == pytest.approx((0.2391, 0.7609), abs=5e-5)
    low, high = stats.mean_interval([0.0] * 6, bounds=GAP)
    assert low == -high == pytest.approx(-0.4593, abs=5e-5)


def test_an_interval_does_not_leave_the_bounds():
    assert stats.mean_interval([1.0, 1.0, 1.0, 0.0], bounds=SHARE)[1] == 1.0
    assert stats.mean_interval([1.0, 1.0, 1.0, 1.0, 1.0, 0.0])[1] > 1.0


@pytest.mark.parametrize(("size", "chance"), [(4, 0.9), (6, 0.8), (8, 0.97), (16, 0.97)])
def test_intervals_of_shares_hold_the_truth_with_few_tasks(size: int, chance: float):
    draws = (generator(0, "coverage", size).random((300, size)) < chance).astype(float)
    intervals = [stats.mean_interval(row, bounds=SHARE) for row in draws]
    assert sum(low <= chance <= high for low, high in intervals) / 300 >= 0.93


def test_every_kind_of_mean_is_bounded_alike():
    ones = np.ones((4, 6))
    by_case, by_run = stats.case_mean([ones], bounds=SHARE), stats.crossed_mean([ones], bounds=SHARE)
    assert by_case.interval == pytest.approx((0.025 ** (1 / 6), 1.0))
    assert by_run.interval == pytest.approx((0.025 ** (1 / 4), 1.0))
    many = estimate([np.ones(300)], SHARE)
    assert many.interval == pytest.approx((0.025 ** (1 / 300), 1.0))


def test_several_places_that_are_each_of_one_mind_have_an_interval_too():
    low, high = stats.case_mean([np.ones((1, 5)), np.zeros((1, 5))], bounds=SHARE).interval
    alike = (0.025 / 2) ** (1 / 5)
    assert (low, high) == pytest.approx((alike / 2, 1.0 - alike / 2))


@pytest.mark.parametrize(("pairs", "said"), [(5, "within noise"), (6, "better")])
def test_a_task_more_that_agrees_decides_interval_and_p_alike(pairs: int, said: str):
    comparison = paired.compare_paired([np.ones((1, pairs))], bounds=GAP)
    assert (comparison.interval[0] > 0.0) is (comparison.p < 0.05) is (said == "better")
    assert paired.verdict(comparison.difference, comparison.p) == said


def test_returns_have_no_bounds_even_where_they_lie_between_zero_and_one():
    after = HeldOut(scores=[1.0] * 8, mean=1.0, ci=None, n=8, failures=0, missing=0)
    before = Reference(name="initial", heldout_mean=0.0, heldout_scores=[0.0] * 8)
    assert gain(after, before, returns=True).ci is None
    assert gain(after, before, returns=False).ci == pytest.approx((2 * 0.025 ** (1 / 8) - 1, 1.0))


def test_shares_are_known_by_their_values_and_missing_ones_do_not_matter():
    assert share([0.0, None, 1.0], np.array([np.nan]))
    assert not share([0.5], [1.5])


def test_what_is_missing_is_bounded_by_the_range_or_by_what_was_seen():
    scores = [[1.0, np.nan, 0.5, 0.5], [0.0, 1.0, np.nan, np.nan]]
    assert missing_bounds(scores, SHARE) == MissingBounds(low=3.0 / 8, high=6.0 / 8, declared=True)
    seen = missing_bounds([2.0, 4.0, 2.0, np.nan])
    assert seen == MissingBounds(low=2.5, high=3.0, declared=False)
    assert missing_bounds([1.0, 2.0]) is None
    assert missing_bounds([np.nan]) is None


@pytest.mark.parametrize("gap", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("pairs", [6, 12, 40])
def test_gaps_that_all_agree_have_an_interval_and_a_p_value_of_one_mind(gap: float, pairs: int):
    compared = paired.compare_cases([np.full((1, pairs), gap)], bounds=GAP)
    assert (compared.interval[0] > 0.0) is (compared.p < 0.05)


def test_a_difference_with_missing_scores_lies_where_every_way_to_fill_them_puts_it():
    after, before = np.array([1.0, np.nan, 0.5, np.nan]), np.array([0.0, 0.25, np.nan, np.nan])
    bounds = missing_gap(after, before)
    filled = [
        float(np.mean(np.array([1.0, a, 0.5, b]) - np.array([0.0, 0.25, c, d])))
        for a, b, c, d in product((0.0, 0.3, 1.0), repeat=4)
    ]
    assert (bounds.low, bounds.high) == pytest.approx((min(filled), max(filled)))
    assert missing_gap(after[:1], before[:1]) is None, "nothing is missing"
    assert missing_gap(after[1:2], before[1:2]) is None, "nothing is known"


def test_the_bounds_of_a_mean_of_runs_count_runs_in_which_nothing_is_missing():
    part = MissingBounds(low=-0.5, high=0.5, declared=True)
    assert mean_bounds([0.2, 0.4], [None, part]) == MissingBounds(low=-0.15, high=0.35, declared=True)
    assert mean_bounds([0.2, 0.4], [None, None]) is None
