"""Order of a run's events: a state machine that every journal passes through, whatever its protocol.

    started ──► session: submissions are admitted, then completed ──► closed ──► judged ──► finished

It also holds what two events say about each other: times that only grow, clocks that no submission outruns, charges within
the budget, statuses that fit their scores.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heredity.methods import Budget
from heredity.records import Event
from heredity.records.events import (
    AGENT_ENDED,
    AGENT_STARTED,
    BATCH_STARTED,
    CANDIDATE,
    CANDIDATE_DECIDED,
    CANDIDATE_PROBED,
    CASES_JUDGED,
    EVOLVER_FAILED,
    HEARTBEAT,
    JUDGING_SCORED,
    JUDGING_SELECTED,
    MODEL_CALLED,
    REFERENCE_SCORED,
    REPLY_UNUSED,
    RUN_FINISHED,
    RUN_RESUMED,
    RUN_STARTED,
    SCHEDULE_PLANNED,
    SESSION_CLOSED,
    SUBMISSION_ADMITTED,
    SUBMISSION_COMPLETED,
    SUBMISSION_REJECTED,
)
from heredity.results.status import Status
from heredity.session.session import Accounts
from heredity.session.session_log import SessionLog

_SESSION = frozenset(
    kind.name
    for kind in (
        SUBMISSION_ADMITTED, SUBMISSION_COMPLETED, SUBMISSION_REJECTED, BATCH_STARTED, CANDIDATE_DECIDED, CANDIDATE_PROBED,
        HEARTBEAT, AGENT_STARTED, MODEL_CALLED, REPLY_UNUSED, CANDIDATE,
    )
)  # fmt: skip
"""Kinds of events that only an open session writes."""
_JUDGING = frozenset(
    {JUDGING_SELECTED.name, JUDGING_SCORED.name, REFERENCE_SCORED.name, CASES_JUDGED.name, RUN_FINISHED.name,
     "snapshots.frozen", "snapshot.assessed"}
)  # fmt: skip
"""Kinds of events that only a judge writes."""
_ONCE = frozenset(
    kind.name
    for kind in (
        RUN_STARTED,
        SCHEDULE_PLANNED,
        SESSION_CLOSED,
        JUDGING_SELECTED,
        CASES_JUDGED,
        RUN_FINISHED,
        EVOLVER_FAILED,
    )
)
_LAST = (CASES_JUDGED.name, RUN_FINISHED.name)
"""The last events of a judged run."""
_SLACK_S = 30.0
"""Seconds by which two clocks may differ."""
_FUTURE_S = 24 * 3600.0


@dataclass(slots=True)
class _State:
    closed: bool = False
    finished: bool = False
    at: float = -math.inf
    clock: float = 0.0
    clock_at: float | None = None
    resumed: int = 0
    seen: set[str] = field(default_factory=set[str])
    candidates: set[str] = field(default_factory=set[str])
    admitted: dict[int, Event] = field(default_factory=dict[int, Event])
    completed: set[int] = field(default_factory=set[int])
    calls: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    judged: set[tuple[Any, ...]] = field(default_factory=set[tuple[Any, ...]])
    starts: int = 0
    running: bool = False


def disorder(events: Sequence[Event]) -> Iterator[str]:
    """Yield each event that cannot stand where it does.

    Args:
        events: a journal whose events have the fields of their kinds.
    """
    state = _State()
    if not events or events[0].kind != RUN_STARTED.name:
        yield f"line 1 is not {RUN_STARTED.name}"
    for event in events:
        for problem in _placed(event, state):
            yield f"line {event.seq + 1}, {event.kind}: {problem}"
    kinds = [event.kind for event in events]
    for kind in _LAST:
        if state.finished and kind in kinds and kinds.index(kind) != len(kinds) - len(_LAST) + _LAST.index(kind):
            yield f"{kind} is not in its place at the end"


def _placed(event: Event, state: _State) -> Iterator[str]:
    yield from _once(event, state)
    yield from _timed(event, state)
    if state.finished:
        yield "after the end of the run"
    if state.closed and event.kind in _SESSION:
        yield "after the session was closed"
    if not state.closed and event.kind in _JUDGING:
        yield "before the session was closed"
    rule = _RULES.get(event.kind)
    if rule is not None:
        yield from rule(event, state)
    elif "scores" in event.data:
        yield from _judged(event, state)


def _once(event: Event, state: _State) -> Iterator[str]:
    if event.kind in _ONCE and event.kind in state.seen:
        yield "a second one"
    if event.kind not in state.seen and event.kind == RUN_STARTED.name and event.seq:
        yield "not the first line"
    state.seen.add(event.kind)


def _timed(event: Event, state: _State) -> Iterator[str]:
    if not math.isfinite(event.at) or event.at <= 0 or event.at > time.time() + _FUTURE_S:
        yield f"at {event.at:g}, which is no time before now"
    if event.at < state.at - _SLACK_S:
        yield f"{state.at - event.at:.0f} s before the line above"
    state.at = max(state.at, event.at)


def _clocked(event: Event, reading: float, state: _State) -> Iterator[str]:
    if not math.isfinite(reading) or reading < state.clock - 1e-3:
        yield f"the run's clock goes from {state.clock:g} s to {reading:g} s"
    if state.clock_at is not None and reading - state.clock > event.at - state.clock_at + _SLACK_S:
        yield f"the run's clock counts {reading - state.clock:g} s in {event.at - state.clock_at:g} s"
    state.clock, state.clock_at = max(state.clock, reading), event.at


def _started(event: Event, state: _State) -> Iterator[str]:
    state.clock_at = event.at
    yield from ()


def _made(event: Event, state: _State) -> Iterator[str]:
    state.candidates.add(event.data["digest"])
    yield from ()


def _admitted(event: Event, state: _State) -> Iterator[str]:
    data, number = event.data, event.data["submit_id"]
    yield from _clocked(event, data["at_s"], state)
    if number != len(state.admitted) + 1:
        yield f"number {number} after {len(state.admitted)} submissions"
    if data["candidate"] not in state.candidates:
        yield "its candidate was not made before"
    if data["charge"] != len(data["tasks"]) or not data["tasks"]:
        yield f"charged {data['charge']} for {len(data['tasks'])} rollouts"
    position = list(data["position"])
    before = [e for e in state.admitted.values() if e.data["key"] == data["key"]]
    if len(position) != 2 or position[0] != len(before) or not 0 <= position[0] < position[1]:
        yield f"its position {position} in the request"
    if before and (before[-1].data["request"], before[-1].data["position"][1]) != (data["request"], position[1]):
        yield "its request is another than that of the same key"
    state.admitted[number] = event


def _completed(event: Event, state: _State) -> Iterator[str]:
    data, number = event.data, event.data["submit_id"]
    admitted = state.admitted.get(number)
    if admitted is None or number in state.completed:
        yield "not admitted before" if admitted is None else "completed before"
        return
    state.completed.add(number)
    asked = admitted.data
    if (data["key"], data["candidate"]) != (asked["key"], asked["candidate"]):
        yield "another key or candidate than was admitted"
    if [outcome["task"] for outcome in data["outcomes"]] != list(asked["tasks"]):
        yield "outcomes of other tasks than were admitted"
    if not 0 <= data["seconds"] <= max(0.0, event.at - admitted.at) + _SLACK_S:
        yield f"took {data['seconds']:g} s, {event.at - admitted.at:g} s after it was admitted"
    for name in ("invalid_steps", "costs", "rollout_seconds"):
        if name in data and len(data[name]) not in (len(data["outcomes"]), 0):
            yield f"{name} has {len(data[name])} entries for {len(data['outcomes'])} outcomes"


def _closed(event: Event, state: _State) -> Iterator[str]:
    state.closed = True
    open_ones = sorted({*state.admitted} - state.completed)
    if open_ones:
        yield f"submission {open_ones[0]} has no result"
    if event.data["reason"] not in ("budget", "finished", "evolver_failed"):
        yield f"the reason {event.data['reason']!r}"


def _finished(event: Event, state: _State) -> Iterator[str]:
    state.finished = True
    expected = "failed" if EVOLVER_FAILED.name in state.seen else "finished"
    if event.data["status"] != expected:
        yield f"status {event.data['status']}; the evolver {expected}"
    if JUDGING_SELECTED.name not in state.seen or CASES_JUDGED.name not in state.seen:
        yield "nothing was judged before"


def _resumed(event: Event, state: _State) -> Iterator[str]:
    state.resumed += 1
    if event.data["attempt"] != state.resumed:
        yield f"attempt {event.data['attempt']} after {state.resumed - 1}"
    expected = "judging was interrupted" if state.closed else "the evolver was interrupted"
    if event.data["reason"] != expected:
        yield f"{event.data['reason']!r}, where {expected}"


def _beat(event: Event, state: _State) -> Iterator[str]:
    yield from _clocked(event, event.data["clock_s"], state)


def _called(event: Event, state: _State) -> Iterator[str]:
    places = state.calls.setdefault(event.data["request"], set())
    if event.data["place"] in places or event.data["place"] < 0:
        yield f"its place {event.data['place']} is taken"
    places.add(event.data["place"])


def _decided(event: Event, state: _State) -> Iterator[str]:
    if event.data["candidate"] not in state.candidates:
        yield "its candidate was not made before"
    if not {*event.data["submissions"]} <= state.completed:
        yield "its evidence is not complete"


def _agent_started(event: Event, state: _State) -> Iterator[str]:
    if event.data["start"] <= state.starts:
        yield f"start {event.data['start']} after {state.starts}"
    state.starts, state.running = event.data["start"], True


def _agent_ended(event: Event, state: _State) -> Iterator[str]:
    if not state.running:
        yield "no agent was running"
    state.running = False


def _judged(event: Event, state: _State) -> Iterator[str]:
    data = event.data
    place = (event.kind, *(data.get(name) for name in ("name", "view", "candidate", "model", "repeat")))
    if place in state.judged:
        yield "judged a second time"
    state.judged.add(place)
    named = ("scores", "lengths", "statuses", "clusters", "tasks", "errors", "costs", "seconds")
    lengths = {name: len(data[name]) for name in named if isinstance(data.get(name), list)}
    if len({*lengths.values()}) > 1:
        yield f"lists of unequal lengths: {lengths}"
    missing = [
        (s is None, status == Status.MISSING)
        for s, status in zip(data["scores"], data.get("statuses", ()), strict=False)
    ]
    if any(null is False and status for null, status in missing):
        yield "a missing rollout has a score"
    if any(length < 0 for length in data.get("lengths", ())):
        yield "a negative length"
    seconds = data.get("seconds", 0.0)
    if any(not math.isfinite(s) or s < 0 for s in (seconds if isinstance(seconds, list) else [seconds])):
        yield f"took {seconds} s"


_RULES = {
    RUN_STARTED.name: _started,
    CANDIDATE.name: _made,
    SUBMISSION_ADMITTED.name: _admitted,
    SUBMISSION_COMPLETED.name: _completed,
    SESSION_CLOSED.name: _closed,
    RUN_FINISHED.name: _finished,
    RUN_RESUMED.name: _resumed,
    HEARTBEAT.name: _beat,
    MODEL_CALLED.name: _called,
    CANDIDATE_DECIDED.name: _decided,
    AGENT_STARTED.name: _agent_started,
    AGENT_ENDED.name: _agent_ended,
}


def overdrawn(events: Sequence[Event], budget: Mapping[str, Any]) -> Iterator[str]:
    """Yield charges that do not fit the budget, and an end of the session that its spending does not explain.

    Args:
        events: a journal in order.
        budget: the budget of the run's start.
    """
    left: int | None = budget.get("episodes")
    count = 0
    for event in events:
        data = SUBMISSION_ADMITTED.of(event)
        if data is not None:
            left, count = None if left is None else left - data["charge"], count + 1
            if data["remaining"] != left:
                yield f"line {event.seq + 1}: {data['remaining']} episodes remain; {left} follow from the charges"
            if left is not None and left < 0:
                yield f"line {event.seq + 1}: the budget of episodes is overdrawn"
            if (most := budget.get("submissions")) is not None and count > most:
                yield f"line {event.seq + 1}: the budget of submissions is overdrawn"
            if (seconds := budget.get("seconds")) is not None and data["at_s"] > seconds + _SLACK_S:
                yield f"line {event.seq + 1}: the budget of seconds is overdrawn"
    log = SessionLog()
    log.apply(events)
    closed = log.closed
    if closed is not None:
        spent = Accounts(Budget(**budget), log, events, replay=False).remaining(log.clock_s).exhausted
        failed = next((e for e in events if e.kind == EVOLVER_FAILED.name), None)
        end = next(e.seq for e in events if e.kind == SESSION_CLOSED.name)
        expected = "evolver_failed" if failed is not None and failed.seq < end else "budget" if spent else "finished"
        if closed != expected:
            yield f"the session was closed for {closed!r}; {expected!r} follows from the record"


def excess(events: Sequence[Event], failure_return: float | None, other: Mapping[str, float | None]) -> Iterator[str]:
    """Yield scores of failed rollouts that are above the score of a failure.

    Args:
        events: the journal.
        failure_return: the score of a failure on the run's taskset; None for none.
        other: the same for the further tasksets of views.
    """
    for event in events:
        data = event.data
        listed = (
            [(outcome["score"], outcome["status"]) for outcome in data["outcomes"]]
            if event.kind == SUBMISSION_COMPLETED.name
            else list(zip(data.get("scores", ()), data.get("statuses", ()), strict=False))
        )
        floor = other.get(str(data.get("taskset")), failure_return)
        for score, status in listed:
            if score is None or status == Status.OK:
                continue
            if floor is None or score > floor or not math.isfinite(score):
                yield f"line {event.seq + 1}: a rollout that ended with {status} scores {score:g}; at most {floor} counts"
