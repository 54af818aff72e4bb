"""Keeping the index that `heredity view` opens up to date while a suite is run, beside the journals and never in their way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from heredity.view.index import Index, open_index

EVERY_S = 1.0
"""Seconds between two updates; more where an update takes long, so that at most a tenth of the time goes into them."""

LAST_S = 10.0
"""Seconds that the last update may take: what is missing then is read by whoever opens the folder."""


@contextmanager
def keeping_index(folder: Path, problem: Callable[[str], None] = lambda _: None) -> Generator[None]:
    """Keep the index of a suite up to date inside of the block, from a thread; at its end it holds all that was journalled.

    The index is derived: where it cannot be kept, the suite goes on. Killed at any instant, it goes on from what it holds.

    Args:
        folder: the suite's folder.
        problem: is told at the end why the index could not be kept.
    """
    ended, reasons = threading.Event(), list[str]()

    def keep() -> None:
        with ExitStack() as opened:
            index: Index | None = None
            pause, last = EVERY_S, False
            while not last:
                last = ended.wait(pause)
                began = time.monotonic()
                try:
                    index = index or opened.enter_context(open_index(folder))
                    _update(index, ended, began + LAST_S)
                    reasons.clear()
                except Exception as error:  # noqa: BLE001 - whatever is wrong with what is derived, the suite goes on
                    reasons[:] = [f"what heredity view asks for could not be kept up to date: {error}"]
                pause = max(EVERY_S, 10 * (time.monotonic() - began))

    thread = threading.Thread(target=keep, name="index of heredity view", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        for reason in reasons:
            problem(reason)


def _update(index: Index, ended: threading.Event, until: float) -> None:
    """Update an index; when the suite has ended, for a while."""
    index.update(lambda: ended.is_set() and time.monotonic() > until)
