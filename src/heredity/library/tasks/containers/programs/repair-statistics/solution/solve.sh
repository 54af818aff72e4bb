#!/bin/bash
set -euo pipefail
cat > /app/stats.py <<'PYTHON'
"""Statistics of lists of numbers."""

import statistics
from itertools import accumulate


def mean(values):
    """Return the mean; raise ValueError for an empty list."""
    return statistics.mean(values)


def median(values):
    """Return the middle value, or the mean of the two in the middle; raise ValueError for an empty list. The list stays as it is."""
    return statistics.median(values)


def mode(values):
    """Return the most frequent value; among equals the one that occurs first. Raise ValueError for an empty list."""
    return statistics.mode(values)


def running(values, seen=None):
    """Return the running totals."""
    return list(accumulate(values))
PYTHON
