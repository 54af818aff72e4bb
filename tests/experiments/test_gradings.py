"""What checkpoints are graded with: chosen, recorded, kept to."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity.configuration.config import Cell
from heredity.experiments.config import cells, resolve
from heredity.kinds.checkpoint.inference import Inference, choose
from heredity.protocols.post_training.protocol import inference_in, inference_of
from heredity.records import Journal
from heredity.sandbox import inference as choice

HERE = {"engine": "transformers", "version": "5.0", "device": "cpu"}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Say what is installed: package to version."""
    there = {"transformers": "5.0"}
    monkeypatch.setattr(choice, "distribution_of", lambda package: package if package in there else "")
    monkeypatch.setattr(choice.importlib.metadata, "version", there.__getitem__)
    return there


def runs(**training: Any) -> list[Cell]:
    return cells(
        resolve({
            "run": {"protocol": "post-training", "tasksets": ["posttraining/arithmetic"], "seeds": 2},
            "engine": {"gpus": ["0"]}, "evolver": {"agent": "true"}, "training": training, "budget": {"seconds": 9},
        })
    )  # fmt: skip


def test_auto_is_vllm_where_it_is_installed_and_a_gpu_grades(installed: dict[str, str]) -> None:
    assert choose("auto", "gpu") == Inference("transformers", "gpu")
    installed["vllm"] = "0.32.0"
    assert choose("auto", "gpu") == Inference("vllm", "gpu")
    assert choose("auto", "cpu") == Inference("transformers", "cpu")
    assert choose("vllm", "cpu").to_json() == {"engine": "vllm", "version": "0.32.0", "device": "cpu"}


def test_vllm_that_is_not_installed_is_refused_with_one_line(installed: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="vLLM is not installed for this interpreter; install it") as caught:
        choose("vllm", "cpu")
    assert "\n" not in str(caught.value)


def test_a_resumed_run_keeps_to_its_engine_or_is_refused(installed: dict[str, str], tmp_path: Path) -> None:
    first, second = runs(device="gpu", gpus=1)
    assert inference_in(first, [first, second], tmp_path).engine == "transformers"
    begun = {"posttraining": {"grading": inference_of(first).to_json()}}
    (tmp_path / first.id).mkdir()
    journal = Journal.open(tmp_path / first.id / "journal.jsonl")
    journal.append("run.started", begun)
    installed["vllm"] = "0.32.0"
    for cell in (first, second):
        assert inference_in(cell, [first, second], tmp_path).engine == "transformers"
    installed["transformers"] = "5.1"
    with pytest.raises(ConfigError, match=r"transformers 5.0 on the gpu before, .* with transformers 5.1 on the gpu;"):
        inference_in(first, [first, second], tmp_path)


def test_another_engine_than_was_recorded_is_refused(installed: dict[str, str]) -> None:
    (cell, _) = runs(engine="transformers")
    with pytest.raises(ConfigError, match=r"vllm 0\.32\.0 on the cpu before"):
        inference_of(cell, {"engine": "vllm", "version": "0.32.0", "device": "cpu"})
    assert inference_of(cell, HERE) == Inference()
    assert json.loads(json.dumps(inference_of(cell).to_json())) == HERE


@pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vLLM is installed")
def test_without_vllm_a_suite_that_asks_for_it_is_not_begun() -> None:
    (cell, _) = runs(engine="vllm")
    with pytest.raises(ConfigError, match="vLLM is not installed"):
        inference_of(cell)
