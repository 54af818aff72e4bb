"""Result types of a team on tasks: questions, levels and gains as in table 2 of Autogenesis, evolution."""

from __future__ import annotations

from pydantic import Field

from heredity.results.base import Interval, Result


class QuestionRow(Result):
    """A question: its result, and the findings in the team's record; `lacking` lists required findings that are absent."""

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
    cluster: str = ""
    confidence: float | None = None


class LevelRow(Result):
    """The questions of a level, or of all (`level` 0): right answers among those tried, and means per question.

    `missing` counts questions that could not be tried, `unscored` answers whose reference is not published. `ci` is the
    95% Wilson interval of the share. `calibration_error` (RMS, 0 to 1) is null for questions without a stated confidence.
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
    unscored: int = 0
    calibration_error: float | None = None


class EditRow(Result):
    """The outcome of a failure or a proposal: `accepted` is null without a proposal; `versions` by changed part."""

    what: str
    round: int | None
    step: str | None
    accepted: bool | None
    reason: str | None
    parts: list[str]
    versions: dict[str, str]


class CheckRow(Result):
    """A check of all canaries after a task: their number, how many are solved, and the restored versions."""

    canaries: int
    solved: int
    rolled_back: dict[str, str] | None


class CourseRow(Result):
    """A question in the order asked, practice first: evolution in it and after it."""

    id: str
    practice: bool
    right: bool
    edits: list[EditRow]
    checks: list[CheckRow]


class EvolutionPart(Result):
    """A team's evolution: `"within"` questions or `"across"` them, its results, and its usage beyond the questions."""

    mode: str
    commits: int
    refusals: int
    rollbacks: int
    attempts: int
    calls: int
    tokens: int | None
    cost_usd: float | None
    course: list[CourseRow]


class TeamRun(Result):
    """The part of a team on tasks in a run's results; `evolution` is null if it does not evolve."""

    questions: list[QuestionRow]
    levels: list[LevelRow]
    evolution: EvolutionPart | None = None


class GainRow(Result):
    """A team on the questions of a level, or of all (`level` 0): with evolution, next to the same without it.

    Shares are means over runs and questions; their 95% intervals treat questions drawn together as one draw. `gain` is paired by
    question and seed, null without paired runs; `percent` is the gain relative to the share without evolution. `failed` is
    true if evolution failed in all runs, which leaves the gain unknown.
    """

    taskset: str
    model: str
    mode: str
    level: int
    runs: int
    questions: int
    share: float
    ci: Interval | None
    gain: float | None
    gain_ci: Interval | None
    p: float | None
    percent: float | None
    failed: bool = False


class TeamSuite(Result):
    """The part of a team on tasks in a suite's results: table 2."""

    gains: list[GainRow] = Field(default_factory=list[GainRow])
