"""Whatever learns in the worlds and questions of the library learns in a composed world too."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from heredity.experiments.config import cells, load, suites, suites_of
from heredity.experiments.suite import open_suite, run_suite

LEARNING = sorted({path.stem for name in ("agent-learning", "resource-evolution") for path in suites_of(name)})
SMALL = (
    'run.tasksets=["worlds/composed?seed=22&difficulty=1"]',
    "run.seeds=1",
    "evolver.initial=heredity.library:harnesses/explorer",
    "budget.rollouts=24",
    "budget.train_cases=4",
    "views.heldout=2",
    "gateway.optimisation=offline/world-learner",
)


def test_learning_suites_are_there() -> None:
    assert {"worlds-six", "worlds-composed", "worlds-across", "worlds-skins", "questions-offline"} <= {*LEARNING}


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNING)
def test_a_learning_suite_runs_in_a_composed_world(name: str, tmp_path: Path) -> None:
    learns = load(suites()[name]).evolver.options
    config = load(suites()[name], SMALL, {"evolver.options": {"batch": 2, "rounds": 1}} if learns else None)
    result = asyncio.run(run_suite(tmp_path / "suite", open_suite(tmp_path / "suite", config)))
    assert not result.failures
    assert not result.evolver_failures
    assert len(result.runs) == len(cells(config))
    for run in result.runs:
        assert run.taskset == "worlds/composed-22?difficulty=1"
        assert run.heldout is not None
        assert (run.heldout.n, run.heldout.failures) == (2, 0)
        assert run.budget.used > 2 or not learns
