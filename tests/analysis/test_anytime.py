from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from heredity._core.ids import generator
from heredity.analysis.anytime import LEAST_SEEDS, LEVEL, log_wealth, look

CASES = 16
SEEDS = 24

Law = Callable[[np.random.Generator, int], np.ndarray]
ALIKE: dict[str, Law] = {
    "normal": lambda rng, n: rng.normal(size=n) - rng.normal(size=n),
    "skewed": lambda rng, n: rng.lognormal(size=n) - rng.lognormal(size=n),
    "heavy": lambda rng, n: rng.standard_cauchy(n),
    "Bernoulli": lambda rng, n: (rng.random(n) < 0.3).astype(float) - (rng.random(n) < 0.3),
}


def table(rng: np.random.Generator, law: str, effect: float = 0.0, of_cases: float = 0.5) -> np.ndarray:
    own = rng.normal(0.0, of_cases, (1, CASES)) + rng.normal(0.0, 0.5, (SEEDS, CASES))
    return effect + ALIKE[law](rng, SEEDS)[:, None] + own


@pytest.mark.parametrize("law", ALIKE)
def test_wealth_on_the_signs_of_alike_entries_rarely_ever_comes_to_twenty(law: str) -> None:
    rng = generator(1, "anytime", law)
    paths = log_wealth(np.array([ALIKE[law](rng, 100) for _ in range(2000)]))
    assert (paths.max(axis=1) >= np.log(20.0)).mean() <= LEVEL + 0.01


@pytest.mark.parametrize("law", ALIKE)
def test_peeking_after_each_seed_rarely_decides_between_alike_entries(law: str) -> None:
    rng, suites = generator(2, "anytime", law), 60
    wrong = 0
    for _ in range(suites):
        scores = table(rng, law)
        wrong += any((seen := look([scores[:n]])) and seen.decided for n in range(LEAST_SEEDS, SEEDS + 1, 4))
    assert wrong / suites <= LEVEL


def test_a_true_difference_is_decided_and_its_interval_holds_it() -> None:
    rng = generator(3, "anytime")
    looks = [seen for _ in range(40) if (seen := look([table(rng, "normal", 3.0)]))]
    assert np.mean([seen.decided for seen in looks]) > 0.9
    assert all(seen.interval and seen.interval[0] <= 3.0 <= seen.interval[1] for seen in looks)


def test_p_and_interval_never_contradict_each_other() -> None:
    rng = generator(4, "anytime")
    for _ in range(60):
        seen = look([table(rng, "normal", float(rng.uniform(-2.0, 2.0)))[: rng.integers(6, SEEDS)]])
        assert seen is not None
        outside = seen.interval is not None and not seen.interval[0] <= 0.0 <= seen.interval[1]
        assert seen.decided == outside


def test_the_fewest_seeds_that_decide_are_as_stated() -> None:
    wide = np.full((LEAST_SEEDS, 5), 1.0)
    assert look([wide[:-1]]).decided is False  # type: ignore[union-attr]
    assert look([wide]).decided is True  # type: ignore[union-attr]


def test_a_difference_is_the_same_in_any_unit_and_for_either_first() -> None:
    scores = table(generator(5, "anytime"), "normal", 1.0)
    one, turned, large = look([scores]), look([-scores]), look([scores * 1e150])
    assert one
    assert turned
    assert large
    assert one.p == pytest.approx(turned.p) == pytest.approx(large.p)
    assert one.interval == pytest.approx((-turned.interval[1], -turned.interval[0]))
    assert large.interval == pytest.approx([end * 1e150 for end in one.interval])


def test_luck_with_the_cases_that_all_seeds_share_decides_nothing() -> None:
    rng, wrong = generator(6, "anytime"), 0
    for _ in range(100):
        scores = rng.normal(0.0, 1.0, (1, CASES)) + rng.normal(0.0, 0.1, (20, CASES))
        seen = look([scores])
        wrong += seen is not None and seen.decided
    assert wrong <= 6, "a test over seeds alone takes it for the entry's doing nearly always"


def test_one_case_or_no_pair_says_nothing_of_new_cases() -> None:
    only = look([np.ones((12, 1))])
    assert only is not None
    assert (only.p, only.interval, only.decided) == (None, None, False)
    assert look([]) is None
    assert look([np.full((3, 4), np.nan)]) is None


def test_a_seed_that_is_missing_on_one_taskset_is_left_out() -> None:
    scores = table(generator(7, "anytime"), "normal")
    holed = scores.copy()
    holed[3] = np.nan
    assert look([scores, holed]) == look([np.delete(scores, 3, 0)] * 2)
