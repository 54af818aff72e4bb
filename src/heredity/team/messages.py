"""Messages of a team: what participants tell each other, and how a request ends.

    request = Message("task.1", "task", "planner", ("researcher",), {"task": "find the year"}, parent="task")
    answer = Message("task.1!", "result", "researcher", ("planner",), {"value": 1969}, parent="task.1", outcome="ok")

A message's id is a path: `task.1` is the first thing that was sent while `task` was handled, `task.1!` the answer to it. So a
handler that does the same things in the same order sends messages of the same ids, which is what lets a team that was killed
go on without doing anything twice (Autogenesis, section 4, for the bus; ids and resumption are ours).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from heredity.errors import ConfigError
from heredity.ids import canonical_json, digest_bytes

MAX_BODY = 256 * 1024
"""Bytes of a body as JSON; what is larger is kept as a blob and named by its digest."""

PRIORITIES = range(10)
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.~/-]{0,127}")


class Kind(StrEnum):
    """What the bus itself knows of messages; participants may have kinds of their own, any lower-case word."""

    TASK = "task"
    RESULT = "result"
    STATUS = "status"
    """What a request has come to so far: one item of a stream."""
    NOTE = "note"
    CANCEL = "cancel"


class Outcome(StrEnum):
    """How a request ended; every request ends in exactly one of them, whatever its recipient does."""

    OK = "ok"
    FAILED = "failed"
    """Its handler raised."""
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    REFUSED = "refused"
    """No such participant, it does not accept this kind, or it has left."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message, immutable, recorded before it is delivered.

    Attributes:
        id: a path, unique in its session; `parent.n` for the n-th that was sent while `parent` was handled.
        kind: a `Kind`, or a word of the participants' own.
        sender: who sent it; `"user"` for what comes from outside.
        to: recipients; empty for everybody who accepts the kind.
        body: JSON values, at most `MAX_BODY` bytes.
        parent: the message that was handled when this one was sent; of results, statuses and cancels the request; `""` at the top.
        session, task: what it belongs to, for those who read many records.
        priority: 0 to 9; of the same sender, the higher is delivered first.
        timeout: seconds that a request may take from its (re-)issue; None for the bus's default.
        outcome: of results, how the request ended; None of others.
        error: of results that are not ok, why, for people.
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
            raise ConfigError(f"kind: {self.kind!r} is no kind of message; use a word such as 'task' or 'finding'")
        if self.priority not in PRIORITIES:
            raise ConfigError(f"priority: {self.priority!r} is outside 0 to 9")
        if self.timeout is not None and not self.timeout > 0:
            raise ConfigError(f"timeout: {self.timeout!r} is not a positive number of seconds")

    @property
    def value(self) -> Any:
        """Of a result that is ok, what its handler returned."""
        return self.body.get("value")

    @property
    def ok(self) -> bool:
        """Whether this is the result of a request that was answered."""
        return self.outcome is Outcome.OK

    def asks(self) -> str:
        """Return the digest of what is asked of whom: equal ids and equal digests are the same request."""
        return digest_bytes(canonical_json([self.kind, self.to, self.body]))[:16]

    def to_json(self) -> dict[str, Any]:
        """Return the message as JSON values, without what is left at its default."""
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
    """Return a body that can be recorded.

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
    """Return the result of a request, addressed to whoever asked."""
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
