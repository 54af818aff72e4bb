"""Programs by round: the columns of table 6 of Autogenesis, for all tasks and by language, difficulty and tag.

What a judge of programs found of the program that was committed after each round is looked up after the fact, in the records of the
rollouts; tasks that no such judge checks have none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from heredity.analysis.bounds import SHARE
from heredity.analysis.samples import Clusters
from heredity.analysis.statistics import case_mean
from heredity.analysis.suite_table import table_of
from heredity.evolution.operators.evidence import last_info
from heredity.judging.bench import Bench, Evolved
from heredity.protocols.within_task.account import TaskAccount
from heredity.protocols.within_task.events import WITHIN_JUDGED, JudgedProgram, WithinJudged
from heredity.protocols.within_task.results import ProgramRow
from heredity.results.page import Column, Mean, Number, Row, Section, Table, Text
from heredity.rollouts.trajectory import decode_many
from heredity.tasks import Task

VERDICTS = ("PR", "TLE", "MLE", "CE", "RE", "WA", "TO", "RpE")
"""The verdicts of table 6, in its order."""

_ABOUT = (
    "The columns of table 6 of Autogenesis, of what was committed after each round: programs by verdict; AR, the mean processor "
    "time of accepted programs on their slowest case, in ms; AM, their mean peak memory, in MB; APC, the mean number of cases that "
    "are passed before the first that is failed. ARB and AMB, shares of other solutions that are beaten, are not measured here."
)


async def journal_programs(bench: Bench, evolved: Evolved, accounts: Sequence[TaskAccount], limit: int) -> None:
    """Journal what was found of the programs of each task, unless it is on record or the tasks have none."""
    view, blobs = bench.view("heldout"), {s.submit_id: s.blob for s in evolved.submissions}

    def judged(account: TaskAccount, number: int) -> JudgedProgram | None:
        committed = account.committed(number)
        blob = blobs.get(committed["submit_id"] or 0) if committed else None
        trajectories = decode_many(bench.records.blobs.get(blob)) if blob else []
        return _judged(last_info(trajectories[0], "judgement"), trajectories[0]) if trajectories else None

    for task, account in zip(view.tasks, accounts, strict=True):
        rounds = [judged(account, number) for number in range(limit + 1)]
        if any(rounds) and bench.recorded(WITHIN_JUDGED, task=task.index) is None:
            data: WithinJudged = {"task": task.index, "attributes": _attributes(task), "rounds": rounds}
            await bench.records.commit([WITHIN_JUDGED.line(data)])


def _judged(judgement: Any, trajectory: Any) -> JudgedProgram | None:
    if isinstance(judgement, Mapping):
        found = cast("Mapping[str, Any]", judgement)
        names = ("verdict", "passed", "cases", "cpu_s", "peak_bytes")
        return cast("JudgedProgram", {name: found[name] for name in names})
    verdict = last_info(trajectory, "verdict")
    return {"verdict": verdict, "passed": 0, "cases": 0, "cpu_s": 0.0, "peak_bytes": 0} if verdict else None


def _attributes(task: Task) -> dict[str, str]:
    return {str(name): str(value) for name, value in task.attributes.items()}


def program_rows(judged: Iterable[WithinJudged], limit: int) -> list[ProgramRow]:
    """Return the rows of all tasks and of each language, difficulty and tag, by round."""
    tasks = list(judged)
    groups: dict[tuple[str, str], list[WithinJudged]] = {("all", ""): tasks} if tasks else {}
    for of, name in (("language", "language"), ("difficulty", "difficulty"), ("tag", "tags")):
        for task in tasks:
            for value in filter(None, task["attributes"].get(name, "").split(", ")):
                groups.setdefault((of, value), []).append(task)
    return [_row(of, value, number, own) for (of, value), own in groups.items() for number in range(limit + 1)]


def _row(of: str, value: str, number: int, tasks: Sequence[WithinJudged]) -> ProgramRow:
    found = [(task, program) for task in tasks if (program := task["rounds"][number]) is not None]
    accepted = [program for _, program in found if program["verdict"] == "PR"]
    clusters: Clusters = [task["attributes"].get("cluster") for task, _ in found]
    passes = [[float(program["verdict"] == "PR") for _, program in found]]
    estimate = case_mean([table_of(passes)], bounds=SHARE, clusters=[clusters]) if found else None
    return ProgramRow(
        of=of,
        value=value,
        round=number,
        n=len(found),
        verdicts={name: sum(program["verdict"] == name for _, program in found) for name in VERDICTS},
        share=sum(passes[0]) / len(found) if found else None,
        ci=estimate.interval if estimate else None,
        ar_ms=_mean([1000.0 * program["cpu_s"] for program in accepted]),
        am_mb=_mean([program["peak_bytes"] / 2**20 for program in accepted]),
        apc=_mean([float(program["passed"]) for _, program in found]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def program_section(rows: Sequence[ProgramRow], *, ranked: bool) -> list[Section]:
    """Return the section of programs; none where there are no programs."""
    if not rows:
        return []
    heads = ("of", "round", "programs", *VERDICTS, "accepted", "AR, ms", "AM, MB", "APC")
    shown = tuple(
        Row(
            (
                "all" if row.of == "all" else f"{row.of} {row.value}",
                "first answer" if row.round == 0 else str(row.round),
                row.n,
                *(row.verdicts[name] for name in VERDICTS),
                Mean(row.share, *((row.ci or (None, None)) if ranked else (None, None)), 2),
                Number(row.ar_ms, 1),
                Number(row.am_mb, 1),
                Number(row.apc, 1),
            )
        )
        for row in rows
    )
    columns = tuple(Column(name, "left" if i < 2 else "right") for i, name in enumerate(heads))
    table = Table(columns, shown, csv="programs.csv")
    return [Section("programs", "Programs by round", (Text(_ABOUT, "about"), table), "main")]
