"""Messages of a team: notes, requests and their outcomes.

    request = Message("task.1", "task", "planner", ("researcher",), {"task": "find the year"}, parent="task") answer =
    Message("task.1!", "result", "researcher", ("planner",), {"value": 1969}, parent="task.1", outcome="ok")

A message's id is a path: `task.1` is the first message sent while `task` was handled, `task.1!` the answer to it. So
a handler that does the same things in the same order sends messages of the same ids. That lets a killed team resume
without repeating work (Autogenesis, section 4, for the bus; ids and resumption are ours).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from heredity._core.errors import ConfigError
from heredity._core.ids import canonical_json, digest_bytes

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
    """Outcome of a request; every request ends in exactly one, whatever its recipient does."""

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
        priority: 0 to 9; among messages of one sender, higher ones are delivered first.
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
