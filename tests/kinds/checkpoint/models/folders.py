"""Checkpoints for tests, written without torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heredity.kinds.checkpoint.models.tensors import write_tensors

CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4,
    "tie_word_embeddings": True,
    "transformers_version": "5.0.0",
}
TOKENIZER: dict[str, Any] = {
    "version": "1.0",
    "padding": None,
    "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
}
EMBEDDING, NORM, LAYER = "model.embed_tokens.weight", "model.norm.weight", "model.layers.0.self_attn.q_proj.weight"
HEAD = "lm_head.weight"


def weights(seed: int = 0) -> dict[str, np.ndarray]:
    draws = np.random.default_rng(seed)
    shapes = {EMBEDDING: (6, 4), NORM: (4,), LAYER: (4, 4)}
    # Multiples of 1/8 are the same number in 16 and in 32 bits.
    return {name: draws.integers(-9, 9, shape).astype(np.float32) / 8 for name, shape in shapes.items()}


def raw(array: np.ndarray, dtype: str) -> bytes:
    if dtype == "BF16":
        return (array.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
    return array.astype({"F16": "<f2", "F32": "<f4"}[dtype]).tobytes()


def save(path: Path, arrays: Mapping[str, np.ndarray], dtype: str = "F32") -> None:
    write_tensors(path, [(name, dtype, array.shape, raw(array, dtype)) for name, array in arrays.items()])


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value))


def checkpoint(folder: Path, arrays: Mapping[str, np.ndarray] | None = None, dtype: str = "F32") -> Path:
    folder.mkdir(parents=True)
    write_json(folder / "config.json", CONFIG)
    write_json(folder / "tokenizer.json", TOKENIZER)
    save(folder / "model.safetensors", arrays or weights(), dtype)
    return folder
