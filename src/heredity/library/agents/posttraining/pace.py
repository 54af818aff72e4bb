"""Checks if another step of training ends in time."""

from __future__ import annotations

import time


class Pace:
    """Checked before each step: assumes that a step takes as long as the slowest so far, and starts none that would end too late.

    Args:
        until: deadline, a time of `time.monotonic()`.
    """

    def __init__(self, until: float) -> None:
        self._until, self._slowest, self._began = until, 0.0, float("inf")

    def goes_on(self) -> bool:
        """Return True if there is time for another step."""
        now = time.monotonic()
        self._slowest = max(self._slowest, now - self._began)  # before the first, no time at all
        self._began = now
        return now + self._slowest < self._until
