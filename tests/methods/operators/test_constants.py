from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError
from heredity.methods.operators.constants import find_constants, rewrite_constants

PROGRAM = '''"""A docstring with 1.5 in it."""

SCALE = (0.25, 3)  # fixed
WEIGHTS = [1, -0.5, 2e-3]   # kept comment 9.9


def act(x: float, gain: float = 2.0):
    é = "ü" + f"{x:.3f} {1.25}"; y = -0.75 * x[1] - 4 ** 0.5
    for i in range(3):
        y += WEIGHTS[i] * x[2:3][0]
    return y if y > .5 else -(1.0)
'''


def values(source: str) -> list[float]:
    return [constant.value for constant in find_constants(source)]


def test_floats_and_the_integers_beside_them_are_tunable_and_nothing_else():
    assert values(PROGRAM) == [1.0, -0.5, 0.002, -0.75, 0.5, 0.5, -1.0]


def test_unchanged_values_keep_every_byte():
    assert rewrite_constants(PROGRAM, values(PROGRAM)) == PROGRAM


def test_new_values_replace_the_digits_and_leave_the_rest():
    changed = rewrite_constants(PROGRAM, [7.0, 0.125, -3.0, 0.5, 0.25, -1.0, -2.0])
    expected = (
        PROGRAM.replace("[1, -0.5, 2e-3]", "[7.0, 0.125, -3.0]")
        .replace("-0.75 * x[1]", "0.5 * x[1]")
        .replace("4 ** 0.5", "4 ** 0.25")
        .replace("> .5", "> -1.0")
        .replace("-(1.0)", "-2.0")
    )
    assert changed == expected


def test_a_constant_that_turns_negative_keeps_its_precedence():
    changed = rewrite_constants("y = 2.0 ** 2\nz = 1 - 2.0\n", [-3.0, -3.0])
    names: dict[str, float] = {}
    exec(changed, names)
    assert (names["y"], names["z"]) == (9.0, 4.0)


def test_a_wrong_number_of_values_is_refused():
    with pytest.raises(ConfigError, match="2 values were given for 1"):
        rewrite_constants("y = 1.0", [1.0, 2.0])


def test_a_value_that_is_not_finite_is_refused():
    with pytest.raises(ConfigError, match="line 1"):
        rewrite_constants("y = 1.0", [float("nan")])


def test_source_that_does_not_parse_is_a_clear_error():
    with pytest.raises(ConfigError, match="not valid Python"):
        find_constants("def act(:")


@pytest.mark.parametrize(
    "source", ["x = " + "-" * 20_000 + "1", "x = 1" + " + 1" * 1500, "if a: pass\n" + "elif a: pass\n" * 1500]
)
def test_source_that_would_exhaust_the_stack_is_a_clear_error(source: str):
    with pytest.raises(ConfigError, match="nested"):
        find_constants(source)


@given(st.lists(st.floats(-1e6, 1e6), min_size=7, max_size=7))
def test_rewritten_constants_read_back(new: list[float]):
    changed = rewrite_constants(PROGRAM, new)
    assert values(changed) == pytest.approx(new, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_endings_do_not_shift_positions(ending: str):
    source = ending.join(["# é", "x = 1.5", "y = 2.5", ""])
    assert rewrite_constants(source, [3.5, -4.5]) == ending.join(["# é", "x = 3.5", "y = -4.5", ""])
