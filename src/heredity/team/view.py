"""Progress of a task, for people who watch: active agents, messages, the time of each step, the cost.

    view = View.of(folder)          # of a task that is not running; a live one is fed new events from `record.events`

Everything is computed from the record, so a task that was killed and resumed shows as one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import HeredityError
from heredity.models import Usage
from heredity.models.contract import NOTHING_USED
from heredity.records import read_journal
from heredity.records.events import Event
from heredity.team.bus import OUTSIDE
from heredity.team.participant import Kind, Message
from heredity.team.planning import Plan, parsed, read_plan
from heredity.team.record import EFFECT_DONE, MESSAGE

_KEPT = 400
_SHOWN = 240
_RESULT = 4_000


@dataclass(frozen=True, slots=True)
class Said:
    """A message or an effect, as a line.

    Attributes:
        number: its position in the sequence.
        at: Unix time.
        depth: its depth below the task.
        sender, to, kind, outcome: of the message; for an effect, `kind` is `"did"`.
        text: its text, shortened.
    """

    number: int
    at: float
    depth: int
    sender: str
    to: str
    kind: str
    outcome: str
    text: str


@dataclass(frozen=True, slots=True)
class Span:
    """The time of a step.

    Attributes:
        step, agent, round: the step.
        start: Unix time; `end` likewise, None while it runs.
        outcome: its outcome.
    """

    step: str
    agent: str
    round: int
    start: float
    end: float | None = None
    outcome: str = ""


class View:
    """The record of a task, in order.

    Attributes:
        spans: of each step, by the id of its message.
        busy: unanswered requests to agents (agent and task), by the id of the message.
        used: tokens and cost of the model calls; `calls`: their number.
        started: Unix time of the first message; None before it.
    """

    def __init__(self) -> None:
        self.spans: dict[str, Span] = {}
        self.busy: dict[str, tuple[str, str]] = {}
        self.used: Usage = NOTHING_USED
        self.calls = 0
        self.started: float | None = None
        self._lines: deque[Said] = deque(maxlen=_KEPT)
        self._count = 0
        self._taken = 0
        self._results: dict[str, str] = {}

    @classmethod
    def of(cls, folder: Path) -> View:
        """Return the view of a task's folder; an empty one without a record.

        Raises:
            RecordError: if its journal is damaged.
        """
        view = cls()
        if (folder / "journal.jsonl").exists():
            view.take(read_journal(folder / "journal.jsonl"))
        return view

    def take(self, events: Sequence[Event]) -> None:
        """Process the new events of a record."""
        for event in events[self._taken :]:
            self._take(event)
        self._taken = len(events)

    def _take(self, event: Event) -> None:
        message = MESSAGE.of(event)
        effect = EFFECT_DONE.of(event)
        if message is not None:
            self._take_message(event.at, Message.from_json(message))
        elif effect is not None:
            self._take_effect(event.at, effect["id"], effect["value"])

    def since(self, number: int) -> list[Said]:
        """Return the lines after this number; at most the last 400."""
        return [message for message in self._lines if message.number > number]

    def plan_of(self, folder: Path) -> Plan | None:
        """Return the plan of a task that is not running, with the recorded results; None without a plan."""
        try:
            plan = parsed(read_plan(folder / "plan.md"))
        except HeredityError:
            return None
        return replace(plan, steps=tuple(replace(step, result=self._results.get(step.id, "")) for step in plan.steps))

    def _take_message(self, at: float, message: Message) -> None:
        self.started = at if self.started is None else self.started
        sender, to = message.sender, ", ".join(message.to) or "all"
        if message.kind == Kind.TASK and message.to:
            self.busy[message.id] = (message.to[0], str(message.body.get("task", ""))[:_SHOWN])
            step = message.body.get("step")
            if step and message.parent and "." not in message.parent and message.sender != OUTSIDE:
                number = message.id.removeprefix(f"{message.parent}.round").partition(".")[0]
                rounds = int(number) if number.isdigit() else 0
                self.spans[message.id] = Span(str(step), message.to[0], rounds, at)
        elif message.kind == Kind.RESULT:
            self.busy.pop(message.parent, None)
            span = self.spans.get(message.parent)
            if span is not None:
                self.spans[message.parent] = replace(span, end=at, outcome=str(message.outcome))
                self._results[span.step] = text_of(message)[:_RESULT]
        depth = message.id.rstrip("!?").count(".")
        self._say(at, depth, sender, to, message.kind, str(message.outcome or ""), text_of(message))

    def _take_effect(self, at: float, effect_id: str, value: Any) -> None:
        owner, _, name = effect_id.rpartition("#")
        if name.startswith("model-") and isinstance(value, Mapping):
            self.calls += 1
            self.used += Usage(**cast("dict[str, Any]", value).get("usage", {}))
            return
        agent = self.busy.get(owner, ("", ""))[0]
        self._say(at, owner.count(".") + 1, agent, "", "did", "", name)

    def _say(self, at: float, depth: int, sender: str, to: str, kind: str, outcome: str, text: str) -> None:
        self._count += 1
        flat = " ".join(text.split())
        shown = flat if len(flat) <= _SHOWN else f"{flat[:_SHOWN]}…"
        self._lines.append(Said(self._count, at, depth, sender, to, kind, outcome, shown))

    def to_json(self, after: int = 0, now: float | None = None) -> dict[str, Any]:
        """Return it as JSON values, times in seconds from the task's first message.

        Args:
            after: the number of the last known line.
            now: Unix time for steps in progress; the present by default.
        """
        zero, now = self.started or 0.0, time.time() if now is None else now
        spans = [
            {
                **asdict(s),
                "start": round(s.start - zero, 3),
                "end": round((s.end or now) - zero, 3),
                "over": s.end is not None,
            }
            for s in self.spans.values()
        ]
        agents: dict[str, list[str]] = {}
        for agent, task in self.busy.values():
            agents.setdefault(agent, []).append(task)
        messages = [{**asdict(s), "at": round(s.at - zero, 3)} for s in self.since(after)]
        return {
            "agents": agents,
            "timeline": spans,
            "messages": messages,
            "usage": {"calls": self.calls, **self.used.to_json()},
        }


def plan_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as JSON values, results shortened."""
    steps = [{**asdict(step), "result": step.result[:_RESULT]} for step in plan.steps]
    return {"steps": steps, "rounds": [asdict(past_round) for past_round in plan.rounds], "text": plan.to_markdown()}


def text_of(message: Message) -> str:
    """Return a message's text: its error, its answer, its task, or its body."""
    body = message.body
    text: Any = (
        message.error or body.get("value") or body.get("task") or body.get("text") or (dict(body) if body else "")
    )
    if isinstance(text, Mapping):
        text = cast("Mapping[str, Any]", text).get("answer", text)
    return str(text)
