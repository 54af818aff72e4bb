"""`levels.json`: the levels that a world ships, checked against their schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from heredity._core.errors import ConfigError
from heredity._core.outside import json_value, read_text
from heredity._core.refusals import reading


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _StoredBound(_Stored):
    value: float
    kind: Literal["exact", "proven", "declared"]
    reason: str


class _StoredLevel(_Stored):
    id: str
    seed: int
    difficulty: Literal[1, 2, 3]
    data: dict[str, Any]
    bound: _StoredBound
    reference: float


_STORED = TypeAdapter(dict[str, list[_StoredLevel]])


def read_stored(path: Path, splits: Sequence[str]) -> Mapping[str, list[dict[str, Any]]]:
    """Read a `levels.json`: split to levels as JSON values.

    Raises:
        ConfigError: if it cannot be read, or holds something else than the levels of each split; the message names the field.
    """
    with reading(path, "JSON", "regenerate or restore it"):
        stored = json_value(read_text(path))
        _STORED.validate_python(stored)
    missing = [split for split in splits if not stored.get(split)]
    if missing:
        raise ConfigError(f"{path} has no levels of {' and '.join(missing)}; expected some of each; regenerate it")
    return stored
