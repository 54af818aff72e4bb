from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from heredity._core.ids import generator
from heredity.analysis.suite_table import REFERENCE, Cell, TasksetScores
from heredity.protocols.agent_learning.protocol import skin_comparisons


def taskset(name: str, scores: np.ndarray, seeds: Sequence[int] = ()) -> TasksetScores:
    runs: Any = [(SimpleNamespace(seed=seed), None) for seed in seeds or range(len(scores))]
    return TasksetScores(name, "", "", {"agent": Cell(runs, scores)}, {REFERENCE: np.full(scores.shape[1], 0.1)})


LEVELS = generator(1, "levels").uniform(0.2, 0.8, 10)
HURT = 0.15 + generator(3, "hurt").normal(0.0, 0.02, 10)
PLAIN = LEVELS + generator(2, "noise").normal(0.0, 0.01, (3, 10))


def test_an_inversion_that_hurts_is_found_level_by_level() -> None:
    comparisons = skin_comparisons([taskset("worlds/a", PLAIN), taskset("worlds/a?skin=inverse", PLAIN - HURT)])
    agent, reference = comparisons
    assert (agent.taskset, agent.evolver, agent.candidates.verdict) == ("worlds/a", "agent", "worse")
    assert agent.evolvers.verdict == "cannot tell yet", "three runs"
    assert agent.difference == pytest.approx(-HURT.mean())
    assert agent.candidates.ci[1] < 0
    assert (reference.difference, reference.candidates.verdict) == (0.0, "within noise")


def test_other_options_must_agree_and_a_world_alone_has_nothing_to_be_compared_with() -> None:
    easy = taskset("worlds/a?difficulty=1", PLAIN)
    assert skin_comparisons([easy, taskset("worlds/a?skin=inverse", PLAIN)]) == []
    both = taskset("worlds/a?difficulty=1&skin=inverse", PLAIN)
    assert [row.taskset for row in skin_comparisons([easy, both])] == ["worlds/a?difficulty=1"] * 2
    assert skin_comparisons([taskset("worlds/a", PLAIN)]) == []


def test_runs_are_paired_by_their_seeds_whichever_one_of_them_is_missing() -> None:
    of_seeds = PLAIN + np.array([[0.0], [0.3], [0.6]])
    straight, turned = taskset("worlds/a", of_seeds), taskset("worlds/a?skin=inverse", (of_seeds - HURT)[1:], (1, 2))
    agent = skin_comparisons([straight, turned])[0]
    assert agent.difference == pytest.approx(-HURT.mean()), "seed 1 with seed 1, not with seed 0"
