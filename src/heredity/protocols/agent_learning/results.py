"""Results of agent learning: what a set of methods can reach together, and what inverted skins cost (AutoEnv)."""

from __future__ import annotations

from heredity.results.base import Result
from heredity.results.suite import Claim


class PickedMethod(Result):
    """The best method of one taskset, picked after the fact; `tied` are others with the same mean."""

    taskset: str
    method: str
    mean: float
    tied: list[str]


class UpperBound(Result):
    """Mean of the best method of each taskset, its gain over the reference, and which these are; no result of a method."""

    mean: float
    gain: float
    picked: list[PickedMethod]


class BestFixed(Result):
    """The method of the greatest mean; `gap` is its distance to the upper bound."""

    method: str
    mean: float
    gap: float


class Controller(Result):
    """An evolver that chooses among methods; `covered` is its share of the way from the best fixed method to the bound."""

    evolver: str
    mean: float
    gap: float
    covered: float | None


class BoundOfSubsets(Result):
    """The upper bound with so many methods, over subsets of that size: mean, least and greatest."""

    methods: int
    subsets: int
    mean: float
    low: float
    high: float


class GainsByTasksets(Result):
    """Mean of the k greatest gains of a method, or of the upper bound, for k = 1, 2, …."""

    evolver: str
    gains: list[float]


class LearningSpace(Result):
    """What a set of methods can reach together (AutoEnv, sections 4.2 and 5.3)."""

    methods: list[str]
    upper_bound: UpperBound
    best_fixed: BestFixed
    controllers: list[Controller]
    by_methods: list[BoundOfSubsets]
    by_tasksets: list[GainsByTasksets]


class SkinComparison(Result):
    """An entry on a taskset and on the same one with an inverse skin; `difference` is inverse minus plain.

    Attributes:
        evolvers: what it says of the evolver: of new runs, on new levels.
        candidates: what it says of the agents that these runs ended with, on new levels. Both None where nothing is ranked.
    """

    taskset: str
    evolver: str
    plain: float
    inverse: float
    difference: float
    evolvers: Claim | None
    candidates: Claim | None
    cases: int


class BoardRow(Result):
    """An evolver on all tasksets of a suite, in their own scores, not normalised.

    Attributes:
        tasksets: those on which it has a score; only who has one on all of them is compared, others have no `mean` and `gain`.
        mean: over tasksets of the held-out means; `gain` its difference to the starting point.
        evolvers: what the gain says of the evolver: of new runs, on new levels.
        candidates: what it says of the agents that these runs ended with, on new levels.
        tied: whether its agents cannot be told from those of the first.
    """

    evolver: str
    tasksets: int
    mean: float | None
    gain: float | None
    evolvers: Claim | None
    candidates: Claim | None
    tied: bool


class LearningSuite(Result):
    """The part of agent learning in a suite's results.

    Attributes:
        board: best mean first; empty where nothing is ranked.
        learning: None with fewer than two methods, or where nothing is ranked.
    """

    board: list[BoardRow]
    learning: LearningSpace | None
    skins: list[SkinComparison]
