"""Pages of evolution within tasks: arms, gains, curves over rounds, outcomes of tasks, tables 1 and 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heredity.protocols.within_task.programs import VERDICTS
from heredity.protocols.within_task.results import (
    Contrast,
    EntryLanguageRow,
    LanguageRow,
    ProgramFigures,
    ProgramNoise,
    ProgramRow,
    TaskRow,
    WithinRow,
    WithinRun,
    WithinSuite,
)
from heredity.results import text
from heredity.results.charts import Lines, Series
from heredity.results.page import Cell, Column, File, Mean, Number, Part, Row, Section, Table, Text, Value, Verdict
from heredity.results.report import PlainReport, Words
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

DATASETS = ("gpqa", "aime24", "aime25")
"""Names of tasksets under `questions/`, in column order."""

VANILLA, PROMPT, SOLUTION, JOINT = "vanilla", "prompt", "solution", "both"

TABLE_1: Mapping[str, Mapping[str, tuple[float, float, float]]] = {
    "gpt-4o": {
        VANILLA: (47.98, 13.34, 6.67),
        PROMPT: (53.81, 13.34, 13.34),
        SOLUTION: (53.53, 16.67, 13.34),
        JOINT: (58.08, 16.67, 13.34),
    },
    "gpt-4.1": {
        VANILLA: (65.15, 23.34, 20.00),
        PROMPT: (68.68, 33.33, 23.33),
        SOLUTION: (68.68, 36.67, 30.00),
        JOINT: (67.67, 40.00, 33.33),
    },
    "grok-4.1-fast": {
        VANILLA: (83.33, 96.67, 90.00),
        PROMPT: (83.84, 96.67, 93.33),
        SOLUTION: (87.81, 96.67, 90.00),
        JOINT: (89.34, 96.67, 96.67),
    },
    "claude-sonnet-4.5": {
        VANILLA: (78.28, 76.67, 73.33),
        PROMPT: (79.79, 86.67, 90.00),
        SOLUTION: (80.30, 80.00, 90.00),
        JOINT: (81.44, 86.67, 90.00),
    },
    "gemini-3-flash-preview": {
        VANILLA: (88.38, 83.33, 83.33),
        PROMPT: (88.89, 93.33, 86.67),
        SOLUTION: (87.88, 93.33, 90.00),
        JOINT: (90.40, 93.33, 93.33),
    },
}
"""Model to mode to accuracy on GPQA-Diamond, AIME 2024 and AIME 2025."""

COLUMNS_3 = ("PR", "TLE", "MLE", "CE", "RE", "WA", "TO", "RpE", "AR, ms", "AM, MB", "APC", "ARB, %", "AMB, %")

TABLE_3: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "Python3": {
        "deepseek-v3.2": (34, 1, 1, 0, 23, 8, 1, 36, 1806.79, 55.91, 640.38, 63.04, 25.81),
        "grok-4.1-fast": (73, 9, 0, 0, 3, 13, 0, 3, 1860.90, 56.02, 741.60, 49.92, 30.15),
        "claude-4.5-sonnet": (42, 37, 2, 0, 0, 10, 8, 1, 880.98, 45.16, 702.64, 61.06, 22.12),
        "claude-4.5-opus": (82, 9, 0, 0, 0, 5, 3, 1, 1559.87, 70.77, 749.45, 64.77, 32.70),
        "gemini-3-flash-preview": (79, 4, 0, 0, 2, 14, 1, 0, 1376.19, 56.59, 750.89, 73.28, 36.62),
        "gemini-3-flash-preview + Solution-Evo": (87, 3, 0, 0, 1, 9, 0, 0, 1269.39, 59.08, 750.98, 70.29, 42.15),
    },
    "C++": {
        "deepseek-v3.2": (11, 1, 0, 30, 0, 6, 4, 43, 158.73, 163.59, 605.82, 73.11, 74.05),
        "grok-4.1-fast": (79, 9, 0, 1, 0, 5, 2, 4, 428.32, 223.68, 748.61, 58.57, 46.67),
        "claude-4.5-sonnet": (41, 42, 2, 0, 1, 9, 2, 3, 379.68, 179.86, 710.59, 56.17, 50.84),
        "claude-4.5-opus": (85, 6, 0, 0, 0, 6, 1, 2, 382.45, 184.22, 758.21, 64.06, 55.58),
        "gemini-3-flash-preview": (84, 2, 0, 2, 1, 10, 0, 1, 266.04, 168.93, 743.31, 68.02, 59.24),
        "gemini-3-flash-preview + Solution-Evo": (99, 0, 0, 0, 0, 1, 0, 0, 142.60, 148.43, 749.86, 88.99, 73.14),
    },
    "Java": {
        "deepseek-v3.2": (11, 0, 0, 47, 1, 1, 5, 35, 72.91, 143.63, 481.45, 57.37, 32.71),
        "grok-4.1-fast": (73, 5, 0, 5, 0, 12, 1, 4, 227.45, 136.80, 746.23, 52.98, 41.97),
        "claude-4.5-sonnet": (41, 40, 1, 1, 1, 15, 0, 1, 161.49, 130.54, 679.41, 58.04, 46.22),
        "claude-4.5-opus": (87, 4, 1, 0, 0, 6, 1, 1, 188.63, 134.27, 748.63, 59.54, 55.61),
        "gemini-3-flash-preview": (84, 0, 0, 2, 2, 9, 1, 2, 125.04, 126.09, 752.86, 71.03, 59.18),
        "gemini-3-flash-preview + Solution-Evo": (98, 1, 0, 0, 0, 1, 0, 0, 96.30, 120.00, 751.09, 88.33, 72.38),
    },
    "Go": {
        "deepseek-v3.2": (7, 0, 0, 39, 0, 0, 1, 53, 112.71, 12.59, 709.57, 62.73, 54.36),
        "grok-4.1-fast": (69, 3, 0, 16, 0, 4, 3, 5, 194.90, 23.26, 755.43, 66.83, 62.44),
        "claude-4.5-sonnet": (44, 41, 0, 0, 0, 13, 0, 2, 222.64, 19.71, 712.55, 57.09, 53.32),
        "claude-4.5-opus": (84, 5, 0, 0, 0, 9, 0, 2, 162.50, 19.95, 744.45, 72.91, 63.00),
        "gemini-3-flash-preview": (82, 1, 0, 9, 0, 7, 0, 1, 139.22, 22.01, 739.46, 76.22, 63.48),
        "gemini-3-flash-preview + Solution-Evo": (95, 0, 0, 0, 0, 5, 0, 0, 111.64, 18.35, 754.17, 81.52, 67.94),
    },
    "Kotlin": {
        "deepseek-v3.2": (7, 2, 0, 0, 0, 0, 1, 48, 59.29, 62.27, 793.57, 58.33, 74.56),
        "grok-4.1-fast": (62, 2, 0, 22, 0, 8, 2, 4, 307.45, 75.45, 759.55, 78.12, 72.83),
        "claude-4.5-sonnet": (42, 36, 1, 8, 1, 10, 1, 1, 192.62, 78.49, 757.64, 81.59, 77.79),
        "claude-4.5-opus": (83, 4, 0, 5, 0, 5, 0, 3, 210.47, 76.60, 750.98, 83.18, 76.53),
        "gemini-3-flash-preview": (75, 2, 0, 8, 1, 10, 2, 2, 171.99, 72.80, 760.43, 83.49, 79.07),
        "gemini-3-flash-preview + Solution-Evo": (95, 1, 0, 0, 0, 4, 0, 0, 122.83, 77.88, 749.38, 83.58, 67.21),
    },
}
"""Language to model to the columns of table 3: verdicts of 100 problems, then means over programs; a web site judged them."""


_FIGURES = ("AR, ms", "AM, MB", "APC", "ARB, %", "AMB, %")
_ABOUT = (
    "AR is the mean processor time of accepted programs on their slowest case, AM their mean peak memory, APC the mean number of "
    "cases passed before the first failed one. ARB and AMB are mean percentages of the solutions stored with a problem "
    "that take more time, or memory, than an accepted program; these solutions were not written by people. A dash means no rank: "
    "ranks need ranks=true in the taskset's name, a reference in the language, and twelve stored solutions."
)
_BY_ROUND = f"The columns of table 6 of Autogenesis, for the commit after each round. {_ABOUT}"
_BY_LANGUAGE = (
    "Table 3 of Autogenesis for this suite: programs by verdict, for the first answer, the last commit, and "
    "the chosen sample among those bought with the same tokens. Means over accepted programs cover different problems in each row, "
    f"so they may fall when another, hard problem is solved. {_ABOUT}"
)
_UNRANKED = "A program replaces the model: its author chose the gains, so no improvement is shown."
_PUBLISHED = (
    "As published (Autogenesis, table 3): 100 problems of a web site, measured with its judge and its users' "
    "solutions. Problems and models differ from those here. Rows are as printed; not all add up to 100."
)
_LOWER_IS_BETTER = (*VERDICTS[1:], "AR, ms", "AM, MB")

_TITLES = {
    "python3": "Python 3",
    "cpp": "C++ 17",
    "java": "Java",
    "go": "Go",
    "kotlin": "Kotlin",
    "javascript": "JavaScript",
}
"""Headings of languages."""


def program_section(rows: Sequence[ProgramRow], noise: ProgramNoise | None, *, ranked: bool) -> list[Section]:
    """Return the section of programs by round; empty without programs."""
    if not rows:
        return []
    heads = ("of", "round", "programs", *VERDICTS, "accepted", *_FIGURES)
    shown = tuple(
        Row(
            (
                "all" if row.of == "all" else f"{row.of} {row.value}",
                "first answer" if row.round == 0 else str(row.round),
                row.n,
                *_verdicts(row),
                _accepted(row, ranked=ranked),
                *_program_tables_figures(row),
            )
        )
        for row in rows
    )
    columns = tuple(Column(name, "left" if i < 2 else "right") for i, name in enumerate(heads))
    table = Table(columns, shown, csv="programs.csv")
    steady = (Text(_steady(noise), "note"),) if noise else ()
    return [Section("programs", "Programs by round", (Text(_BY_ROUND, "about"), table, *steady), "main")]


def language_section(rows: Sequence[LanguageRow], *, ranked: bool) -> list[Section]:
    """Return the section in the form of table 3; empty without programs."""
    if not rows:
        return []
    heads = ("answers", "programs", *VERDICTS, "accepted", *_FIGURES)
    shown: list[Row] = []
    for head in dict.fromkeys(map(_head, rows)):
        own = [row for row in rows if _head(row) == head]
        shown.append(Row((head,), "group"))
        shown += [
            Row((_arm(row), row.n, *_verdicts(row), _accepted(row, ranked=ranked), *_program_tables_figures(row)))
            for row in own
        ]
        by_arm = {row.arm: row for row in own}
        if ranked and "one-shot" in by_arm and "evolved" in by_arm:
            shown.append(_improvement(by_arm["one-shot"], by_arm["evolved"]))
    columns = tuple(Column(name, "right" if i else "left") for i, name in enumerate(heads))
    note = () if ranked else (Text(_UNRANKED, "note"),)
    parts: tuple[Part, ...] = (Text(_BY_LANGUAGE, "about"), Table(columns, tuple(shown)), _file(rows), *note)
    return [Section("table-3", "Programs by language, one-shot and evolved", parts, "main")]


def published_section() -> Section:
    """Return the paper's table 3."""
    shown: list[Row] = []
    for language, models in TABLE_3.items():
        shown.append(Row((language,), "group"))
        shown += [
            Row((model, *(Number(x, 2) if x % 1 else int(x) for x in figures))) for model, figures in models.items()
        ]
    heads = (Column("model"), *(Column(name, "right") for name in COLUMNS_3))
    table = Table(heads, tuple(shown), csv="published.csv")
    return Section("published", "As published", (Text(_PUBLISHED, "about"), table), "detail")


def _verdicts(row: ProgramFigures) -> tuple[int, ...]:
    return tuple(row.verdicts[name] for name in VERDICTS)


def _accepted(row: ProgramFigures, *, ranked: bool) -> Mean:
    return Mean(row.share, *((row.ci or (None, None)) if ranked else (None, None)), 2)


def _program_tables_figures(row: ProgramFigures) -> tuple[Value, ...]:
    return tuple(Number(value, 1) for value in (row.ar_ms, row.am_mb, row.apc, row.arb, row.amb))


def _head(row: LanguageRow) -> str:
    title = _TITLES.get(row.language, row.language)
    if isinstance(row, EntryLanguageRow):
        return f"{title}, {row.evolver}, {row.model or 'unknown model'}"
    return title


def _arm(row: LanguageRow) -> str:
    label = " (oracle)" if isinstance(row, EntryLanguageRow) and row.oracle and row.arm != "one-shot" else ""
    return f"{row.arm}{label}"


def _improvement(before: LanguageRow, after: LanguageRow) -> Row:
    """Return the percentage improvement of each figure at the end; none where it was 0."""
    names = (*VERDICTS, "accepted", *_FIGURES)
    pairs = zip(names, _plain(before), _plain(after), strict=True)
    values = (Number(_better(name, old, new), 1, "signed") for name, old, new in pairs)
    return Row(("improvement, %", None, *values))


def _plain(row: LanguageRow) -> tuple[float | None, ...]:
    return (*map(float, _verdicts(row)), row.share, row.ar_ms, row.am_mb, row.apc, row.arb, row.amb)


def _better(name: str, old: float | None, new: float | None) -> float | None:
    if not old or new is None:
        return None
    return 100.0 * (old - new if name in _LOWER_IS_BETTER else new - old) / old


def _file(rows: Sequence[LanguageRow]) -> File:
    """Return the rows for a file: one column per value."""
    heads = (
        "taskset",
        "evolver",
        "model",
        "oracle",
        "runs",
        "language",
        "arm",
        "programs",
        *VERDICTS,
        "accepted",
        *_FIGURES,
    )
    lines = [
        Row(
            (
                *_entry(row),
                row.language,
                row.arm,
                row.n,
                *_verdicts(row),
                Number(row.share, 4),
                *_program_tables_figures(row),
            )
        )
        for row in rows
    ]
    return File("table-3.csv", Table(tuple(map(Column, heads)), tuple(lines)))


def _entry(row: LanguageRow) -> tuple[Value, ...]:
    if not isinstance(row, EntryLanguageRow):
        return (None,) * 5
    return row.taskset, row.evolver, row.model, str(row.oracle).lower(), row.runs


def _steady(noise: ProgramNoise) -> str:
    moved = [
        f"{share:.0%} of repeats by {what}"
        for what, share in (("time", noise.moved_time), ("memory", noise.moved_memory))
        if share is not None
    ]
    return (
        f"Steadiness of {text.plural(noise.ranks, 'ranked program')}, measured by repetition: times of single repeats lie "
        f"{noise.time_typical:.0%} apart at the median, {noise.time_furthest:.0%} at most; ARB {noise.arb_typical:.1f} points "
        f"(at most {noise.arb_furthest:.1f}), AMB {noise.amb_typical:.1f} points (at most {noise.amb_furthest:.1f}). "
        f"A stored solution changes place in {' and in '.join(moved) or 'an unknown share of repeats'}."
    )


WORDS = Words(
    score="accuracy",
    rollout="answer",
    taskset="taskset",
    product="answer",
    products="answers",
    chosen="committed",
    case="task",
    subject="agent",
    reference="one-shot",
    mark="one-shot",
    reference_id="one-shot",
    foot="The result is the last answer committed on the agent's visible feedback, even if an earlier one was right.",
)
ORACLE = (
    "Oracle: the agent saw the verdict on its answers. Its rounds end when an answer is right, so accuracy cannot fall, and a "
    "gain over one-shot is partly due to retrying with ground truth: compare it with the samples, chosen by the same verdict."
)
NO_TRUTH = {
    "none": "The agent got no feedback between rounds; the latest answer counts.",
    "self": "The agent assessed its answers itself and saw no ground truth.",
    "public": "The agent saw the results of public tests and no other ground truth.",
}
_ARMS = (
    "One-shot is the first answer of the same run. Best-of-k are independent samples that used at least as many tokens as the "
    "rounds of the same task, chosen by visible feedback: the best visible score, or the most frequent answer. Means are per task."
)
_MODES = {"prompt": "Prompt-Evo", "solution": "Solution-Evo", "both": "PS-Joint-Evo"}


@dataclass(frozen=True)
class WithinReport(PlainReport):
    """The report of evolution within tasks."""

    words: Words = WORDS

    def run(self, run: RunResults) -> list[Section]:
        """Return arms, gains, the curve and the tasks of a run."""
        part = run.part
        if not isinstance(part, WithinRun):
            return []
        ranked = not run.stand_ins
        return [
            Section(
                "within-said", "", (Text(feedback_label(part.feedback, oracle=part.oracle), "caution"),), "head", "all"
            ),
            Section("arms", "One-shot, evolved and best-of-k", _arms(part, ranked=ranked), "lead", "all"),
            Section(
                "rounds", "Rounds", (_curve([(part.mode, part)]), _round_table(part, ranked=ranked)), "main", "all"
            ),
            *language_section(part.languages, ranked=ranked),
            *program_section(part.programs, part.program_noise, ranked=ranked),
            Section("changes", "Outcomes of the tasks", _changes(part), "main", "all"),
        ]

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return a table in the form of table 1 of Autogenesis, curves, and the paper's published figures."""
        part = suite.part
        if not isinstance(part, WithinSuite):
            return []
        conditions = dict.fromkeys((row.feedback, row.oracle) for row in part.rows)
        cautions = tuple(Text(feedback_label(feedback, oracle=oracle), "caution") for feedback, oracle in conditions)
        series = [(run.evolver.name or "", run.part) for run in runs if isinstance(run.part, WithinRun)]
        return [
            Section("within-said", "", cautions, "head", "all"),
            Section(
                "table-1", "Improvement within a task", (Text(_ARMS, "about"), *_table_1(part.rows)), "lead", "all"
            ),
            Section("rounds", "Rounds", (_curve(series),), "main"),
            *language_section(part.languages, ranked=suite.ranked),
            *_published(part.rows),
        ]


def feedback_label(feedback: str, *, oracle: bool) -> str:
    """Return the label of runs with a feedback."""
    return ORACLE if oracle else NO_TRUTH[feedback]


def mode_of(mode: str, *, oracle: bool) -> str:
    """Return the paper's name of a mode, with the label of an oracle."""
    return f"{_MODES[mode]} (oracle)" if oracle else _MODES[mode]


def _arms(part: WithinRun, *, ranked: bool) -> tuple[Part, ...]:
    columns = ("answers", "accuracy", "right", "tokens", "model calls", "cost", "evolved gains")
    gains = {one.over: one for one in part.contrasts}
    rows = tuple(
        Row(
            (
                mode_of(part.mode, oracle=part.oracle) if arm.name == "evolved" else arm.name,
                Mean(arm.mean, *((arm.ci or (None, None)) if ranked else (None, None)), 3),
                f"{arm.right} of {arm.n}",
                Number(arm.tokens, 0),
                Number(arm.calls, 1),
                Number(arm.cost_usd, form="cost"),
                _gain(gains.get(arm.name), ranked=ranked),
            ),
            "chosen" if arm.name == "evolved" else "",
        )
        for arm in part.arms
    )
    ratio = part.token_ratio or part.call_ratio
    what = "tokens" if part.token_ratio else "model calls"
    equal = f"The counted samples used {ratio:.2f} times the {what} of the rounds." if ratio else ""
    short = Text(f"{equal} They were cut at within.most_samples: the comparison is not at equal {what}.", "warning")
    table = Table(tuple(Column(n, "right" if i else "left") for i, n in enumerate(columns)), rows, csv="arms.csv")
    note = () if not ratio else (short,) if ratio < 1.0 else (Text(equal, "note"),)
    return (Text(_ARMS, "about"), table, *note)


def _gain(one: Contrast | None, *, ranked: bool) -> Value | Cell:
    if one is None:
        return None
    share = "no share of nothing" if one.percent is None else f"{one.percent:+.1f}% of it"
    if not ranked or one.verdict is None:
        return Cell(Number(one.difference, 3, "signed"), (share,))
    notes: tuple[Value, ...] = (share, Verdict(one.verdict, because=one.because or ""))
    return Cell(Mean(one.difference, *(one.ci or (None, None)), decimals=3, signed=True), notes)


def _curve(parts: Sequence[tuple[str, WithinRun]]) -> Lines:
    series = tuple(
        Series(name, i, tuple((float(row.round), row.mean) for row in part.curve if row.mean is not None))
        for i, (name, part) in enumerate(parts[:8])
    )
    return Lines("Accuracy of the committed answers", "round", "accuracy", series, y_from=0.0, whole=True, wide=True)


def _round_table(part: WithinRun, *, ranked: bool) -> Table:
    columns = ("round", "tasks that played it", "accuracy so far", "tokens so far", "model calls so far", "cost so far")
    rows = tuple(
        Row(
            (
                "first answer" if row.round == 0 else str(row.round),
                row.open,
                Mean(row.mean, *((row.ci or (None, None)) if ranked else (None, None)), 3),
                Number(row.tokens, 0),
                Number(row.calls, 1),
                Number(row.cost_usd, form="cost"),
            )
        )
        for row in part.curve
    )
    return Table(tuple(Column(n, "right" if i else "left") for i, n in enumerate(columns)), rows, csv="rounds.csv")


def _changes(part: WithinRun) -> tuple[Part, ...]:
    counts = part.changes
    words = [f"{counts.get(name, 0)} {name}" for name in ("kept", "repaired", "lost", "never", "missing")]
    summary = (
        f"Of {len(part.tasks)} tasks: {', '.join(words)}. {counts.get('slipped', 0)} were right after some round but are "
        "wrong in the end; they count as wrong."
    )
    columns = (
        "task",
        "first answer",
        "after each round",
        "in the end",
        "best-of-k",
        "what became of it",
        "rounds ended",
        "tokens",
    )
    table = Table(tuple(Column(name) for name in columns), tuple(map(_task, part.tasks)), csv="tasks.csv", folded=True)
    return Text(summary), table


def _task(row: TaskRow) -> Row:
    samples = f"{_mark(row.best_of_k)} of {row.samples}" if row.samples else None
    rounds = " ".join(map(_mark, row.rounds[1:]))
    state = f"{row.change}, slipped" if row.slipped and row.change != "lost" else row.change
    return Row((str(row.task), _mark(row.first), rounds, _mark(row.final), samples, state, row.ended, row.tokens))


def _mark(score: float | None) -> str:
    return "–" if score is None else "right" if score >= 1.0 else "wrong" if score <= 0.0 else f"{score:.2f}"


def _table_1(rows: Sequence[WithinRow]) -> tuple[Part, ...]:
    """Return the rows by taskset and model, in the form of table 1, and in a file one column per value."""
    names = text.task_names([row.taskset for row in rows])
    columns = (
        "optimizer and mode",
        "one-shot",
        "evolved",
        "improvement, %",
        "best-of-k",
        "over it, %",
        "its tokens",
        "lost or slipped",
    )
    shown: list[Row] = []
    for taskset, model in dict.fromkeys((row.taskset, row.model) for row in rows):
        shown.append(Row((f"{names[taskset]}, {model or 'unknown model'}",), "group"))
        own = [row for row in rows if (row.taskset, row.model) == (taskset, model)]
        shown += [Row((_title(row), *_figures(row), _ratio(row), f"{row.lost}, {row.slipped}")) for row in own]
    heads = (
        "taskset",
        "model",
        "optimizer",
        "mode",
        "feedback",
        "oracle",
        "runs",
        *columns[1:-2],
        "tokens of samples to rounds",
        "lost",
        "slipped",
    )
    file = tuple(
        Row(
            (
                *(row.taskset, row.model, row.method, row.mode, row.feedback, str(row.oracle).lower(), row.runs),
                *_figures(row),
                Number(row.token_ratio, 3),
                *(row.lost, row.slipped),
            )
        )
        for row in rows
    )
    table = Table(tuple(Column(n, "right" if i else "left") for i, n in enumerate(columns)), tuple(shown))
    return table, File("table-1.csv", Table(tuple(map(Column, heads)), file))


def _ratio(row: WithinRow) -> Cell:
    """Return the samples' tokens as a multiple of the rounds'; below 1 they were cut, and the comparison is unequal."""
    short = row.token_ratio is not None and row.token_ratio < 1.0
    return Cell(Number(row.token_ratio, 2), ("fewer than the rounds'",) if short else (), "bad" if short else None)


def _title(row: WithinRow) -> str:
    feedback = f"told the {row.feedback}" if row.oracle else f"feedback {row.feedback}"
    return f"{row.method}, {mode_of(row.mode, oracle=row.oracle)}, {feedback}, {text.plural(row.runs, 'run')}"


def _figures(row: WithinRow) -> tuple[Value | Cell, ...]:
    one_shot, evolved, best = (Number(value, 3) for value in (row.one_shot, row.evolved, row.best_of_k))
    return one_shot, evolved, _percent(row, "one-shot"), best, _percent(row, "best-of-k")


def _percent(row: WithinRow, over: str) -> Value | Cell:
    one = next((c for c in row.contrasts if c.over == over), None)
    if one is None:
        return None
    gain = f"gain {text.signed(one.difference, 3)}" + (f" {text.interval(*one.ci, 3)}" if one.ci else "")
    value: Value = "no share of nothing" if one.percent is None else Number(one.percent, 1, "signed")
    notes: tuple[Value, ...] = (gain, *((Verdict(one.verdict, because=one.because or ""),) if one.verdict else ()))
    return Cell(value, notes)


def _published(rows: Sequence[WithinRow]) -> list[Section]:
    """Return the paper's tables if the suite has one of their data sets or programs."""
    if any(row.programs for row in rows):
        return [published_section()]
    named = {row.taskset.removeprefix("questions/").partition("?")[0] for row in rows}
    if not named & set(DATASETS):
        return []
    shown: list[Row] = []
    for model, modes in TABLE_1.items():
        shown.append(Row((model,), "group"))
        shown += [
            Row((_MODES.get(mode, "one-shot"), *(Number(x, 2) for x in scores))) for mode, scores in modes.items()
        ]
    columns = (Column("mode"), *(Column(name, "right") for name in ("GPQA-Diamond", "AIME 2024", "AIME 2025")))
    about = (
        "As published (Autogenesis, table 1), in per cent, with other models, prompts and runs. The optimizer's "
        "feedback is not stated, so these figures are not directly comparable with those here."
    )
    return [
        Section(
            "published",
            "As published",
            (Text(about, "about"), Table(columns, tuple(shown), csv="published.csv")),
            "detail",
        )
    ]


REPORT = WithinReport()
