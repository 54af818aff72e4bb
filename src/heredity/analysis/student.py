"""Student's t distribution, to avoid a dependency for one function."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

_NORMAL = NormalDist()
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def student_quantile(p: float, freedom: float) -> float:
    """Return the quantile of Student's t distribution.

    Args:
        p: probability in [0.5, 1).
        freedom: degrees of freedom, at least 1; from 300 on, the normal quantile is returned.
    """
    if freedom >= 300.0:
        return _NORMAL.inv_cdf(p)
    return _student_quantile(p, round(max(freedom, 1.0), 3))


@lru_cache(maxsize=4096)
def _student_quantile(p: float, freedom: float) -> float:
    # With t = sqrt(freedom) tan(angle), the density becomes a power of the cosine: smooth and falling, so Newton's steps
    # from the angle of the normal quantile, which is too small, never overshoot.
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    angle = math.atan2(_NORMAL.inv_cdf(p), math.sqrt(freedom))
    for _ in range(60):
        area = float((_WEIGHTS * np.cos((_NODES + 1) / 2 * angle) ** (freedom - 1)).sum()) * angle / 2
        step = (p - 0.5 - scale * area) / (scale * math.cos(angle) ** (freedom - 1))
        angle += step
        if step <= 1e-14:
            break
    return math.sqrt(freedom) * math.tan(angle)


def student_p(statistic: float, freedom: float) -> float:
    """Return the probability of a value at least as far from 0 under Student's t distribution.

    Args:
        statistic: an estimate over its standard error.
        freedom: degrees of freedom, at least 1; from 300 on, the normal distribution is used.
    """
    if freedom >= 300.0:
        return math.erfc(abs(statistic) / math.sqrt(2.0))
    freedom = max(freedom, 1.0)
    # Integrate the tail directly, since 1 - area would lose its digits.
    start = math.atan2(abs(statistic), math.sqrt(freedom))
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    width = math.pi / 2 - start
    angles = start + (_NODES + 1) / 2 * width
    return min(1.0, 2.0 * scale * float((_WEIGHTS * np.cos(angles) ** (freedom - 1)).sum()) * width / 2)
