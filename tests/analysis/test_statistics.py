from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.analysis import paired
from heredity.analysis import statistics as stats
from heredity.analysis.samples import differences
from heredity.analysis.statistics import student_p, student_quantile
from heredity.results.base import Unknown

values_strategy = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20)
p_strategy = st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12)


def coverage(draw, truth: float, rounds: int) -> float:
    rng = generator(5, "coverage")
    hits = 0
    for _ in range(rounds):
        low, high = stats.mean_interval(draw(rng))
        hits += low <= truth <= high
    return hits / rounds


@pytest.mark.parametrize(
    ("p", "freedom", "expected"),
    [
        (0.975, 1, 12.7062),
        (0.975, 2, 4.3027),
        (0.975, 7, 2.3646),
        (0.8, 5, 0.9195),
        (0.995, 31, 2.7440),
        (0.975, 200, 1.9719),
    ],
)
def test_students_quantiles_agree_with_printed_tables(p, freedom, expected):
    assert stats.student_quantile(p, freedom) == pytest.approx(expected, abs=6e-5)


def test_students_quantile_joins_the_normal_one_smoothly():
    assert stats.student_quantile(0.975, 299.9) == pytest.approx(stats.student_quantile(0.975, 300), rel=5e-3)


@pytest.mark.parametrize("n", [6, 16, 32])
def test_intervals_of_normal_means_cover_what_they_promise(n):
    assert 0.90 <= coverage(lambda rng: rng.normal(3.0, 2.0, n), 3.0, 400) <= 0.985


def test_intervals_of_skewed_means_cover_nearly_what_they_promise():
    assert coverage(lambda rng: -rng.exponential(1.0, 32), -1.0, 400) >= 0.92
    assert coverage(lambda rng: rng.lognormal(0.0, 1.0, 8), math.exp(0.5), 400) >= 0.9


def test_an_interval_of_values_that_fail_rarely_holds_their_mean_or_is_not_known():
    rng = generator(5, "rare")
    intervals = [stats.mean_interval(500.0 - 480.0 * (rng.random(16) < 0.05)) for _ in range(400)]
    known = [i for i in intervals if i is not None]
    assert 0.3 < len(known) / 400 < 0.7
    assert np.mean([low <= 476.0 <= high for low, high in known]) >= 0.97


def test_intervals_over_runs_and_cases_cover_what_they_promise_with_six_runs():
    rng = generator(6, "coverage")
    hits = 0
    for _ in range(400):
        scores = rng.normal(size=(6, 1)) + rng.normal(size=(1, 32)) + 0.5 * rng.normal(size=(6, 32))
        low, high = stats.crossed_mean([scores]).interval
        hits += low <= 0.0 <= high
    assert 0.91 <= hits / 400 <= 0.99


def test_bootstrap_intervals_lean_towards_the_long_tail():
    values = -generator(1, "skew").exponential(1.0, 32)
    low, high = stats.mean_interval(values)
    assert values.mean() - low > high - values.mean()


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_on_the_side_of_a_long_tail_intervals_of_few_values_reach_further_than_resamples_do(side):
    """Fails without the widening by the skewness: resamples alone reach 5.1 standard errors, and cover 89% of such means."""
    values = side * np.exp([NormalDist().inv_cdf((i + 0.5) / 8) for i in range(8)])
    estimate = stats.case_mean([values])
    short, long = sorted(abs(end - estimate.mean) / estimate.error for end in estimate.interval)
    assert short == pytest.approx(2.3646, abs=1e-3)
    assert 6.0 < long < 8.0
    assert (estimate.interval[1] - estimate.mean > estimate.mean - estimate.interval[0]) is (side > 0.0)


@pytest.mark.parametrize("scale", [1e-99, 1e-200, 1e250])
def test_the_skewness_of_tiny_and_huge_differences_neither_vanishes_nor_overflows(scale):
    values = scale * (1.0 + 1e-8 * np.exp(np.arange(8.0)))
    low, high = stats.mean_interval(values)
    assert low < values.mean() < high


def test_the_same_values_give_the_same_interval_to_the_last_bit():
    values = generator(2, "values").normal(size=24)
    assert stats.mean_interval(values) == stats.mean_interval(values.copy())


def test_few_values_and_equal_ones_have_no_interval_unless_their_range_is_known():
    assert stats.mean_interval([4.0]) is None
    assert stats.mean_interval([4.0, math.nan]) is None
    assert stats.case_mean([[1.0, 2.0, 3.0, 4.0, 5.0]]).unknown == Unknown.FEW
    assert stats.case_mean([[500.0] * 9]).unknown == Unknown.ALIKE
    low, high = stats.mean_interval([500.0] * 9, bounds=(0.0, 500.0))
    assert (low, high) == pytest.approx((500.0 * 0.025 ** (1 / 9), 500.0))
    low, high = stats.mean_interval([0.4, 0.5, 0.6], bounds=(0.0, 1.0))
    assert high - low > 0.6


def test_noise_of_adding_up_in_another_order_is_no_spread():
    noisy = [sum([0.1] * 1000), *[100.0] * 8]
    assert noisy[0] != 100.0
    assert stats.case_mean([noisy]).unknown == Unknown.ALIKE
    gaps = differences([noisy] * 6, [[100.0] * 9] * 6)
    assert (paired.compare_runs([gaps]).difference, paired.compare_runs([gaps]).p) == (0.0, 1.0)


@pytest.mark.parametrize(("rows", "unit"), [(1, "case"), (5, "case"), (6, "run")])
def test_a_cell_speaks_of_the_evolver_from_six_runs_on(rows, unit):
    scores = generator(0, "cell").normal(size=(rows, 16))
    estimate, about = stats.evolver_mean([scores])
    assert about == unit
    assert estimate.interval == (stats.crossed_mean if unit == "run" else stats.case_mean)([scores]).interval


def test_runs_that_all_agree_say_nothing_of_new_ones():
    scores = np.tile(generator(0, "cell").normal(size=16), (8, 1))
    estimate, about = stats.evolver_mean([scores])
    assert (about, stats.crossed_mean([scores]).unknown) == ("case", Unknown.ALIKE)
    assert estimate.interval is not None


def test_a_confidence_outside_the_unit_interval_is_refused():
    with pytest.raises(ConfigError, match="95"):
        stats.mean_interval([1.0, 2.0], confidence=95)


@given(st.lists(st.floats(-1e3, 1e3), min_size=6, max_size=20))
def test_an_interval_of_a_mean_lies_around_it(values):
    interval = stats.mean_interval(values)
    assume(interval is not None)
    low, high = interval
    tolerance = 1e-9 * (1 + max(map(abs, values)))
    assert low <= np.mean(values) + tolerance
    assert high >= np.mean(values) - tolerance


def test_runs_that_disagree_are_wide_and_those_that_agree_are_not():
    cases = generator(3, "cases").normal(size=(1, 32))
    agree = stats.crossed_mean([np.vstack([cases + 0.01 * i for i in range(6)])])
    disagree = stats.crossed_mean([np.vstack([cases + 5.0 * i for i in range(6)])])
    assert np.ptp(agree.interval) < 1.0
    assert np.ptp(disagree.interval) > 15.0


def test_missing_scores_leave_the_mean_of_runs_and_not_zeros():
    estimate = stats.crossed_mean([[[1.0, math.nan, 3.0], [4.0, 4.0, math.nan]]])
    assert estimate.mean == pytest.approx(3.0)
    assert stats.crossed_mean([[[math.nan, math.nan]]]) is None


def test_a_single_score_has_a_mean_and_no_error():
    assert stats.crossed_mean([[[2.0]]]) == stats.Estimate(2.0, unknown=Unknown.FEW)


def test_environments_with_one_run_each_are_a_sample_of_runs():
    estimate = stats.crossed_mean([[[1.0, 1.0]], [[3.0, 3.0]], [[2.0, 2.0]]])
    assert estimate.freedom == pytest.approx(2)
    assert estimate.error == pytest.approx(1.0 / math.sqrt(3))


def test_the_interquartile_mean_drops_a_quarter_on_each_side():
    assert stats.interquartile_mean([100.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -50.0]) == pytest.approx(3.5)
    assert stats.interquartile_mean([1.0, 2.0, 6.0]) == pytest.approx(3.0)
    assert stats.interquartile_mean([math.nan]) is None


@given(values_strategy)
def test_the_interquartile_mean_stays_inside_the_values(values):
    assert min(values) - 1e-9 <= stats.interquartile_mean(values) <= max(values) + 1e-9


def test_the_probability_of_improvement_counts_ties_as_half():
    assert stats.probability_of_improvement([[1.0, 2.0]], [[1.0, 0.0]]).mean == pytest.approx(0.875)
    assert stats.probability_of_improvement([[1.0], []], [[0.0], [1.0]]).mean == 1.0
    assert stats.probability_of_improvement([[]], [[1.0]]) is None


def test_the_probability_of_improvement_has_an_interval_from_six_runs_on_which_is_never_without_width():
    few = stats.probability_of_improvement([[1.0] * 5], [[0.0] * 9])
    assert (few.interval, few.unknown) == (None, Unknown.FEW_RUNS)
    clear = stats.probability_of_improvement([[1.0] * 6], [[0.0] * 9])
    assert clear.interval == pytest.approx((0.025 ** (1 / 6), 1.0))


@given(values_strategy, values_strategy)
def test_probabilities_of_improvement_of_both_sides_sum_to_one(a, b):
    forward, backward = (stats.probability_of_improvement([x], [y]) for x, y in ((a, b), (b, a)))
    assert forward.mean + backward.mean == pytest.approx(1.0)


EXTREME = [
    [1e308, 1e308, 1e308],
    [1e308, -1e308, 1e307] * 4,
    [1e200, 2e200, 5e200] * 4,
    [1e103, 3e103, 2e103] * 4,
    [1e-110, 3e-110, 2e-110] * 4,
    [1e-308, 2e-308, 5e-308] * 4,
    [-0.0, 0.0],
    [float("inf"), 1.0, 2.0],
    [0.1 + 0.2, 0.3, 0.3],
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", EXTREME, ids=lambda v: f"{v[0]:g}")
def test_extreme_scores_have_intervals_that_hold_their_mean_or_none(values):
    crossed, alone = stats.crossed_mean([[values] * 6]), stats.case_mean([[values]])
    for estimate in (crossed, alone):
        assert (estimate.interval is None) is (estimate.unknown is not None)
        low, high = estimate.interval or (estimate.mean, estimate.mean)
        assert np.isfinite([low, high]).all()
        assert low <= crossed.mean * (1 + 1e-12)
        assert crossed.mean <= high + 1e-12 * abs(high)
    compared = paired.compare_paired([[values]] * 6)
    known = [compared.difference, compared.p or 0.0, compared.mde or 0.0, *(compared.interval or ())]
    assert np.isfinite(known).all()
    assert (compared.p is None) is (compared.untold is not None)
    sides = [([values], [values[::-1]])] * 6
    both = paired.compare_runs([np.subtract(a, b) for a, b in sides], sides=sides)
    assert np.isfinite([both.difference, both.p or 0.0, both.mde or 0.0, *(both.interval or ())]).all()


@pytest.mark.parametrize("scale", [1e-300, 1e150])
def test_intervals_scale_with_the_scores(scale):
    values = generator(3, "scale").normal(1.0, 1.0, (6, 20))
    for interval in (lambda v: stats.mean_interval(v), lambda v: stats.crossed_mean([v]).interval):
        assert np.divide(interval(values * scale), scale) == pytest.approx(interval(values), rel=1e-9)


def test_what_floating_point_makes_of_equal_scores_is_still_equal():
    assert stats.mean_interval([0.1 + 0.2] + [0.3] * 9, bounds=(0.0, 1.0)) == pytest.approx(
        stats.mean_interval([0.3] * 10, bounds=(0.0, 1.0))
    )


def test_holms_correction_matches_the_worked_example():
    assert paired.holm([0.01, 0.04, None, 0.03, 0.005]) == pytest.approx([0.03, 0.06, None, 0.06, 0.02])


@given(p_strategy)
def test_holm_never_lowers_a_p_value_nor_changes_their_order(p_values):
    corrected = paired.holm(p_values)
    pairs = [(p, c) for p, c in zip(p_values, corrected, strict=True) if p is not None]
    assert all(p <= c <= 1.0 for p, c in pairs)
    assert [c for _, c in sorted(pairs)] == sorted(c for _, c in pairs)


@pytest.mark.parametrize(
    ("difference", "p", "expected"),
    [(2.0, 0.01, "better"), (-2.0, 0.05, "worse"), (2.0, 0.2, "within noise"), (2.0, None, "within noise")],
)
def test_verdicts_are_those_of_the_test(difference, p, expected):
    assert paired.verdict(difference, p) == expected


@pytest.mark.parametrize("compare", [paired.compare_runs, paired.compare_cases])
@given(seed=st.integers(0, 10_000), runs=st.integers(2, 9), cases=st.integers(2, 20), strata=st.integers(1, 3))
def test_interval_p_and_detectable_effect_never_contradict_each_other(compare, seed, runs, cases, strata):
    rng = generator(seed, "claims")
    tables = [rng.normal(rng.normal(0.0, 1.0), 1.0, (runs, cases)) for _ in range(strata)]
    found = compare(tables)
    low, high = found.interval
    assert (low > 0.0 or high < 0.0) is (found.p < 0.05)
    assert found.mde > (high - low) / 2


@pytest.mark.parametrize("kind", ["normal", "lognormal", "bimodal", "rare failures"])
@pytest.mark.parametrize(("runs", "strata"), [(3, 3), (6, 1), (8, 1), (16, 1)])
def test_evolvers_that_are_alike_are_seldom_told_apart(kind, runs, strata):
    """Both sources of chance are there: seeds of any shape, and cases that all runs share and that favour one side."""
    rng = generator(5, "alike", kind)

    def seeds(shape):
        if kind == "lognormal":
            return rng.lognormal(0.0, 1.0, shape)
        if kind == "bimodal":
            return np.where(rng.random(shape) < 0.5, -1.0, 1.0) + rng.normal(0.0, 0.1, shape)
        if kind == "rare failures":
            return -(rng.random(shape) < 0.05).astype(float) + rng.normal(0.0, 0.001, shape)
        return rng.normal(0.0, 1.0, shape)

    def suite():
        cases = rng.normal(0.0, 1.0, (1, 16))
        return [(seeds((runs, 1)) + cases + rng.normal(0.0, 0.4, (runs, 16)), seeds((runs, 1))) for _ in range(strata)]

    calls = []
    for _ in range(600):
        sides = [(a, b + np.zeros_like(a)) for a, b in suite()]
        p = paired.compare_runs([a - b for a, b in sides], sides=sides).p
        calls.append(p is not None and p <= 0.05)
    assert np.mean(calls) <= 0.06


def two_sides(rng, seeds, shift=0.0, spreads=(1.0, 1.0), cases=4):
    first, second = (rng.normal(0.0, s, (seeds, 1)) + rng.normal(0.0, 0.1, (seeds, cases)) for s in spreads)
    return paired.compare_runs([first + shift - second], sides=[(first + shift, second)])


@pytest.mark.parametrize("seeds", [4, 5, 8])
def test_the_wider_spread_of_two_evolvers_counts_for_both(seeds):
    line = np.linspace(-1.0, 1.0, seeds)[:, None]
    first, second = ((9.0 + a * line, b * line[::-1]) for a, b in ((1.0, 1.0), (1.4, 0.2)))
    alike, unlike = (paired.compare_runs([a - b], sides=[(a, b)]) for a, b in (first, second))
    assert alike.model.error < unlike.model.error
    assert alike.p < unlike.p if unlike.p is not None else seeds == 4


def test_two_evolvers_are_told_apart_from_four_seeds_on_and_against_a_mark_from_five():
    enough = [paired.enough_seeds([n]) for n in (3, 4)], [paired.enough_seeds([n], marked=True) for n in (4, 5)]
    assert enough == ([False, True], [False, True])
    assert [paired.enough_seeds(runs) for runs in ([3, 3], [2, 4], [2] * 6, [1] * 6)] == [True, False, True, True]


def test_seeds_of_one_evolver_that_all_agree_tell_nothing_without_bounds():
    varied = generator(2, "constant").uniform(0.0, 0.2, (16, 1))
    constant = np.full((16, 1), 0.9)
    compared = paired.compare_runs([constant - varied], sides=[(constant, varied)])
    assert (compared.p, compared.interval, compared.untold) == (None, None, Unknown.CONSTANT)
    bounded = paired.compare_runs([constant - varied], bounds=(-1.0, 1.0), sides=[(constant, varied)])
    assert bounded.untold is None
    assert bounded.p <= 0.05
    assert bounded.interval[0] > 0.0
    close = np.full((16, 1), 0.3)
    near = paired.compare_runs([close - varied], bounds=(-1.0, 1.0), sides=[(close, varied)])
    assert near.p > 0.05
    assert near.interval[0] < 0.0


def test_four_seeds_tell_nothing_where_one_evolver_varies_far_more_than_the_other():
    compared = two_sides(generator(3, "unlike"), 4, 40.0, (1.0, 0.01))
    assert (compared.p, compared.untold) == (None, Unknown.UNLIKE)
    assert two_sides(generator(3, "unlike"), 5, 40.0, (1.0, 0.01)).p <= 0.05


def test_what_evolvers_have_in_common_in_cases_is_no_spread_of_seeds():
    rng = generator(4, "common")
    hard = rng.normal(0.0, 100.0, (1, 16))
    first, second = (hard + rng.normal(s, 1.0, (6, 1)) for s in (4.0, 0.0))
    first[2, :8] = math.nan
    compared = paired.compare_runs([first - second], sides=[(first, second)])
    assert compared.mde < 10.0


def test_the_p_value_of_students_t_is_that_of_its_quantiles():
    for freedom in (1.0, 2.5, 7.0, 40.0):
        for p in (0.2, 0.05, 0.001):
            quantile = student_quantile(1.0 - p / 2, freedom)
            assert student_p(-quantile, freedom) == pytest.approx(p, rel=1e-4)
    assert student_p(1.959964, 1e9) == pytest.approx(0.05, rel=1e-5)
    assert student_p(40.0, 30.0) == pytest.approx(8.3e-28, rel=0.01)


def test_a_difference_of_the_detectable_size_is_found_four_times_in_five():
    rng = generator(6, "power")

    def compared(shift):
        cases = rng.normal(0.0, 0.5, (1, 16))
        first, second = (rng.normal(0.0, 1.0, (8, 1)) + rng.normal(0.0, 0.3, (8, 16)) for _ in range(2))
        first += cases + shift
        return paired.compare_runs([first - second], sides=[(first, second)])

    effect = float(np.mean([compared(0.0).mde for _ in range(400)]))
    assert np.mean([compared(effect).p <= 0.05 for _ in range(800)]) == pytest.approx(0.8, abs=0.06)


def test_pairing_removes_what_the_cases_share():
    rng = generator(7, "paired")
    cases = rng.normal(0.0, 50.0, (1, 32))
    a, b = (cases + rng.normal(shift, 1.0, (3, 32)) for shift in (2.0, 0.0))
    compared = paired.compare_paired([a - b])
    assert paired.verdict(compared.difference, compared.p) == "better"
    assert (compared.unit, compared.runs, compared.cases) == ("case", 3, 96)


def test_six_runs_are_compared_as_runs_whatever_their_cases_say():
    gaps = np.array([5.0, -5.0, 4.0, -4.0, 3.0, -2.5])[:, None] + np.zeros((6, 32))
    comparison = paired.compare_paired([gaps])
    assert comparison.unit == "run"
    assert comparison.p > 0.5


def test_a_suite_of_single_runs_is_compared_over_its_environments():
    comparison = paired.compare_paired([np.full((1, 4), gap) for gap in (0.4, 0.5, 0.6, 0.5, 0.45, 0.55, 0.5)])
    assert comparison.unit == "run"
    assert comparison.p < 0.001
    assert comparison.interval[0] > 0.3


def test_few_runs_are_compared_over_cases_and_a_large_family_detects_less():
    gaps = [generator(seed, "gaps").normal(0.3, 0.1, (3, 32)) for seed in range(3)]
    alone, corrected = paired.compare_paired(gaps), paired.compare_paired(gaps, tests=10)
    assert (alone.unit, corrected.runs, corrected.cases) == ("run", 9, 288)
    assert (alone.p, alone.interval) == (corrected.p, corrected.interval)
    assert corrected.mde > alone.mde
    few = paired.compare_paired([gap[:2] for gap in gaps])
    assert (few.unit, few.runs, few.enough) == ("case", 6, False)
    many = paired.compare_paired([gap[:2] for gap in gaps * 2])
    assert (many.unit, many.runs, many.enough) == ("run", 12, True)
    assert few.p < 0.001


def test_the_interval_of_the_runs_at_hand_ignores_how_runs_differ():
    table = 100.0 * np.arange(6)[:, None] + generator(0, "cases").normal(0.0, 1.0, 32)
    narrow, wide = stats.case_mean([table]), stats.crossed_mean([table])
    assert narrow.mean == pytest.approx(wide.mean)
    assert np.ptp(narrow.interval) < 2.0 < 100.0 < np.ptp(wide.interval)


def test_intervals_of_the_runs_at_hand_cover_what_they_promise():
    rng = generator(3, "coverage")
    hits = 0
    for _ in range(400):
        effects = [rng.normal(0.0, 5.0, (2, 1)) for _ in range(3)]
        truth = float(np.mean([e.mean() for e in effects]))
        tables = [e + rng.normal(0.0, 1.0, (1, 24)) for e in effects]
        low, high = stats.case_mean(tables).interval
        hits += low <= truth <= high
    assert 0.92 <= hits / 400 <= 0.98


def test_nothing_paired_gives_no_comparison():
    assert paired.compare_paired([[[math.nan]]]) is None
    assert paired.compare_paired([]) is None


@given(st.lists(st.lists(st.integers(-5, 5).map(float), min_size=3, max_size=3), min_size=1, max_size=4))
def test_swapping_the_sides_mirrors_the_comparison(rows):
    table = np.array(rows)
    forward, backward = paired.compare_paired([table]), paired.compare_paired([-table])
    assert forward.difference == pytest.approx(-backward.difference)
    assert forward.p == (None if backward.p is None else pytest.approx(backward.p))
    if forward.interval is not None:
        assert forward.interval[0] == pytest.approx(-backward.interval[1])
