"""Trajectories: the record of one rollout, kept as columns.

A trajectory is encoded as one msgpack map with raw array bytes, and converted to rows (`trajectory.jsonl`) on demand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgpack
import numpy as np

from heredity._core.errors import HostError
from heredity.records.events import FailureData
from heredity.results.status import FailureSource

Column = np.ndarray | list[Any]
"""One value per step: an array whose first axis is time, or a list where the values have no common shape."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure, described for the author of the program that failed.

    Attributes:
        category: a `heredity.results.status.Status`, or one of the kind's own.
        message: one line.
        traceback: the author's own frames, with file and line.
        step_index: the step at which it happened (None before the first).
        error: the provider's or the host's failure, until the rollout is recorded.
    """

    category: str
    message: str
    traceback: str = ""
    step_index: int | None = None
    error: HostError | None = field(default=None, compare=False, repr=False)

    def to_json(self) -> FailureData:
        """Return the failure as JSON values."""
        return {
            "category": self.category,
            "message": self.message,
            "traceback": self.traceback,
            "step_index": self.step_index,
        }


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The record of one rollout, also of a failed one.

    Attributes:
        task_id: the task attempted.
        candidate: digest of the candidate.
        status: `"ok"` or the category of `failure`.
        failure_source: source of the failure.
        total_reward: sum of the rewards as received (see `Session` for the scores of failures).
        length: steps taken.
        terminated: true if the environment ended the episode, not a truncation or a failure.
        columns: `obs` (length + 1 entries, the last one following the final step), `action`, `reward`, `terminated`,
            `truncated`, and `info/<key>` for each key. Observations and actions that are dictionaries or tuples have one
            column for each leaf instead: `obs/image`, `obs/direction`, `action/0`.
        stdout: the policy's output (bounded).
        stderr: likewise.
        failure: the failure; None when ok.
        media: requested pictures and videos: file name to content.
        seconds: wall time of the rollout.
        cost: resources used, such as `{"act_s": 0.1}`; unknown ones are absent.
    """

    task_id: str
    candidate: str
    status: str
    failure_source: FailureSource
    total_reward: float
    length: int
    terminated: bool
    columns: Mapping[str, Column] = field(repr=False)
    stdout: str = ""
    stderr: str = ""
    failure: Failure | None = None
    media: Mapping[str, bytes] = field(default_factory=dict[str, bytes], repr=False)
    seconds: float = 0.0
    cost: Mapping[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        # Recorded trajectories and runners of other packages use plain strings.
        object.__setattr__(self, "failure_source", FailureSource(self.failure_source))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one JSON row per step: t, obs, action, reward, terminated, truncated, info (EvoPolicyGym's fields)."""
        infos = {name.removeprefix("info/"): c for name, c in self.columns.items() if name.startswith("info/")}
        seen, done = self.step_values("obs"), self.step_values("action")
        for t in range(self.length):
            yield {
                "t": t,
                "obs": to_json(next(seen)),
                "action": to_json(next(done)),
                "reward": float(self.columns["reward"][t]),
                "terminated": bool(self.columns["terminated"][t]),
                "truncated": bool(self.columns["truncated"][t]),
                "info": {k: to_json(c[t]) for k, c in infos.items() if c[t] is not None},
            }

    def step_values(self, name: str) -> Iterator[Any]:
        """Yield one value per entry of `"obs"` or `"action"`, reassembled if its leaves have separate columns."""
        if name in self.columns:
            yield from self.columns[name]
            return
        parts = [(tuple(k.split("/")[1:]), c) for k, c in self.columns.items() if k.startswith(name + "/")]
        for t in range(min((len(c) for _, c in parts), default=0)):
            value: dict[str, Any] = {}
            for path, column in parts:
                inner = value
                for key in path[:-1]:
                    inner = inner.setdefault(key, {})
                inner[path[-1]] = column[t]
            yield value

    def encode(self) -> bytes:
        """Encode the trajectory as msgpack."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        fields["failure"] = self.failure.to_json() if self.failure else None
        fields["columns"] = dict(self.columns)
        fields["cost"], fields["media"] = dict(self.cost), dict(self.media)
        # Text from a policy may hold lone surrogates, which UTF-8 has no bytes for.
        packed: Any = msgpack.packb(fields, default=_pack_array, use_bin_type=True, unicode_errors="backslashreplace")
        return bytes(packed)

    @classmethod
    def decode(cls, data: bytes | memoryview) -> Trajectory:
        """Decode the result of `encode`; the arrays are read-only views of `data`."""
        fields: dict[str, Any] = msgpack.unpackb(data, ext_hook=_unpack_array, raw=False, strict_map_key=False)
        if fields["failure"] is not None:
            fields["failure"] = Failure(**fields["failure"])
        return cls(**fields)


def encode_many(trajectories: Sequence[Trajectory]) -> bytes:
    """Encode the trajectories of one submission as one blob."""
    packed: Any = msgpack.packb([t.encode() for t in trajectories], use_bin_type=True)
    return bytes(packed)


def decode_many(data: bytes) -> list[Trajectory]:
    """Decode the result of `encode_many`."""
    return [Trajectory.decode(part) for part in msgpack.unpackb(data, raw=False, max_bin_len=len(data))]


def decode_one(data: bytes, position: int) -> Trajectory:
    """Decode a single trajectory from the result of `encode_many`."""
    return Trajectory.decode(msgpack.unpackb(data, raw=False, max_bin_len=len(data))[position])


def to_json(value: Any) -> Any:
    """Turn an observation, an action or an info value into JSON values."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(v) for v in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


_ARRAY_EXT = 1


def _pack_array(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype != object:
        header: Any = msgpack.packb([value.dtype.str, list(value.shape)])
        return msgpack.ExtType(_ARRAY_EXT, header + np.ascontiguousarray(value).tobytes())
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    return str(value)


def _unpack_array(code: int, data: bytes) -> Any:
    if code != _ARRAY_EXT:
        return msgpack.ExtType(code, data)
    unpacker = msgpack.Unpacker()
    unpacker.feed(data[:1024])
    dtype, shape = unpacker.unpack()
    return np.frombuffer(data, dtype=np.dtype(dtype), offset=unpacker.tell()).reshape(shape)
