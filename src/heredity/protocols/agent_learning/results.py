"""Results of agent learning: the bound over a set of methods, and the cost of inverted skins (AutoEnv)."""

from __future__ import annotations

from enum import StrEnum

from heredity.results.base import Interval, Result, Unknown
from heredity.results.suite import Claim, Unit


class PickedMethod(Result):
    """The best method of one taskset, picked after the fact; `tied` lists others with the same mean."""

    taskset: str
    method: str
    mean: float
    tied: list[str]


class UpperBound(Result):
    """Mean of the best method of each taskset, its gain over the reference, and the choices; not a result of any method.

    `gain` is None if any start is unknown.
    """

    mean: float
    gain: float | None
    picked: list[PickedMethod]


class BestFixed(Result):
    """The method with the greatest mean; `gap` is its distance to the upper bound."""

    method: str
    mean: float
    gap: float


class Controller(Result):
    """An evolver that chooses among methods; `covered` is its share of the way from the best fixed method to the bound.

    None if it lies below the best fixed method or above the bound, or if the two differ by less than 0.01.
    """

    evolver: str
    mean: float
    gap: float
    covered: float | None


class BoundOfSubsets(Result):
    """The upper bound with this number of methods, over subsets of that size: mean, minimum and maximum."""

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
    """The bound over a set of methods (AutoEnv, sections 4.2 and 5.3)."""

    methods: list[str]
    upper_bound: UpperBound
    best_fixed: BestFixed
    controllers: list[Controller]
    by_methods: list[BoundOfSubsets]
    by_tasksets: list[GainsByTasksets]


class SkinComparison(Result):
    """An entry on a taskset and on its counterpart with an inverse skin; `difference` is inverse minus plain.

    Attributes:
        evolvers: the claim about the evolver: new runs on new levels.
        candidates: the claim about these runs' final agents on new levels. Both None if nothing is ranked.
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
    """An evolver on all tasksets of a suite, in raw scores, not normalised.

    Attributes:
        tasksets: number of tasksets with a score; evolvers without a score on all have no `mean` and `gain`.
        mean: over tasksets of the held-out means; `gain`: its difference to the start.
        evolvers: the gain's claim about the evolver: new runs on new levels.
        candidates: its claim about these runs' final agents on new levels.
        tied: True if its agents are indistinguishable from those of the first.
    """

    evolver: str
    tasksets: int
    mean: float | None
    gain: float | None
    evolvers: Claim | None
    candidates: Claim | None
    tied: bool


class EntryKind(StrEnum):
    """Kind of a table row: the start of learning, a method, one that chooses among methods, or a bound."""

    START = "start"
    METHOD = "method"
    CONTROLLER = "controller"
    BOUND = "bound"


class GroupMean(Result):
    """Mean over `tasksets` of held-out means; `ci` is over `ci_unit`, None for a bound or for the reason `ci_unknown`."""

    mean: float
    ci: Interval | None
    ci_unit: Unit | None
    ci_unknown: Unknown | None
    tasksets: int


class TableRow(Result):
    """An entry with a score on all tasksets.

    Attributes:
        select: the method's way to select parents, if declared; of a bound, the way its methods share, None for all.
        means: by taskset.
        groups: means over the tasksets with a label.
        cost_usd: learning cost of one run, mean over tasksets; None if any part is unknown.
    """

    entry: str
    kind: EntryKind
    select: str | None
    means: dict[str, float]
    overall: GroupMean
    groups: dict[str, GroupMean]
    cost_usd: float | None


class LearningTable(Result):
    """Entries by taskset and by kind of taskset (AutoEnv, tables 5 and A9), with upper bounds if anything is ranked."""

    tasksets: list[str]
    groups: list[str]
    rows: list[TableRow]


class LearningSuite(Result):
    """The part of agent learning in a suite's results.

    Attributes:
        board: best mean first; empty if nothing is ranked.
        learning: None with fewer than two methods, or if nothing is ranked.
        table: None if no entry has a score on all tasksets.
    """

    board: list[BoardRow]
    learning: LearningSpace | None
    skins: list[SkinComparison]
    table: LearningTable | None = None
