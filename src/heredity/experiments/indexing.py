"""Background indexing of a running suite for `heredity view`, which never delays the journals."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from heredity.pages.live.index import Index, open_index

EVERY_S = 1.0
"""Minimum seconds between two updates; longer after a slow one, as updates take at most a tenth of the time."""

LAST_S = 10.0
"""Timeout of the last update, in seconds; `heredity view` indexes the rest when it opens the folder."""


@contextmanager
def keeping_index(folder: Path, problem: Callable[[str], None] = lambda _: None) -> Generator[None]:
    """Keep the index of a suite up to date from a thread; at the end of the block it holds everything recorded.

    The index is derived. If it cannot be written, the suite continues; after a kill, indexing resumes from its last
    state.

    Args:
        folder: the suite's folder.
        problem: called at the end with the reason if the index could not be kept up to date.
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
                    reasons[:] = [f"the index for heredity view could not be kept up to date: {error}"]
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
    """Update an index; after the end of the suite, for a limited time."""
    index.update(lambda: ended.is_set() and time.monotonic() > until)
