"""LoRA adapters, merged into their base: W + scale · B A (Hu et al. 2021, section 4.1), without torch."""

from __future__ import annotations

import hashlib
import math
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np

from heredity._core.errors import CandidateError
from heredity._core.refusals import quoted
from heredity.kinds.checkpoint.models.checkpoint import Checkpoint
from heredity.kinds.checkpoint.models.tensors import (
    DTYPES,
    Tensor,
    encoded,
    numbers,
    open_folder,
    parsed,
    read_header,
    write_sparse,
)

_CONFIG, _WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
_HEADROOM = 64 << 20
_BLOCK = 8 << 20
_MAX_RANK, _MAX_ALPHA = 1024, 1e6
_NAME = re.compile(r"base_model\.model\.(.+)\.lora_([AB])\.weight")
_PLAIN = {"peft_type": ("LORA",), "bias": ("none", None), "fan_in_fan_out": (False, None), "use_dora": (False, None)}


def is_adapter(folder: Path, inside: Path | None = None) -> bool:
    """Return True if a folder holds an adapter and not a whole model. Raises as `open_folder`."""
    with open_folder(folder, inside) as opened:
        return _CONFIG in opened.names and "config.json" not in opened.names


def merge_adapter(folder: Path, base: tuple[Path, Checkpoint], into: Path, *, inside: Path | None = None) -> Path:
    """Write the checkpoint that results from merging a LoRA adapter into its base, in the base's types of numbers.

    Shards are written one after the other, and changed tensors block by block, so that memory holds neither a model nor
    an adapter.

    Args:
        folder: the adapter, as peft saves it.
        base: the base's trusted folder, and its checkpoint.
        into: the output folder, which must not exist yet.
        inside: the workspace that must contain the adapter.

    Returns:
        `into`, to be inspected like any other checkpoint.

    Raises:
        CandidateError: if the adapter is anything else than plain LoRA on matrices of the base, or larger than the base.
        OSError: if the checkpoint cannot be written.
    """
    source, checkpoint = base
    with open_folder(folder, inside) as opened:
        config = parsed(opened.content(_CONFIG, 1 << 20), _CONFIG)
        _check_plain(config)
        with opened.file(_WEIGHTS) as file:
            tensors = read_header(file, _WEIGHTS)
            room = checkpoint.bytes + _HEADROOM
            if tensors and tensors[-1].end > room:
                raise CandidateError(
                    f"{_WEIGHTS} is too large: at most {room} bytes are merged, the size of the base; merge it yourself"
                )
            _check_fits(tensors, int(config["r"]), checkpoint)
            changes = _Changes(file, {tensor.name: tensor for tensor in tensors}, config)
            building = Path(tempfile.mkdtemp(prefix=f".{into.name}-", dir=into.parent))
            try:
                for name, digest in checkpoint.files.items():
                    if _merged(source / name, building / name, changes) != digest:
                        raise CandidateError(
                            f"{name} of the base changed while it was merged; submit the adapter again"
                        )
                building.rename(into)
            finally:
                shutil.rmtree(building, ignore_errors=True)
    return into


@dataclass(frozen=True, slots=True)
class _Changes:
    """The changes by an adapter, read when they are needed: a sparse file takes its nominal size in memory."""

    file: IO[bytes]
    tensors: Mapping[str, Tensor]
    config: Mapping[str, Any]

    def of(self, name: str) -> tuple[Tensor, np.ndarray] | None:
        """Return the place of matrix B of a tensor of the base, and the scaled matrix A; None if it does not change."""
        stem = f"base_model.model.{name.removesuffix('.weight')}"
        a, b = (self.tensors.get(f"{stem}.lora_{letter}.weight") for letter in "AB")
        if a is None or b is None or not name.endswith(".weight"):
            return None
        rank = int(self.config["r"])
        scale = float(self.config["lora_alpha"]) / (math.sqrt(rank) if self.config.get("use_rslora") else rank)
        return b, np.float32(scale) * self.rows(a, 0, rank)

    def rows(self, tensor: Tensor, start: int, count: int) -> np.ndarray:
        """Read rows of a matrix."""
        row = DTYPES[tensor.dtype] * tensor.shape[1]
        self.file.seek(tensor.begin + start * row)
        data = self.file.read(count * row)
        if len(data) < count * row:
            raise CandidateError(
                f"{_WEIGHTS} became shorter while it was read; submit it again once nothing writes to it"
            )
        return numbers(data, replace(tensor, shape=(count, tensor.shape[1])))


def _merged(source: Path, target: Path, changes: _Changes) -> str:
    """Write a file of the base with its changes, holes included; return the SHA-256 of the file that was read."""
    whole = hashlib.sha256()
    with source.open("rb") as file, target.open("xb") as copy:
        if source.suffix == ".safetensors":
            tensors = read_header(file, source.name, whole)
            at = file.tell()
            file.seek(0)
            copy.write(file.read(at))
            for tensor in tensors:
                pair = changes.of(tensor.name)
                for start, block in _blocks(file, tensor, whole):
                    write_sparse(copy, block if pair is None else _added(block, tensor, start, changes, pair))
        while data := file.read(_BLOCK):
            whole.update(data)
            copy.write(data)
        copy.truncate()
    return whole.hexdigest()


def _blocks(file: IO[bytes], tensor: Tensor, whole: Any) -> Iterator[tuple[int, bytes]]:
    """Yield a tensor's bytes in blocks of whole rows, each with the number of its first row."""
    rows = tensor.shape[0] if tensor.shape else 1
    size = tensor.end - tensor.begin
    row = size // rows if rows else 0
    step = max(1, _BLOCK // row) if row else 1
    for start in range(0, rows if size else 0, step):
        data = file.read(min(step, rows - start) * row)
        whole.update(data)
        yield start, data


def _added(block: bytes, tensor: Tensor, start: int, changes: _Changes, pair: tuple[Tensor, np.ndarray]) -> bytes:
    """Return rows of a tensor of the base, from `start` on, with their change."""
    (b, a), rows = pair, len(block) // (DTYPES[tensor.dtype] * tensor.shape[1])
    values = numbers(block, replace(tensor, shape=(rows, tensor.shape[1])))
    # Non-finite values are rejected when the merged model is inspected.
    with np.errstate(all="ignore"):
        return encoded(values + changes.rows(b, start, rows) @ a, tensor.dtype)


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


def _refuse(why: str) -> NoReturn:
    raise CandidateError(
        f"the adapter cannot be merged here: {why}; merge it yourself (merge_and_unload), and submit the whole model"
    )
