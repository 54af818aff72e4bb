"""How much of a view must be known for its scores to choose a candidate or to say which of two is better: one rule for all.

A rollout that the environment, a provider or this host failed is missing, and leaves the mean. So what is missing could be what
would have told: a mean of few rollouts is shown with its bounds (`analysis/bounds.py`), and chooses nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

COVERAGE = 0.9
"""The share of what was asked that must have been attempted, on each side of a comparison, unless `views.coverage` says another."""


def covered(attempted: int, asked: int, least: float = COVERAGE) -> bool:
    """Whether enough of what was asked was attempted: at least the share `least`, and something."""
    return attempted > 0 and attempted >= least * asked - 1e-9


def covers(scores: Sequence[float | None], least: float = COVERAGE) -> bool:
    """Whether enough scores are known; those that are None or NaN are missing."""
    return covered(sum(score is not None and not math.isnan(score) for score in scores), len(scores), least)
