"""What changes nothing gains nothing, with real models and real grading: copies of two base models in one matrix."""

from __future__ import annotations

import asyncio
import importlib.metadata
from pathlib import Path

import pytest

from heredity.agents.launchers import available
from heredity.experiments.config import resolve
from heredity.experiments.suite import open_suite, run_suite
from heredity.sandbox import inference as sandbox

BASES = ["characters/arithmetic", "characters/multi:arithmetic+rewriting"]


@pytest.mark.slow
@pytest.mark.skipif(available() is not None, reason="agents cannot be confined here")
@pytest.mark.skipif(
    any(not list(importlib.metadata.distributions(name=name)) for name in sandbox.ROOTS), reason="torch is missing"
)
def test_a_copy_of_either_base_model_gains_exactly_nothing(tmp_path: Path) -> None:
    config = resolve(
        {
            "run": {"protocol": "post-training", "tasksets": ["posttraining/arithmetic"], "name": "copies"},
            "evolver": {"launcher": "heredity.library:agents/posttraining", "environment": {"ROUTE": "copy"}},
            "budget": {"seconds": 60, "train_cases": 150},
            "views": {"heldout": 200},
            "engine": {"parallel_runs": 1},
            "matrix": {"training.base_model": BASES},
        }
    )
    folder = tmp_path / "runs" / "copies"
    result = asyncio.run(run_suite(folder, open_suite(folder, config)))
    assert not result.failures
    assert {run.part.base_model for run in result.runs} == set(BASES)
    for run in result.runs:
        assert run.part.process.copies >= 1, "the untouched base model was submitted"
        assert run.heldout.scores == run.reference.heldout_scores
        assert run.gain.difference == 0.0
    (taskset,) = result.metrics.tasksets
    own = [cell for cell in taskset.cells if not cell.reference]
    assert len(own) == 2
    assert {(cell.normalised, cell.mean - cell.reference_mean) for cell in own} == {(0.0, 0.0)}
    assert len({cell.mean for cell in own}) == 2, (
        "the two bases do not score alike, so one reference would not do for both"
    )
    for entry in result.metrics.part.entries:
        assert (entry.improvement, entry.graded.difference, entry.heldout.difference) == (0.0, 0.0, 0.0)
    assert [row.executed for row in result.metrics.part.tables.outcomes] == [0, 0]
