from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity.methods.operators.objectives import group_signals, reinforce_signal, similarity

texts = st.text("ab c.\n", max_size=60)
unit = st.floats(0.01, 1)


@given(texts, texts)
def test_similarity_is_symmetric_and_between_0_and_1(a: str, b: str) -> None:
    assert 0 < similarity(a, b) <= 1
    assert similarity(a, b) == similarity(b, a)
    assert similarity(a, a) == 1


def test_similarity_falls_with_the_number_of_words_that_differ() -> None:
    text = "Add the two numbers and give the sum at the end."
    small, large = text.replace("two", "three"), "Take a guess, whatever it may be, and be done with it."
    assert 1 > similarity(text, small) > 0.7 > 0.3 > similarity(text, large) > 0
    assert similarity("carry the one", "one the carry") < 1


def test_the_signal_of_reinforce_is_what_the_formula_says() -> None:
    near = reinforce_signal(0.8, 0.9, 0.5, beta=0.1, clip=0.2, floor=1e-3)
    assert near.penalty == pytest.approx(0.1 * math.log(2))
    assert near.advantage == pytest.approx(0.8 - near.penalty)
    assert near.objective == pytest.approx(0.9 * near.advantage)
    far = reinforce_signal(0.0, 0.1, 1e-9, beta=0.1, clip=0.2, floor=1e-3)
    assert far.advantage == pytest.approx(-0.1 * math.log(1000))
    assert far.objective == pytest.approx(0.8 * far.advantage)


@given(st.lists(st.tuples(st.floats(0, 1), unit), min_size=2, max_size=8))
def test_advantages_of_a_group_have_mean_0_and_deviation_1(group: list[tuple[float, float]]) -> None:
    signals = group_signals([r for r, _ in group], [p for _, p in group], low=0.2, high=0.28)
    advantages = np.array([s.advantage for s in signals])
    assert advantages.mean() == pytest.approx(0, abs=1e-6)
    if np.ptp([r for r, _ in group]) > 1e-6:
        assert advantages.std() == pytest.approx(1, abs=1e-6)
    else:
        assert np.abs(advantages).max() < 3
    for signal in signals:
        clipped = min(signal.ratio, 1.28) if signal.advantage >= 0 else max(signal.ratio, 0.8)
        assert signal.objective == min(signal.ratio * signal.advantage, clipped * signal.advantage)


def test_of_a_group_of_equals_nobody_has_an_advantage() -> None:
    assert {s.objective for s in group_signals([0.5, 0.5, 0.5], [1, 0.5, 0.2], low=0.2, high=0.28)} == {0.0}
    assert group_signals([], [], low=0.2, high=0.28) == []
