"""Results of agent learning: what a set of methods can reach together, and what inverted skins cost (AutoEnv)."""

from __future__ import annotations

from enum import StrEnum

from heredity.results.base import Interval, Result, Unknown
from heredity.results.suite import Claim, Unit


class PickedMethod(Result):
    """The best method of one taskset, picked after the fact; `tied` are others with the same mean."""

    taskset: str
    method: str
    mean: float
    tied: list[str]


class UpperBound(Result):
    """Mean of the best method of each taskset, its gain over the reference, and which these are; no result of a method.

    `gain` is None where some start is not known.
    """

    mean: float
    gain: float | None
    picked: list[PickedMethod]


class BestFixed(Result):
    """The method of the greatest mean; `gap` is its distance to the upper bound."""

    method: str
    mean: float
    gap: float


class Controller(Result):
    """An evolver that chooses among methods; `covered` is its share of the way from the best fixed method to the bound.

    None where it is not on that way, before its start or beyond its end, or where there is no way: less than 0.01 between the two.
    """

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


class EntryKind(StrEnum):
    """What a row of the table is: what learning began with, a method, one that chooses among methods, or a bound of them."""

    START = "start"
    METHOD = "method"
    CONTROLLER = "controller"
    BOUND = "bound"


class GroupMean(Result):
    """Mean over `tasksets` of held-out means; `ci` over what `ci_unit` says, None where `ci_unknown` says why, and of a bound."""

    mean: float
    ci: Interval | None
    ci_unit: Unit | None
    ci_unknown: Unknown | None
    tasksets: int


class TableRow(Result):
    """An entry that has a score on all tasksets.

    Attributes:
        select: how the method selects parents, where it says so; of a bound, what its methods have in common, None for all.
        means: by taskset.
        groups: means over the tasksets with a label.
        cost_usd: of learning, of one run, mean over tasksets; None where a part is unknown.
    """

    entry: str
    kind: EntryKind
    select: str | None
    means: dict[str, float]
    overall: GroupMean
    groups: dict[str, GroupMean]
    cost_usd: float | None


class LearningTable(Result):
    """Entries by taskset and by kind of taskset (AutoEnv, tables 5 and A9), with upper bounds where anything is ranked."""

    tasksets: list[str]
    groups: list[str]
    rows: list[TableRow]


class LearningSuite(Result):
    """The part of agent learning in a suite's results.

    Attributes:
        board: best mean first; empty where nothing is ranked.
        learning: None with fewer than two methods, or where nothing is ranked.
        table: None without an entry that has a score on all tasksets.
    """

    board: list[BoardRow]
    learning: LearningSpace | None
    skins: list[SkinComparison]
    table: LearningTable | None = None
