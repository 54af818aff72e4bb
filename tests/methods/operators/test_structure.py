from __future__ import annotations

import ast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity.methods.operators.draw import survivors, tournament
from heredity.methods.programs import Shape
from heredity.methods.structural import (
    MAX_NODES,
    MUTATIONS,
    NICHES,
    PIECES,
    addressed,
    crossover,
    draw_controls,
    mutate,
    parse_expression,
    size,
    slots,
)

SHAPE = Shape(features=3, controls=2)
GRID = Shape(features=5, controls=1, choices=7, grid=True)


@pytest.mark.parametrize("piece", list(PIECES))
def test_every_piece_is_an_expression_over_existing_features(piece: str):
    rng = np.random.default_rng(0)
    for _ in range(20):
        text = PIECES[piece](rng, GRID if piece == "explorer" else SHAPE, 0)
        read = [n.slice for n in ast.walk(parse_expression(text)) if isinstance(n, ast.Subscript)]
        assert all(isinstance(i, ast.Constant) and 0 <= i.value < SHAPE.features for i in read)


@given(st.integers(0, 2**32 - 1))
def test_long_lines_of_descent_stay_valid_and_small(seed: int):
    rng = np.random.default_rng(seed)
    members = [draw_controls(rng, SHAPE, niche) for niche in NICHES]
    for _ in range(25):
        i, j = rng.integers(len(members), size=2)
        child = (
            crossover(rng, members[i], members[j])
            if rng.random() < 0.4
            else mutate(rng, members[i], SHAPE, NICHES[0])[0]
        )
        assert len(child) == 2
        assert all(size(text) <= MAX_NODES for text in child)
        members[i] = child


@pytest.mark.parametrize("name", list(MUTATIONS))
def test_each_mutation_can_change_a_control(name: str):
    text = "(0.5 * x[0] + sign(2.0 * x[1])) if x[2] > 0.1 else (p.toward(0, 1, 0.2))"
    results = {MUTATIONS[name](np.random.default_rng(s), text, SHAPE, 0, NICHES[0]) for s in range(10)}
    assert len(results - {ast.unparse(parse_expression(text)), text}) > 1


def test_indices_functions_and_comprehensions_are_not_exchanged():
    tree = parse_expression("sum(w * v for w, v in zip((1.0, 2.0), x)) + p.toward(0, 1, 0.5)")
    texts = [ast.unparse(slot.node) for slot in slots(tree)]
    assert texts[1:] == ["sum((w * v for w, v in zip((1.0, 2.0), x)))", "p.toward(0, 1, 0.5)", "0.5"]


def test_the_actions_of_an_explorer_stay_together():
    assert [ast.unparse(slot.node) for slot in slots(parse_expression("g.seek(0, 1, 2, (3, 5)) + 1.0"))][1:] == [
        "g.seek(0, 1, 2, (3, 5))",
        "1.0",
    ]


def test_a_planner_that_moves_plans_for_its_new_control():
    assert addressed("p.toward(0, 2, 0.5)", 3) == "p.toward(3, 2, 0.5)"


def test_crossover_brings_in_material_of_the_donor():
    rng = np.random.default_rng(1)
    children = {tuple(crossover(rng, ["x[0] + x[1]"], ["7.5 * x[2]"])) for _ in range(20)}
    assert any("7.5" in child[0] for child in children)


def test_survivors_are_the_best_and_among_equals_the_later():
    assert survivors("abcd", [1.0, 3.0, 3.0, 2.0], 2) == ["c", "b"]


def test_a_large_tournament_finds_the_best():
    assert tournament(np.random.default_rng(0), [0.0, 5.0, 1.0], size=50) == 1
