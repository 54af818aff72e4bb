"""What a run of a team on tasks journals besides the events of every protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from heredity.records.events import EventKind, UsageData, by_name


class TeamEvolved(TypedDict):
    """What a team's evolution did in one task, from its record and its history.

    `decisions` are those on record (`what`, `accepted`, `reason`, `parts`, `versions`, `step`), of which `commits` were committed
    and `refusals` were not; `attempts` were made. `checks` are those made after the task: how many `canaries` there are, how many
    were `solved`, which versions later tasks begin from again (`rolled_back`, null for none). `usage` is that of proposals,
    attempts and checks together.
    """

    mode: str
    commits: int
    refusals: int
    rollbacks: int
    attempts: int
    decisions: Sequence[Mapping[str, Any]]
    checks: Sequence[Mapping[str, Any]]
    calls: int
    usage: UsageData


class TeamPractised(TypedDict):
    """What came of a train question that an evolving team worked on first, told whether it was right."""

    task: str
    id: str
    status: str
    right: bool
    evolution: TeamEvolved
    folder: str


class TeamAnswered(TypedDict):
    """What came of a question, and what the team's record shows of it.

    `status` is `ok`, how the team ended without an answer, or `missing` if the question could not be tried, for the reason `why`.
    `hops` counts the tools that were called, `tools` are their kinds, `agents` those who were given steps; `lacking` says what the
    record had to show and does not. `place` counts questions in the order in which they are asked, from 1. `evolution` is null
    where the team does not evolve. `folder` is that of the team's record below the run's.
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
    place: int
    cluster: str
    evolution: TeamEvolved | None
    folder: str


TEAM_PRACTISED = EventKind("team.practised", TeamPractised)
TEAM_ANSWERED = EventKind("team.answered", TeamAnswered)

EVENTS = by_name(TEAM_ANSWERED, TEAM_PRACTISED)
