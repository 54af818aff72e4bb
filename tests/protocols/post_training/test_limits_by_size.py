"""Limits of training and grading follow the size of the base, unless they are configured."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.kinds.checkpoint.models.folders import checkpoint

from heredity._core.errors import ConfigError
from heredity.configuration.config import Cell
from heredity.experiments.config import cells, resolve
from heredity.kinds.checkpoint.inference import Bounds, Inference
from heredity.kinds.checkpoint.models import inspect
from heredity.kinds.checkpoint.models.checkpoint import CheckpointPlaces
from heredity.protocols.post_training.protocol import base_of, inference_of, room_of

GIB = 1 << 30
QWEN3_8B = 8_190_735_360


def run(base: Path | str = "", evolver: dict[str, Any] | None = None, **training: Any) -> Cell:
    (cell,) = cells(
        resolve(
            {
                "run": {"protocol": "post-training", "tasksets": ["posttraining/arithmetic"], "seeds": 1},
                "evolver": {"agent": "true", **(evolver or {})},
                "training": {**({"base_model": str(base)} if base else {}), **training},
                "budget": {"seconds": 9},
            }
        )
    )
    return cell


def test_a_small_base_keeps_the_usual_limits(tmp_path: Path) -> None:
    base = inspect(checkpoint(tmp_path / "base"))
    assert room_of(run(), base) == {"file_bytes": GIB, "disk_bytes": 50 * GIB}
    assert Bounds.of(base.parameters, Inference()) == Bounds()


def test_a_base_of_eight_thousand_million_numbers_gets_the_room_that_it_needs(tmp_path: Path) -> None:
    base = replace(inspect(checkpoint(tmp_path / "base")), parameters=QWEN3_8B)
    room = room_of(run(), base)
    assert room["file_bytes"] > 8 * QWEN3_8B, "an optimizer's state in one file"
    assert room["disk_bytes"] >= 3 * (4 + 8) * QWEN3_8B, "three checkpoints with their optimizers' states"
    bounds = Bounds.of(QWEN3_8B, Inference())
    assert bounds.memory_bytes > (4 + 2) * QWEN3_8B, "the weights as 32-bit floats beside the file"
    assert bounds.load_s == pytest.approx(30 * 4 * QWEN3_8B / GIB)
    assert bounds.reply_s == pytest.approx(900 * QWEN3_8B / 1e9)
    assert Bounds.of(QWEN3_8B, Inference(device="gpu")).reply_s == 900


def test_every_limit_has_a_key(tmp_path: Path) -> None:
    base = replace(inspect(checkpoint(tmp_path / "base")), parameters=QWEN3_8B)
    cell = run(
        evolver={"file_bytes": 3 * GIB, "disk_bytes": 7 * GIB},
        memory_bytes=5 * GIB,
        load_seconds=50,
        reply_seconds=60,
    )
    assert room_of(cell, base) == {"file_bytes": 3 * GIB, "disk_bytes": 7 * GIB}
    bounds = Bounds.of(base.parameters, inference_of(cell))
    assert (bounds.memory_bytes, bounds.load_s, bounds.reply_s) == (5 * GIB, 50, 60)
    assert inference_of(cell).to_json() == inference_of(run()).to_json(), "scores do not depend on limits"


@pytest.mark.parametrize("wrong", [{"memory_bytes": 1}, {"load_seconds": 0}, {"reply_seconds": math.inf}])
def test_a_limit_that_means_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"training.{next(iter(wrong))}"):
        run(**wrong)


async def test_a_base_that_does_not_fit_this_machine_is_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkpoint(tmp_path / "base")
    monkeypatch.setattr("heredity.protocols.post_training.protocol.machine_memory", lambda: 100)
    with pytest.raises(ConfigError, match="; choose a smaller base"):
        await base_of(run(folder), CheckpointPlaces())
    base = await base_of(run(folder, memory_bytes=GIB), CheckpointPlaces())
    assert base.checkpoint.parameters == 44
