"""Post-training figures formatted for cells and charts."""

from __future__ import annotations

from collections.abc import Sequence

from heredity.protocols.post_training.results import Gain, ScoreSummary, WinRate, WinRateGain
from heredity.results.charts import Lines, Series
from heredity.results.page import Mean

MINUTES = 60.0
"""Seconds per unit."""

SPENT = {"time": "minutes of the run", "submissions": "graded submissions", "tokens": "tokens of the agent"}
"""X axes of improvement curves, and their headings."""


def level(of: ScoreSummary | WinRate | None) -> Mean:
    """Return a score or a win rate with its interval."""
    if of is None:
        return Mean()
    return Mean(of.mean if isinstance(of, ScoreSummary) else of.rate, *(of.ci or (None, None)), 3)


def difference(gain: Gain | WinRateGain | None) -> Mean:
    """Return a gain with its interval."""
    return Mean(gain.difference, *(gain.ci or (None, None)), 3, signed=True) if gain else Mean()


def spent_lines(title: str, spent: str, series: Sequence[Series]) -> Lines:
    """Return the best improvement so far against spending."""
    empty = "nothing graded yet"
    return Lines(title, spent, "best improvement so far", tuple(series), x_range=None, y_from=0.0, empty=empty)
