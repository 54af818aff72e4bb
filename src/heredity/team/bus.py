"""The bus of a team: participants by name, typed messages, requests that always end (Autogenesis, section 4).

    async with Bus(record) as bus:
        bus.register(Participant("adder", add))
        answer = await bus.outside.request("adder", {"numbers": [1, 2]})  # a message with an outcome

Any failure of a participant (it raises, hangs, leaves, floods) becomes a result for its caller and affects no other
participant. Only failures outside the team (a full disk, a provider that does not answer) are raised. Every
message is durable before it is delivered. A bus opened on the record of an earlier one answers a repeated request
from that record, and redelivers messages without an answer.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

from heredity._core.errors import (
    BudgetError,
    ConfigError,
    HeredityError,
    HostError,
    IsolationError,
    RecordError,
    UnknownNameError,
)
from heredity.team.lending import Step, waiting
from heredity.team.participant import Context, Kind, Message, Outcome, Participant, answer, checked_body
from heredity.team.record import Record


@dataclass(frozen=True, slots=True, eq=False)
class Delivery:
    """A message in transit to one recipient.

    Attributes:
        message: the message.
        request: the request awaiting the answer; None for a note.
    """

    message: Message
    request: Any = None


class Mailbox:
    """Messages that wait for one participant.

    Each sender may have `capacity` messages waiting; then it is held back. Senders take turns. Among one sender's
    messages the highest priority comes first, then the oldest.
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
                # Its turn goes to the next; a turn not yet given is never given.
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


OUTSIDE = "user"
"""Sender of messages from outside the team."""

NOBODYS = (RecordError, HostError, BudgetError, IsolationError)
"""Failures outside the team: a disk, a provider, a sandbox, a budget. They end the work in progress and are not
recorded as a participant's failure, so that the team can resume later.
"""

DEEPEST = 16
"""Limit on the chain of participants that wait for each other: circular questions end here."""

_GRACE = 1.0
_ERROR = 2000


@dataclass(slots=True, eq=False)
class _Request:
    message: Message
    result: asyncio.Future[Message]
    handler: asyncio.Future[Any] | None = None
    statuses: asyncio.Queue[Message] | None = None
    settling: bool = False
    depth: int = 1


@dataclass(slots=True, eq=False)
class _Seat:
    """A participant's workers; `lent` counts its handlers that wait for others, each replaced by another worker meanwhile."""

    participant: Participant
    mailbox: Mailbox
    workers: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    idle: int = 0
    lent: int = 0


@dataclass(slots=True, eq=False)
class _Place:
    """One handler's slot among its participant's workers (a `Lendable`)."""

    bus: Bus
    seat: _Seat

    def lend(self) -> None:
        self.seat.lent += 1
        self.bus.stand_in(self.seat)

    def take_back(self) -> None:
        self.seat.lent -= 1


class Bus:
    """Carries the messages of one session.

    A request always ends: `ok`, `failed` (the handler raised), `timed_out`, `cancelled` or `refused`. Another
    participant's error is never an exception for its caller. Failures outside the team (disk, provider, sandbox, budget)
    are raised, and the team resumes from there. Participants do not block each other; a handler is cancelled at its
    timeout. Chains of waiting participants end at sixteen. Cancelling a request also cancels what it waits for.

    Attributes:
        record: the messages sent and answered.
        session: the session of its messages.
        timeout: default timeout of a request, in seconds.
        outside: sends messages from outside, in the name of `user`.
        abandoned: number of handlers that ignored their cancellation and were left behind.
    """

    def __init__(self, record: Record | None = None, *, session: str = "", timeout: float = 600.0) -> None:
        self.record = record or Record()
        self.session = session
        self.timeout = timeout
        self.abandoned = 0
        self._seats: dict[str, _Seat] = {}
        self._open: dict[str, _Request] = {}
        self.outside = Context(self, OUTSIDE, None)
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Participants.

    @property
    def participants(self) -> list[Participant]:
        """Registered participants, in order of registration."""
        return [seat.participant for seat in self._seats.values()]

    def register(self, participant: Participant) -> None:
        """Register a participant.

        Raises:
            ConfigError: if the name is taken.
        """
        if participant.name in self._seats or participant.name == OUTSIDE:
            raise ConfigError(
                f"name: {participant.name!r} is taken; unregister that participant first, or use another name"
            )
        self._seats[participant.name] = seat = _Seat(participant, Mailbox(participant.capacity))
        for _ in range(participant.concurrency):
            self._hire(seat)

    async def unregister(self, name: str) -> None:
        """Remove a participant; its unanswered requests are refused.

        Raises:
            UnknownNameError: if the name is not registered.
        """
        seat = self._seats.pop(name, None)
        if seat is None:
            raise UnknownNameError("participant", name, self._seats)
        for request in [r for r in self._open.values() if r.message.to == (name,)]:
            await self._settle(request, answer(request.message, name, Outcome.REFUSED, error=f"{name} has left"))
        await _end(seat.workers)

    # Sending.

    async def cancel(self, request_id: str, reason: str = "cancelled") -> bool:
        """End a request: cancels its handler, and the requests it waits for.

        Returns:
            False if it had ended before.
        """
        request = self._open.get(request_id)
        if request is None or request.settling:
            return False
        notice = replace(
            request.message,
            id=f"{request_id}?",
            kind=Kind.CANCEL,
            sender=OUTSIDE,
            body={"reason": reason},
            parent=request_id,
        )
        await self.record.add(notice)
        await self._settle(request, answer(request.message, request.message.to[0], Outcome.CANCELLED, error=reason))
        return True

    # Used by contexts.

    def numbered(self, message: Message) -> Message:
        """Return a message with its unique id; a message recorded under that id must be the same request."""
        number, named = 1, message
        while named.id in self.record.messages and self.record.messages[named.id].asks() != message.asks():
            number += 1
            named = replace(message, id=f"{message.id}~{number}")
        return named

    async def post(self, message: Message) -> Message:
        """Record a note and deliver it to its recipients; those that left or do not accept it are skipped.

        Raises:
            UnknownNameError: if a recipient is not registered.
        """
        for name in message.to:
            if name not in self._seats:
                raise UnknownNameError("participant", name, self._seats)
        if message.id not in self.record.messages:
            await self.record.add(message)
        names = message.to or tuple(self._seats)
        seats = [self._seats[name] for name in names if name in self._seats and name != message.sender]
        for seat in seats:
            if message.kind in seat.participant.accepts:
                await seat.mailbox.put(Delivery(message))
                self.stand_in(seat)
        return message

    async def ask(self, message: Message, statuses: asyncio.Queue[Message] | None = None) -> Message:
        """Record a request, deliver it, and return its result; a recorded result is returned as it is."""
        recorded = self.record.result(message.id)
        if recorded is not None:
            return recorded
        if self._closed:
            raise ConfigError("this bus is closed; open another one on its record")
        if message.id in self._open:
            with waiting():
                return await asyncio.shield(self._open[message.id].result)
        asker = self._open.get(message.parent)
        depth = asker.depth + 1 if asker else 1
        request = _Request(message, asyncio.get_running_loop().create_future(), statuses=statuses, depth=depth)
        self._open[message.id] = request
        try:
            if message.id not in self.record.messages:
                await self.record.add(message)
            async with asyncio.timeout(message.timeout or self.timeout):
                with waiting():
                    await self._deliver(request)
                    return await asyncio.shield(request.result)
        except TimeoutError:
            late = f"no answer within {message.timeout or self.timeout:g} s"
            return await self._settle(request, answer(message, message.to[0], Outcome.TIMED_OUT, error=late))
        except asyncio.CancelledError:
            # Nothing is recorded: the sender stops, or asks again when the team resumes.
            if not request.settling:
                request.settling = True
                request.result.cancel()
                self._open.pop(message.id, None)
            raise

    async def report(self, status: Message) -> None:
        """Record a request's progress, and pass it to its followers."""
        if status.id not in self.record.messages:
            await self.record.add(status)
        request = self._open.get(status.parent)
        if request is not None and request.statuses is not None:
            await request.statuses.put(status)

    # Delivering.

    async def _deliver(self, request: _Request) -> None:
        message = request.message
        seat = self._seats.get(message.to[0])
        if seat is None:
            error = str(UnknownNameError("participant", message.to[0], self._seats))
        elif message.kind not in seat.participant.accepts:
            error = f"{message.to[0]} accepts {', '.join(sorted(seat.participant.accepts))}, and not {message.kind!r}"
        elif request.depth > DEEPEST:
            error = f"{DEEPEST} wait for each other's answers already; answer without asking {message.to[0]}"
        else:
            await seat.mailbox.put(Delivery(message, request))
            return self.stand_in(seat)
        await self._settle(request, answer(message, message.to[0], Outcome.REFUSED, error=error))
        return None

    def stand_in(self, seat: _Seat) -> None:
        """Let another worker stand in while all handlers of a participant wait."""
        if self._seats.get(seat.participant.name) is seat and not self._closed:
            while len(seat.mailbox) > seat.idle and len(seat.workers) < seat.participant.concurrency + seat.lent:
                self._hire(seat)

    def _hire(self, seat: _Seat) -> None:
        worker = asyncio.create_task(self._work(seat), name=f"{seat.participant.name} at work")
        seat.idle += 1
        seat.workers.add(worker)
        worker.add_done_callback(seat.workers.discard)

    async def _work(self, seat: _Seat) -> None:
        while True:
            delivery = await seat.mailbox.take()
            seat.idle -= 1
            request: _Request | None = delivery.request
            if request is None:
                await self._take_note(seat, delivery.message)
            elif not request.settling:
                await self._answer(seat, request)
            standing_in = len(seat.workers) - seat.participant.concurrency
            if standing_in > (seat.lent if len(seat.mailbox) else 0):
                return
            seat.idle += 1

    async def _answer(self, seat: _Seat, request: _Request) -> None:
        participant = seat.participant
        context = Context(self, participant.name, request.message)
        handling = partial(participant.handler, request.message, context)
        handler = asyncio.ensure_future(_shielded(handling, Step(_Place(self, seat))))
        request.handler = handler
        try:
            await asyncio.wait({handler, request.result}, return_when=asyncio.FIRST_COMPLETED)
            if request.settling:
                await self._stop(handler)
            else:
                await self._settle(request, _result_of(request.message, participant.name, handler))
        except NOBODYS as error:
            self._fail(request, error)
        except asyncio.CancelledError:
            await self._stop(handler)
            raise

    async def _take_note(self, seat: _Seat, message: Message) -> None:
        participant = seat.participant
        try:
            handling = partial(participant.handler, message, Context(self, participant.name, message))
            await asyncio.create_task(_shielded(handling, Step(_Place(self, seat))))
        except Exception as error:  # noqa: BLE001  (whatever a participant raises is its own fault, and goes on record)
            with suppress(RecordError):
                await self.record.add_fault(message.id, participant.name, describe(error))

    async def _stop(self, handler: asyncio.Future[Any]) -> None:
        handler.cancel()
        await asyncio.wait({handler}, timeout=_GRACE)
        self.abandoned += not handler.done()
        handler.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _settle(self, request: _Request, result: Message) -> Message:
        """End a request with this result, or wait for the result it is already ending with."""
        if request.settling:
            return await asyncio.shield(request.result)
        request.settling = True
        try:
            await self.record.add(result)
        except RecordError as error:
            self._fail(request, error)
            raise
        if not request.result.done():
            request.result.set_result(result)
        self._open.pop(request.message.id, None)
        return result

    def _fail(self, request: _Request, error: HeredityError) -> None:
        """Raise an error in the request's caller; nothing is recorded as its result."""
        request.settling = True
        self._open.pop(request.message.id, None)
        if not request.result.done():
            request.result.set_exception(error)
            request.result.exception()

    async def close(self) -> None:
        """Stop all participants. Unanswered requests stay unanswered on record, and are issued again when the team resumes."""
        self._closed = True
        for seat in self._seats.values():
            await _end(seat.workers)
        self._seats.clear()


def describe(error: BaseException) -> str:
    """Return an error in one bounded line."""
    return f"{type(error).__name__}: {error}"[:_ERROR]


async def _shielded(handling: Callable[[], Awaitable[Any]], step: Step) -> Any:
    """Call a handler as a separate step; an exiting program counts as failed."""
    step.begin()
    try:
        return await handling()
    except (SystemExit, GeneratorExit, StopIteration) as error:
        raise RuntimeError(f"the participant ended with {describe(error)}") from error


def _result_of(request: Message, name: str, handler: asyncio.Future[Any]) -> Message:
    if handler.cancelled():
        return answer(request, name, Outcome.CANCELLED, error=f"{name} cancelled it")
    error = handler.exception()
    if error is None:
        try:
            checked_body({"value": handler.result()}, f"what {name} answered")
        except ConfigError as unusable:
            error = unusable
        else:
            return answer(request, name, Outcome.OK, handler.result())
    if isinstance(error, NOBODYS):
        raise error
    return answer(request, name, Outcome.FAILED, error=describe(error))


async def _end(tasks: set[asyncio.Task[None]]) -> None:
    for task in list(tasks):
        task.cancel()
    if tasks:
        await asyncio.wait(set(tasks))
