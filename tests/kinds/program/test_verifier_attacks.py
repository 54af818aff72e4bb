"""Answers that are made to be worth more than they are: none of them is worth more than the honest one that it was made from.

What no JSON can hold, and what a program writes in the place of its answer, is tried in the sandbox
(`tests/kinds/program/test_program_answers.py`).
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from tests.kinds.program.test_program_verifiers import batcher, grid, program, scorer

from heredity.kinds.program.taskset import library_folder, read_program_task

HUGE, TINY, ULP = 10**4000, 5e-324, 2.0**-52


def with_cell(answer: list[Any], index: tuple[int, ...], value: Any) -> list[Any]:
    """Return an answer with another value at one place."""
    changed = deepcopy(answer)
    row = changed
    for position in index[:-1]:
        row = row[position]
    row[index[-1]] = value
    return changed


def strange(answer: list[Any], cell: tuple[int, ...]) -> dict[str, Any]:
    """Return attempts that are of no shape, or hold what is no number."""
    values = {
        "huge": HUGE,
        "minus huge": -HUGE,
        "true": True,
        "text": "0.5",
        "none": None,
        "list": [0.5],
        "parts": {"n": 1, "d": 3},
    }
    wrong: dict[str, Any] = {
        "nothing": None,
        "number": 1e308,
        "text": "x" * len(answer),
        "empty": [],
        "object": {"0": answer},
    }
    return {**wrong, **{f"a cell that is {name}": with_cell(answer, cell, value) for name, value in values.items()}}


def circles(count: int) -> dict[str, Any]:
    honest = grid(count, 8)
    touching = honest[0]
    return {
        **strange(honest, (0, 2)),
        "one more": [*honest, [0.99, 0.99, 0.001]],
        "one less": honest[:-1],
        "larger by the last bit": with_cell(honest, (0, 2), touching[2] * (1 + ULP)),
        "larger by a usual tolerance": [[x, y, r + 1e-9] for x, y, r in honest],
        "over the edge by the least number": with_cell(honest, (0, 0), touching[0] - touching[0] * ULP),
        "negative radius": with_cell(honest, (1, 2), -0.5),
        "no radius": with_cell(honest, (1, 2), 0.0),
        "one inside of another": [[0.5, 0.5, 0.5], *honest[1:]],
        "all the same": [[0.5, 0.5, 0.5]] * count,
        "a fourth number": [[*circle, 1.0] for circle in honest],
        "outside": with_cell(honest, (0, 0), 7.0),
        "a radius that rounds to nothing beside large ones": [[0.5, 0.5, 0.5], *([[0.5, 0.5, TINY]] * (count - 1))],
    }


def points() -> dict[str, Any]:
    honest = program("heilbronn-11").solve()
    return {
        **strange(honest, (0, 0)),
        "one less": honest[:-1],
        "one more": [*honest, [0.1, 0.1]],
        "twice as large": [[2 * x, 2 * y] for x, y in honest],
        "below zero by the least number": with_cell(honest, (0, 0), -TINY),
        "over the long side by the last bit": [*honest[:-1], [0.5, 0.5 + ULP]],
        "all the same": [[0.2, 0.2]] * 11,
        "two the same": [honest[0], *honest[:-1]],
        "only three apart": [[0, 0], [1, 0], [0, 1], *([[0, 0]] * 8)],
        "a third number": [[*point, 1] for point in honest],
    }


def spread_points() -> dict[str, Any]:
    honest = program("distance-ratio-16").solve()
    return {
        **strange(honest, (0, 0)),
        "one less": honest[:-1],
        "one more": [*honest, [0.1, 0.1]],
        "all the same": [[0.2, 0.2]] * 16,
        "two the same": [honest[0], *honest[:-1]],
        "two apart by the least number": [[0, 0], [0, TINY], *honest[2:]],
        "a third number": [[*point, 1] for point in honest],
        "so near that squares round to zero": [[1e-200 * x, 1e-200 * y] for x, y in honest],
        "so far that squares are infinite": [[1e200 * x, 1e200 * y] for x, y in honest],
        "a million times as large": [[1e7 * x, 1e7 * y] for x, y in honest],
    }


def rectangles() -> dict[str, Any]:
    width, honest = program("circles-in-rectangle-21").solve()
    square = [[x * 0.8, y * 0.8, r * 0.8] for x, y, r in grid(21, 5)]
    return {
        **strange([width, honest], (1, 0, 2)),
        "no width": honest,
        "a width that is true": [True, square],
        "a width that is text": ["0.8", honest],
        "as wide as the perimeter allows and more": [2.0 + ULP, honest],
        "no height": [2, honest],
        "a negative width": [-1.0, honest],
        "larger by the last bit of the width": [width * (1 - ULP), [[x * 1.01, y, r * 1.01] for x, y, r in honest]],
        "one more": [width, [*honest, [0.4, 0.6, 0.001]]],
        "one less": [width, honest[:-1]],
        "all the same": [width, [[0.4, 0.6, 0.4]] * 21],
        "over the edge": [width, with_cell(honest, (0, 0), 0.0)],
        "a negative radius": [width, with_cell(honest, (1, 2), -0.5)],
    }


def steps() -> dict[str, Any]:
    honest = program("min-overlap").solve()
    return {
        **strange(honest, (0,)),
        "all zero": [0.0] * 10,
        "negative by the least number": [-TINY, *honest[1:]],
        "a negative one that makes the overlap less": [-1.0, *[1.0] * 9],
        "one high step": [1.0, *[0.0] * 9],
        "a step above one by the last bit": [1.0 + 1e-15, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        "too few": [1.0] * 7,
        "too many": [1.0] * 401,
        "so small that sums round to zero": [TINY] * 10,
        "so large that sums are infinite": [1e308] * 10,
        "large beside small": [1e9, 1e-300] * 5,
    }


def networks() -> dict[str, Any]:
    honest = batcher(16)
    return {
        **strange(honest, (0, 0)),
        "one less": honest[:-1],
        "one less in the middle": honest[:30] + honest[31:],
        "turned round": [pair[::-1] for pair in honest],
        "a channel with itself": [[3, 3]],
        "channels from the end": [[-16, -1], *honest],
        "a channel that is not there": [[0, 16], *honest],
        "three channels at once": [[0, 1, 2], *honest],
        "fractions of channels": [[0.0, 1.0], *honest[1:]],
        "a thousand and more": honest * 16,
        "twice the same": honest[:31] + honest[30:31] * 2 + honest[31:],
    }


def schemes() -> dict[str, Any]:
    honest = program("matmul-3x3").solve()
    return {
        **strange(honest, (0, 0, 0)),
        "one less": honest[:-1],
        "wrong by the least number": with_cell(honest, (0, 0, 0), 1 + ULP),
        "wrong where it is multiplied by next to nothing": with_cell(honest, (0, 1, 8), TINY),
        "two in one": [*honest[:-2], [[*a, *b] for a, b in zip(honest[-2], honest[-1], strict=True)]],
        "four parts": [[*term, term[0]] for term in honest],
        "cancelled": [*honest, honest[0], [[-v for v in honest[0][0]], *honest[0][1:]]],
        "numbers that cancel when rounded": with_cell(honest, (0, 0, 1), 1e300),
        "two hundred and one": (honest * 8)[:201],
    }


def bins() -> dict[str, Any]:
    honest = program("bin-packing").solve(5)
    return {
        **strange(honest, (0,)),
        "one bin": [0] * 150,
        "one item left out": honest[:-1],
        "one item more": [*honest, 0],
        "an item in no bin": [None, *honest[1:]],
        "an item in two": [[0, 1], *honest[1:]],
        "bins that are equal as numbers": [v / 1 for v in honest],
        "of another seed": program("bin-packing").solve(6),
        "true and false": [v % 2 == 0 for v in honest],
        "one bin too full": [honest[1], *honest[1:]] if honest[0] != honest[1] else [honest[-1], *honest[1:]],
    }


ATTEMPTS: dict[str, dict[str, Any]] = {
    "circle-packing-26": circles(26),
    "circle-packing-32": circles(32),
    "heilbronn-11": points(),
    "distance-ratio-16": spread_points(),
    "circles-in-rectangle-21": rectangles(),
    "min-overlap": steps(),
    "sorting-network-16": networks(),
    "matmul-3x3": schemes(),
    "bin-packing": bins(),
}
HONEST: dict[str, Any] = {
    "circle-packing-26": grid(26, 8),
    "circle-packing-32": grid(32, 8),
    "heilbronn-11": program("heilbronn-11").solve(),
    "distance-ratio-16": program("distance-ratio-16").solve(),
    "circles-in-rectangle-21": program("circles-in-rectangle-21").solve(),
    "min-overlap": program("min-overlap").solve(),
    "sorting-network-16": batcher(16),
    "matmul-3x3": program("matmul-3x3").solve(),
    "bin-packing": program("bin-packing").solve(5),
}


def score(name: str, answer: Any) -> float | None:
    """Return what an answer is worth, or None if it is refused; anything but a refusal is the verifier's own fault."""
    task = read_program_task(library_folder() / name)
    verify = scorer(name).verify
    try:
        metrics = verify(answer, 5) if task.seeded else verify(answer)
    except ValueError:
        return None
    value = metrics[task.declared.metric] if task.declared.metric else sum(metrics.values()) / len(metrics)
    return -value if task.declared.minimise else value


@pytest.mark.parametrize("name", ATTEMPTS)
def test_no_answer_is_worth_more_than_it_is(name: str) -> None:
    honest = score(name, HONEST[name])
    assert honest is not None
    worth = {attempt: score(name, answer) for attempt, answer in ATTEMPTS[name].items()}
    assert len(worth) >= 20
    assert {attempt: value for attempt, value in worth.items() if value is not None and value > honest} == {}


def test_every_task_of_the_library_is_attacked() -> None:
    assert ATTEMPTS.keys() == {path.name for path in library_folder().iterdir() if (path / "task.toml").is_file()}
