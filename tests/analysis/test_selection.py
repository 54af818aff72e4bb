from __future__ import annotations

import numpy as np
import pytest

from heredity._core.ids import generator
from heredity.analysis.run_results import best_corrected, gap

CANDIDATES, CASES = 16, 24
WORTH = {
    "alike": np.full(CANDIDATES, 0.5),
    "climbing": np.linspace(0.3, 0.7, CANDIDATES),
    "one better": np.where(np.arange(CANDIDATES) == 7, 0.6, 0.4),
}


@pytest.mark.parametrize("name", WORTH)
@pytest.mark.fast(1)
def test_the_corrected_best_is_what_the_picked_candidate_is_worth_within_two_points(name: str) -> None:
    worth, draws = WORTH[name], generator(5, "tests", "selection", name)
    naive, corrected = [], []
    for _ in range(300):
        scores = (draws.random((CANDIDATES, CASES)) < worth[:, None]).astype(float)
        picked = int(scores.mean(axis=1).argmax())
        naive.append(scores.mean(axis=1)[picked] - worth[picked])
        corrected.append(best_corrected(scores)[-1] - worth[picked])
    assert np.mean(naive) > 0.1, "picked by the cases that score it, the best is flattered"
    # The bias, and three standard errors of 300 draws.
    assert abs(np.mean(corrected)) < 0.02 + 3 * np.std(corrected) / np.sqrt(300)


def test_one_candidate_is_its_mean_and_a_better_one_takes_over() -> None:
    low, high = np.linspace(0.0, 0.2, 10), np.linspace(0.7, 0.9, 10)
    assert best_corrected([low, high, low]) == pytest.approx([0.1, 0.8, 0.8])


def test_missing_cases_are_left_out_and_too_few_say_nothing() -> None:
    scores = np.array([[0.2, 0.4, np.nan, 0.4, 0.2, 0.3], [0.8, 0.9, 0.7, np.nan, 0.8, 0.8]])
    assert best_corrected(scores) == pytest.approx([0.3, 0.8], abs=0.02)
    assert best_corrected([[0.5], [0.7]]) is None
    assert best_corrected(np.zeros((2, 0))) is None


def test_the_gap_to_held_out_has_the_errors_of_both_sides() -> None:
    difference, interval = gap([0.0, 1.0] * 8, [0.25, 0.75] * 16)
    assert difference == 0.0
    assert interval[0] == pytest.approx(-interval[1])
    assert interval[1] == pytest.approx(0.289, abs=0.01)
    assert gap([1.0], [0.5, 0.5]) == (0.5, None)
