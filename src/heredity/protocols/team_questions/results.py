"""The typed part of a team on tasks in results: each question, and levels as in table 2 of Autogenesis."""

from __future__ import annotations

from heredity.results.base import Interval, Result


class QuestionRow(Result):
    """A question: what came of it, and what the team's record shows; `lacking` is what it had to show and does not."""

    id: str
    level: int
    status: str
    why: str
    correct: bool
    rounds: int
    steps: int
    hops: int
    tools: list[str]
    agents: list[str]
    lacking: list[str]
    model_calls: int
    tokens: int | None
    cost_usd: float | None
    seconds: float


class LevelRow(Result):
    """The questions of a level, or of all (`level` 0): right answers of those tried, and means for a question.

    `missing` could not be tried. `ci` is Wilson's interval of the share, of 95%.
    """

    level: int
    right: int
    tried: int
    missing: int
    ci: Interval | None
    shown: int
    steps: float | None
    hops: float | None
    model_calls: float | None
    tokens: float | None
    cost_usd: float | None
    seconds: float | None


class TeamRun(Result):
    """The part of a team on tasks in a run's results."""

    questions: list[QuestionRow]
    levels: list[LevelRow]
