"""Journal events of a team on tasks, in addition to those of every protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from heredity.records.events import EventKind, UsageData, by_name


class TeamEvolved(TypedDict):
    """A team's evolution in one task, from its record and its history.

    `decisions` lists the recorded decisions (`what`, `accepted`, `reason`, `parts`, `versions`, `step`): `commits` of them were
    committed, `refusals` were not; `attempts` counts attempts. `checks` are those made after the task: the number of `canaries`,
    how many were `solved`, and the versions that later tasks return to (`rolled_back`, null for none). `usage` covers proposals,
    attempts and checks.
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
    """The result of a practice question: an evolving team works on train questions first and learns whether it was right."""

    task: str
    id: str
    status: str
    right: bool
    evolution: TeamEvolved
    folder: str


class TeamAnswered(TypedDict):
    """The result of a question, and the findings in the team's record.

    `status` is `ok`, the way the team ended without an answer, `unscored` for an answer whose reference is not published,
    or `missing` if the question could not be tried, for the reason `why`. `confidence` (0 to 1) is the one stated with
    the answer, where the benchmark asks for it. `hops` counts tool calls, `tools` lists their kinds, `agents` those that
    got steps; `lacking` lists required findings that are absent. `place` numbers questions in order, from 1. `evolution`
    is null if the team does not evolve. `folder` is the folder of the team's record, relative to the run's.
    """

    task: str
    id: str
    level: int
    status: str
    why: str
    answer: str
    expected: str
    correct: bool
    confidence: float | None
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
