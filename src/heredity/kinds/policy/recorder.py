"""Recorder of one episode: packed bytes while it runs, turned into columns when it ends."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from heredity.engine.trajectory import Column, to_json
from heredity.sandbox.guest.codec import Codec


class Recorder:
    """Columns of one episode.

    Attributes:
        observations: one entry per observation so far: encoded bytes while `exact`, values otherwise.
        exact: true while every observation has had exactly the type and shape of its space.
        actions: the policy's actions, as bytes.
        rewards: one float per step.
        infos: one mapping per step.
        repaired: steps whose action was outside its space and was clipped.
    """

    __slots__ = (
        "_action_codec",
        "_copied",
        "_dtype",
        "_observation_codec",
        "_shape",
        "actions",
        "exact",
        "infos",
        "observations",
        "repaired",
        "rewards",
    )

    def __init__(self, observation_codec: Codec, action_codec: Codec) -> None:
        self._observation_codec, self._action_codec = observation_codec, action_codec
        self._copied: tuple[str, ...] | None = None
        leaf = observation_codec.array_leaf
        self._dtype, self._shape = (leaf.dtype, leaf.shape) if leaf else (None, ())
        self.observations: list[Any] = []
        self.exact = observation_codec.leaves is not None
        self.actions: list[bytes] = []
        self.rewards: list[float] = []
        self.infos: list[Mapping[str, Any]] = []
        self.repaired: list[int] = []

    def observe(self, value: Any) -> bytes | None:
        """Record an observation; return its encoding, or None if it must be pickled."""
        if self.exact:
            # By far the most frequent case, without a call: one array that matches its space.
            if type(value) is np.ndarray and value.dtype == self._dtype and value.shape == self._shape:
                data = value.tobytes()
                self.observations.append(data)
                return data
            data = self._observation_codec.encode_exact(value)
            if data is not None:
                self.observations.append(data)
                return data
            self.exact = False
            self.observations = [copy.deepcopy(self._observation_codec.decode(d)) for d in self.observations]
        self.observations.append(copy.deepcopy(value))
        return None

    def keep_info(self, info: Mapping[str, Any]) -> None:
        """Record a step's info; values that the environment may modify later are copied."""
        if self._copied is None:
            self._copied = tuple(k for k, v in info.items() if not isinstance(v, int | float | str | bool | np.generic))
        if self._copied:
            info = {**info, **{k: copy.deepcopy(info[k]) for k in self._copied if k in info}}
        self.infos.append(info)

    def columns(self, *, terminated: bool, truncated: bool) -> dict[str, Column]:
        """Return the episode as columns (see `Trajectory`)."""
        steps = len(self.rewards)
        ends = {"terminated": terminated, "truncated": truncated}
        columns: dict[str, Column] = {}
        if self.exact:
            leaves = self._observation_codec.columns(b"".join(self.observations), len(self.observations))
            columns.update((f"obs/{name}" if name else "obs", array) for name, array in leaves.items())
        else:
            columns["obs"] = [to_json(o) for o in self.observations]
        if self._action_codec.leaves is not None:
            leaves = self._action_codec.columns(b"".join(self.actions), len(self.actions))
            columns.update((f"action/{name}" if name else "action", array) for name, array in leaves.items())
        else:
            columns["action"] = [a[4:].decode("utf-8", "replace") for a in self.actions]
        columns["reward"] = np.array(self.rewards, dtype=np.float64)
        for name, value in ends.items():
            column = np.zeros(steps, dtype=np.bool_)
            if steps:
                column[-1] = value
            columns[name] = column
        columns.update(self._info_columns(steps))
        return columns

    def _info_columns(self, steps: int) -> dict[str, Column]:
        columns: dict[str, Column] = {}
        for key in dict.fromkeys(k for info in self.infos for k in info):
            values = [info.get(key) for info in self.infos]
            values += [None] * (steps - len(values))
            columns[f"info/{key}"] = _column(values)
        if self.repaired:
            flags = np.zeros(steps, dtype=np.bool_)
            flags[[step for step in self.repaired if step < steps]] = True
            columns["info/invalid_action"] = flags
        return columns


def _column(values: list[Any]) -> Column:
    first = values[0] if values else None
    if isinstance(first, bool | int | float | np.bool_ | np.integer | np.floating):
        try:
            array = np.array(values)
        except (ValueError, OverflowError):
            return [to_json(v) for v in values]
        if array.dtype.kind in "biuf":
            return array
    return [to_json(v) for v in values]
