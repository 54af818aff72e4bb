"""What there is a bounded number of, and what a step has of it: it is lent while the step waits for another participant.

Steps that held on to it would wait for each other: each has what the one that it waits for needs.
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
    """Something that is lent while its step waits, and may be gone when it goes on."""

    def lend(self) -> None:
        """Let others have it."""
        ...

    def take_back(self) -> None:
        """Keep it, where nobody has taken it meanwhile."""
        ...


class Step:
    """The handling of one message; everything that it awaits is part of it."""

    def __init__(self, *held: Lendable) -> None:
        self._held = list(held)
        self._waits = 0

    def begin(self) -> None:
        """Let what the current task does from now on be this step."""
        _STEP.set(self)

    def hold(self, thing: Lendable) -> None:
        """Lend this too whenever the step waits."""
        self._held.append(thing)
        if self._waits:
            thing.lend()

    def drop(self, thing: Lendable) -> None:
        """Do not lend this any more: it is given back."""
        self._held.remove(thing)

    def wait(self) -> None:
        """Lend all that is held, once however much is waited for."""
        self._waits += 1
        if self._waits == 1:
            for thing in list(self._held):
                thing.lend()

    def go_on(self) -> None:
        """Take back what was lent, unless something else is still waited for."""
        self._waits -= 1
        if not self._waits:
            for thing in list(self._held):
                thing.take_back()


@contextmanager
def waiting() -> Generator[None]:
    """Lend what the step holds that the current task is part of."""
    step = _STEP.get()
    if step:
        step.wait()
    try:
        yield
    finally:
        if step:
            step.go_on()


class Seats:
    """Seats for so many; who has one gives it up to whoever waits for one while its step waits for another."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._lent: list[Seat] = []
        self._giving: set[asyncio.Task[None]] = set()

    async def take(self, give_up: Callable[[], Awaitable[None]]) -> Seat:
        """Wait for a seat.

        Args:
            give_up: closes what the seat is needed for, and leaves it; called where another needs it more.
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
        """Hand a seat to whoever has waited longest."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def lend(self, seat: Seat) -> None:
        """Let a seat be given up when somebody needs one."""
        self._lent.append(seat)
        self.call_in()

    def keep(self, seat: Seat) -> None:
        """Let a seat not be given up any more."""
        if seat in self._lent:
            self._lent.remove(seat)

    def call_in(self) -> None:
        """Ask for as many of the seats that are lent as there are people who wait, those first that were lent first."""
        waiting = sum(not turn.done() for turn in self._waiting)
        while self._lent and len(self._giving) < waiting:
            task = asyncio.ensure_future(self._lent.pop(0).give_up())
            self._giving.add(task)
            task.add_done_callback(self._given)

    def _given(self, task: asyncio.Task[None]) -> None:
        self._giving.discard(task)
        self.call_in()

    async def close(self) -> None:
        """Wait until what is being given up is closed."""
        await asyncio.gather(*self._giving, return_exceptions=True)


class Seat:
    """A seat that somebody has (see `Seats.take`)."""

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
        """Close what it is needed for."""
        await self._give_up()

    def leave(self) -> None:
        """Give it back."""
        if self._step:
            self._step.drop(self)
        self._seats.keep(self)
        self._seats.leave()
