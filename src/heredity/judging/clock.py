"""The clock of a run: it counts the time that the run was really running, across pauses and restarts."""

from __future__ import annotations

import time
from collections.abc import Callable


class RunClock:
    """Seconds that a run has been running.

    It is read and ticked at regular heartbeats, which are recorded. Between two ticks at most two intervals count, so
    a process that was stopped, or a machine that slept, does not lose the time it was away; and since a restart
    continues from the last recorded heartbeat, a crash neither eats nor grants more than one interval.
    """

    def __init__(
        self, start_s: float = 0.0, interval_s: float = 5.0, source: Callable[[], float] = time.monotonic
    ) -> None:
        """Start the clock.

        Args:
            start_s: what it shows now: the last reading in the journal.
            interval_s: seconds between heartbeats.
            source: a monotonic clock, in seconds.
        """
        self.interval_s = interval_s
        self._counted = start_s
        self._source = source
        self._ticked = source()

    def now(self) -> float:
        """Return the seconds counted so far."""
        return self._counted + min(self._source() - self._ticked, 2 * self.interval_s)

    def tick(self) -> float:
        """Mark a heartbeat and return the seconds counted so far."""
        self._counted = self.now()
        self._ticked = self._source()
        return self._counted
