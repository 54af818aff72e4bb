"""What a plan says: variance components of a pilot, and designs that find a difference, with what they cost."""

from __future__ import annotations

from heredity.results.base import Interval, Result
from heredity.results.sequence import Scale


class Component(Result):
    """A variance component as a standard deviation, with its interval and its share of the variance of one score."""

    sd: float
    ci: Interval
    share: float | None


class ComponentsRow(Result):
    """What scores differ by.

    Attributes:
        taskset: on which; None for the mean over tasksets, in normalised scores.
        entry: whose scores; with `against`, of paired differences.
        seed: between seeds of the evolver; `case`: between held-out cases.
        residual: seed x case, and what one attempt adds: each case is attempted once, with a policy seed that the case fixes.
        note: why they are not known; "" where they are.
    """

    taskset: str | None
    entry: str
    against: str | None
    scale: Scale
    seeds: int
    cases: int
    seed: Component | None
    case: Component | None
    residual: Component | None
    note: str


class Amount(Result):
    """What something costs; None is unknown, and so is every sum it enters.

    Attributes:
        rollouts: train, validation and held-out.
        seconds: evolvers by the clock, judging added up over rollouts, one after the other.
        tokens: input and output of all models.
        cost_usd: US dollars.
    """

    rollouts: float | None
    seconds: float | None
    tokens: float | None
    cost_usd: float | None


class Design(Result):
    """So many seeds and held-out cases.

    Attributes:
        cases: held-out cases on each taskset.
        seeds: the fewest that reach the power; None if none do, for the cases alone leave too much to chance.
        power: with these, if the components are as estimated.
        power_ci: 95% interval of it, given how well the pilot knows the components; of the cheapest design of the first aim.
        cost: of both entries on all tasksets.
        cheapest: of its aim.
    """

    cases: int
    seeds: int | None
    power: float | None
    power_ci: Interval | None
    cost: Amount | None
    cheapest: bool


class Aim(Result):
    """A difference to be found, and the designs that find it."""

    effect: float
    designs: list[Design]


class Plan(Result):
    """What to buy to tell two entries apart.

    Attributes:
        a: an entry; `b` the other one.
        tasksets: on which; differences are means over these.
        scale: what effects are measured in.
        power: that a design reaches; `level` of the test before the correction for `tests` of them.
        pilot_seeds: paired seeds of the pilot, on the taskset with the fewest; `pilot_cases` likewise.
        clustered: whether cases were drawn together: then a case, in all of this, is a cluster of as many as the pilot's have.
        detectable: the smallest difference that a suite of the pilot's size finds, with as many seeds as it takes to tell at all.
        aims: the first is the one that was asked for.
        curves: for each number of cases of the first aim, (seeds, power).
        components: of single entries and of paired differences, on each taskset and over all.
        cost_per_seed: of both entries on all tasksets, held-out cases left out; `cost_per_case` of one held-out case for one seed.
    """

    a: str
    b: str
    tasksets: list[str]
    scale: Scale
    power: float
    level: float
    tests: int
    pilot_seeds: int
    pilot_cases: int
    detectable: float
    aims: list[Aim]
    curves: dict[int, list[tuple[int, float]]]
    components: list[ComponentsRow]
    cost_per_seed: Amount
    cost_per_case: Amount
    clustered: bool = False
