"""Observations and actions as packed bytes, by the JSON description of their space.

A space is *fixed* when every value has the same size: Box, Discrete, MultiDiscrete, MultiBinary, and Dict and Tuple
of those. A fixed value is the concatenation of its leaves. A text in an observation is sent once, and by its number from
then on (a space with texts is fixed, too). Other observations are pickled (only from the trusted side to
the untrusted one); actions that are not fixed are sent as JSON.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

TEXT = "Text"
Description = Mapping[str, Any]
Path = tuple[str | int, ...]


class InvalidValueError(ValueError):
    """A value that does not belong to a space and cannot be repaired."""


class Leaf:
    """One fixed-size part of a value."""

    __slots__ = ("dtype", "kind", "nbytes", "offset", "path", "shape")

    def __init__(self, path: Path, kind: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        self.path, self.kind, self.dtype, self.shape = path, kind, dtype, shape
        self.nbytes = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        self.offset = 0

    @property
    def name(self) -> str:
        """The path as text, without its first part, such as `"obs/image"`."""
        return "/".join(str(p) for p in self.path)


def leaves_of(space: Description, path: Path = ()) -> list[Leaf] | None:
    """Return the fixed leaves of a described space in order, or None if a part has no fixed size."""
    kind = space["type"]
    if kind == "Discrete":
        return [Leaf(path, kind, np.dtype(np.int64), ())]
    if kind in ("Box", "MultiDiscrete", "MultiBinary"):
        shape = space.get("shape", space.get("n", len(space.get("nvec", ()))))
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        dtype = np.dtype(space.get("dtype", "int8" if kind == "MultiBinary" else "int64"))
        return [Leaf(path, kind, dtype, shape)]
    if kind not in ("Dict", "Tuple"):
        return [Leaf(path, TEXT, np.dtype("<u4"), ())] if kind not in ("Sequence", "Graph", "OneOf") else None
    if space["spaces"]:
        parts = space["spaces"]
        items: list[tuple[str | int, Description]] = list(parts.items()) if kind == "Dict" else list(enumerate(parts))
        leaves: list[Leaf] = []
        for key, part in items:
            inner = leaves_of(part, (*path, key))
            if inner is None:
                return None
            leaves += inner
        return leaves
    return None


class Codec:
    """Encodes and decodes the values of one space.

    Attributes:
        leaves: the fixed parts in order (None if the space has no fixed size).
        nbytes: size of one encoded value; 0 if not fixed.
        single: whether the value is one bare leaf (an array, an integer or a text), not a container.
        texts: every text seen so far, by number; both ends keep the same list.
        fresh: texts not yet sent to the other end.
    """

    def __init__(self, space: Description, *, texts: bool = True) -> None:
        """Describe a space; without `texts` (for actions) one that has a text in it is not fixed."""
        self.space = space
        self.leaves = leaves_of(space)
        if not texts and any(leaf.kind == TEXT for leaf in self.leaves or ()):
            self.leaves = None
        self.nbytes = 0
        for leaf in self.leaves or ():
            leaf.offset = self.nbytes
            self.nbytes += leaf.nbytes
        self.single = self.leaves is not None and len(self.leaves) == 1 and not self.leaves[0].path
        self.integer = self.single and space["type"] == "Discrete"
        self.texts: list[str] = []
        self.fresh: list[str] = []
        self._numbers: dict[str, int] = {}

    @property
    def array_leaf(self) -> Leaf | None:
        """The only leaf, if a value is one bare array with at least one axis."""
        leaf = self.leaves[0] if self.single and self.leaves else None
        return leaf if leaf is not None and leaf.kind not in ("Discrete", TEXT) and leaf.shape else None

    def encode_exact(self, value: Any) -> bytes | None:
        """Encode a value whose leaves have exactly the described types and shapes; None for others."""
        if self.leaves is None:
            return None
        if self.single:
            return self._leaf_bytes(self.leaves[0], value)
        parts: list[bytes] = []
        for leaf in self.leaves:
            part = value
            try:
                for key in leaf.path:
                    part = part[key]
            except (KeyError, IndexError, TypeError):
                return None
            data = self._leaf_bytes(leaf, part)
            if data is None:
                return None
            parts.append(data)
        return b"".join(parts)

    def decode(self, data: bytes | bytearray | memoryview, offset: int = 0) -> Any:
        """Decode one fixed value; arrays are views of `data` (writable if it is)."""
        leaves = self.leaves or []
        if self.single:
            return self._leaf_value(leaves[0], data, offset)
        return self._build(self.space, iter(leaves), data, offset)

    def columns(self, joined: bytes, count: int) -> dict[str, np.ndarray | list[str]]:
        """Split `count` encoded values into one array per leaf: name to array of shape (count, *leaf shape), or list of texts."""
        table = np.frombuffer(joined, dtype=np.uint8).reshape(count, self.nbytes)
        arrays: dict[str, np.ndarray | list[str]] = {}
        for leaf in self.leaves or ():
            part = np.ascontiguousarray(table[:, leaf.offset : leaf.offset + leaf.nbytes])
            array = part.view(leaf.dtype).reshape(count, *leaf.shape)
            arrays[leaf.name] = [self.texts[n] for n in array.tolist()] if leaf.kind == TEXT else array
        return arrays

    def coerce(self, value: Any) -> bytes:
        """Encode a policy's return value, accepting conversions by numpy without loss of shape.

        Raises:
            InvalidValueError: with a message for the policy's author.
        """
        if self.leaves is None:
            return _as_json(value)
        if self.single:
            return coerce_leaf(self.leaves[0], value)
        parts: list[bytes] = []
        for leaf in self.leaves:
            part = value
            for key in leaf.path:
                try:
                    part = part[key]
                except (KeyError, IndexError, TypeError) as error:
                    raise InvalidValueError(f"the action has no part {leaf.name!r} (got {_short(value)})") from error
            parts.append(coerce_leaf(leaf, part))
        return b"".join(parts)

    def _leaf_bytes(self, leaf: Leaf, value: Any) -> bytes | None:
        if isinstance(value, np.ndarray):
            return value.tobytes() if value.dtype == leaf.dtype and value.shape == leaf.shape else None
        if leaf.kind == "Discrete" and isinstance(value, int | np.integer):
            return int(value).to_bytes(8, "little", signed=True)
        if leaf.kind == TEXT and isinstance(value, str):
            number = self._numbers.get(value)
            if number is None:
                number = self._numbers[value] = len(self.texts)
                self.texts.append(value)
                self.fresh.append(value)
            return number.to_bytes(4, "little")
        return None

    def _leaf_value(self, leaf: Leaf, data: bytes | bytearray | memoryview, offset: int) -> Any:
        start = offset + leaf.offset
        if leaf.kind == "Discrete":
            return int.from_bytes(data[start : start + 8], "little", signed=True)
        if leaf.kind == TEXT:
            return self.texts[int.from_bytes(data[start : start + 4], "little")]
        count = leaf.nbytes // leaf.dtype.itemsize
        return np.frombuffer(data, leaf.dtype, count, start).reshape(leaf.shape)

    def _build(
        self, space: Description, leaves: Iterator[Leaf], data: bytes | bytearray | memoryview, offset: int
    ) -> Any:
        if space["type"] == "Dict":
            return {key: self._build(part, leaves, data, offset) for key, part in space["spaces"].items()}
        if space["type"] == "Tuple":
            return tuple(self._build(part, leaves, data, offset) for part in space["spaces"])
        return self._leaf_value(next(leaves), data, offset)


def coerce_leaf(leaf: Leaf, value: Any) -> bytes:
    """Encode one leaf of an action (see `Codec.coerce`)."""
    where = f" for {leaf.name!r}" if leaf.path else ""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise InvalidValueError(f"the action{where} is not an array: {_short(value)}") from error
    if array.dtype.kind not in "biuf":
        raise InvalidValueError(f"the action{where} must be numeric, got {type(value).__name__}: {_short(value)}")
    if leaf.kind == "Discrete" and array.size == 1:
        array = array.reshape(())
    if array.shape != leaf.shape:
        if array.size != int(np.prod(leaf.shape)) or array.ndim > len(leaf.shape) + 1 or array.size != 1:
            raise InvalidValueError(f"the action{where} must have shape {leaf.shape}, got {array.shape}")
        array = array.reshape(leaf.shape)
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise InvalidValueError(f"the action{where} must be finite, got {_short(value)}")
        if leaf.dtype.kind in "iu" and not (array == np.floor(array)).all():
            raise InvalidValueError(f"the action{where} must be an integer, got {_short(value)}")
    if leaf.dtype.kind in "iu":
        limits = np.iinfo(leaf.dtype)
        array = np.clip(array, limits.min, limits.max)
    return np.ascontiguousarray(array, dtype=leaf.dtype).tobytes()


def _as_json(value: Any) -> bytes:
    try:
        data = json.dumps(value, default=_plain).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValueError(f"the action cannot be sent: {error}") from error
    return len(data).to_bytes(4, "little") + data


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a number, a string or a list of them")


def pickle_values(values: Sequence[Any]) -> bytes:
    """Encode observations of any kind; only ever sent from the trusted side."""
    return pickle.dumps(list(values), protocol=5)


def unpickle_values(data: bytes | bytearray | memoryview) -> list[Any]:
    """Decode the bytes of `pickle_values`; only the guest calls this, on bytes from the host."""
    values: list[Any] = pickle.loads(data)
    return values


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except RecursionError:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 120 else text[:117] + "..."
