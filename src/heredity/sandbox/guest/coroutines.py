"""Coroutines without sockets: an event loop with timers and threads, since descriptors cannot be waited for here."""

from __future__ import annotations

import threading
from collections.abc import Coroutine
from typing import Any


class _Waiting:
    """Waits like a selector, but only for time and calls from other threads."""

    def __init__(self) -> None:
        self.called = threading.Event()

    def select(self, timeout: float | None) -> list[Any]:
        self.called.wait(timeout)
        self.called.clear()
        return []


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine; return its result, or raise its exception."""
    import asyncio  # importing it takes longer than most programs run

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
