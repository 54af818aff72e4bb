"""What a run of a team on tasks journals besides the events of every protocol."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import TypedDict

from heredity.records.events import EventKind, UsageData, by_name


class TeamAnswered(TypedDict):
    """What came of a question, and what the team's record shows of it.

    `status` is `ok`, how the team ended without an answer, or `missing` if the question could not be tried, for the reason `why`.
    `hops` counts the tools that were called, `tools` are their kinds, `agents` those who were given steps; `lacking` says what the
    record had to show and does not. `folder` is that of the team's record below the run's.
    """

    task: str
    id: str
    level: int
    status: str
    why: str
    answer: str
    expected: str
    correct: bool
    rounds: int
    steps: int
    hops: int
    tools: Sequence[str]
    agents: Sequence[str]
    lacking: Sequence[str]
    model_calls: int
    usage: UsageData | None
    tokens: int | None
    cost_usd: float | None
    seconds: float
    folder: str


TEAM_ANSWERED = EventKind("team.answered", TeamAnswered)

EVENTS = by_name(TEAM_ANSWERED)
