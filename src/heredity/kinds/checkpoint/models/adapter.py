"""LoRA adapters, merged into their base: W + scale · B A (Hu et al. 2021, section 4.1), without torch."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np

from heredity._core.errors import CandidateError
from heredity._core.refusals import quoted
from heredity.kinds.checkpoint.models.checkpoint import Checkpoint, snapshot
from heredity.kinds.checkpoint.models.folder import open_folder, parsed
from heredity.kinds.checkpoint.models.tensors import Tensor, numbers, read_header, write_tensors

_CONFIG, _WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
_MAX_BYTES = 1 << 30
_MAX_RANK, _MAX_ALPHA = 1 << 16, 1e6
_NAME = re.compile(r"base_model\.model\.(.+)\.lora_([AB])\.weight")
_PLAIN = {"peft_type": ("LORA",), "bias": ("none", None), "fan_in_fan_out": (False, None), "use_dora": (False, None)}


def is_adapter(folder: Path, inside: Path | None = None) -> bool:
    """Return True if a folder holds an adapter and not a whole model. Raises as `open_folder`."""
    with open_folder(folder, inside) as opened:
        return _CONFIG in opened.names and "config.json" not in opened.names


def merge_adapter(folder: Path, base: tuple[Path, Checkpoint], into: Path, *, inside: Path | None = None) -> Path:
    """Write the checkpoint that results from merging a LoRA adapter into its base; changed tensors become 32-bit floats.

    Args:
        folder: the adapter, as peft saves it.
        base: the base's trusted folder, and its checkpoint.
        into: the output folder, which must not exist yet.
        inside: the workspace that must contain the adapter.

    Returns:
        `into`, to be inspected like any other checkpoint.

    Raises:
        CandidateError: if the adapter is anything else than plain LoRA on matrices of the base.
    """
    with open_folder(folder, inside) as opened:
        config = parsed(opened.content(_CONFIG, 1 << 20), _CONFIG)
        _check_plain(config)
        with opened.file(_WEIGHTS) as file:
            tensors = read_header(file, _WEIGHTS)
            if tensors and tensors[-1].end > _MAX_BYTES:
                raise CandidateError(
                    f"{_WEIGHTS} is too large: at most {_MAX_BYTES} bytes are merged; merge it yourself"
                )
            source, checkpoint = base
            _check_fits(tensors, int(config["r"]), checkpoint)
            # Only now: a sparse file takes its nominal size in memory, whatever its size on disk.
            given = {tensor.name: numbers(_read(file, tensor), tensor) for tensor in tensors}
    changes = _changes(given, config)
    copied = snapshot(source, into.parent / f".{into.name}", checkpoint)
    try:
        for name in (n for n in checkpoint.files if n.endswith(".safetensors")):
            _merge_into(copied / name, changes)
        copied.rename(into)
    finally:
        shutil.rmtree(copied.parent, ignore_errors=True)
    return into


def _read(file: IO[bytes], tensor: Tensor) -> bytes:
    data = file.read(tensor.end - tensor.begin)
    if len(data) < tensor.end - tensor.begin:
        raise CandidateError(f"{_WEIGHTS} became shorter while it was read; submit it again once nothing writes to it")
    return data


def _check_plain(config: Mapping[str, Any]) -> None:
    for key, plain in _PLAIN.items():
        if config.get(key) not in plain:
            _refuse(f"{key} is {quoted(config.get(key))}")
    for key in ("modules_to_save", "rank_pattern", "alpha_pattern", "layer_replication", "trainable_token_indices"):
        if config.get(key):
            _refuse(f"it has {key}")
    rank, alpha = config.get("r"), config.get("lora_alpha")
    counts = isinstance(rank, int) and 1 <= rank <= _MAX_RANK
    if not counts or isinstance(alpha, bool) or not isinstance(alpha, int | float) or not abs(alpha) <= _MAX_ALPHA:
        _refuse(f"r is {rank!r:.80} and lora_alpha {alpha!r:.80}")


def _check_fits(tensors: Sequence[Tensor], rank: int, base: Checkpoint) -> None:
    """Check by names and shapes that an adapter has two matrices for each tensor that it changes, and nothing else."""
    shapes: dict[str, dict[str, tuple[int, ...]]] = {}
    for tensor in tensors:
        match = _NAME.fullmatch(tensor.name)
        if match is None or len(tensor.shape) != 2:
            _refuse(f"it holds {tensor.name:.80} of the shape {list(tensor.shape)}")
        shapes.setdefault(f"{match[1]}.weight", {})[match[2]] = tensor.shape
    for name, pair in shapes.items():
        shape = tuple(base.metadata["tensors"].get(name, ()))
        if set(pair) != {"A", "B"} or (pair["B"], pair["A"]) != ((*shape[:1], rank), (rank, *shape[1:])):
            _refuse(f"its matrices for {name:.80} do not fit the base's, whose shape is {list(shape)}, at rank {rank}")


def _changes(given: Mapping[str, np.ndarray], config: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the change to each tensor of the base."""
    rank = int(config["r"])
    scale = float(config["lora_alpha"]) / (math.sqrt(rank) if config.get("use_rslora") else rank)
    names = {match[1]: match[0] for match in map(_NAME.fullmatch, given) if match and match[2] == "B"}
    # Non-finite values are rejected when the merged model is inspected.
    with np.errstate(all="ignore"):
        return {
            f"{name}.weight": scale * (given[b] @ given[f"{b.removesuffix('B.weight')}A.weight"])
            for name, b in names.items()
        }


def _merge_into(path: Path, changes: Mapping[str, np.ndarray]) -> None:
    merged: list[tuple[str, str, tuple[int, ...], bytes]] = []
    with path.open("rb") as file:
        for tensor in read_header(file, path.name):
            data, dtype = file.read(tensor.end - tensor.begin), tensor.dtype
            if tensor.name in changes:
                data, dtype = (numbers(data, tensor) + changes[tensor.name]).astype("<f4").tobytes(), "F32"
            merged.append((tensor.name, dtype, tensor.shape, data))
    write_tensors(path, merged)


def _refuse(why: str) -> NoReturn:
    raise CandidateError(
        f"the adapter cannot be merged here: {why}; merge it yourself (merge_and_unload), and submit the whole model"
    )
