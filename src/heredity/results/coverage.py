"""How much of a view must be known for its scores to choose a candidate or to say which of two is better: one rule for all.

A rollout that the environment, a provider or this host failed is missing, and leaves the mean. So what is missing could be what
would have told: a mean of few rollouts is shown with its bounds, and chooses nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

COVERAGE = 0.9
"""The share of what was asked that must have been attempted, on each side of a comparison."""


def covered(attempted: int, asked: int, least: float = COVERAGE) -> bool:
    """Whether enough of what was asked was attempted: at least the share `least`, and something."""
    return attempted > 0 and attempted >= least * asked - 1e-9


def covers(scores: Sequence[float | None], least: float = COVERAGE) -> bool:
    """Whether enough scores are known; those that are None or NaN are missing."""
    return covered(sum(score is not None and not math.isnan(score) for score in scores), len(scores), least)


def mean_bounds(scores: Sequence[float | None]) -> tuple[float, float] | None:
    """Return what the mean would be with all that is missing at 0, and with all of it at 1.

    None where nothing is missing, or where a known score is no share, so that nobody knows what the missing ones could be.
    """
    known = [score for score in scores if score is not None and not math.isnan(score)]
    missing = len(scores) - len(known)
    if not missing or not all(0.0 <= score <= 1.0 for score in known):
        return None
    low = math.fsum(known) / len(scores)
    return low, low + missing / len(scores)
