"""Results of a suite that is run seed after seed until a question is decided, and what differences are measured in."""

from __future__ import annotations

from enum import StrEnum

from heredity.results.base import Interval, Result


class Scale(StrEnum):
    """What a difference is measured in: the taskset's own scores, or normalised ones."""

    RETURN = "return"
    NORMALISED = "normalised"


class Stop(StrEnum):
    """Why no more seeds are run: the question is decided, or no more were allowed."""

    DECIDED = "decided"
    MOST_SEEDS = "most seeds"


class SeedLook(Result):
    """What was known after a seed.

    Attributes:
        seed: the last that was run.
        pairs: seeds that both entries have a score for, on every taskset.
        difference: `a` minus `b`; None without a pair.
        ci: of the confidence sequence: all of them hold together; None while it has no end.
        p: valid at every stopping time.
    """

    seed: int
    pairs: int
    difference: float | None
    ci: Interval | None
    p: float | None


class Sequential(Result):
    """A suite that is run seed after seed until a question is decided (`heredity run --until`).

    Attributes:
        a: an entry; `b` the one that it is compared with.
        scale: what differences are measured in: the taskset's own scores, or over several normalised ones.
        level: of the test; it holds however often one looks.
        most_seeds: how many are run at most.
        looks: one after each seed.
        stopped: why it ended; None while it has not.
    """

    a: str
    b: str
    scale: Scale
    level: float
    most_seeds: int
    looks: list[SeedLook]
    stopped: Stop | None
