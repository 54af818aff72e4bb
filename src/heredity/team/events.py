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
