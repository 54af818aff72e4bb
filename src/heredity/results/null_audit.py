"""Results of the audit of a benchmark's published per-item results."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from heredity.results.base import Interval, Result, Unknown
from heredity.results.run import Verdict

AUDIT_VERSION = 1


class Unit(StrEnum):
    """Unit of the figures of an audit."""

    SCORE = "score"
    RANK = "rank score"
    """Of each item, 1 for its best model and 0 for its worst: items with units of their own have no common mean."""


class ModelRow(Result):
    """Scores of a model.

    Attributes:
        items: items with a score.
        seeds: seeds, or repetitions.
        ci: interval of the mean for new items like these, by clusters of items if there are any.
        unclustered: the interval if clusters are ignored; None without clusters.
        seed_sd: standard deviation of its means between seeds; None for fewer than three.
        ranks: best and worst rank that the comparisons leave open.
        policy: whether its name is that of a policy that does nothing useful, such as `random`.
    """

    model: str
    mean: float
    items: int
    missing: int
    seeds: int
    ci: Interval | None
    unknown: Unknown | None
    unclustered: Interval | None
    seed_sd: float | None
    ranks: tuple[int, int]
    policy: bool


class PairRow(Result):
    """Paired difference of two models on the items of both.

    Attributes:
        p: two-sided, uncorrected.
        p_holm: corrected for all pairs of models (Holm 1979).
        mde: smallest true difference that such a test finds in 80%, at the level of the first corrected test.
        items_needed: items, or clusters, at which a true difference of this size would be found in 80%, in a single test;
            None if it is resolved, or if the difference is 0.
        seeds_needed: likewise seeds, with these items; None if more seeds do not suffice, or the seeds are too few to tell.
    """

    a: str
    b: str
    items: int
    difference: float
    ci: Interval | None
    p: float | None
    p_holm: float | None
    verdict: Verdict
    mde: float | None
    items_needed: int | None
    seeds_needed: int | None


class NullRow(Result):
    """Policy that solves nothing.

    Attributes:
        policy: its name.
        score: its mean; on the data themselves, where it picks the best constant.
        source: how the score was obtained.
        not_better: models that are not shown to be better than it.
    """

    policy: str
    score: float
    source: str
    not_better: list[str]


class Sign(Result):
    """Sign that the statistic is contaminated; `count` items, rows or models are affected."""

    sign: str
    count: int
    examples: list[str]


class NullAudit(Result):
    """What a benchmark's published results allow one to conclude.

    Attributes:
        columns: role of each recognised column, such as `score`, to its name.
        common: items that all models have.
        undecided: items on which all models have the same score.
        clusters: number of clusters of items; None without any.
        pairs: every pair of models, the better mean first.
        resolved: pairs with a verdict after correction.
        conclusions: sentences, the most important first.
    """

    schema_version: int = AUDIT_VERSION
    files: list[str]
    columns: dict[str, str]
    unit: Unit
    lower_is_better: bool
    items: int
    common: int
    undecided: int
    clusters: int | None
    models: list[ModelRow]
    pairs: list[PairRow]
    resolved: int
    nulls: list[NullRow]
    signs: list[Sign]
    conclusions: list[str] = Field(default_factory=list[str])
