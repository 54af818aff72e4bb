"""The check of every action that a policy sends: what it means, whether it fits, how it is repaired."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from heredity.environments.spaces import action_from_json
from heredity.sandbox.guest.codec import Codec

_MAX_JSON_ACTION = 1 << 16


class ActionCheck:
    """Turns the bytes that a policy sent into actions its environment can take.

    An action outside its bounds is clipped and flagged; one that is not a finite number of the right shape is a fault.
    """

    def __init__(self, space: Mapping[str, Any], codec: Codec, real: gymnasium.Space[Any]) -> None:
        self._codec, self._space, self._real = codec, space, real
        self._low, self._high = _bounds(space) if codec.single else (0, 0)

    def split(self, data: bytes, count: int) -> list[tuple[Any, bytes, str | None]] | None:
        """Return (action, bytes sent, fault) for each episode; None if the size is wrong.

        A fault with an action means it was repaired; a fault without one ends the episode.
        """
        codec = self._codec
        if codec.leaves is None:
            return self._split_json(data, count)
        size = codec.nbytes
        if len(data) != size * count:
            return None
        if codec.integer:
            low, high = self._low, self._high
            values = struct.unpack(f"<{count}q", data)
            return [
                (v, data[i * 8 : i * 8 + 8], None)
                if low <= v <= high
                else (min(max(v, low), high), data[i * 8 : i * 8 + 8], f"action {v} is outside {low}..{high}")
                for i, v in enumerate(values)
            ]
        if codec.single:
            return self._split_array(data, count)
        return [self._checked_nested(data[i * size : (i + 1) * size]) for i in range(count)]

    def _split_array(self, data: bytes, count: int) -> list[tuple[Any, bytes, str | None]]:
        assert self._codec.leaves is not None
        leaf = self._codec.leaves[0]
        size = leaf.nbytes
        table = np.frombuffer(data, leaf.dtype).reshape(count, *leaf.shape).copy()
        if ((table >= self._low) & (table <= self._high)).all():
            return [(table[i], data[i * size : (i + 1) * size], None) for i in range(count)]
        answers: list[tuple[Any, bytes, str | None]] = []
        for i in range(count):
            sent, row = data[i * size : (i + 1) * size], table[i]
            if not np.isfinite(row).all():
                answers.append((None, sent, f"the action must be finite, got {np.array2string(row, threshold=8)}"))
            elif ((row >= self._low) & (row <= self._high)).all():
                answers.append((row, sent, None))
            else:
                answers.append((np.clip(row, self._low, self._high), sent, "the action was outside its bounds"))
        return answers

    def _checked_nested(self, data: bytes) -> tuple[Any, bytes, str | None]:
        fault: str | None = None
        repaired = bytearray(data)
        for leaf in self._codec.leaves or ():
            space = self._space
            for key in leaf.path:
                space = space["spaces"][key]
            low, high = _bounds(space)
            value = np.frombuffer(data, leaf.dtype, leaf.nbytes // leaf.dtype.itemsize, leaf.offset).reshape(leaf.shape)
            if not np.isfinite(value).all():
                return None, data, f"the action's part {leaf.name!r} must be finite"
            clipped = np.clip(value, low, high).astype(leaf.dtype)
            if not np.array_equal(clipped, value):
                fault = f"the action's part {leaf.name!r} was outside its bounds"
                repaired[leaf.offset : leaf.offset + leaf.nbytes] = clipped.tobytes()
        return self._codec.decode(repaired), data, fault

    def _split_json(self, data: bytes, count: int) -> list[tuple[Any, bytes, str | None]] | None:
        answers: list[tuple[Any, bytes, str | None]] = []
        at = 0
        for _ in range(count):
            size = int.from_bytes(data[at : at + 4], "little")
            part = data[at : at + 4 + size]
            at += 4 + size
            if len(part) != 4 + size or at > len(data):
                return None
            answers.append(self._checked_json(part))
        return answers if at == len(data) else None

    def _checked_json(self, part: bytes) -> tuple[Any, bytes, str | None]:
        if len(part) > _MAX_JSON_ACTION:
            return None, b"\0\0\0\0", f"the action takes more than {_MAX_JSON_ACTION} bytes"
        try:
            action = action_from_json(self._real, json.loads(part[4:]))
            if self._real.contains(action):
                return action, part, None
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError):
            pass  # not even the shape of an action: the answer below says so
        return None, part, "the action does not belong to its space"


def _bounds(space: Mapping[str, Any]) -> tuple[Any, Any]:
    kind = space["type"]
    if kind == "Discrete":
        start = int(space.get("start", 0))
        return start, start + int(space["n"]) - 1
    if kind == "MultiDiscrete":
        start = np.asarray(space.get("start", 0))
        return start, start + np.asarray(space["nvec"]) - 1
    if kind == "MultiBinary":
        return 0, 1
    dtype = np.dtype(space["dtype"])
    low, high = (np.asarray(space[k], dtype=np.float64) for k in ("low", "high"))
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low, high = np.clip(low, limits.min, limits.max), np.clip(high, limits.min, limits.max)
    else:
        largest = np.finfo(dtype).max
        low, high = np.clip(low, -largest, largest), np.clip(high, -largest, largest)
    return low.astype(dtype), high.astype(dtype)
