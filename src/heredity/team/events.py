"""The events of a team's journal."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from heredity.records.events import EventKind, by_name


class MessageSent(TypedDict, total=False):
    """A message, recorded before it was delivered (see `heredity.team.messages.Message`)."""

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
    """Something that must not be done twice is about to be done, in the handling of a message."""

    id: str


class EffectDone(TypedDict):
    """An effect has been done, and what it gave: it is not done again when the team goes on."""

    id: str
    value: Any


class ParticipantFailed(TypedDict):
    """A participant could not handle a message that nobody waits for an answer to."""

    message: str
    participant: str
    error: str


MESSAGE = EventKind("team.message", MessageSent)
EFFECT_STARTED = EventKind("team.effect_started", EffectStarted)
EFFECT_DONE = EventKind("team.effect", EffectDone)
FAULT = EventKind("team.fault", ParticipantFailed)

EVENTS = by_name(MESSAGE, EFFECT_STARTED, EFFECT_DONE, FAULT)
