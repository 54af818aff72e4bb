"""What every result is: a frozen value whose attributes are the keys of metrics.json.

    class Collapse(Result):
        snapshot: int
        drop: float | None

    Collapse(snapshot=3, drop=None).model_dump(mode="json") == {"snapshot": 3, "drop": None}

What is not known is None, never NaN and never 0. A protocol's own figures are one such class, the `part` of a run's or a
suite's results.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, create_model

from heredity.errors import RecordError
from heredity.refusals import reading

SCHEMA_VERSION = 4
"""Of metrics.json, of runs and of suites."""

Interval = tuple[float, float]
"""A confidence interval: (low, high)."""


class Result(BaseModel):
    """A figure, or several that belong together; attribute names are the keys of the JSON object."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Unknown(StrEnum):
    """Why a figure has no interval, as none would cover what it claims to, or why a verdict is that nobody can tell yet."""

    ALIKE = "all that was seen agrees, and its range is not known"
    FEW = "fewer than six scores, and their range is not known"
    FEW_CLUSTERS = "fewer than six clusters of cases, which are drawn together, and no range that makes up for it"
    FEW_RUNS = "fewer than six runs, or than three on a taskset"
    MISSING = "fewer scores are known than views.coverage asks for"
    NO_SCORE = "no score to make one of"


class MissingBounds(Result):
    """What a mean would be, had all missing scores been worst (`low`) and best (`high`): they need not be missing at random.

    Attributes:
        declared: whether worst and best are the ends of the range that scores have; else they are the least and greatest seen.
    """

    low: float
    high: float
    declared: bool


R = TypeVar("R", bound=Result)


def with_part(model: type[R], part: type[Result] | None) -> type[R]:
    """Return a model of results whose `part` is a protocol's, for reading it back and for its JSON Schema.

    Args:
        model: `RunResults` or `SuiteResults`.
        part: the type of the protocol's part; None for a protocol without one.
    """
    fields: dict[str, Any] = {"part": (part | None if part else None, None)}
    return create_model(model.__name__, __base__=model, __doc__=model.__doc__, **fields)


def read(data: Any, model: type[R], part: type[Result] | None = None) -> R:
    """Return results as they were written to metrics.json.

    Args:
        data: the parsed JSON.
        model: `RunResults` or `SuiteResults`.
        part: the type of the protocol's part.

    Raises:
        RecordError: if they are of another version, or not such results.
    """
    version = cast(Mapping[str, Any], data).get("schema_version") if isinstance(data, Mapping) else None
    if version != SCHEMA_VERSION:
        raise RecordError(
            f"metrics.json of version {version!r}: this version of heredity reads {SCHEMA_VERSION}; "
            "make it again with `heredity report`"
        )
    whole = with_part(model, part)
    with reading("metrics.json", "JSON", "make it again with `heredity report`", RecordError, whole):
        return whole.model_validate(data)
