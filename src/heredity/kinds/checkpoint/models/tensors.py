"""The safetensors format, read and written without torch: a length, a JSON header, then the numbers of all tensors."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import stat
import struct
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from heredity._core.errors import CandidateError
from heredity._core.outside import json_value

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Folder:
    """An open folder: reads stay in it, even if its path changes meanwhile.

    Attributes:
        name: its name in messages.
        names: the entries it had when it was opened, sorted.
    """

    def __init__(self, descriptor: int, name: str) -> None:
        self._descriptor, self.name = descriptor, name
        # Names that are not UTF-8 can be shown like this, and are never opened.
        self.names = tuple(sorted(os.fsencode(entry).decode("utf-8", "replace") for entry in os.listdir(descriptor)))

    @contextmanager
    def file(self, name: str) -> Generator[IO[bytes]]:
        """Open a plain file of the folder.

        Raises:
            CandidateError: if it is missing, a link or not a plain file.
        """
        try:
            descriptor = os.open(name, _FILE, dir_fd=self._descriptor)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise CandidateError(
                    f"{name} in {self.name} is a link; copy the file itself into the folder"
                ) from error
            raise CandidateError(f"{name} in {self.name} cannot be read ({error.strerror}); save it again") from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CandidateError(f"{name} in {self.name} is not a plain file; save it again")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                yield file
        finally:
            os.close(descriptor)

    def size(self, name: str) -> int:
        """Return a file's size in bytes. Raises as `file`."""
        with self.file(name) as file:
            return os.fstat(file.fileno()).st_size

    def content(self, name: str, limit: int) -> bytes:
        """Return the content of a small file.

        Raises:
            CandidateError: as `file`; also if it has more than `limit` bytes.
        """
        with self.file(name) as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise CandidateError(f"{name} in {self.name} is too large: more than {limit} bytes; save it again")
        return data


@contextmanager
def open_folder(folder: Path, inside: Path | None = None) -> Generator[Folder]:
    """Open a folder without following a link in its path.

    Args:
        folder: its path.
        inside: the folder that must contain it (None trusts the path).

    Raises:
        CandidateError: if it is outside, missing, not a folder, or behind a link.
    """
    start, steps = _way(folder, inside)
    descriptor = os.open(start, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for step in steps:
        descriptor = _enter(descriptor, step, folder)
    try:
        yield Folder(descriptor, folder.name)
    finally:
        os.close(descriptor)


def parsed(data: bytes, name: str) -> dict[str, Any]:
    """Return the JSON object in a file's content.

    Raises:
        CandidateError: if there is none.
    """
    try:
        value = json_value(data)
    except ValueError as error:
        raise CandidateError(f"{name} is no JSON ({error}); write it with save_pretrained") from error
    if not isinstance(value, dict):
        raise CandidateError(
            f"{name} holds a {type(value).__name__}; expected a JSON object, as save_pretrained writes it"
        )
    return value


def _way(folder: Path, inside: Path | None) -> tuple[Path, tuple[str, ...]]:
    """Return a trusted folder and the path components from there."""
    path = Path(os.path.normpath(folder.absolute()))
    if inside is None:
        return path.parent, (path.name,)
    for start in (inside.absolute(), inside.resolve()):
        if path.is_relative_to(start):
            return inside, path.relative_to(start).parts
    raise CandidateError(
        f"{folder.name} is outside of the workspace; save the checkpoint below it and submit that folder"
    )


def _enter(descriptor: int, step: str, folder: Path) -> int:
    """Open a folder in an open one, which is closed in any case."""
    try:
        return os.open(step, _FOLDER, dir_fd=descriptor)
    except FileNotFoundError as error:
        raise CandidateError(
            f"{folder.name} does not exist; submit the folder that the checkpoint was saved to"
        ) from error
    except OSError as error:
        link = error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(step, descriptor)
        what = "a link" if link else f"no folder ({error.strerror})"
        raise CandidateError(
            f"{step!r:.80} on the way to {folder.name:.80} is {what}; submit the folder itself, with the "
            "checkpoint's files in it"
        ) from error
    finally:
        os.close(descriptor)


def _is_link(step: str, descriptor: int) -> bool:
    return stat.S_ISLNK(os.lstat(step, dir_fd=descriptor).st_mode)


DTYPES = {"F32": 4, "F16": 2, "BF16": 2}
"""Supported types of weights, and their bytes."""

MAX_HEADER = 16 << 20
"""Maximum bytes of a header."""

_MAX_AXES = 8
_SHOWN = 80
_CHUNK = 8 << 20
_BF16_EXPONENT = 0x7F80
_ZEROS = bytes(_CHUNK)


@dataclass(frozen=True, slots=True)
class Tensor:
    """The location of a tensor in its file.

    Attributes:
        name: such as `"model.norm.weight"`.
        dtype: one of `DTYPES`.
        shape: its axes.
        begin: offset of its first byte in the file; `end` is the offset after the last.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int

    @property
    def count(self) -> int:
        """Number of values."""
        return math.prod(self.shape)


def read_header(file: IO[bytes], name: str, whole: Any = None, limit: int = MAX_HEADER) -> tuple[Tensor, ...]:
    """Read the locations of a file's tensors, in the order of their offsets, and leave the file at the first one's numbers.

    Args:
        file: just opened.
        name: its name in messages.
        whole: the digest of the whole file, updated with the bytes read.
        limit: maximum bytes of the header.

    Raises:
        CandidateError: if it is not a valid safetensors file: tensors that overlap, leave gaps or reach past the end,
            other types of numbers than floats of 16 or 32 bits.
    """
    size = os.fstat(file.fileno()).st_size
    prefix = file.read(8)
    (length,) = struct.unpack("<Q", prefix.ljust(8, b"\xff"))
    if length > min(size - 8, limit):
        raise CandidateError(
            f"{name} is no safetensors file: its header would have {length} bytes, and {max(size - 8, 0)} follow, of which "
            f"it may have {limit}; save the weights with save_pretrained"
        )
    text = file.read(length)
    if whole is not None:
        whole.update(prefix + text)
    header = parsed(text, f"the header of {name}")
    start = 8 + length
    entries = [_tensor(key, value, start, name) for key, value in header.items() if key != "__metadata__"]
    tensors = sorted(entries, key=lambda tensor: (tensor.begin, tensor.end))
    at = start
    for tensor in tensors:
        if tensor.begin != at:
            what = (
                "overlaps with another one"
                if tensor.begin < at
                else f"leaves a gap of {tensor.begin - at} bytes before it"
            )
            raise CandidateError(f"{tensor.name:.{_SHOWN}} in {name} {what}; save the weights with save_pretrained")
        at = tensor.end
    if at != size:
        what = "reach past the end of the file" if at > size else "do not fill the file"
        raise CandidateError(f"the tensors of {name} {what} ({at} against {size} bytes); save it again, to its end")
    return tuple(tensors)


def digest_finite(file: IO[bytes], tensor: Tensor, name: str, whole: Any) -> str:
    """Read a tensor's numbers from the file's position; return their SHA-256, and update the digest of the whole file.

    Raises:
        CandidateError: if one is not a finite number, or the file ends early.
    """
    own, left = hashlib.sha256(), tensor.end - tensor.begin
    while left:
        chunk = file.read(min(left, _CHUNK))
        if not chunk:
            raise CandidateError(f"{name} became shorter while it was read; submit it again once nothing writes to it")
        left -= len(chunk)
        own.update(chunk)
        whole.update(chunk)
        if not _finite(chunk, tensor.dtype):
            raise CandidateError(
                f"{tensor.name} in {name} holds NaN or infinity; the training diverged: lower the learning rate or clip gradients"
            )
    return own.hexdigest()


def numbers(data: bytes, tensor: Tensor) -> np.ndarray:
    """Return a tensor's bytes as 32-bit floats of its shape."""
    if tensor.dtype == "BF16":
        wide = np.frombuffer(data, "<u2").astype("<u4") << 16
        return wide.view("<f4").reshape(tensor.shape)
    kind = "<f2" if tensor.dtype == "F16" else "<f4"
    return np.frombuffer(data, kind).astype(np.float32).reshape(tensor.shape)


def encoded(values: np.ndarray, dtype: str) -> bytes:
    """Return 32-bit floats as the bytes of a type, rounded to the nearest number, ties to even."""
    if dtype != "BF16":
        # A number that 16 bits cannot hold becomes infinite, which inspection refuses.
        with np.errstate(over="ignore"):
            return values.astype("<f2" if dtype == "F16" else "<f4").tobytes()
    bits = values.astype("<f4", copy=False).view("<u4")
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype("<u2").tobytes()


def write_sparse(file: IO[bytes], data: bytes) -> None:
    """Write data, leaving a hole where it is all zeros; truncate the file at its position after the last one."""
    if data == _ZEROS[: len(data)]:
        file.seek(len(data), os.SEEK_CUR)
    else:
        file.write(data)


def write_tensors(path: Path, tensors: Iterable[tuple[str, str, tuple[int, ...], bytes]]) -> None:
    """Write tensors (name, type, shape, bytes) as a safetensors file."""
    given, at = list(tensors), 0
    header: dict[str, Mapping[str, Any]] = {"__metadata__": {"format": "pt"}}
    for name, dtype, shape, data in given:
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for *_, data in given:
            file.write(data)


def _tensor(key: str, value: Any, start: int, name: str) -> Tensor:
    shown = f"{key:.{_SHOWN}} in {name}"
    try:
        dtype, shape, (begin, end) = value["dtype"], tuple(value["shape"]), value["data_offsets"]
    except (TypeError, KeyError, ValueError) as error:
        raise CandidateError(f"{shown} has no dtype, shape and data_offsets; save it with save_pretrained") from error
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise CandidateError(
            f"{shown} has numbers of the type {dtype!r:.{_SHOWN}}; expected one of {', '.join(DTYPES)}: convert the weights"
        )
    # Check before computing: the product of a million numbers takes minutes.
    counts = (*shape[: _MAX_AXES + 1], begin, end)
    if len(shape) > _MAX_AXES or not all(type(number) is int and 0 <= number < 1 << 48 for number in counts):
        raise CandidateError(
            f"the shape or the place of {shown} is no count ({len(shape)} axes, at most {_MAX_AXES}; {counts!s:.{_SHOWN}}); "
            "save it with save_pretrained"
        )
    size = math.prod(shape) * DTYPES[dtype]
    if math.prod(max(number, 1) for number in shape) >= 1 << 48:
        raise CandidateError(f"{shown} has the shape {list(shape)}, which is too large; save it with save_pretrained")
    if end - begin != size:
        raise CandidateError(
            f"{shown} has {end - begin} bytes; its shape {list(shape)} of {dtype} takes {size}; save it again"
        )
    return Tensor(key, dtype, shape, start + begin, start + end)


def _finite(chunk: bytes, dtype: str) -> bool:
    if dtype == "BF16":
        return not bool(((np.frombuffer(chunk, "<u2") & _BF16_EXPONENT) == _BF16_EXPONENT).any())
    return bool(np.isfinite(np.frombuffer(chunk, "<f2" if dtype == "F16" else "<f4")).all())
