"""Pages of a team on tasks: levels, costs and steps, and the required findings of each question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heredity.protocols.shared.published import published_section
from heredity.protocols.team_questions.evolution_sections import evolution_section, gain_section
from heredity.protocols.team_questions.results import LevelRow, QuestionRow, TeamRun, TeamSuite
from heredity.results import text
from heredity.results.page import Cell, Column, Mean, Number, Row, Section, Table, Text, Value
from heredity.results.report import PlainReport, Words
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

WORDS = Words(
    score="accuracy",
    rollout="question",
    taskset="taskset",
    product="team",
    products="teams",
    case="question",
    subject="team",
    reference="nothing",
    mark="nothing",
    reference_id="nothing",
    foot="A question counts if its answer is right. Findings come from the team's journal.",
)
_ABOUT = (
    "As in table 2 of Autogenesis: right answers by level, with Wilson's intervals of 95%, and means per question. A program in "
    "place of a model follows scripted steps, so its accuracy shows that agents and tools work, and nothing about a model. "
    "Answers whose references are not published are not scored: `heredity team submission` writes them for the leaderboard. The "
    "calibration error (RMS) compares stated confidence with accuracy, where a benchmark asks for confidence."
)
_RECORD = (
    "Findings in each team's journal: the number of tool calls (hops), their kinds, and the agents that did steps; and the "
    "required findings that are absent."
)


@dataclass(frozen=True)
class TeamReport(PlainReport):
    """The report of a team on tasks."""

    words: Words = WORDS

    def run(self, run: RunResults) -> list[Section]:
        """Return levels and questions."""
        part = run.part
        if not isinstance(part, TeamRun):
            return []
        levels = (Text(_ABOUT, "about"), _levels([("", row) for row in part.levels]))
        evolved = [evolution_section(part.evolution)] if part.evolution else []
        return [Section("levels", "Levels", levels, "lead", "all"), *evolved, _questions(part.questions)]

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return the levels of all runs, and the questions of each."""
        parts = [(run, run.part) for run in runs if isinstance(run.part, TeamRun)]
        if not parts:
            return []
        rows = [(run.evolver.name or "", row) for run, part in parts for row in part.levels]
        right, tried = (
            sum(getattr(r, n) for _, p in parts for r in p.levels if r.level == 0 or len(p.levels) == 1)
            for n in ("right", "tried")
        )
        whole = sum(r.shown for _, p in parts for r in p.levels if r.level == 0 or len(p.levels) == 1)
        summary = (
            f"{right} of {tried} questions were answered right; the records of {whole} have all required findings."
        )
        return [
            Section("levels-said", "", (Text(summary, "summary"),), "head", "all"),
            gain_section(suite.part.gains if isinstance(suite.part, TeamSuite) else ()),
            Section("levels", "Levels", (Text(_ABOUT, "about"), _levels(rows)), "lead", "all"),
            *(evolution_section(part.evolution, run.evolver.name or "") for run, part in parts if part.evolution),
            *(_questions(part.questions, run.evolver.name or "") for run, part in parts),
            *published_section(__package__ or "", runs),
        ]


def _levels(rows: Sequence[tuple[str, LevelRow]]) -> Table:
    heads = (
        "level",
        "team",
        "right",
        "accuracy",
        "not tried",
        "not scored",
        "calibration error",
        "record complete",
        "steps",
        "hops",
        "model calls",
        "tokens",
        "cost",
        "seconds",
    )
    cells = tuple(
        Row(
            (
                f"level {row.level}" if row.level else "all",
                team,
                f"{row.right} of {row.tried}",
                _share(row),
                str(row.missing),
                str(row.unscored),
                Number(row.calibration_error, 2),
                f"{row.shown} of {row.tried}",
                *(Number(getattr(row, name), 1) for name in ("steps", "hops", "model_calls")),
                Number(row.tokens, 0),
                text.dollars(row.cost_usd),
                Number(row.seconds, 1),
            )
        )
        for team, row in rows
    )
    return Table(
        tuple(Column(name, "left" if i < 2 else "right") for i, name in enumerate(heads)), cells, csv="levels.csv"
    )


def _share(row: LevelRow) -> Value | Cell:
    if row.ci is None:
        return "–"
    return Mean(row.right / row.tried, *row.ci, 2)


def _questions(rows: Sequence[QuestionRow], team: str = "") -> Section:
    heads = (
        "question",
        "level",
        "answer",
        "rounds",
        "steps",
        "hops",
        "tools",
        "agents",
        "the record",
        "model calls",
        "seconds",
    )
    cells = tuple(
        Row(
            (
                row.id,
                str(row.level),
                _ending(row),
                str(row.rounds),
                str(row.steps),
                str(row.hops),
                ", ".join(row.tools),
                ", ".join(row.agents),
                _record(row),
                str(row.model_calls),
                Number(row.seconds, 1),
            )
        )
        for row in rows
    )
    columns = tuple(Column(name, "right" if name in ("hops", "steps", "seconds") else "left") for name in heads)
    title = f"Questions of {team}" if team else "Questions"
    key = f"questions-{team}" if team else "questions"
    return Section(
        key, title, (Text(_RECORD, "about"), Table(columns, cells, csv="questions.csv")), navigation="Questions"
    )


def _ending(row: QuestionRow) -> str:
    if row.status == "missing":
        return f"not tried: {row.why}"
    if row.status == "unscored":
        return "answered, not scored"
    return "right" if row.correct else "wrong" if row.status == "ok" else row.status


def _record(row: QuestionRow) -> str:
    if row.status == "missing":
        return "–"
    return "lacks " + ", ".join(row.lacking) if row.lacking else "complete"


REPORT = TeamReport()
