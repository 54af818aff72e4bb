"""Lending of scarce resources: a step lends them while it waits for another participant.

Steps that kept them would deadlock: each would hold the resource that the other needs.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

_STEP: ContextVar[Step | None] = ContextVar("step", default=None)


class Lendable(Protocol):
    """A resource that is lent while its step waits, and may be gone when the step continues."""

    def lend(self) -> None:
        """Let others use it."""
        ...

    def take_back(self) -> None:
        """Keep it, unless it was taken meanwhile."""
        ...


class Step:
    """The handling of one message; everything that it awaits is part of it."""

    def __init__(self, *held: Lendable) -> None:
        self._held = list(held)
        self._waits = 0

    def begin(self) -> None:
        """Make this the step of the current task."""
        _STEP.set(self)

    def hold(self, thing: Lendable) -> None:
        """Lend this resource too whenever the step waits."""
        self._held.append(thing)
        if self._waits:
            thing.lend()

    def drop(self, thing: Lendable) -> None:
        """Stop lending this resource: it was returned."""
        self._held.remove(thing)

    def wait(self) -> None:
        """Lend all resources held, once for any number of waits."""
        self._waits += 1
        if self._waits == 1:
            for thing in list(self._held):
                thing.lend()

    def go_on(self) -> None:
        """Take back lent resources, unless the step still waits for something else."""
        self._waits -= 1
        if not self._waits:
            for thing in list(self._held):
                thing.take_back()


@contextmanager
def waiting() -> Generator[None]:
    """Lend the resources of the current task's step."""
    step = _STEP.get()
    if step:
        step.wait()
    try:
        yield
    finally:
        if step:
            step.go_on()


class Seats:
    """A limited number of seats; a holder whose step waits for another gives its seat up to the next in line."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._lent: list[Seat] = []
        self._giving: set[asyncio.Task[None]] = set()

    async def take(self, give_up: Callable[[], Awaitable[None]]) -> Seat:
        """Wait for a seat.

        Args:
            give_up: closes the resource the seat is for, and leaves the seat; called when another needs it more.
        """
        if self._free and not self._waiting:
            self._free -= 1
        else:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            self.call_in()
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self.leave()
                raise
        return Seat(self, give_up, _STEP.get())

    def leave(self) -> None:
        """Pass a seat to the longest waiting."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def lend(self, seat: Seat) -> None:
        """Mark a seat as available on demand."""
        self._lent.append(seat)
        self.call_in()

    def keep(self, seat: Seat) -> None:
        """Mark a seat as no longer available."""
        if seat in self._lent:
            self._lent.remove(seat)

    def call_in(self) -> None:
        """Recall as many lent seats as there are waiting callers, those lent first coming first."""
        waiting = sum(not turn.done() for turn in self._waiting)
        while self._lent and len(self._giving) < waiting:
            task = asyncio.ensure_future(self._lent.pop(0).give_up())
            self._giving.add(task)
            task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._giving.discard(task)
        self.call_in()

    async def close(self) -> None:
        """Wait until resources being given up are closed."""
        await asyncio.gather(*self._giving, return_exceptions=True)


class Seat:
    """A seat that is held (see `Seats.take`)."""

    def __init__(self, seats: Seats, give_up: Callable[[], Awaitable[None]], step: Step | None) -> None:
        self._seats, self._give_up, self._step = seats, give_up, step
        if step:
            step.hold(self)

    def lend(self) -> None:
        """Let others have it."""
        self._seats.lend(self)

    def take_back(self) -> None:
        """Keep it."""
        self._seats.keep(self)

    async def give_up(self) -> None:
        """Close the resource it is for."""
        await self._give_up()

    def leave(self) -> None:
        """Give it back."""
        if self._step:
            self._step.drop(self)
        self._seats.keep(self)
        self._seats.leave()
