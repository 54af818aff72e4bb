"""Programs on pages: table 6 of Autogenesis by round, and table 3, one-shot against evolved by language."""

from __future__ import annotations

from collections.abc import Sequence

from heredity.protocols.within_task.programs import VERDICTS
from heredity.protocols.within_task.published import COLUMNS_3, TABLE_3
from heredity.protocols.within_task.results import (
    EntryLanguageRow,
    LanguageRow,
    ProgramFigures,
    ProgramNoise,
    ProgramRow,
)
from heredity.results import text
from heredity.results.page import Column, File, Mean, Number, Part, Row, Section, Table, Text, Value
from heredity.tasks.code.languages import LANGUAGES

_FIGURES = ("AR, ms", "AM, MB", "APC", "ARB, %", "AMB, %")
_ABOUT = (
    "AR is the mean processor time of accepted programs on their slowest case, AM their mean peak memory, APC the mean number of "
    "cases that are passed before the first that is failed. ARB and AMB are mean percents of the solutions stored with a problem "
    "that take more time, or memory, than an accepted program; those are ours and not people's. Without a rank there is a dash: "
    "it takes ranks=true in the taskset's name, and of the problem a reference in the language and twelve stored solutions."
)
_BY_ROUND = f"The columns of table 6 of Autogenesis, of what was committed after each round. {_ABOUT}"
_BY_LANGUAGE = (
    "Table 3 of Autogenesis with figures of our own: programs by verdict, of the first answer, of what was committed last, and of "
    "the chosen one of the samples that the same tokens bought. Means over accepted programs are over other problems in each row, "
    f"so they may fall when a hard problem is solved besides. {_ABOUT}"
)
_UNRANKED = "A program stands in the model's place: what is gained is its author's choice, so no improvement is shown."
_PUBLISHED = (
    "As published (Autogenesis, table 3), of 100 problems of a web site, whose judge and whose users' solutions they are measured "
    "by; other problems and models than those here, as printed: not all rows add up to 100."
)
_LOWER_IS_BETTER = (*VERDICTS[1:], "AR, ms", "AM, MB")


def program_section(rows: Sequence[ProgramRow], noise: ProgramNoise | None, *, ranked: bool) -> list[Section]:
    """Return the section of programs by round; none where there are no programs."""
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
                *_figures(row),
            )
        )
        for row in rows
    )
    columns = tuple(Column(name, "left" if i < 2 else "right") for i, name in enumerate(heads))
    table = Table(columns, shown, csv="programs.csv")
    steady = (Text(_steady(noise), "note"),) if noise else ()
    return [Section("programs", "Programs by round", (Text(_BY_ROUND, "about"), table, *steady), "main")]


def language_section(rows: Sequence[LanguageRow], *, ranked: bool) -> list[Section]:
    """Return the section in the form of table 3; none where there are no programs."""
    if not rows:
        return []
    heads = ("answers", "programs", *VERDICTS, "accepted", *_FIGURES)
    shown: list[Row] = []
    for head in dict.fromkeys(map(_head, rows)):
        own = [row for row in rows if _head(row) == head]
        shown.append(Row((head,), "group"))
        shown += [
            Row((_arm(row), row.n, *_verdicts(row), _accepted(row, ranked=ranked), *_figures(row))) for row in own
        ]
        by_arm = {row.arm: row for row in own}
        if ranked and "one-shot" in by_arm and "evolved" in by_arm:
            shown.append(_improvement(by_arm["one-shot"], by_arm["evolved"]))
    columns = tuple(Column(name, "right" if i else "left") for i, name in enumerate(heads))
    note = () if ranked else (Text(_UNRANKED, "note"),)
    parts: tuple[Part, ...] = (Text(_BY_LANGUAGE, "about"), Table(columns, tuple(shown)), _file(rows), *note)
    return [Section("table-3", "Programs by language, one-shot and evolved", parts, "main")]


def published_section() -> Section:
    """Return the paper's own table 3."""
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


def _figures(row: ProgramFigures) -> tuple[Value, ...]:
    return tuple(Number(value, 1) for value in (row.ar_ms, row.am_mb, row.apc, row.arb, row.amb))


def _head(row: LanguageRow) -> str:
    title = LANGUAGES[row.language].title if row.language in LANGUAGES else row.language
    if isinstance(row, EntryLanguageRow):
        return f"{title}, {row.evolver}, {row.model or 'unknown model'}"
    return title


def _arm(row: LanguageRow) -> str:
    label = " (oracle)" if isinstance(row, EntryLanguageRow) and row.oracle and row.arm != "one-shot" else ""
    return f"{row.arm}{label}"


def _improvement(before: LanguageRow, after: LanguageRow) -> Row:
    """Return by how many percent each figure is better in the end; nothing where it was 0."""
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
    """Return the rows for a file: one column for each thing."""
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
        Row((*_entry(row), row.language, row.arm, row.n, *_verdicts(row), Number(row.share, 4), *_figures(row)))
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
        f"A stored solution has another place in {' and in '.join(moved) or 'an unknown share of repeats'}."
    )
