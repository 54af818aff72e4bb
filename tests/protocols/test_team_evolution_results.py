"""A run of `team-questions` with evolution: practice, commits, refusals, rollbacks, table 2, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from heredity.cli.main import app
from heredity.models import Reply
from heredity.models.contract import Usage
from heredity.protocols.team_questions.judge import read_record
from heredity.protocols.team_questions.protocol import gains
from heredity.protocols.team_questions.report import PUBLISHED, evolution_section, gain_section
from heredity.protocols.team_questions.results import CheckRow, CourseRow, EvolutionPart, QuestionRow, TeamRun
from heredity.records import Journal
from heredity.results.charts import Lines
from heredity.results.page import Table
from heredity.results.run import RunResults, RunStatus
from heredity.team.record import EFFECT_DONE, MESSAGE

# The reader answers of years only if its message says so, and forgets them once it is told of ages.
MODELS = {
    "planner": r"""
[[rule]]
when = { user = 's\d+ \(reader\), done.*\n  gave: (?P<said>\d+)' }
reply = '{"finished": true, "result": "Answer: ${said}"}'
[[rule]]
when = { user = 'Task:\n(?P<what>[^\n]+)\n(?s:.)*after 0 rounds' }
reply = '{"steps": [{"id": "s1", "agent": "reader", "task": "${what}"}]}'
[[rule]]
when = { user = 'Task:\n(?P<what>[^\n]+)\n(?s:.)*after 1 rounds' }
reply = '{"steps": [{"id": "s2", "agent": "reader", "task": "${what}"}]}'
[[rule]]
when = { any = "after 2 rounds" }
reply = '{"finished": true, "result": "Answer: unknown"}'
""",
    "reader": r"""
[[rule]]
when = { system = "Years", user = "year" }
reply = "1883"
[[rule]]
when = { system = "Ages", user = "age" }
reply = "117"
[[rule]]
when = { any = "(?s)." }
[rule.reply]
calls = [{ name = "jump", arguments = {} }]
""",
    "optimizer": r"""
[[rule]]
when = { any = '"task": "reflect"' }
reply = '{"hypotheses": [{"cause": "x", "variables": ["prompt/reader:prompt.md"], "tasks": [0]}]}'
[[rule]]
when = { any = '"task": "select"' }
reply = '{"selections": [{"variable": "prompt/reader:prompt.md", "change": "x", "hypothesis": 0}]}'
[[rule]]
when = { any = '"rejected": \[\]' }
reply = '{"edits": [{"variable": "prompt/reader:prompt.md", "value": "Guess at it.", "why": "x"}], "expects": ""}'
[[rule]]
when = { any = '"task": "improve"' }
reply = '{"edits": [{"variable": "prompt/reader:prompt.md", "value": "Ages.", "why": "x"}], "expects": ""}'
""",
}
TEAM = """
[agents.reader]
description = "reads"
model = "scripted/{0}/reader.toml"
prompt = "Years."
turns = 2
[evolution]
at_commit = 0
check_every = 1
"""
SUITE = """
[run]
protocol = "team-questions"
tasksets = ["questions/file:questions.jsonl"]
[evolver]
method = "static"
[team]
file = "team.toml"
concurrent = 1
practice = 1
evolves = ["age", "year"]
[views]
heldout = 2
[gateway]
execution = "scripted/{0}/planner.toml"
optimisation = "scripted/{0}/optimizer.toml"
[matrix]
"team.evolution" = ["none", "within", "across"]
"""
QUESTIONS = [
    {"question": "In which year was the mill built?", "answer": "1883", "split": "train", "id": "mill"},
    {"question": "Of what age was it?", "answer": "117", "split": "test", "id": "age", "level": 1},
    {"question": "In which year was the bridge built?", "answer": "1883", "split": "test", "id": "year", "level": 2},
]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for name, rules in MODELS.items():
        (tmp_path / f"{name}.toml").write_text(rules)
    (tmp_path / "team.toml").write_text(TEAM.replace("{0}", str(tmp_path)))
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    path = tmp_path / "suite.toml"
    path.write_text(SUITE.replace("{0}", str(tmp_path)))
    return path


def heredity(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_with_evolution_more_is_right_and_what_is_lost_is_rolled_back_before_the_next_question(suite: Path) -> None:
    out = suite.parent / "out"
    ran = heredity("run", str(suite), "--out", str(out))
    assert ran.exit_code == 0, ran.output
    found = {path.parent.name.split("-")[-3]: json.loads(path.read_text()) for path in out.glob("runs/*/metrics.json")}
    assert set(found) == {"none", "within", "across"}
    right = {mode: {r["id"]: r["correct"] for r in run["part"]["questions"]} for mode, run in found.items()}
    assert right["none"] == {"age": False, "year": True}
    # Whichever is asked first: what the edit for ages has made of years is found by the canary, and undone.
    assert right["within"] == right["across"] == {"age": True, "year": True}
    across, within = found["across"]["part"]["evolution"], found["within"]["part"]["evolution"]
    assert (across["commits"], across["refusals"], across["rollbacks"]) == (1, 1, 1)
    assert (within["commits"], within["refusals"], within["rollbacks"]) == (1, 1, 0)
    lacking = {row["id"]: row["lacking"] for row in found["across"]["part"]["questions"]}
    assert lacking == {"age": [], "year": ["no commit", "no refusal", "no rollback"]}
    assert across["course"][0]["id"] == "practice-mill"
    assert across["course"][0]["practice"]
    assert [check["canaries"] for row in across["course"] for check in row["checks"]] == [1, 1, 1]
    assert across["calls"] > within["calls"] > 0, "what checks used is counted too"
    # All models of the team are named in its file alone, and in none of the suite's execution.
    assert any("reader.toml" in name for name in found["none"]["stand_ins"])
    assert not any("optimizer.toml" in name for name in found["none"]["stand_ins"])
    assert any("optimizer.toml" in name for name in found["across"]["stand_ins"])
    page = (out / "report.md").read_text()
    assert "nothing is ranked" in page
    assert "of it)" in page
    table = page.partition("## With and without evolution")[2].partition("\n## ")[0]
    assert "+50.0" in table
    assert "[" not in table, "programs have no error bars"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("concurrent = 1\n", "", "team.concurrent is 2, but the team evolves across questions"),
        ('"across"]', '"always"]', "team.evolution"),
        ("practice = 1", "practice = -1", "team.practice"),
    ],
)
def test_a_wrong_evolution_is_refused_before_anything_starts(suite: Path, before: str, after: str, said: str) -> None:
    suite.write_text(suite.read_text().replace(before, after))
    ran = heredity("run", str(suite), "--out", str(suite.parent / "out"))
    assert ran.exit_code != 0
    assert said in f"{ran.exception} {ran.output}"


def question(name: str, correct: bool, level: int = 1, status: str = "ok", cluster: str = "") -> QuestionRow:
    rest: dict[str, Any] = {"why": "", "rounds": 1, "steps": 1, "hops": 1, "tools": [], "agents": [], "lacking": []}
    used = {"model_calls": 1, "tokens": 1, "cost_usd": None, "seconds": 1.0}
    return QuestionRow(id=name, level=level, status=status, correct=correct, cluster=cluster, **rest, **used)


def part(mode: str) -> EvolutionPart | None:
    sums = dict.fromkeys(("commits", "refusals", "rollbacks", "attempts", "calls", "tokens"), 0)
    return EvolutionPart(mode=mode, cost_usd=0.0, course=[], **sums) if mode != "none" else None


def run(mode: str, right: str, seed: int = 0, cluster: str = "") -> RunResults:
    rows = [question(f"q{i:02d}", c == "1", 1 + i % 3, "missing" if c == "?" else "ok", cluster and f"{cluster}{i // 4}")
            for i, c in enumerate(right)]  # fmt: skip
    told = TeamRun(questions=rows, levels=[], evolution=part(mode))
    return RunResults.model_construct(
        part=told, taskset="questions/gaia", conditions={}, seed=seed, status=RunStatus.FINISHED
    )


def test_gains_are_paired_by_question_and_seed_and_have_error_bars() -> None:
    plain, better = "100110001000", "110111011010"
    rows = {(r.mode, r.level): r for r in gains([run("none", plain), run("across", better)])}
    assert [level for mode, level in rows if mode == "across"] == [1, 2, 3, 0]
    whole = rows["across", 0]
    assert (rows["none", 0].share, rows["none", 0].gain) == (4 / 12, None)
    assert whole.gain == pytest.approx(4 / 12)
    assert whole.percent == pytest.approx(100.0)
    assert whole.gain_ci is not None
    assert whole.gain_ci[0] < 4 / 12 < whole.gain_ci[1]
    (bare,) = [
        r
        for r in gains([run("none", plain), run("across", better)], ranked=False)
        if r.mode == "across" and not r.level
    ]
    assert (bare.ci, bare.gain_ci, bare.p, bare.gain) == (None, None, None, whole.gain)
    lonely = gains([run("none", plain, seed=0), run("across", better, seed=1)])
    assert all(row.gain is None for row in lonely), "runs of different seeds are no pair"


def test_questions_of_one_document_are_one_draw() -> None:
    # The gain lies in whole documents, so questions say less than there are of them.
    plain, better = "0000" * 12, ("1111" + "0000") * 6
    alone = gains([run("none", plain), run("across", better)])[-1]
    together = gains([run("none", plain, cluster="d"), run("across", better, cluster="d")])[-1]
    assert alone.gain == together.gain == pytest.approx(0.5)
    assert alone.gain_ci is not None
    assert together.gain_ci is not None
    assert together.gain_ci[1] - together.gain_ci[0] > 1.5 * (alone.gain_ci[1] - alone.gain_ci[0])


def test_what_was_not_tried_counts_on_neither_side() -> None:
    rows = {(r.mode, r.level): r for r in gains([run("none", "10?"), run("across", "111")])}
    assert rows["none", 0].share == pytest.approx(0.5)
    assert rows["across", 0].gain == pytest.approx(0.5)
    assert rows["across", 3].gain is None


def test_published_rows_stand_beside_ours_and_are_marked() -> None:
    for split, rows in PUBLISHED.items():
        assert rows["Agent-Evo"][3] > rows["Vanilla"][3], split
        assert all(0 < figure <= 100 for figures in rows.values() for figure in figures)
    # Level weights of GAIA's validation split: 53, 86 and 26 questions.
    for name in ("Vanilla", "Agent-Evo", "Alita"):
        one, two, three, mean = PUBLISHED["validation"][name]
        assert (53 * one + 86 * two + 26 * three) / 165 == pytest.approx(mean, abs=0.01)
    (table,) = [
        p for p in gain_section(gains([run("none", "100110"), run("across", "110111")])).parts if isinstance(p, Table)
    ]
    marked = {row.cells[0] for row in table.rows if row.role == "reference"}
    assert {"Vanilla", "Agent-Evo", "openJiuwen"} <= marked
    assert gain_section([]).parts == ()


def test_canaries_over_time_are_drawn_with_what_was_rolled_back() -> None:
    checks = [
        CheckRow(canaries=2, solved=2, rolled_back=None),
        CheckRow(canaries=3, solved=1, rolled_back={"prompt/a": "1.0.0"}),
    ]
    course = [CourseRow(id=f"q{i}", practice=False, right=True, edits=[], checks=[c]) for i, c in enumerate(checks)]
    evolved = part("across")
    assert evolved is not None
    section = evolution_section(evolved.model_copy(update={"course": course}))
    (chart,) = [p for p in section.parts if isinstance(p, Lines)]
    assert chart.series[0].points == ((1.0, 1.0), (2.0, 1 / 3))
    assert [(mark.x, mark.tip) for mark in chart.marks] == [(2.0, "after q1: back to prompt/a 1.0.0")]
    (table,) = [p for p in section.parts if isinstance(p, Table)]
    assert [row.cells[1] for row in table.rows] == ["rolled back"]


def test_what_evolution_did_is_not_counted_as_the_work_on_the_question(tmp_path: Path) -> None:
    reply = Reply("x", usage=Usage(10, 1, 0, 0.5)).to_json()

    def message(name: str, kind: str, to: str, **more: Any) -> Any:
        parts = {"id": name, "kind": kind, "sender": "planner", "to": [to], "body": {}, **more}
        return MESSAGE.line(parts)  # type: ignore[arg-type]

    lines = [
        message("t.round1.s1", "task", "reader"),
        EFFECT_DONE.line({"id": "t.round1.s1#model-0-1", "value": reply}),
        EFFECT_DONE.line({"id": "t.round1.s1#read-{}-1", "value": "text"}),
        EFFECT_DONE.line({"id": "t#evolution-1-model-0-1", "value": reply}),
        message("t.trial.abc.round1.s1.0", "trial", "evolution"),
        EFFECT_DONE.line({"id": "t.trial.abc.round1.s1.0#model-0-1", "value": reply}),
        EFFECT_DONE.line({"id": "t.trial.abc.round1.s1.0#read-{}-1", "value": "text"}),
        message("t.trial.abc.round1.s1.0.ask", "task", "coder"),
        EFFECT_DONE.line({"id": "t.trial.abc.round1.s1.0.ask#python-{}-1", "value": "1"}),
        message("t.trial.abc.canary.1.0", "trial", "evolution"),
        message("t.trial.abc.canary.1.0!", "result", "planner", parent="t.trial.abc.canary.1.0",
                body={"value": {"calls": 4, "usage": Usage(40, 4, 0, 1.0).to_json()}}),
        EFFECT_DONE.line({"id": "t#decision-1", "value": {"accepted": False, "what": "edit"}}),
    ]  # fmt: skip
    journal = Journal.open(tmp_path / "journal.jsonl")
    journal.append_many(lines)
    journal.close()
    record = read_record(tmp_path)
    assert (record.tools, record.hops, record.agents, record.steps) == (("read",), 1, ("reader",), 1)
    assert (record.model_calls, record.usage.tokens) == (1, 11)
    assert (record.evolution.calls, record.evolution.usage.tokens, record.evolution.attempts) == (6, 66, 2)
    assert (record.evolution.commits, record.evolution.refusals) == (0, 1)
