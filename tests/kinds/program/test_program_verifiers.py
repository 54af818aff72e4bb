"""Verifiers of the library's program tasks: what is right by a little is right, what is wrong by a little is refused."""

from __future__ import annotations

import importlib.util
from itertools import product
from typing import Any

import pytest

from heredity.kinds.program.taskset import library_folder


def scorer(name: str) -> Any:
    spec = importlib.util.spec_from_file_location("scorer", library_folder() / name / "scorer.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def program(name: str) -> Any:
    spec = importlib.util.spec_from_file_location("program", library_folder() / name / "program.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def grid(count: int, side: int) -> list[list[float]]:
    radius = 1 / (2 * side)
    return [[radius * (2 * x + 1), radius * (2 * y + 1), radius] for x, y in product(range(side), repeat=2)][:count]


def test_circles_touch_but_do_not_overlap_by_the_last_bit() -> None:
    verify, circles = scorer("circle-packing-32").verify, grid(32, 8)
    assert verify(circles) == {"sum_of_radii": 2.0}
    circles[0][2] = 0.0625 * (1 + 2**-52)
    with pytest.raises(ValueError, match="inside"):
        verify(circles)
    circles[0] = [0.0625 * (1 + 2**-52), 0.0625 * (1 + 2**-52), 0.0625]
    with pytest.raises(ValueError, match="overlap"):
        verify(circles)


@pytest.mark.parametrize(
    "circle", [[0.5, 0.5], [0.5, 0.5, 0.0], [0.5, 0.5, -0.1], [0.5, 0.5, "1"], [True, 0.5, 0.1], [2.0, 0.5, 0.1], None]
)
def test_what_is_no_circle_is_refused(circle: Any) -> None:
    circles: list[Any] = grid(26, 8)
    circles[3] = circle
    with pytest.raises(ValueError, match="circle 3"):
        scorer("circle-packing-26").verify(circles)


def test_points_on_a_line_span_nothing_and_outside_is_refused() -> None:
    verify = scorer("heilbronn-11").verify
    points = [[k / 32, k / 32] for k in range(11)]
    assert verify(points) == {"smallest_share": 0.0}
    with pytest.raises(ValueError, match="outside"):
        verify([*points[:10], [0.5, 0.5 + 2**-53]])


def test_the_even_function_overlaps_by_a_half_and_a_known_one_by_less() -> None:
    verify = scorer("min-overlap").verify
    assert verify([1.0] * 10) == {"overlap": 0.5}
    # Motzkin, Ralston and Selfridge (1956) gave 0.4 as the limit of step functions; this is one of theirs by its form.
    assert verify([0.5, 0.5, 1, 1, 1, 1, 0.5, 0.5])["overlap"] < 0.5
    with pytest.raises(ValueError, match="flatter"):
        verify([1.0, 0, 0, 0, 0, 0, 0, 0])
    with pytest.raises(ValueError, match="not negative"):
        verify([-1e-300] + [1.0] * 9)


def batcher(count: int) -> list[list[int]]:
    """Return Batcher's network of odd-even merges (1968)."""
    pairs: list[list[int]] = []
    p = 1
    while p < count:
        k = p
        while k >= 1:
            for j in range(k % p, count - k, 2 * k):
                near = range(min(k, count - j - k))
                pairs += [[i + j, i + j + k] for i in near if (i + j) // (2 * p) == (i + j + k) // (2 * p)]
            k //= 2
        p *= 2
    return pairs


def test_a_network_sorts_or_the_input_that_it_does_not_sort_is_named() -> None:
    verify, network = scorer("sorting-network-16").verify, batcher(16)
    assert verify(network) == {"comparators": 63}
    for left_out in (0, 31, 62):
        with pytest.raises(ValueError, match="does not sort"):
            verify([pair for k, pair in enumerate(network) if k != left_out])
    with pytest.raises(ValueError, match="no comparator"):
        verify([[1, 0], *network])


def test_a_scheme_is_right_in_every_coefficient() -> None:
    verify, terms = scorer("matmul-3x3").verify, program("matmul-3x3").solve()
    assert verify(terms) == {"multiplications": 27}
    terms[5][1][3] += 2**-40
    with pytest.raises(ValueError, match="times A"):
        verify(terms)


def test_a_scheme_with_fewer_multiplications_is_counted() -> None:
    """Strassen's seven for the upper left 2 x 2 block, and the definition for the rest."""
    strassen = [
        ("0+4", "0+4", "0+4"), ("3+4", "0", "3-4"), ("0", "1-4", "1+4"), ("4", "3-0", "0+3"),
        ("0+1", "4", "1-0"), ("3-0", "0+1", "4"), ("1-4", "3+4", "0"),
    ]  # fmt: skip

    def row(text: str) -> list[int]:
        found, sign = [0] * 9, 1
        for sign_or_cell in text:
            if sign_or_cell.isdigit():
                found[int(sign_or_cell)] = sign
            sign = -1 if sign_or_cell == "-" else 1
        return found

    terms = [[row(part) for part in term] for term in strassen]
    rest = [(i, j, k) for i, j, k in product(range(3), repeat=3) if 2 in (i, j, k)]
    terms += [[row(str(3 * i + k)), row(str(3 * k + j)), row(str(3 * i + j))] for i, j, k in rest]
    assert scorer("matmul-3x3").verify(terms) == {"multiplications": 26}


def test_bins_are_counted_on_the_instance_of_the_seed() -> None:
    module, solve = scorer("bin-packing"), program("bin-packing").solve
    found = module.verify(solve(5), 5)
    assert found["bins_over_bound"] >= 1
    assert found["bins"] == len(set(solve(5)))
    assert module.items(5) != module.items(6)
    with pytest.raises(ValueError, match="capacity"):
        module.verify([0] * 150, 5)
