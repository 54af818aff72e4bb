"""Plans: variance components of a pilot, and designs that detect a difference, with their costs."""

from __future__ import annotations

from heredity.results.base import Interval, Result
from heredity.results.sequence import Scale


class Component(Result):
    """Variance component as a standard deviation, with its interval and its share of the variance of one score."""

    sd: float
    ci: Interval
    share: float | None


class ComponentsRow(Result):
    """Variance components of scores.

    Attributes:
        taskset: the taskset; None for the mean over tasksets, in normalised scores.
        entry: entry with these scores; with `against`, of paired differences.
        seed: between seeds of the evolver; `case`: between held-out cases.
        residual: seed x case, plus the variance of one rollout: each case is run once, with a policy seed that the
            case fixes.
        note: why they are unknown; "" if they are known.
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
    """Cost; None is unknown, as is any sum with an unknown part.

    Attributes:
        rollouts: train, validation and held-out.
        seconds: wall time of evolvers, plus that of judging summed over rollouts.
        tokens: input and output of all models.
        cost_usd: US dollars.
    """

    rollouts: float | None
    seconds: float | None
    tokens: float | None
    cost_usd: float | None


class Design(Result):
    """Number of seeds and held-out cases.

    Attributes:
        cases: held-out cases on each taskset.
        seeds: smallest number that reaches the power; None if none does, as the variance between cases is too large.
        power: power with these, given the estimated components.
        power_ci: its 95% interval, given the pilot's precision; for the cheapest design of the first aim.
        cost: cost of both entries on all tasksets.
        cheapest: whether it is the cheapest of its aim.
    """

    cases: int
    seeds: int | None
    power: float | None
    power_ci: Interval | None
    cost: Amount | None
    cheapest: bool


class Aim(Result):
    """Difference to detect, and the designs that detect it."""

    effect: float
    designs: list[Design]


class Plan(Result):
    """Plan to distinguish two entries.

    Attributes:
        a: an entry; `b` the other one.
        tasksets: the tasksets; differences are means over them.
        scale: unit of effects.
        power: power that a design reaches; `level` of the test before the correction for `tests` of them.
        pilot_seeds: paired seeds of the pilot, on the taskset with the fewest; `pilot_cases` likewise.
        clustered: whether cases were drawn in clusters: then every case here is a cluster of the pilot's mean size.
        detectable: smallest difference that a suite of the pilot's size detects, with at least the seeds that a
            test needs.
        aims: the first is the requested one.
        curves: for each number of cases of the first aim, (seeds, power).
        components: of single entries and of paired differences, on each taskset and over all.
        cost_per_seed: of both entries on all tasksets, without held-out cases; `cost_per_case` of one held-out
            case for one seed.
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
