"""Being told to end: SIGTERM and SIGHUP are treated as Ctrl-C, so that whoever ends a run finds everything in order."""

from __future__ import annotations

import signal
from types import FrameType

_received: list[int] = []


def treat_as_interrupt() -> None:
    """Let SIGTERM and SIGHUP interrupt this process as Ctrl-C does, unless they are ignored (`nohup`)."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def interruption_code() -> int:
    """Return the exit code of an interrupted process: 128 and the number of the signal."""
    return 128 + (_received[0] if _received else signal.SIGINT)


def _interrupt(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    # Whoever waits for Ctrl-C, such as the event loop, is told in the same way.
    signal.raise_signal(signal.SIGINT)
