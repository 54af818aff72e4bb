"""Values and spaces of environments as bytes, without pickle: decoding untrusted bytes runs no code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import msgpack
import numpy as np
from gymnasium import spaces

from heredity.kinds.policy.environments.spaces import describe_space

_ARRAY, _SCALAR, _TUPLE, _GRAPH = 1, 2, 3, 4
_NUMBERS = "biufcSU"

Ask = Callable[..., Any]
"""Queries an environment's process about one of its spaces, such as `("contains", path, value)`."""


def encode(value: Any) -> bytes:
    """Encode numbers, texts, bytes, arrays and lists, tuples and mappings of them.

    Raises:
        TypeError: if it contains another type.
        ValueError: if it is nested too deeply, or an integer has more than 64 bits.
    """
    try:
        data: Any = msgpack.packb(value, default=_packed, strict_types=True, unicode_errors="surrogatepass")
    except (OverflowError, RecursionError) as error:
        raise ValueError(f"the value cannot be sent: {error}") from error
    return data


def decode(data: bytes | bytearray) -> Any:
    """Decode the result of `encode`; arrays are writable copies.

    Raises:
        ValueError: if it is malformed.
    """
    try:
        return msgpack.unpackb(data, ext_hook=_unpacked, strict_map_key=False, unicode_errors="surrogatepass")
    except (ValueError, TypeError, RecursionError, OverflowError, msgpack.UnpackException) as error:
        raise ValueError(f"malformed: {error}") from error


def plain(value: Any) -> Any:
    """Return a value that can be encoded; unsupported parts, such as an object in an `info`, become text."""
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind in _NUMBERS else value.tolist()
    if isinstance(value, Mapping):
        return {k if isinstance(k, str | int) else str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str | np.generic) else str(value)


def _packed(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind not in _NUMBERS:
            raise TypeError(f"an array of {value.dtype} is none of numbers")
        header: Any = msgpack.packb([value.dtype.str, list(value.shape)])
        return msgpack.ExtType(_ARRAY if isinstance(value, np.ndarray) else _SCALAR, header + value.tobytes())
    if isinstance(value, spaces.GraphInstance):
        return msgpack.ExtType(_GRAPH, encode([value.nodes, value.edges, value.edge_links]))
    if isinstance(value, tuple):
        return msgpack.ExtType(_TUPLE, encode([*value]))  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, Mapping):
        return dict(value)  # pyright: ignore[reportUnknownArgumentType]
    kind: Any = next((kind for kind in (int, float, str, list) if isinstance(value, kind)), None)
    if kind is not None:
        return kind(value)
    raise TypeError(f"a value of type {type(value).__name__} is no number, text or array, nor made of them")


def _unpacked(code: int, data: bytes) -> Any:
    if code == _TUPLE:
        return tuple(_parts(data))
    if code == _GRAPH:
        return spaces.GraphInstance(*_parts(data))
    if code not in (_ARRAY, _SCALAR):
        raise ValueError(f"code {code}")
    unpacker: Any = msgpack.Unpacker()
    unpacker.feed(data)
    kind, shape = unpacker.unpack()
    dtype = np.dtype(kind)
    if dtype.kind not in _NUMBERS or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise ValueError(f"an array of {kind} and {shape}")
    array = np.frombuffer(bytearray(data[unpacker.tell() :]), dtype).reshape(shape)
    return array if code == _ARRAY else array.reshape(())[()]


def _parts(data: bytes) -> list[Any]:
    parts: list[Any] = decode(data)
    return [*parts]


class RemoteSpace(gymnasium.Space[Any]):
    """A space of a class that is not gymnasium's own; its operations run in the environment's process."""

    def __init__(self, description: Mapping[str, Any], ask: Ask, path: str) -> None:
        super().__init__()
        self.remote_description = dict(description)
        self._ask, self._path = ask, path

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Return a random value of the space."""
        return self._ask("sample", self._path)

    def contains(self, x: Any) -> bool:
        """Return True if a value belongs to the space."""
        return bool(self._ask("contains", self._path, x))

    def seed(self, seed: Any = None) -> Any:
        """Seed the samples."""
        return self._ask("seed", self._path, seed)


def pack_space(space: gymnasium.Space[Any]) -> dict[str, Any]:
    """Describe a space exactly, as values that can be encoded; parts of other classes only by their JSON description."""
    kind = type(space)
    match space:
        case spaces.Box() if kind is spaces.Box:
            return {"type": "Box", "low": space.low, "high": space.high, "dtype": str(space.dtype)}
        case spaces.Discrete() if kind is spaces.Discrete:
            return {"type": "Discrete", "n": int(space.n), "start": int(space.start)}
        case spaces.MultiDiscrete() if kind is spaces.MultiDiscrete:
            return {"type": "MultiDiscrete", "nvec": space.nvec, "start": space.start, "dtype": str(space.dtype)}
        case spaces.MultiBinary() if kind is spaces.MultiBinary:
            return {"type": "MultiBinary", "n": space.n if isinstance(space.n, int) else [int(n) for n in space.shape]}
        case spaces.Text() if kind is spaces.Text:
            lengths = {"min_length": int(space.min_length), "max_length": int(space.max_length)}
            return {"type": "Text", **lengths, "characters": "".join(sorted(space.character_set))}
        case spaces.Dict() if kind is spaces.Dict:
            parts = {str(key): pack_space(part) for key, part in space.spaces.items()}
            whole: dict[str, Any] = {"type": "Dict", "spaces": parts}
        case spaces.Tuple() if kind is spaces.Tuple:
            parts = {str(index): pack_space(part) for index, part in enumerate(space.spaces)}
            whole = {"type": "Tuple", "spaces": parts}
        case _:
            return {"type": "Remote", "description": describe_space(space)}
    remote = any(part["type"] == "Remote" for part in parts.values())
    return {"type": "Remote", "description": describe_space(space)} if remote else whole


def unpack_space(packed: Mapping[str, Any], ask: Ask, path: str) -> gymnasium.Space[Any]:
    """Build the space that `pack_space` described.

    Args:
        packed: its description.
        ask: answers for spaces of other classes.
        path: the space's position in the environment.

    Raises:
        Exception: of any kind, if it does not describe a space.
    """
    match packed["type"]:
        case "Box":
            dtype: Any = np.dtype(packed["dtype"]).type
            return spaces.Box(packed["low"], packed["high"], packed["low"].shape, dtype)
        case "Discrete":
            return spaces.Discrete(packed["n"], start=packed["start"])
        case "MultiDiscrete":
            return spaces.MultiDiscrete(packed["nvec"], dtype=np.dtype(packed["dtype"]).type, start=packed["start"])
        case "MultiBinary":
            return spaces.MultiBinary(packed["n"])
        case "Text":
            lengths = {"min_length": packed["min_length"], "charset": packed["characters"]}
            return spaces.Text(packed["max_length"], **lengths)
        case "Dict":
            return spaces.Dict({key: unpack_space(part, ask, path) for key, part in packed["spaces"].items()})
        case "Tuple":
            return spaces.Tuple([unpack_space(part, ask, path) for part in packed["spaces"].values()])
        case _:
            return RemoteSpace(packed["description"], ask, path)
