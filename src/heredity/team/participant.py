"""Messages of a team, its participants, and the context in which they handle a message.

    request = Message("task.1", "task", "planner", ("researcher",), {"task": "find the year"}, parent="task")
    answer = Message("task.1!", "result", "researcher", ("planner",), {"value": 1969}, parent="task.1", outcome="ok")

    async def add(message: Message, context: Context) -> int:
        await context.report({"so_far": 0})
        return sum(message.body["numbers"])

A message's id is a path: `task.1` is the first message sent while `task` was handled, `task.1!` the answer to it. So
a handler that does the same things in the same order sends messages of the same ids. That lets a killed team resume
without repeating work (Autogenesis, section 4, for the bus; ids and resumption are ours).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from heredity._core.errors import ConfigError, HeredityError
from heredity._core.ids import NAME_PATTERN, canonical_json, digest_bytes

if TYPE_CHECKING:
    from heredity.team.bus import Bus

MAX_BODY = 256 * 1024
"""Size limit of a body as JSON, in bytes; larger content is stored as a blob and named by its digest."""

PRIORITIES = range(10)
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.~/-]{0,127}")


class Kind(StrEnum):
    """Message kinds known to the bus; participants may define others, any lower-case word."""

    TASK = "task"
    RESULT = "result"
    STATUS = "status"
    """Progress of a request: one item of a stream."""
    NOTE = "note"
    CANCEL = "cancel"


class Outcome(StrEnum):
    """Outcome of a request; every request ends in exactly one, even if its recipient fails."""

    OK = "ok"
    FAILED = "failed"
    """Its handler raised."""
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    REFUSED = "refused"
    """The participant does not exist, does not accept this kind, or has left."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message, immutable, recorded before it is delivered.

    Attributes:
        id: a path, unique in its session; `parent.n` for the n-th message sent while `parent` was handled.
        kind: a `Kind`, or a participants' kind.
        sender: the sending participant; `"user"` for messages from outside.
        to: recipients; empty for all participants that accept the kind.
        body: JSON values, at most `MAX_BODY` bytes.
        parent: the message being handled when this one was sent; for results, statuses and cancels, the request; `""`
            at the top.
        session, task: the session and task it belongs to, for readers of many records.
        priority: 0 to 9 (among messages of one sender, higher ones are delivered first).
        timeout: seconds a request may take from its (re-)issue; None for the bus's default.
        outcome: for results, the request's outcome; None otherwise.
        error: for failed results, the reason, for people.
    """

    id: str
    kind: str
    sender: str
    to: tuple[str, ...]
    body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    parent: str = ""
    session: str = ""
    task: str = ""
    priority: int = 5
    timeout: float | None = None
    outcome: Outcome | None = None
    error: str = ""

    def __post_init__(self) -> None:
        if not _WORD.fullmatch(self.kind):
            raise ConfigError(f"kind: {self.kind!r} is not a kind of message; use a word such as 'task' or 'finding'")
        if self.priority not in PRIORITIES:
            raise ConfigError(f"priority: {self.priority!r} is outside 0 to 9")
        if self.timeout is not None and not self.timeout > 0:
            raise ConfigError(f"timeout: {self.timeout!r} is not a positive number of seconds")

    @property
    def value(self) -> Any:
        """Value returned by the handler, for an ok result."""
        return self.body.get("value")

    @property
    def ok(self) -> bool:
        """True for the result of an answered request."""
        return self.outcome is Outcome.OK

    def asks(self) -> str:
        """Return the digest of the request and its recipients: equal ids and equal digests are the same request."""
        return digest_bytes(canonical_json([self.kind, self.to, self.body]))[:16]

    def to_json(self) -> dict[str, Any]:
        """Return the message as JSON values, without fields at their defaults."""
        data: dict[str, Any] = {"id": self.id, "kind": self.kind, "sender": self.sender, "to": list(self.to)}
        for name in _OPTIONAL:
            value = getattr(self, name)
            if value not in _NOTHING:
                data[name] = value
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Message:
        """Return the message that `to_json` gave."""
        outcome = data.get("outcome")
        given: dict[str, Any] = {**data, "to": tuple(data["to"]), "outcome": Outcome(outcome) if outcome else None}
        return cls(**given)


_OPTIONAL = ("body", "parent", "session", "task", "priority", "timeout", "outcome", "error")
_NOTHING: tuple[Any, ...] = ("", None, {})


def checked_body(body: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    """Return a body after checking that it can be recorded.

    Raises:
        ConfigError: if it is not JSON, or larger than `MAX_BODY`.
    """
    try:
        size = len(canonical_json(body))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"{what}: its body is not JSON ({error}); send numbers, strings, lists and objects"
        ) from error
    if size > MAX_BODY:
        raise ConfigError(
            f"{what}: its body has {size:,} bytes, {MAX_BODY:,} are the most; keep large things as artifacts and send their digest"
        )
    return body


def answer(request: Message, sender: str, outcome: Outcome, value: Any = None, error: str = "") -> Message:
    """Return the result of a request, addressed to its sender."""
    return replace(
        request,
        id=f"{request.id}!",
        kind=Kind.RESULT,
        sender=sender,
        to=(request.sender,),
        body={} if value is None else {"value": value},
        parent=request.id,
        timeout=None,
        outcome=outcome,
        error=error,
    )


Handler = Callable[[Message, "Context"], Awaitable[Any]]
"""Handles a message and returns a JSON value, which is the answer if the message is a request."""

_FOLLOWED = 64


class EffectInDoubtError(HeredityError):
    """A team was killed during an effect that must not be repeated, so its completion is unknown."""


@dataclass(frozen=True, slots=True)
class Participant:
    """A participant on the bus.

    Attributes:
        name: its address; letters, digits, `.`, `_`, `-`.
        handler: handles its messages.
        description: its abilities, for planners.
        accepts: kinds of messages it accepts.
        concurrency: number of messages it handles at once.
        capacity: number of messages of one sender that may wait for it (then the sender is held back).
    """

    name: str
    handler: Handler = field(repr=False)
    description: str = ""
    accepts: frozenset[str] = frozenset({Kind.TASK})
    concurrency: int = 4
    capacity: int = 64

    def __post_init__(self) -> None:
        if not NAME_PATTERN.fullmatch(self.name):
            raise ConfigError(
                f"name: {self.name!r} is not a valid name of a participant; use letters, digits, '.', '_' and '-'"
            )
        for what in ("concurrency", "capacity"):
            if getattr(self, what) < 1:
                raise ConfigError(f"{what}: {getattr(self, what)!r} of {self.name} is below 1")


class Context:
    """A handler's access to the bus: it sends in its participant's name, as part of the message being handled.

    Attributes:
        name: the participant.
        message: the message being handled; None outside of one.
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
        """Send a message without an answer, once all recipients have room for it.

        Args:
            to: a participant, several, or `()` for all that accept the kind.
            body: JSON values.
            kind: `"note"`, or a participants' kind.
            priority: 0 to 9.
            key: as for `request`. Required inside `once`, since the message is not sent again.

        Raises:
            UnknownNameError: if a recipient is not registered.
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
        """Send a request to a participant; a result arrives within `timeout` seconds in any case.

        Cancelling the wait cancels the request.

        Args:
            to: the participant.
            body: JSON values.
            kind: `"task"`, or a participants' kind.
            timeout: seconds; None for the bus's default.
            priority: 0 to 9.
            key: a name for this request among those of the message being handled (by default its number). Requests
                made in no fixed order need one for the team to be resumed exactly.

        Returns:
            A coroutine of the result, whose `outcome` says how the request ended.

        Raises:
            ConfigError: if the body cannot be recorded.
            RecordError, HostError, BudgetError, IsolationError: for failures outside the team.
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
        """Send a request, and yield its progress reports and finally its result (arguments as for `request`)."""
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
        """Report progress to the sender of the request."""
        if self.message is None:
            raise ConfigError("no message is being handled here, so there is nothing to report on")
        message = self._draft(self.message.sender, body, kind=Kind.STATUS, key="")
        await self._bus.report(message)

    async def once(self, name: str, effect: Callable[[], Awaitable[Any]], *, repeatable: bool = True) -> Any:
        """Run an effect once, not repeating it when the team is resumed, and return its value.

        Args:
            name: names it among the effects of handling this message.
            effect: runs it, and returns a JSON value.
            repeatable: allow a repetition (if the team was killed before it was recorded as done).

        Raises:
            EffectInDoubtError: if it is not repeatable, and was started without a record of its end.
            ConfigError: if its value cannot be recorded.
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
        """Store bytes that are too large for the record, and return their digest; empty without a folder.

        Raises:
            RecordError: if the disk is full or fails.
        """
        blobs = self._bus.record.blobs
        return await asyncio.to_thread(blobs.put, data) if blobs else ""

    async def load(self, digest: str) -> bytes:
        """Return stored bytes; empty without a folder.

        Raises:
            RecordError: if they are missing or damaged.
        """
        blobs = self._bus.record.blobs
        return await asyncio.to_thread(blobs.get, digest) if blobs else b""

    @property
    def effects(self) -> list[tuple[str, Any]]:
        """Effects recorded while the message was handled: names and values, in order."""
        return self._bus.record.effects_of(self._own_id)

    def done(self, name: str) -> bool:
        """Return whether an effect (see `once`) is recorded as done."""
        return self._bus.record.effect(f"{self._own_id}#{name}")[0]

    @property
    def is_over(self) -> bool:
        """True once the message being handled, or one it is part of, has ended on record: cancelled, or out of time.

        A handler cancelled without this belongs to a team that stops and will resume.
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
            task=self.message.task if self.message else "",
            priority=priority,
            timeout=timeout,
        )
        return self._bus.numbered(message)
