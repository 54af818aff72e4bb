"""Calibration: how far stated confidence is from accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

BIN = 100
"""Answers per bin, as in Humanity's Last Exam."""


def calibration_error(stated: Sequence[tuple[float, bool]], size: int = BIN) -> float:
    """Return the RMS calibration error (Hendrycks et al., 2019, arXiv:1812.04606), as Humanity's Last Exam reports it.

    Answers are sorted by confidence and divided into bins of `size`; the last bin also holds the remainder, and fewer
    answers are one bin. Each bin contributes the squared difference of its mean confidence and its accuracy, weighted
    by its answers.

    Args:
        stated: each answer's stated confidence, 0 to 1, and True if it is right; one or more answers.
        size: answers per bin, 1 or more.

    Returns:
        The error, 0 (calibrated) to 1.
    """
    answers = np.array(sorted(stated, key=lambda answer: answer[0]), np.float64)
    edges = [*range(0, max(1, len(answers) // size) * size, size), len(answers)]
    gaps = [np.subtract(*answers[start:end].mean(axis=0)) for start, end in pairwise(edges)]
    return float(np.sqrt(np.average(np.square(gaps), weights=np.diff(edges))))
