"""The starts of an outside agent, as its run's journal has them: whether it is started again, and whether it has failed.

EvoPolicyGym continues an agent that stops while budget is left, and starts one that failed again after a while (B.2). All of it is
a function of the journal, so that a run that was killed goes on as it would have.
"""

from __future__ import annotations

import signal
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from heredity.errors import ConfigError
from heredity.records import Event
from heredity.records.agent_events import AgentEnded
from heredity.records.events import (
    AGENT_ENDED,
    AGENT_STARTED,
    SESSION_CLOSED,
    SUBMISSION_ADMITTED,
    SUBMISSION_REJECTED,
    EvolverFailed,
)

AnyEvent = Event | Mapping[str, Any]

TURNS = 128
"""How often an agent that can be told to go on is started at most (EvoPolicyGym's harness)."""

LONGEST_WAIT_S = 300.0
NOT_STARTED = (126, 127)
"""Exit codes that say that there is no such program, or none that can be executed: waiting does not mend it."""


@dataclass(frozen=True, slots=True)
class Start:
    """One start of an agent.

    Attributes:
        number: counts from 1.
        at_s: the run's clock.
        submissions: admitted until the next start.
        ended: how it ended; None while it runs, or if the run was killed meanwhile.
        finished: whether it ended the session itself.
    """

    number: int
    at_s: float
    submissions: int = 0
    ended: AgentEnded | None = None
    finished: bool = False

    @property
    def failed(self) -> bool:
        """Whether it went wrong by itself, or was ended for holding too much."""
        ended = self.ended
        return ended is not None and ended["reason"] in ("exited", *_LIMITS) and ended["code"] != 0


@dataclass(frozen=True, slots=True)
class Continuing:
    """When an agent that has ended is started again, as long as its session is open and budget is left.

    Attributes:
        turns: how often it is started in all.
        idle: how many starts in a row may submit nothing.
        wait_s: seconds before it is started again after a failure; each further failure in a row doubles them.
    """

    turns: int = 1
    idle: int = 3
    wait_s: float = 5.0

    def __post_init__(self) -> None:
        if min(self.turns, self.idle) < 1 or self.wait_s < 0:
            raise ConfigError(f"{self} continues nothing; give 1 or more turns and idle starts, and 0 or more seconds")

    def wait(self, starts: Sequence[Start]) -> float | None:
        """Return how long to wait before the next start; None if there is to be none."""
        # A start that has no end was interrupted with its run: that is no turn of the agent's.
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
        """Whether the next start is to begin a new conversation: the last that is left, where those before have failed.

        What makes an agent fail may stand in its conversation, such as one that its model finds too long.
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
    """Take the next event of a journal into its list of starts."""
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
    """Return how long an agent has run in all; of an interrupted start the run's clock says it."""
    stops = [*(start.at_s for start in starts[1:]), now_s][: len(starts)]
    return sum(
        s.ended["seconds"] if s.ended else max(0.0, stop - s.at_s) for s, stop in zip(starts, stops, strict=True)
    )


def failure_of(events: Sequence[Event], answered: Collection[str] = ()) -> EvolverFailed | None:
    """Return how the agent of a closed session failed; None if it did not.

    It has failed if nothing was submitted, or if it ended with an error while its session was open and the budget was not spent.

    Args:
        events: of the run's journal.
        answered: categories of refusals that are answers nevertheless, such as that of a copy of the base model.
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
    ending = exit_words(last) if starts else "the agent was not started, because no time was left"
    several = f" at start {len(starts)}" if len(starts) > 1 else ""
    refused = list(SUBMISSION_REJECTED.all(events))
    why = f", and {len(refused)} refused, the last because {refused[-1]['message']}" if refused else ""
    result = (
        f"; it had submitted {submitted} times, and that is judged"
        if submitted
        else f"; nothing was submitted{why}, so there is nothing to judge"
    )
    return {"message": f"{ending}{several}{result}", "traceback": last["output"] if last else ""}


_LIMITS = {"memory_limit": "held more memory than it may", "disk_limit": "took more disk than it may"}


def exit_words(ended: AgentEnded | None) -> str:
    """Say how an agent ended, beginning with "the agent"."""
    if ended is None:
        return "the agent was interrupted with its run"
    code, reason = ended["code"], ended["reason"]
    if reason in _LIMITS:
        return f"the agent {_LIMITS[reason]} and was ended"
    if reason == "time_limit":
        return "the agent's time was up"
    if code in NOT_STARTED:
        return f"the agent could not be started (exit code {code})"
    if code > 128 and code - 128 in set(signal.Signals):
        return f"the agent was ended by {signal.Signals(code - 128).name} (exit code {code})"
    return f"the agent ended with exit code {code}"
