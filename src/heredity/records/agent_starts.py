"""Starts of an outside agent in its run's journal: when to restart it, and whether it has failed.

EvoPolicyGym continues an agent that stops with budget left, and restarts a failed one after a while (B.2). All
decisions are
functions of the journal, so a killed run continues as it would have.
"""

from __future__ import annotations

import signal
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from heredity._core.errors import ConfigError
from heredity.records import Event
from heredity.records.events import (
    AGENT_ENDED,
    AGENT_STARTED,
    SESSION_CLOSED,
    SUBMISSION_ADMITTED,
    SUBMISSION_REJECTED,
    AgentEnded,
    EvolverFailed,
)

AnyEvent = Event | Mapping[str, Any]

TURNS = 128
"""Maximum number of starts of an agent that can be continued (EvoPolicyGym's harness)."""

LONGEST_WAIT_S = 300.0
NOT_STARTED = (126, 127)
"""Exit codes for a program that is missing or not executable: waiting does not help."""


@dataclass(frozen=True, slots=True)
class Start:
    """One start of an agent.

    Attributes:
        number: counts from 1.
        at_s: the run's clock.
        submissions: submissions admitted until the next start.
        ended: its end; None while it runs, or if the run was killed meanwhile.
        finished: whether the agent ended the session.
    """

    number: int
    at_s: float
    submissions: int = 0
    ended: AgentEnded | None = None
    finished: bool = False

    @property
    def failed(self) -> bool:
        """True if it failed, or was stopped for exceeding a limit."""
        ended = self.ended
        return ended is not None and ended["reason"] in ("exited", *_LIMITS) and ended["code"] != 0


@dataclass(frozen=True, slots=True)
class Continuing:
    """Rule for restarting an agent that has ended, while its session is open and has budget left.

    Attributes:
        turns: maximum number of starts.
        idle: maximum number of consecutive starts without a submission.
        wait_s: seconds before a restart after a failure; doubled by each further consecutive failure.
    """

    turns: int = 1
    idle: int = 3
    wait_s: float = 5.0

    def __post_init__(self) -> None:
        if min(self.turns, self.idle) < 1 or self.wait_s < 0:
            raise ConfigError(f"{self} is invalid; give 1 or more turns and idle starts, and 0 or more seconds")

    def wait(self, starts: Sequence[Start]) -> float | None:
        """Return the wait before the next start in seconds; None to stop."""
        # A start without an end was interrupted with its run, and does not count.
        ended = [start for start in starts if start.ended is not None]
        if not starts or starts[-1].ended is None:
            return 0.0
        final = starts[-1].ended["reason"] != "exited" or starts[-1].ended["code"] in NOT_STARTED
        idle = _trailing([start.submissions == 0 for start in ended])
        if final or len(ended) >= self.turns or idle >= self.idle:
            return None
        failures = _trailing([start.failed for start in ended])
        return min(self.wait_s * 2.0 ** (failures - 1), LONGEST_WAIT_S) if failures else 0.0

    def anew(self, starts: Sequence[Start]) -> bool:
        """Report whether to start a new conversation: at the last permitted start, if the ones before failed.

        The conversation may cause the failure, such as one that is too long for the model.
        """
        ended = [start for start in starts if start.ended is not None]
        vain = _trailing([start.failed and start.submissions == 0 for start in ended])
        return self.idle > 1 and vain == self.idle - 1


def _trailing(values: Sequence[bool]) -> int:
    return sum(takewhile(bool, reversed(values)))


def starts_of(events: Iterable[AnyEvent]) -> list[Start]:
    """Return the starts of a run's agent, in order."""
    starts: list[Start] = []
    for event in events:
        follow(starts, event)
    return starts


def follow(starts: list[Start], event: AnyEvent) -> None:
    """Apply the next event of a journal to its list of starts."""
    if data := AGENT_STARTED.of(event):
        starts.append(Start(data["start"], data["at_s"]))
    elif starts:
        last = starts[-1]
        submissions = last.submissions + (SUBMISSION_ADMITTED.of(event) is not None)
        finished = last.finished or (last.ended is None and SESSION_CLOSED.of(event) is not None)
        starts[-1] = replace(
            last, submissions=submissions, finished=finished, ended=AGENT_ENDED.of(event) or last.ended
        )


def seconds_of(starts: Sequence[Start], now_s: float) -> float:
    """Return the total running time of an agent; the run's clock gives that of an interrupted start."""
    stops = [*(start.at_s for start in starts[1:]), now_s][: len(starts)]
    return sum(
        s.ended["seconds"] if s.ended else max(0.0, stop - s.at_s) for s, stop in zip(starts, stops, strict=True)
    )


def failure_of(events: Sequence[Event], answered: Collection[str] = ()) -> EvolverFailed | None:
    """Return how the agent of a closed session failed; None if it did not.

    It failed if it did not submit anything, or ended with an error while its session was open and had budget left.

    Args:
        events: events of the run's journal.
        answered: categories of refusals that count as submissions, such as that of a copy of the base model.
    """
    starts = starts_of(events)
    submitted = len(list(SUBMISSION_ADMITTED.all(events)))
    submitted += sum(data["category"] in answered for data in SUBMISSION_REJECTED.all(events))
    closed = SESSION_CLOSED.first(events)
    exhausted = closed is not None and closed["reason"] == "budget"
    crashed = bool(starts) and starts[-1].failed and not starts[-1].finished and not exhausted
    if submitted and not crashed:
        return None
    last = starts[-1].ended if starts else None
    ending = exit_words(last) if starts else "the agent was not started, as the time was up"
    several = f" at start {len(starts)}" if len(starts) > 1 else ""
    refused = list(SUBMISSION_REJECTED.all(events))
    why = f" ({len(refused)} refused, the last because {refused[-1]['message']})" if refused else ""
    result = (
        f"; its earlier submissions ({submitted}) are judged"
        if submitted
        else f"; it submitted nothing{why}, so there is nothing to judge"
    )
    return {"message": f"{ending}{several}{result}", "traceback": last["output"] if last else ""}


_LIMITS = {"memory_limit": "exceeded its memory limit", "disk_limit": "exceeded its disk limit"}


def exit_words(ended: AgentEnded | None) -> str:
    """Describe how an agent ended, beginning with "the agent"."""
    if ended is None:
        return "the agent was interrupted with its run"
    code, reason = ended["code"], ended["reason"]
    if reason in _LIMITS:
        return f"the agent {_LIMITS[reason]} and was stopped"
    if reason == "time_limit":
        return "the agent's time was up"
    if code in NOT_STARTED:
        return f"the agent could not be started (exit code {code})"
    if code > 128 and code - 128 in set(signal.Signals):
        return f"the agent was ended by {signal.Signals(code - 128).name} (exit code {code})"
    return f"the agent ended with exit code {code}"
