"""The typed part of a team on tasks in results: each question, levels and gains as in table 2 of Autogenesis, evolution."""

from __future__ import annotations

from pydantic import Field

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
    cluster: str = ""


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


class EditRow(Result):
    """What came of a failure or a proposal: `accepted` is null where nothing was proposed; `versions` by the parts that changed."""

    what: str
    round: int | None
    step: str | None
    accepted: bool | None
    reason: str | None
    parts: list[str]
    versions: dict[str, str]


class CheckRow(Result):
    """A check of all canaries after a task: how many there are and are solved, and which versions were gone back to."""

    canaries: int
    solved: int
    rolled_back: dict[str, str] | None


class CourseRow(Result):
    """A question in the order in which they were asked, those of practice first: what evolution did in it and after it."""

    id: str
    practice: bool
    right: bool
    edits: list[EditRow]
    checks: list[CheckRow]


class EvolutionPart(Result):
    """How a team evolved: `"within"` questions or `"across"` them, what that came to, and what it used beside the questions."""

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
    """The part of a team on tasks in a run's results; `evolution` is null where it stayed as it was."""

    questions: list[QuestionRow]
    levels: list[LevelRow]
    evolution: EvolutionPart | None = None


class GainRow(Result):
    """A team on the questions of a level, or of all (`level` 0): with evolution, beside the same without it.

    Shares are means over runs and questions; their intervals, of 95%, take questions that were drawn together as one draw. `gain`
    is paired by question and seed, null without runs to pair with, `percent` the gain in per cent of the share without evolution.
    `failed` is whether evolution failed in all runs; then there is no gain.
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
