"""A participant's mailbox: bounded for each sender, so that one who floods it waits and nobody else does."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Any

from heredity.team.messages import Message


@dataclass(frozen=True, slots=True, eq=False)
class Delivery:
    """A message on its way to one recipient.

    Attributes:
        message: what is delivered.
        request: whoever waits for the answer; None for a note.
    """

    message: Message
    request: Any = None


class Mailbox:
    """Messages that wait for one participant.

    Each sender may have `capacity` messages waiting and is then held back. Senders take turns; of one sender's messages the
    one of the highest priority comes first, and of equals the one that was put first.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._waiting: OrderedDict[str, list[tuple[int, int, Delivery]]] = OrderedDict()
        self._held: dict[str, deque[asyncio.Future[None]]] = {}
        self._takers: deque[asyncio.Future[None]] = deque()
        self._order = itertools.count()

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    async def put(self, delivery: Delivery) -> None:
        """Add a message, as soon as its sender has fewer than `capacity` waiting here."""
        sender = delivery.message.sender
        while len(self._waiting.get(sender, ())) >= self.capacity:
            turn = asyncio.get_running_loop().create_future()
            held = self._held.setdefault(sender, deque())
            held.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                # The turn it was given goes to the next; one that was not given is never given.
                if turn.done() and not turn.cancelled():
                    _wake(held)
                raise
        entry = (-delivery.message.priority, next(self._order), delivery)
        heapq.heappush(self._waiting.setdefault(sender, []), entry)
        _wake(self._takers)

    async def take(self) -> Delivery:
        """Return the next message, once there is one."""
        while not self._waiting:
            turn = asyncio.get_running_loop().create_future()
            self._takers.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    _wake(self._takers)
                raise
        sender, waiting = next(iter(self._waiting.items()))
        delivery = heapq.heappop(waiting)[2]
        if waiting:
            self._waiting.move_to_end(sender)
        else:
            del self._waiting[sender]
        self._let_in(sender)
        return delivery

    def _let_in(self, sender: str) -> None:
        held = self._held.get(sender)
        if held is not None:
            _wake(held)
            if not held:
                del self._held[sender]


def _wake(waiters: deque[asyncio.Future[None]]) -> None:
    while waiters:
        waiter = waiters.popleft()
        if not waiter.done():
            waiter.set_result(None)
            return
