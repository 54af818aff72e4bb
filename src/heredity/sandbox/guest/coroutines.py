"""Coroutines without sockets: an event loop that knows timers and threads, since descriptors cannot be waited for here."""

from __future__ import annotations

import threading
from collections.abc import Coroutine
from typing import Any


class _Waiting:
    """Waits as a selector does, for nothing but time and calls from other threads."""

    def __init__(self) -> None:
        self.called = threading.Event()

    def select(self, timeout: float | None) -> list[Any]:
        self.called.wait(timeout)
        self.called.clear()
        return []


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Return what a coroutine returns, or raise what it raises."""
    import asyncio  # it takes longer to import than most programs run

    class Loop(asyncio.BaseEventLoop):
        def __init__(self) -> None:
            super().__init__()
            self._selector = _Waiting()

        def _process_events(self, event_list: list[Any]) -> None:
            pass

        def _write_to_self(self) -> None:
            self._selector.called.set()

    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(coroutine)
