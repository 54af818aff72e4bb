"""Programs within tasks: tables 6 and 3 of Autogenesis, ranks, and how steady they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity.cli.main import app
from heredity.kinds.code.problem import problem
from heredity.kinds.code.toolchains import installed
from heredity.library.models.coder import plan_of
from heredity.library.models.coder import program as program_of
from heredity.protocols.within_task.events import WITHIN_JUDGED, WITHIN_PROPOSED, JudgedProgram, WithinJudged
from heredity.protocols.within_task.programs import VERDICTS, language_rows, pooled, program_noise, program_rows
from heredity.protocols.within_task.report import (
    COLUMNS_3,
    TABLE_3,
    language_section,
    program_section,
    published_section,
)
from heredity.protocols.within_task.results import EntryLanguageRow
from heredity.records import read_journal
from heredity.results.page import Cell, File, Mean, Number, Section, Table, Text
from heredity.sandbox.bubblewrap_root import available
from heredity.tasks.contract import CLUSTER


def program(verdict: str, **rank: float) -> JudgedProgram:
    found: JudgedProgram = {"verdict": verdict, "passed": 3, "cases": 4, "cpu_s": 0.5, "peak_bytes": 2**21}
    if rank:
        arb, amb = rank["arb"], rank["amb"]
        noise = {"moved": rank["moved"], "typical": 1.0, "furthest": 2.0}
        found["rank"] = {
            "arb": arb,
            "amb": amb,
            "arb_range": (arb - 2, arb + 4),
            "amb_range": (amb, amb),
            "among": 12,
            "transferred": False,
            "seconds": (0.9, 1.0, 1.2),
            "noise": {"time": noise, "memory": {**noise, "moved": 0.0}},
        }
    return found


JUDGED: list[WithinJudged] = [
    {
        "task": 0,
        "attributes": {"language": "go", "tags": "a, b", "cluster": "x"},
        "rounds": [program("WA"), program("PR", arb=60.0, amb=50.0, moved=0.5)],
        "sample": program("TLE"),
    },
    {
        "task": 1,
        "attributes": {"language": "cpp", "tags": "a", "cluster": "x"},
        "rounds": [program("PR"), program("PR", arb=20.0, amb=10.0, moved=0.1)],
    },
]


def test_programs_are_counted_by_verdict_round_and_kind() -> None:
    rows = {(row.of, row.value, row.round): row for row in program_rows(JUDGED, 1)}
    assert rows["all", "", 0].verdicts["WA"] == rows["all", "", 0].verdicts["PR"] == 1
    assert (rows["language", "go", 0].share, rows["language", "go", 1].share) == (0.0, 1.0)
    assert rows["tag", "a", 1].n == 2
    assert rows["tag", "b", 0].ar_ms is None
    last = rows["all", "", 1]
    assert (last.ar_ms, last.am_mb, last.apc) == (500.0, 2.0, 3.0)


def test_ranks_are_means_over_those_that_have_one() -> None:
    rows = {(row.of, row.value, row.round): row for row in program_rows(JUDGED, 1)}
    assert (rows["all", "", 1].arb, rows["all", "", 1].amb, rows["all", "", 1].ranked) == (40.0, 30.0, 2)
    assert (rows["all", "", 0].arb, rows["all", "", 0].amb, rows["all", "", 0].ranked) == (None, None, 0)
    unplaced = [{**JUDGED[0], "rounds": [program("PR"), program("PR")]}, JUDGED[1]]
    (row,) = [row for row in program_rows(unplaced, 1) if (row.of, row.round) == ("all", 1)]
    assert (row.verdicts["PR"], row.arb, row.ranked) == (2, 20.0, 1), "what has no rank does not count as one"


def test_the_noise_of_ranks_is_that_of_repetition() -> None:
    noise = program_noise(JUDGED)
    assert noise is not None
    assert noise.ranks == 2
    assert (noise.arb_typical, noise.arb_furthest, noise.amb_furthest) == (6.0, 6.0, 0.0)
    assert noise.time_typical == pytest.approx(0.3)
    assert (noise.moved_time, noise.moved_memory) == (pytest.approx(0.3), 0.0)
    assert program_noise([{**JUDGED[0], "rounds": [program("PR")]}]) is None
    (section,) = program_section(program_rows(JUDGED, 1), noise, ranked=True)
    said = "".join(part.text for part in section.parts if isinstance(part, Text))
    assert "changes place in 30% of repeats by time and in 0% of repeats by memory" in said


def test_table_3_sets_one_shot_best_of_k_and_evolved_side_by_side() -> None:
    rows = language_rows(JUDGED)
    assert [(row.language, row.arm) for row in rows] == [
        ("go", "one-shot"),
        ("go", "best-of-k"),
        ("go", "evolved"),
        ("cpp", "one-shot"),
        ("cpp", "evolved"),
    ]
    assert [row.verdicts["PR"] for row in rows] == [0, 0, 1, 1, 1]
    (section,) = language_section(rows, ranked=True)
    table = table_of(section)
    named = [row.cells[0] for row in table.rows]
    assert named == [
        "Go",
        "one-shot",
        "best-of-k",
        "evolved",
        "improvement, %",
        "C++ 17",
        "one-shot",
        "evolved",
        "improvement, %",
    ]
    heads = [column.name for column in table.columns]
    better = dict(zip(heads, table.rows[4].cells, strict=True))
    assert better["WA"] == Number(100.0, 1, "signed"), "a wrong answer less is better"
    assert better["PR"] == Number(None, 1, "signed"), "there is no share of nothing"
    (unranked,) = language_section(rows, ranked=False)
    assert "improvement, %" not in [row.cells[0] for row in table_of(unranked).rows]
    assert all(cell.low is None for row in table_of(unranked).rows for cell in row.cells if isinstance(cell, Mean))
    assert language_section([], ranked=True) == []
    (lines,) = [part.content for part in section.parts if isinstance(part, File)]
    assert all(len(row.cells) == len(lines.columns) for row in lines.rows)
    assert len(lines.rows) == 5


def table_of(section: Section) -> Table:
    (table,) = [part for part in section.parts if isinstance(part, Table)]
    assert all(len(row.cells) in (1, len(table.columns)) for row in table.rows)
    assert not any(isinstance(cell, Cell) for row in table.rows for cell in row.cells)
    return table


def test_runs_are_pooled_by_what_their_means_are_over() -> None:
    one, other = language_rows(JUDGED)[2], language_rows([{**JUDGED[0], "rounds": [program("PR"), program("WA")]}])[-1]
    both = EntryLanguageRow(
        language="go",
        arm="evolved",
        evolver="reflection",
        taskset="code/all",
        model="m",
        oracle=True,
        runs=2,
        **pooled([one, other]),
    )
    assert (both.n, both.share, both.verdicts["WA"], both.arb, both.ar_ms) == (2, 0.5, 1, 60.0, 500.0)
    assert both.ci is None
    assert both.verdicts.keys() == {*VERDICTS}


def test_published_verdicts_are_of_a_hundred_problems() -> None:
    figures = [row for models in TABLE_3.values() for row in models.values()]
    assert len(figures) == 30
    assert {len(row) for row in figures} == {len(COLUMNS_3)}
    assert sum(sum(row[:8]) == 100 for row in figures) >= 15
    for models in TABLE_3.values():
        assert models["gemini-3-flash-preview + Solution-Evo"][0] > models["gemini-3-flash-preview"][0]
    assert len(table_of(published_section()).rows) == 35


EXPECTED = {"right": {"PR"}, "wrong": {"WA", "RE"}, "slow": {"TLE"}, "broken": {"CE"}, "none": {"RpE"}}


def planned(name: str, language: str) -> list[set[str]]:
    """What the coder's plan comes to in each round; what it has no program for does not compile."""
    asked, plan = problem(name), plan_of(name, language)
    broken = program_of(asked, language, "broken")
    kinds = [kind if kind == "none" or program_of(asked, language, kind) != broken else "broken" for kind in plan]
    kinds += [kinds[-1]] * (4 - len(kinds))
    return [EXPECTED[kind] for kind in kinds[:4]]


@pytest.mark.slow
def test_the_offline_suite_goes_as_it_is_planned(tmp_path: Path) -> None:
    """The suite itself with two of its problems, in every language that is installed."""
    if available() is not None:
        pytest.skip("programs cannot be confined on this machine")
    languages, names = [language.name for language in installed()], ["sea-view", "spare-gloves"]
    query = f"whole=true&ranks=true&language={','.join(languages)}&problem={','.join(names)}"
    taskset, count = f'run.tasksets=["code/all?{query}"]', len(languages) * len(names)
    ran = CliRunner().invoke(
        app, ["run", "code-offline", "--out", str(tmp_path / "out"), taskset, f"views.heldout={count}"]
    )
    assert ran.exit_code == 0, ran.output
    part = json.loads(next((tmp_path / "out").glob("runs/*/metrics.json")).read_text())["part"]
    assert part["oracle"]
    events = read_journal(next((tmp_path / "out").glob("runs/*/journal.jsonl")))
    judged = {(d["attributes"][CLUSTER], d["attributes"]["language"]): d["rounds"] for d in WITHIN_JUDGED.all(events)}
    assert len(judged) == count
    proposed = [data for data in WITHIN_PROPOSED.all(events) if data["submit_id"] is not None]
    assert len(proposed) <= 4 * count
    for (name, language), rounds in judged.items():
        verdicts, plan = [one["verdict"] if one else None for one in rounds], planned(name, language)
        right = next((i for i, kinds in enumerate(plan) if kinds == {"PR"}), len(plan))
        assert verdicts[0] in plan[0], (name, language)
        assert [one == "PR" for one in verdicts] == [i >= right for i in range(4)], (name, language, verdicts)
        if right < 4:
            rank = rounds[-1]["rank"]
            assert 0 <= rank["arb_range"][0] <= rank["arb"] <= rank["arb_range"][1] <= 100
            assert rank["transferred"] == (language != "python3")
    assert part["program_noise"]["ranks"] == sum(rounds[-1]["verdict"] == "PR" for rounds in judged.values())
    for name in ("report.md", "report.html"):
        assert "Programs by language, one-shot and evolved" in (tmp_path / "out" / name).read_text()
    assert "evolved" in (tmp_path / "out" / "table-3.csv").read_text()
