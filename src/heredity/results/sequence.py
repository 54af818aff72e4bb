"""Results of a sequential suite, and the scales of differences."""

from __future__ import annotations

from enum import StrEnum

from heredity.results.base import Interval, Result


class Scale(StrEnum):
    """Scale of a difference: the taskset's scores, or normalised ones."""

    RETURN = "return"
    NORMALISED = "normalised"


class Stop(StrEnum):
    """Reason to stop: the question is decided, or the maximum number of seeds was reached."""

    DECIDED = "decided"
    MOST_SEEDS = "most seeds"


class SeedLook(Result):
    """Result after a seed.

    Attributes:
        seed: the last seed run.
        pairs: seeds for which both entries have a score on every taskset.
        difference: `a` minus `b`; None without a pair.
        ci: interval of the confidence sequence, in which all hold simultaneously; None while it is unbounded.
        p: valid at every stopping time.
    """

    seed: int
    pairs: int
    difference: float | None
    ci: Interval | None
    p: float | None


class Sequential(Result):
    """Suite that adds seeds until a question is decided (`heredity run --until`).

    Attributes:
        a: an entry; `b` the one it is compared with.
        scale: scale of differences: the taskset's scores, or normalised ones over several tasksets.
        level: of the test; it holds for any number of looks.
        most_seeds: maximum number of seeds.
        looks: one after each seed.
        stopped: why it ended; None while it runs.
    """

    a: str
    b: str
    scale: Scale
    level: float
    most_seeds: int
    looks: list[SeedLook]
    stopped: Stop | None
