from __future__ import annotations

import numpy as np
import pytest

from heredity.methods.programs import Shape
from heredity.methods.structural import behaviour, probes

BOX = Shape(features=3, controls=1)
CHOICE = Shape(features=3, controls=1, choices=3)


def decides(text: str, shape: Shape = BOX) -> tuple[float, ...] | None:
    return behaviour([text], shape, probes(np.random.default_rng(0), shape))


@pytest.mark.parametrize(
    ("one", "other"),
    [("sign(2.0 * x[0])", "sign(0.5 * x[0])"), ("x[1] - 0.0", "x[1]"), ("0.2 if x[0] > 99.0 else d[1]", "d[1]")],
)
def test_changes_of_text_alone_are_seen_through(one: str, other: str):
    assert decides(one) == decides(other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [("sign(x[0])", "sign(-x[0])"), ("math.sin(0.5 * t)", "math.sin(0.6 * t)"), ("m[0]", "m[1]"), ("0.5", "0.6")],
)
def test_changes_of_behaviour_are_noticed(one: str, other: str):
    assert decides(one) != decides(other)


def test_choices_are_compared_as_choices():
    assert decides("0.5", CHOICE) == decides("0.6", CHOICE)
    assert decides("0.5", CHOICE) != decides("0.0", CHOICE)
    drawn = probes(np.random.default_rng(0), CHOICE)
    assert behaviour(["5.0 * x[0]", "-1.0"], CHOICE, drawn) == behaviour(["9.0 * x[0]", "-3.0"], CHOICE, drawn)


@pytest.mark.parametrize(
    "text", ["p.toward(0, 1, 0.5)", "__import__('os').getcwd()", "x[9]", "sum(v for v in x)", "open(x)"]
)
def test_anything_but_plain_expressions_is_left_alone(text: str):
    assert decides(text) is None
