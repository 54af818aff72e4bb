"""Base of all results: frozen values whose attributes are the keys of metrics.json.

    class Collapse(Result):
        snapshot: int
        drop: float | None

    Collapse(snapshot=3, drop=None).model_dump(mode="json") == {"snapshot": 3, "drop": None}

Unknown values are None, never NaN and never 0. A protocol's figures are one such class, the `part` of a run's or a
suite's
results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, create_model

from heredity._core.errors import RecordError
from heredity._core.refusals import reading

COVERAGE = 0.9
"""Default of `views.coverage`: minimum share of known scores on each side of a comparison."""


def covered(attempted: int, asked: int, least: float = COVERAGE) -> bool:
    """Report whether the share of attempted rollouts is at least `least`, and not zero."""
    return attempted > 0 and attempted >= least * asked - 1e-9


def covers(scores: Sequence[float | None], least: float = COVERAGE) -> bool:
    """Report whether enough scores are known; None and NaN are missing."""
    return covered(sum(score is not None and not math.isnan(score) for score in scores), len(scores), least)


SCHEMA_VERSION = 4
"""Version of metrics.json, for runs and suites."""

Interval = tuple[float, float]
"""Confidence interval: (low, high)."""


class Result(BaseModel):
    """Figure, or several that belong together; attribute names are the keys of the JSON object."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Times(Result):
    """Time of a run or a suite, as ISO 8601 in UTC.

    Attributes:
        started: its first event.
        ended: its end; None while it lasts.
        seconds: wall time between the two, interruptions included; None while it lasts.
    """

    started: str
    ended: str | None
    seconds: float | None


class Unknown(StrEnum):
    """Reason for a missing interval, as none would have its stated coverage, or for an undecided verdict."""

    ALIKE = "all that was seen agrees, and its range is not known"
    FEW = "fewer than six scores, and their range is not known"
    FEW_CLUSTERS = "fewer than six clusters of cases, which are drawn together, and no range that makes up for it"
    FEW_SAMPLES = "fewer than six samples with a score of both"
    UNSCORED = "fewer than nine tenths of the samples have a score of both"
    CONSTANT = "all seeds of one side agree, so how much they vary is not known"
    UNLIKE = "four seeds are too few where scores repeat, or one side varies over 2.7 times as much as the other"
    FEW_RUNS = "fewer than six runs, or than three on a taskset"
    FEW_SEEDS = "too few seeds: two evolvers need four on one taskset, or three on each of several; a baseline, five"
    MISSING = "fewer scores are known than views.coverage asks for"
    NO_SCORE = "no score to make one of"


class MissingBounds(Result):
    """Bounds of a mean if all missing scores were the worst (`low`) or the best (`high`); values may not be missing at random.

    Attributes:
        declared: whether worst and best are the ends of the score range; else they are the minimum and maximum
            observed.
    """

    low: float
    high: float
    declared: bool


R = TypeVar("R", bound=Result)


def with_part(model: type[R], part: type[Result] | None) -> type[R]:
    """Return a model of results with a protocol's `part`, for reading and for its JSON Schema.

    Args:
        model: `RunResults` or `SuiteResults`.
        part: type of the protocol's part; None for a protocol without one.
    """
    fields: dict[str, Any] = {"part": (part | None if part else None, None)}
    return create_model(model.__name__, __base__=model, __doc__=model.__doc__, **fields)


def read(data: Any, model: type[R], part: type[Result] | None = None) -> R:
    """Parse results from metrics.json.

    Args:
        data: the parsed JSON.
        model: `RunResults` or `SuiteResults`.
        part: type of the protocol's part.

    Raises:
        RecordError: if they have another version or an invalid schema.
    """
    version = cast(Mapping[str, Any], data).get("schema_version") if isinstance(data, Mapping) else None
    if version != SCHEMA_VERSION:
        raise RecordError(
            f"metrics.json of version {version!r}: this version of heredity reads {SCHEMA_VERSION}; "
            "rebuild it with `heredity report`"
        )
    whole = with_part(model, part)
    with reading("metrics.json", "JSON", "rebuild it with `heredity report`", RecordError, whole):
        return whole.model_validate(data)
