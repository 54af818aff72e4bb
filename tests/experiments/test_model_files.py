"""A model that is named by a path is what the path holds: what another one of that name was judged to do is not recalled."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from heredity.experiments.config import model_files, resolve
from heredity.experiments.suite import open_suite, run_suite

from .sample import isolated


def test_files_and_folders_that_models_are_named_by_are_told_by_what_they_hold(tmp_path: Path) -> None:
    rules, weights = tmp_path / "rules.toml", tmp_path / "weights"
    rules.write_text("one")
    (weights / "part").mkdir(parents=True)
    (weights / "part" / "a.safetensors").write_bytes(b"1")
    config = resolve({"run": {"tasksets": ["gymnasium/CartPole-v1"]}, "gateway": {"execution": f"scripted/{rules}"}})
    more = [f"local/{weights}", "openai/gpt", "noise"]
    first = model_files(config, more)
    assert set(first) == {f"scripted/{rules}", f"local/{weights}"}
    assert model_files(config, more) == first
    rules.write_text("two")
    os.utime(rules, (1, 1))
    assert {name for name, digest in model_files(config, more).items() if digest != first[name]} == {
        f"scripted/{rules}"
    }
    (weights / "part" / "a.safetensors").rename(weights / "part" / "b.safetensors")
    assert model_files(config, more)[f"local/{weights}"] != first[f"local/{weights}"]


@pytest.mark.skipif(not isolated(), reason="programs cannot be confined on this machine")
def test_a_judgement_of_other_rules_of_the_same_name_is_not_recalled(tmp_path: Path) -> None:
    pytest.importorskip("reasoning_gym")
    rules, folder = tmp_path / "rules.toml", tmp_path / "runs" / "s"
    config = resolve(
        {
            "run": {"protocol": "resource-evolution", "tasksets": ["questions/reasoning-gym/gcd"], "name": "s"},
            "evolver": {"method": "static", "options": {"batch": 1}},
            "budget": {"rollouts": 1, "train_cases": 1},
            "views": {"heldout": 12},
            "gateway": {"execution": f"scripted/{rules}"},
            "suite": {"baselines": False},
        }
    )

    def mean(answer: str) -> float:
        rules.write_text(f'[[rule]]\nreply = "Answer: {answer}"\n')
        shutil.rmtree(folder / "runs", ignore_errors=True)
        (run,) = asyncio.run(run_suite(folder, open_suite(folder, config))).runs
        assert run.heldout.mean == run.reference.heldout_mean
        return run.heldout.mean

    assert mean("nobody knows") == 0.0
    assert mean("1") > 0.0, "some of twelve pairs have no common divisor but 1"
    assert mean("nobody knows") == 0.0
