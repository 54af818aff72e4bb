"""How fields are read out of metrics.json, whatever they hold: what is missing, null or of another kind is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heredity.reports.text import clean, finite

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean score with its interval, higher is better; None is unknown."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The interval's ends."""
        return (self.low, self.high)


def section(source: Json, key: str) -> Json:
    """Return the object under `key`; an empty one when it is missing, null or something else."""
    value = source.get(key)
    return value if isinstance(value, Mapping) else {}


def items(source: Json, key: str) -> list[Json]:
    """Return the objects of the list under `key`; none when it is missing or null."""
    value = source.get(key)
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list | tuple) else []


def words_of(source: Json, key: str, default: str = "") -> str:
    """Return the text under `key`, without control characters."""
    value = source.get(key)
    return default if value is None else clean(value)


def count(source: Json, key: str) -> int:
    """Return the count under `key`; what was never counted is 0."""
    return int(finite(source.get(key)) or 0)


def whole(source: Json, key: str) -> int | None:
    """Return the integer under `key`, or None."""
    value = finite(source.get(key))
    return None if value is None else int(value)


def numbers(source: Json) -> dict[str, float | None]:
    """Return the object's values as numbers, None where they are not."""
    return {str(key): finite(value) for key, value in source.items()}


def mean_of(source: Json, value: str = "mean", bounds: str = "ci") -> Mean:
    """Return the mean and interval under two keys."""
    ends = source.get(bounds)
    pair = list(ends) if isinstance(ends, list | tuple) and len(ends) == 2 else [None, None]
    return Mean(finite(source.get(value)), finite(pair[0]), finite(pair[1]))
