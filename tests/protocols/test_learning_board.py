from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from heredity._core.ids import generator
from heredity.analysis.suite_table import REFERENCE, Cell, TasksetScores
from heredity.protocols.agent_learning.protocol import learning_board, learning_space

LEVELS = generator(1, "board").uniform(0.02, 0.08, 12)


def cell(gain: float, seeds: int, name: str) -> Cell:
    scores = LEVELS + gain + generator(2, "board", name).normal(0.0, 0.002, (seeds, 12))
    runs: Any = [(SimpleNamespace(seed=seed), None) for seed in range(seeds)]
    return Cell(runs, scores)


def worlds(gains: dict[str, float], seeds: int = 3, leave_out: str = "") -> list[TasksetScores]:
    return [
        TasksetScores(
            world,
            "",
            "",
            {e: cell(g, seeds, e + world) for e, g in gains.items() if (e, world) != (leave_out, "b")},
            {REFERENCE: LEVELS},
        )
        for world in ("a", "b", "c")
    ]


def test_gains_next_to_nothing_stay_next_to_nothing() -> None:
    board = learning_board(worlds({"a": 0.0006, "b": 0.0005}))
    assert all(abs(row.gain) < 0.01 for row in board), "not normalised by the best of them"
    assert {row.evolvers.verdict for row in board} == {"within noise"}


def test_who_was_not_scored_everywhere_is_not_compared() -> None:
    first, second = learning_board(worlds({"lucky": 0.5, "whole": 0.1}, leave_out="lucky"))
    assert (first.evolver, first.tasksets, first.candidates.verdict) == ("whole", 3, "better")
    assert (second.evolver, second.tasksets, second.mean, second.tied) == ("lucky", 2, None, False)


@pytest.mark.parametrize(("ahead", "tied"), [(0.0, True), (0.0001, True), (0.1, False)])
def test_what_cannot_be_told_from_the_first_is_tied_with_it(ahead: float, tied: bool) -> None:
    board = learning_board(worlds({"a": 0.1 + ahead, "b": 0.1}))
    assert board[1].tied is tied


def test_of_six_seeds_an_evolver_gains() -> None:
    (row,) = learning_board(worlds({"a": 0.1}, seeds=6))
    assert (row.evolvers.verdict, row.evolvers.unit) == ("better", "run")


def test_equal_methods_are_both_picked_by_the_bound() -> None:
    scores = np.full((1, 4), 0.5)
    runs: Any = [(SimpleNamespace(seed=0), None)]
    space = learning_space(
        [TasksetScores("w", "", "", {"a": Cell(runs, scores), "b": Cell(runs, scores)}, {REFERENCE: np.zeros(4)})]
    )
    assert (space.upper_bound.picked[0].method, space.upper_bound.picked[0].tied) == ("a", ["b"])


def test_no_worlds_make_no_board() -> None:
    assert learning_board([]) == []
