"""Coverage: the minimum share of a view's scores for selecting a candidate or comparing two, one rule for all.

A rollout that the environment, a provider or this host failed is missing and left out of the mean. Missing scores
might have
changed the result: a mean of few rollouts is shown with its bounds (`analysis/bounds.py`), and does not select
anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

COVERAGE = 0.9
"""Default of `views.coverage`: minimum share of known scores on each side of a comparison."""


def covered(attempted: int, asked: int, least: float = COVERAGE) -> bool:
    """Report whether the share of attempted rollouts is at least `least`, and not zero."""
    return attempted > 0 and attempted >= least * asked - 1e-9


def covers(scores: Sequence[float | None], least: float = COVERAGE) -> bool:
    """Report whether enough scores are known; None and NaN are missing."""
    return covered(sum(score is not None and not math.isnan(score) for score in scores), len(scores), least)
