from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heredity._core.errors import CandidateError
from heredity.kinds.checkpoint.models import Checkpoint, inspect, is_adapter, merge_adapter
from heredity.kinds.checkpoint.models.tensors import numbers, read_header, write_tensors

from .folders import LAYER, NORM, checkpoint, raw, save, weights, write_json

LORA: dict[str, Any] = {"peft_type": "LORA", "r": 2, "lora_alpha": 4, "bias": "none", "fan_in_fan_out": False}
PREFIX = f"base_model.model.{LAYER.removesuffix('.weight')}"
A = (np.arange(8, dtype=np.float32).reshape(2, 4) - 3) / 8
B = (np.arange(8, dtype=np.float32).reshape(4, 2) - 5) / 8


@pytest.fixture
def base(tmp_path: Path) -> tuple[Path, Checkpoint]:
    folder = checkpoint(tmp_path / "base", dtype="BF16")
    return folder, inspect(folder)


def adapter(folder: Path, arrays: dict[str, np.ndarray] | None = None, **config: Any) -> Path:
    folder.mkdir()
    write_json(folder / "adapter_config.json", {**LORA, **config})
    matrices = {f"{PREFIX}.lora_A.weight": A, f"{PREFIX}.lora_B.weight": B}
    save(folder / "adapter_model.safetensors", matrices if arrays is None else arrays)
    return folder


def read(folder: Path) -> dict[str, np.ndarray]:
    with (folder / "model.safetensors").open("rb") as file:
        return {t.name: numbers(file.read(t.end - t.begin), t) for t in read_header(file, "model.safetensors")}


@pytest.mark.parametrize(("rslora", "scale"), [(False, 2.0), (True, 4 / np.sqrt(2))])
def test_a_merged_adapter_is_the_base_with_the_product_added(
    tmp_path: Path, base: tuple[Path, Checkpoint], rslora: bool, scale: float
) -> None:
    folder = adapter(tmp_path / "adapter", use_rslora=rslora)
    merged = merge_adapter(folder, base, tmp_path / "merged", inside=tmp_path)
    tensors = read(merged)
    np.testing.assert_allclose(tensors[LAYER], weights()[LAYER] + scale * (B @ A), rtol=1e-6)
    np.testing.assert_array_equal(tensors[NORM], weights()[NORM])
    accepted = inspect(merged, base=base[1])
    assert accepted.metadata["dtypes"] == {"BF16": 2, "F32": 1}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["adapter", "base", "merged"]


def test_an_adapter_is_told_from_a_model(tmp_path: Path, base: tuple[Path, Checkpoint]) -> None:
    assert is_adapter(adapter(tmp_path / "adapter"))
    assert not is_adapter(base[0])


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"peft_type": "IA3"}, "peft_type is 'IA3'"),
        ({"use_dora": True}, "use_dora is true"),
        ({"bias": "all"}, "bias is 'all'"),
        ({"modules_to_save": ["lm_head"]}, "it has modules_to_save"),
        ({"rank_pattern": {"q": 3}}, "it has rank_pattern"),
        ({"r": 0}, "r is 0 and lora_alpha 4"),
        ({"r": 3}, r"do not fit the base's, whose shape is \[4, 4\], at rank 3"),
    ],
)
def test_an_adapter_that_is_not_plain_lora_is_refused_with_the_reason(
    tmp_path: Path, base: tuple[Path, Checkpoint], config: dict[str, Any], reason: str
) -> None:
    with pytest.raises(CandidateError, match=f"the adapter cannot be merged here: .*{reason}.*; merge it yourself"):
        merge_adapter(adapter(tmp_path / "adapter", **config), base, tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({f"{PREFIX}.lora_A.weight": A}, "do not fit the base's"),
        ({"base_model.model.x.lora_A.weight": A, "base_model.model.x.lora_B.weight": B}, r"whose shape is \[\]"),
        ({f"{PREFIX}.lora_magnitude_vector": A}, "it holds .*lora_magnitude_vector"),
    ],
)
def test_matrices_without_a_place_in_the_base_are_refused(
    tmp_path: Path, base: tuple[Path, Checkpoint], arrays: dict[str, np.ndarray], reason: str
) -> None:
    with pytest.raises(CandidateError, match=reason):
        merge_adapter(adapter(tmp_path / "adapter", arrays), base, tmp_path / "merged")


def test_numbers_of_sixteen_bits_are_read_as_they_are(tmp_path: Path) -> None:
    array = weights()[LAYER]
    for dtype in ("BF16", "F16", "F32"):
        write_tensors(tmp_path / "x", [("a", dtype, array.shape, raw(array, dtype))])
        with (tmp_path / "x").open("rb") as file:
            (tensor,) = read_header(file, "x")
            np.testing.assert_array_equal(numbers(file.read(), tensor), array)


@pytest.mark.parametrize(
    ("names", "shape", "config", "reason"),
    [
        (("lora_A", "lora_B"), (2, 1 << 27), {}, "do not fit the base's"),
        (("lora_A", "lora_B"), (1 << 27, 2), {"r": 1 << 27}, "r is 134217728"),
        (("lora_A",), (2, 1 << 27), {}, "do not fit the base's"),
        (("lora_A", "lora_C"), (2, 1 << 27), {}, "it holds .*lora_C"),
        (("lora_A", "lora_B"), (1 << 28,), {}, "of the shape"),
        (("lora_A", "lora_B"), (2, 1 << 27), {"use_dora": True}, "use_dora is true"),
    ],
)
def test_an_adapter_that_is_refused_is_not_read(
    tmp_path: Path,
    base: tuple[Path, Checkpoint],
    monkeypatch: pytest.MonkeyPatch,
    names: tuple[str, ...],
    shape: tuple[int, ...],
    config: dict[str, Any],
    reason: str,
) -> None:
    folder, half = adapter(tmp_path / "adapter", {}, **config), 1 << 29
    entries = {
        f"{PREFIX}.{name}.weight": {
            "dtype": "F16",
            "shape": shape,
            "data_offsets": [half * number, half * (number + 1)],
        }
        for number, name in enumerate(names)
    }
    header = json.dumps(entries).encode()
    with (folder / "adapter_model.safetensors").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + half * len(names))
    monkeypatch.setattr("heredity.kinds.checkpoint.models.adapter._MAX_BYTES", 2 << 30)
    monkeypatch.setattr("heredity.kinds.checkpoint.models.adapter._read", lambda *_: pytest.fail("it was read"))
    with pytest.raises(CandidateError, match=reason):
        merge_adapter(folder, base, tmp_path / "merged")
    assert not (tmp_path / "merged").exists()
