"""Who takes part in a team, and what it may do while it handles a message.

async def add(message: Message, context: Context) -> int:
    await context.report({"so_far": 0})
    return sum(message.body["numbers"])
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heredity.errors import ConfigError, HeredityError
from heredity.ids import NAME_PATTERN
from heredity.team.messages import Kind, Message, checked_body

if TYPE_CHECKING:
    from heredity.team.bus import Bus

Handler = Callable[[Message, "Context"], Awaitable[Any]]
"""Handles a message and returns a JSON value, which of a request is the answer."""

_FOLLOWED = 64


class EffectInDoubtError(HeredityError):
    """A team was killed while something was done that must not be done twice: nobody knows whether it was."""


@dataclass(frozen=True, slots=True)
class Participant:
    """Somebody on the bus.

    Attributes:
        name: how others address it; letters, digits, `.`, `_`, `-`.
        handler: what it does with a message.
        description: what it can do, for whoever plans.
        accepts: kinds of messages that it is given.
        concurrency: how many messages it handles at once.
        capacity: how many messages of one sender may wait for it; the sender of more is held back.
    """

    name: str
    handler: Handler = field(repr=False)
    description: str = ""
    accepts: frozenset[str] = frozenset({Kind.TASK})
    concurrency: int = 4
    capacity: int = 64

    def __post_init__(self) -> None:
        if not NAME_PATTERN.fullmatch(self.name):
            raise ConfigError(f"name: {self.name!r} is no name of a participant; use letters, digits, '.', '_' and '-'")
        for what in ("concurrency", "capacity"):
            if getattr(self, what) < 1:
                raise ConfigError(f"{what}: {getattr(self, what)!r} of {self.name} is below 1")


class Context:
    """What a handler has of the bus: it sends in its participant's name, as part of the message that it handles.

    Attributes:
        name: the participant.
        message: what is handled; None outside of any.
    """

    def __init__(self, bus: Bus, name: str, message: Message | None) -> None:
        self.name = name
        self.message = message
        self._bus = bus
        self._sent = 0

    async def send(
        self,
        to: str | Sequence[str],
        body: Mapping[str, Any],
        *,
        kind: str = Kind.NOTE,
        priority: int = 5,
        key: str = "",
    ) -> Message:
        """Send a message that asks for no answer, once everybody it is for has room for it.

        Args:
            to: a participant, several, or `()` for everybody who accepts the kind.
            body: JSON values.
            kind: `"note"`, or a kind of the participants' own.
            priority: 0 to 9.
            key: as of `request`. What is sent inside of `once` needs one, since it is not sent again.

        Raises:
            UnknownNameError: if it names somebody who is not registered.
            ConfigError: if the body cannot be recorded.
        """
        return await self._bus.post(self._draft(to, body, kind=kind, priority=priority, key=key))

    def request(
        self,
        to: str,
        body: Mapping[str, Any],
        *,
        kind: str = Kind.TASK,
        timeout: float | None = None,
        priority: int = 5,
        key: str = "",
    ) -> Coroutine[Any, Any, Message]:
        """Ask a participant; its result comes, whatever happens to it, within `timeout` seconds.

        Cancelling the wait cancels the request.

        Args:
            to: the participant.
            body: JSON values.
            kind: `"task"`, or a kind of the participants' own.
            timeout: seconds; None for the bus's default.
            priority: 0 to 9.
            key: a name for this request among those of the message that is handled; its number where there is none.
                Requests that are made in no certain order need one for the team to be resumed exactly.

        Returns:
            A coroutine of the result, whose `outcome` says how the request ended.

        Raises:
            ConfigError: if the body cannot be recorded.
            RecordError, HostError, BudgetError, IsolationError: if something fails that nobody of the team is to blame for.
        """
        return self._bus.ask(self._draft(to, body, kind=kind, priority=priority, timeout=timeout, key=key))

    def stream(
        self,
        to: str,
        body: Mapping[str, Any],
        *,
        kind: str = Kind.TASK,
        timeout: float | None = None,
        priority: int = 5,
        key: str = "",
    ) -> AsyncIterator[Message]:
        """Ask a participant, and yield what it reports on the way and, last, its result (arguments as of `request`)."""
        return self._followed(self._draft(to, body, kind=kind, priority=priority, timeout=timeout, key=key))

    async def _followed(self, message: Message) -> AsyncIterator[Message]:
        statuses: asyncio.Queue[Message] = asyncio.Queue(_FOLLOWED)
        asking = asyncio.ensure_future(self._bus.ask(message, statuses))
        try:
            while not (asking.done() and statuses.empty()):
                status = asyncio.ensure_future(statuses.get())
                await asyncio.wait({status, asking}, return_when=asyncio.FIRST_COMPLETED)
                if status.done():
                    yield status.result()
                status.cancel()
            yield asking.result()
        finally:
            asking.cancel()

    async def report(self, body: Mapping[str, Any]) -> None:
        """Tell whoever asked what has been reached so far."""
        if self.message is None:
            raise ConfigError("nothing is handled here that could be reported on")
        message = self._draft(self.message.sender, body, kind=Kind.STATUS, key="")
        await self._bus.report(message)

    async def once(self, name: str, effect: Callable[[], Awaitable[Any]], *, repeatable: bool = True) -> Any:
        """Do something that is not to be done again when the team is resumed, and return what it gave.

        Args:
            name: names it among what is done while this message is handled.
            effect: does it, and returns a JSON value.
            repeatable: whether it may be done again if the team was killed before it was recorded as done.

        Raises:
            EffectInDoubtError: if it is not repeatable, was started, and is not known to have been done.
            ConfigError: if what it gives cannot be recorded.
        """
        effect_id = f"{self._own_id}#{name}"
        record = self._bus.record
        done, value = record.effect(effect_id)
        if done:
            return value
        if record.in_doubt(effect_id):
            raise EffectInDoubtError(
                f"{effect_id} was started before the team was stopped, and may have been done or not: "
                "look, then ask for it under another name, or leave it"
            )
        if not repeatable:
            await record.start_effect(effect_id)
        value = await effect()
        checked_body({"value": value}, f"what {name} gave")
        await record.add_effect(effect_id, value)
        return value

    async def keep(self, data: bytes) -> str:
        """Keep bytes beside the record, for what is too large for it, and return their digest; empty where there is no folder.

        Raises:
            RecordError: if the disk is full or fails.
        """
        blobs = self._bus.record.blobs
        return await asyncio.to_thread(blobs.put, data) if blobs else ""

    async def kept(self, digest: str) -> bytes:
        """Return bytes that were kept; none where there is no folder.

        Raises:
            RecordError: if they are not there, or damaged.
        """
        blobs = self._bus.record.blobs
        return await asyncio.to_thread(blobs.get, digest) if blobs else b""

    @property
    def effects(self) -> list[tuple[str, Any]]:
        """What is recorded as done while the message was handled: names and what it gave, in order."""
        return self._bus.record.effects_of(self._own_id)

    def done(self, name: str) -> bool:
        """Return whether an effect (see `once`) is recorded as done."""
        return self._bus.record.effect(f"{self._own_id}#{name}")[0]

    @property
    def given_up(self) -> bool:
        """Whether the message that is handled, or one that it is part of, has ended on record: cancelled, or out of time.

        A handler that is cancelled without this belongs to a team that stops and will go on.
        """
        record, message = self._bus.record, self.message
        while message is not None:
            if record.result(message.id) is not None:
                return True
            message = record.messages.get(message.parent)
        return False

    @property
    def _own_id(self) -> str:
        return self.message.id if self.message else ""

    def _draft(
        self,
        to: str | Sequence[str],
        body: Mapping[str, Any],
        *,
        kind: str,
        key: str,
        priority: int = 5,
        timeout: float | None = None,
    ) -> Message:
        self._sent += not key
        own = f"{self._own_id}." if self.message else ""
        message = Message(
            id=f"{own}{key or self._sent}",
            kind=kind,
            sender=self.name,
            to=(to,) if isinstance(to, str) else tuple(to),
            body=checked_body(body, f"a {kind} of {self.name}"),
            parent=self._own_id,
            session=self._bus.session,
            task=self.message.task if self.message else self._bus.task,
            priority=priority,
            timeout=timeout,
        )
        return self._bus.numbered(message)
