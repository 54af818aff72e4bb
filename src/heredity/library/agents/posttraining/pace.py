"""Whether another step of training ends in time."""

from __future__ import annotations

import time


class Pace:
    """Asked before each step: a step may take as long as the slowest before it, and none is begun that would end too late.

    Args:
        until: a time of `time.monotonic()`.
    """

    def __init__(self, until: float) -> None:
        self._until, self._slowest, self._began = until, 0.0, float("inf")

    def goes_on(self) -> bool:
        """Return whether there is time for another step."""
        now = time.monotonic()
        self._slowest = max(self._slowest, now - self._began)  # before the first, no time at all
        self._began = now
        return now + self._slowest < self._until
