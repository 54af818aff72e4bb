"""ACE, Training-Free GRPO, prompt refinement and GEPA on real questions, with offline models, through the session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heredity.experiments.config import resolve

from .harness_runs import seal
from .sample import isolated
from .test_resource_evolution import KINDS, ran

pytest.importorskip("reasoning_gym")

METHODS: dict[str, dict[str, Any]] = {
    "ace": {"batch": 8, "rounds": 4},
    "tf-grpo": {"batch": 8, "rounds": 4, "repeats": 1, "compare": "unsolved"},
    "refine": {"batch": 8, "rounds": 5},
    "gepa": {"batch": 4, "pareto": 8, "metric_calls": 90, "proposer": "improve"},
}


@pytest.mark.skipif(not isolated(), reason="programs cannot be confined on this machine")
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.fast(1)
def test_a_harness_method_improves_held_out_accuracy_beyond_noise(name: str, tmp_path: Path) -> None:
    if name == "gepa":
        pytest.importorskip("gepa")
    config = resolve(
        {
            "run": {"protocol": "resource-evolution", "tasksets": [KINDS], "name": "q"},
            "evolver": {"method": name, "options": METHODS[name]},
            "budget": {"rollouts": 120, "train_cases": 24},
            "views": {"heldout": 32},
            "gateway": {"execution": "offline/rule-follower", "optimisation": "offline/rule-inducer"},
            "suite": {"baselines": False},
        }
    )
    # How much is gained varies with the questions, which are drawn afresh in each suite.
    seal(tmp_path / "runs" / "q")
    metrics = ran(tmp_path / "runs" / "q", config)
    assert metrics.gain.difference > 0.1
    assert metrics.gain.ci[0] > 0.0
    adopted = [d for d in metrics.decisions if d.reason == "adopted as it is"]
    assert bool(adopted) == (name != "gepa")
    assert metrics.model_usage.method.calls > 0
