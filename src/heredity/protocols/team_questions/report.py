"""Pages of a team on tasks: levels, costs and steps, and the required findings of each question; and of its evolution.

Evolution has table 2 of Autogenesis (with and without it), commits, refusals and rollbacks, and canaries over time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heredity.protocols.shared.published import published_section
from heredity.protocols.team_questions.results import (
    CheckRow,
    EditRow,
    EvolutionPart,
    GainRow,
    LevelRow,
    QuestionRow,
    TeamRun,
    TeamSuite,
)
from heredity.results import text
from heredity.results.charts import Key, Lines, Mark, Series
from heredity.results.page import Cell, Column, Fact, Facts, Mean, Number, Row, Section, Table, Text, Value
from heredity.results.report import PlainReport, Words
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

Figures = tuple[float, float, float, float]
"""Levels 1, 2 and 3, and the average."""

OURS = ("Vanilla", "Agent-Evo")
"""The rows of the system itself, without and with evolution; the others are its baselines."""

PUBLISHED: Mapping[str, Mapping[str, Figures]] = {
    "validation": {
        "HF ODR": (67.92, 53.49, 34.62, 55.15),
        "o3-DR": (74.29, 69.06, 47.60, 67.36),
        "DeSearch": (90.57, 72.01, 38.46, 72.73),
        "Co-Sight": (86.79, 73.26, 42.31, 72.73),
        "Manus": (86.50, 70.10, 57.69, 73.90),
        "AWorld": (88.68, 77.91, 53.85, 77.58),
        "Langfun": (88.68, 80.23, 57.69, 79.39),
        "Skywork": (92.45, 83.72, 57.69, 82.42),
        "agent-2030": (96.23, 90.70, 57.69, 87.27),
        "Alita": (88.68, 89.53, 76.92, 87.27),
        "Vanilla": (92.45, 88.37, 88.46, 89.70),
        "Agent-Evo": (96.23, 93.02, 88.46, 93.33),
    },
    "test": {
        "o4-mini-DR": (67.59, 59.10, 44.28, 59.30),
        "JoyAgent": (77.42, 67.30, 46.94, 67.11),
        "o3-DR": (79.42, 68.97, 47.48, 68.70),
        "Langfun": (84.95, 73.58, 48.98, 73.09),
        "Alita": (92.47, 71.70, 55.10, 75.42),
        "DeSearch": (91.40, 75.47, 61.22, 78.07),
        "h2o": (89.25, 79.87, 61.22, 79.73),
        "Su-Zero-Ultra": (93.55, 77.36, 65.31, 80.40),
        "AWorld": (95.70, 81.13, 57.14, 81.73),
        "HALO": (94.62, 84.91, 69.39, 85.38),
        "ToolOrchestra": (95.70, 82.39, 87.76, 87.38),
        "openJiuwen": (98.92, 88.68, 87.76, 91.69),
        "Vanilla": (91.40, 77.36, 61.22, 79.07),
        "Agent-Evo": (98.92, 85.53, 81.63, 89.04),
    },
}
"""Published results by split of GAIA and by name; a split's average weighs its questions, whose numbers differ by level."""


def published(*, whole: bool) -> Mapping[str, Mapping[str, Figures]]:
    """Return the rows to show: all next to results on GAIA itself, only the system's rows next to other questions."""
    return {
        split: {name: figures for name, figures in rows.items() if whole or name in OURS}
        for split, rows in PUBLISHED.items()
    }


_TABLE = (
    "Right answers in %, in the form of table 2 of Autogenesis: without evolution, evolving within each question, and across "
    "questions; below each the gain, paired by question and seed. Clustered questions count as one draw. The rows below, "
    "on GAIA, are as published by its authors, who used other models; they have no intervals."
)
_COURSE = (
    "Each proposed edit, in the order of the questions: its changes, its version, whether it was "
    "committed, and why. Versions are kept, refused ones too: `heredity resources` lists, compares and restores them."
)
_DRIFT = (
    "Canaries are tasks that the team has solved. After a question the current team tries all of them; if some "
    "are lost and earlier versions solve more, later questions start from those."
)
_MODES = {"none": "without evolution", "within": "within a question", "across": "across questions"}


def gain_section(rows: Sequence[GainRow]) -> Section:
    """Return table 2; an empty one without rows."""
    if not rows:
        return Section("gains", "")
    levels = sorted({row.level for row in rows} - {0})
    columns = [*levels, 0] if len(levels) > 1 else levels
    shown: list[Row] = []
    groups = list(dict.fromkeys((row.taskset, row.model) for row in rows))
    for taskset, model in groups:
        own = [row for row in rows if (row.taskset, row.model) == (taskset, model)]
        shown.append(Row((f"{text.short_task(taskset)}, {model}" if model else text.short_task(taskset),), "group"))
        for mode in dict.fromkeys(row.mode for row in own):
            by_level = {row.level: row for row in own if row.mode == mode}
            failed = any(row.failed for row in by_level.values())
            name = Cell(_MODES[mode], ("its evolution failed",), "bad") if failed else _MODES[mode]
            shown.append(Row((name, *(_gain_share(by_level.get(level)) for level in columns))))
            if any(row.gain is not None for row in by_level.values()):
                shown.append(Row(("gain", *(_gain(by_level.get(level)) for level in columns))))
    if columns in ([1, 2, 3, 0], [1], [2], [3]):
        shown += _published(
            [1, 2, 3, 0] if len(columns) > 1 else columns, whole=any("gaia" in row.taskset for row in rows)
        )
    names = ["all" if level == 0 else f"level {level}" for level in columns]
    table = Table((Column("team"), *(Column(name, "right") for name in names)), tuple(shown), csv="table-2.csv")
    return Section("gains", "With and without evolution", (Text(_TABLE, "about"), table), "lead", "all")


def _published(columns: Sequence[int], *, whole: bool) -> list[Row]:
    rows: list[Row] = []
    for split, figures in published(whole=whole).items():
        rows.append(Row((f"GAIA {split}, as published",), "group"))
        for name, values in figures.items():
            cells = (Number(values[(level - 1) % 4], 2) for level in columns)
            rows.append(Row((name, *cells), "reference"))
    return rows


def _gain_share(row: GainRow | None) -> Value | Cell:
    return None if row is None else Mean(100 * row.share, *_percent(row.ci), 1)


def _gain(row: GainRow | None) -> Value | Cell:
    if row is None or row.gain is None:
        return None
    tested = (f"p = {text.p_value(row.p)}",) if row.p is not None else ()
    share = () if row.percent is None else (f"{text.signed(row.percent, 1)} % of it",)
    return Cell(Mean(100 * row.gain, *_percent(row.gain_ci), 1, signed=True), (*share, *tested))


def _percent(interval: tuple[float, float] | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (100 * interval[0], 100 * interval[1])


def evolution_section(part: EvolutionPart, team: str = "") -> Section:
    """Return the report of a team's evolution: totals, canaries over time, each edit."""
    facts = Facts(
        (
            Fact("evolution", _MODES[part.mode]),
            Fact("commits", part.commits),
            Fact("refusals", part.refusals),
            Fact("rollbacks", part.rollbacks),
            Fact("attempts", part.attempts),
            Fact("model calls", part.calls),
            Fact("tokens", Number(part.tokens, 0)),
            Fact("cost", text.dollars(part.cost_usd)),
        )
    )
    drift = (Text(_DRIFT, "about"), _canaries(part)) if any(row.checks for row in part.course) else ()
    key, title = (f"evolution-{team}", f"Evolution of {team}") if team else ("evolution", "Evolution")
    return Section(key, title, (facts, *drift, Text(_COURSE, "about"), _edits(part)), navigation="Evolution")


def _canaries(part: EvolutionPart) -> Lines:
    """Draw the share of canaries solved at each check, with rollbacks."""
    checks = [(order, row.id, check) for order, row in enumerate(part.course, 1) for check in row.checks]
    points = tuple((float(order), check.solved / check.canaries) for order, _, check in checks if check.canaries)
    marks = tuple(
        Mark(
            float(order),
            check.solved / check.canaries,
            "back",
            "bad",
            f"after {name}: back to {_versions(check.rolled_back)}",
        )
        for order, name, check in checks
        if check.rolled_back and check.canaries
    )
    return Lines(
        "Canaries over time",
        "questions",
        "canaries solved",
        (Series("", "ink", points, dots=True),),
        marks,
        y_from=0.0,
        whole=True,
        empty="nothing checked yet",
        legend=(Key("back", "bad", "earlier versions are used again"),) if marks else (),
        wide=True,
    )


def _edits(part: EvolutionPart) -> Table:
    rows: list[Row] = []
    for row in part.course:
        rows += [Row((row.id, _edit_ending(e), ", ".join(e.parts), _versions(e.versions), e.reason)) for e in row.edits]
        rows += [Row((row.id, "rolled back", *_back(check))) for check in row.checks if check.rolled_back]
    columns = (Column("question"), Column("edit"), Column("parts"), Column("versions"), Column("reason", prose=True))
    return Table(columns, tuple(rows), "Edits and rollbacks", "nothing was proposed", "edits.csv")


def _edit_ending(edit: EditRow) -> str:
    if edit.accepted is None:
        return edit.what
    return "committed" if edit.accepted else "refused"


def _back(check: CheckRow) -> tuple[Value, Value, Value]:
    lost = f"{check.solved} of {check.canaries} canaries were solved; these versions solve more"
    return ", ".join(check.rolled_back or ()), _versions(check.rolled_back), lost


def _versions(versions: dict[str, str] | None) -> str:
    return ", ".join(f"{name} {number}" for name, number in (versions or {}).items())


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
