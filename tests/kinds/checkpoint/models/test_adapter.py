from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heredity._core.errors import CandidateError
from heredity.kinds.checkpoint.models import Checkpoint, inspect, is_adapter, merge_adapter
from heredity.kinds.checkpoint.models.tensors import Tensor, encoded, numbers, read_header, write_tensors

from .folders import EMBEDDING, LAYER, NORM, checkpoint, raw, save, weights, write_json

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


def rounded(array: np.ndarray) -> np.ndarray:
    """Round to the nearest number with eight significant bits, ties to even."""
    mantissa, exponent = np.frexp(array.astype(np.float64))
    return np.ldexp(np.round(mantissa * 256) / 256, exponent).astype(np.float32)


@pytest.mark.parametrize(("rslora", "scale"), [(False, 2.0), (True, 4 / np.sqrt(2))])
def test_a_merged_adapter_is_the_base_with_the_product_added(
    tmp_path: Path, base: tuple[Path, Checkpoint], rslora: bool, scale: float
) -> None:
    folder = adapter(tmp_path / "adapter", use_rslora=rslora)
    merged = merge_adapter(folder, base, tmp_path / "merged", inside=tmp_path)
    tensors = read(merged)
    np.testing.assert_array_equal(tensors[LAYER], rounded(weights()[LAYER] + scale * (B @ A)))
    np.testing.assert_array_equal(tensors[NORM], weights()[NORM])
    accepted = inspect(merged, base=base[1])
    assert accepted.metadata["dtypes"] == {"BF16": 3}
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
    monkeypatch.setattr("heredity.kinds.checkpoint.models.adapter._HEADROOM", 2 << 30)
    monkeypatch.setattr("heredity.kinds.checkpoint.models.adapter.numbers", lambda *_: pytest.fail("it was read"))
    with pytest.raises(CandidateError, match=reason):
        merge_adapter(folder, base, tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_numbers_are_rounded_to_the_type_of_the_base() -> None:
    draws = np.random.default_rng(1).standard_normal(2000).astype(np.float32)
    tensor = Tensor("a", "BF16", (2000,), 0, 4000)
    np.testing.assert_array_equal(numbers(encoded(draws, "BF16"), tensor), rounded(draws))
    special = np.array([np.nan, np.inf, -np.inf, 3.4e38, 0.0, -0.0], np.float32)
    read = numbers(encoded(special, "BF16"), replace(tensor, shape=(6,)))
    np.testing.assert_array_equal(read, [np.nan, np.inf, -np.inf, np.inf, 0.0, -0.0])


@pytest.mark.parametrize("block", [64, 8 << 20])
def test_shards_are_merged_block_by_block_and_zeros_stay_holes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr("heredity.kinds.checkpoint.models.adapter._BLOCK", block)
    folder = checkpoint(tmp_path / "base", dtype="F16")
    arrays = {**weights(), "model.zeros.weight": np.zeros((4096, 1024), np.float32)}
    (folder / "model.safetensors").unlink()
    files = {
        "model-00001-of-00002.safetensors": [EMBEDDING, LAYER],
        "model-00002-of-00002.safetensors": [NORM, "model.zeros.weight"],
    }
    for name, names in files.items():
        save(folder / name, {n: arrays[n] for n in names}, "F16")
    places = {n: name for name, names in files.items() for n in names}
    write_json(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": places})
    base = folder, inspect(folder)
    merged = merge_adapter(adapter(tmp_path / "adapter"), base, tmp_path / "merged")
    accepted = inspect(merged, base=base[1])
    assert (accepted.metadata["dtypes"], accepted.digest == base[1].digest) == ({"F16": 4}, False)
    with (merged / "model-00001-of-00002.safetensors").open("rb") as file:
        read = {t.name: numbers(file.read(t.end - t.begin), t) for t in read_header(file, "x")}
    wanted = (weights()[LAYER] + 2.0 * (B @ A)).astype(np.float16)
    np.testing.assert_array_equal(read[LAYER], wanted.astype(np.float32))
    if block > 1 << 20:
        assert (merged / "model-00002-of-00002.safetensors").stat().st_blocks * 512 < 1 << 20


def test_an_adapter_larger_than_its_base_is_refused(tmp_path: Path, base: tuple[Path, Checkpoint]) -> None:
    folder = adapter(tmp_path / "adapter")
    size = (base[1].bytes + (65 << 20)) // 2
    header = json.dumps({"a": {"dtype": "F16", "shape": [size], "data_offsets": [0, 2 * size]}}).encode()
    with (folder / "adapter_model.safetensors").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + 2 * size)
    with pytest.raises(CandidateError, match="the size of the base; merge it yourself"):
        merge_adapter(folder, base, tmp_path / "merged")


def test_a_base_that_changes_while_it_is_merged_is_refused(tmp_path: Path, base: tuple[Path, Checkpoint]) -> None:
    write_json(base[0] / "config.json", {"changed": True})
    with pytest.raises(CandidateError, match=r"config\.json of the base changed"):
        merge_adapter(adapter(tmp_path / "adapter"), base, tmp_path / "merged")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["adapter", "base"]
