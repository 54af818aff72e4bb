"""Record of a team: its messages and effects, each durable before it takes effect."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from typing_extensions import TypedDict

from heredity._core.errors import RecordError
from heredity.records import BlobStore, Committer, Event, Journal
from heredity.records.events import EventKind, by_name
from heredity.records.journal import Line
from heredity.records.lock import RunLock
from heredity.team.participant import Kind, Message


class MessageSent(TypedDict, total=False):
    """A message, recorded before it was delivered (see `heredity.team.participant.Message`)."""

    id: str
    kind: str
    sender: str
    to: list[str]
    body: dict[str, Any]
    parent: str
    session: str
    task: str
    priority: int
    timeout: float
    outcome: str
    error: str


class EffectStarted(TypedDict):
    """An effect that must not be repeated is about to start, in the handling of a message."""

    id: str


class EffectDone(TypedDict):
    """An effect is done, with its value: a resumed team does not repeat it."""

    id: str
    value: Any


class ParticipantFailed(TypedDict):
    """A participant could not handle a message that expects no answer."""

    message: str
    participant: str
    error: str


MESSAGE = EventKind("team.message", MessageSent)
EFFECT_STARTED = EventKind("team.effect_started", EffectStarted)
EFFECT_DONE = EventKind("team.effect", EffectDone)
FAULT = EventKind("team.fault", ParticipantFailed)

EVENTS = by_name(MESSAGE, EFFECT_STARTED, EFFECT_DONE, FAULT)


class Record:
    """The messages and effects of one team, in the order in which they became durable.

    With a `committer` each is written and synced before `add` returns, many in one sync. Without one they stay in
    memory, for a team that need not outlive its process.
    """

    def __init__(self, committer: Committer | None = None, events: Iterable[Event] = ()) -> None:
        self.messages: dict[str, Message] = {}
        self._results: dict[str, Message] = {}
        self._effects: dict[str, Any] = {}
        self._in_doubt: set[str] = set()
        self._committer = committer
        self._followers: list[Callable[[], None]] = []
        for event in events:
            self._take_in(event)

    @property
    def blobs(self) -> BlobStore | None:
        """Store for content too large for a message; None in memory."""
        return self._committer.blobs if self._committer else None

    def result(self, request_id: str) -> Message | None:
        """Return the recorded result of a request."""
        return self._results.get(request_id)

    def effect(self, effect_id: str) -> tuple[bool, Any]:
        """Return whether an effect is recorded as done, and its value."""
        return effect_id in self._effects, self._effects.get(effect_id)

    def effects_of(self, message_id: str) -> list[tuple[str, Any]]:
        """Return the effects of handling a message: names and values, in order."""
        own = f"{message_id}#"
        return [(effect[len(own) :], value) for effect, value in self._effects.items() if effect.startswith(own)]

    @property
    def effects(self) -> Mapping[str, Any]:
        """All completed effects: id to value."""
        return self._effects

    def in_doubt(self, effect_id: str) -> bool:
        """Return whether an effect was started without a record of its end."""
        return effect_id in self._in_doubt and effect_id not in self._effects

    @property
    def events(self) -> Sequence[Event]:
        """All events on disk, in order; empty for a record in memory."""
        return self._committer.journal.events if self._committer else ()

    def follow(self, changed: Callable[[], None]) -> None:
        """Call a function, which must not raise, whenever `events` grows."""
        self._followers.append(changed)

    async def add(self, message: Message) -> None:
        """Record a message.

        Raises:
            RecordError: if the disk is full or fails.
        """
        await self._commit([MESSAGE.line(cast("MessageSent", message.to_json()))])
        self._keep(message)

    async def start_effect(self, effect_id: str) -> None:
        """Record that an effect is about to be done."""
        await self._commit([EFFECT_STARTED.line({"id": effect_id})])
        self._in_doubt.add(effect_id)

    async def add_effect(self, effect_id: str, value: Any) -> None:
        """Record that an effect is done, with its JSON value."""
        await self._commit([EFFECT_DONE.line({"id": effect_id, "value": value})])
        self._effects[effect_id] = value

    async def add_fault(self, message_id: str, participant: str, error: str) -> None:
        """Record that a participant could not handle a message."""
        await self._commit([FAULT.line({"message": message_id, "participant": participant, "error": error})])

    async def _commit(self, lines: Sequence[Line]) -> None:
        if self._committer:
            await self._committer.commit(lines)
            for changed in self._followers:
                changed()

    def _take_in(self, event: Event) -> None:
        if (message := MESSAGE.of(event)) is not None:
            self._keep(Message.from_json(message))
        elif (done := EFFECT_DONE.of(event)) is not None:
            self._effects[done["id"]] = done["value"]
        elif (started := EFFECT_STARTED.of(event)) is not None:
            self._in_doubt.add(started["id"])

    def _keep(self, message: Message) -> None:
        self.messages[message.id] = message
        if message.kind == Kind.RESULT:
            self._results[message.parent] = message


@contextmanager
def open_record(folder: Path) -> Generator[Record]:
    """Open the record of a team, `journal.jsonl` and `blobs/` in a folder, for this process alone.

    Raises:
        RunLockedError: if another process has it open.
        DamagedRecordError: if a line of the journal was changed.
        RecordError: if the folder cannot be used.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"{folder} cannot be made: {error.strerror}; give the team another folder") from error
    lock = RunLock.acquire(folder / "lock")
    try:
        journal = Journal.open(folder / "journal.jsonl")
        try:
            yield Record(Committer(journal, BlobStore(folder / "blobs")), journal.events)
        finally:
            journal.close()
    finally:
        lock.release()
