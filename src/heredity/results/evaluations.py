"""Comparison of evaluations that were made elsewhere: models or solvers on the same samples."""

from __future__ import annotations

from pydantic import Field

from heredity.results.base import Interval, Result, Unknown
from heredity.results.suite import Claim

EVALUATIONS_VERSION = 1


class EvaluatedEntry(Result):
    """Scores of an entry on a taskset.

    Attributes:
        entry: the model, solver or run, with the settings that differ.
        logs: number of logs; `epochs`: most scores of one sample.
        samples: samples with a score; `missing`: samples without one.
        mean: mean over samples of their means over epochs; None without a score.
        ci: its interval over new samples; None for the reason `ci_unknown`.
        clusters: number of clusters of samples; None if samples are not clustered.
        statuses: states of the logs, such as `"success"`, to their number.
    """

    entry: str
    taskset: str
    logs: int
    epochs: int
    samples: int
    missing: int
    mean: float | None
    ci: Interval | None
    ci_unknown: Unknown | None
    clusters: int | None
    statuses: dict[str, int]


class EvaluatedPair(Result):
    """`a` against `b`, paired by sample; positive differences favour `a`.

    Attributes:
        taskset: the taskset; None for the mean over all that both have.
        claim: the claim about new samples.
        samples: samples with a score of both; `missing`: those both were given that lack one.
        unpaired: samples that only one was given.
    """

    a: str
    b: str
    taskset: str | None
    difference: float
    claim: Claim
    samples: int
    missing: int
    unpaired: int


class EvaluationComparison(Result):
    """Comparison of evaluations, as `heredity compare LOG… --json` prints it.

    Attributes:
        higher_is_better: direction of the scores.
        scorer: the compared scorer; several are separated by commas.
        logs: number of logs.
        confidence: of all intervals.
        entries: best first on each taskset.
        pairs: over all tasksets, where there are several.
        tasksets: pairs on each taskset.
        notes: logs left out, scores that are no numbers, and the like.
    """

    schema_version: int = EVALUATIONS_VERSION
    higher_is_better: bool
    scorer: str
    logs: int
    confidence: float
    entries: list[EvaluatedEntry]
    pairs: list[EvaluatedPair]
    tasksets: list[EvaluatedPair]
    notes: list[str] = Field(default_factory=list[str])
