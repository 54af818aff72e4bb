"""The protocol `team-questions`: a team answers a taskset of questions, and its record is looked through."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from heredity.cli.main import app
from heredity.models.contract import Usage
from heredity.protocols.team_questions.judge import Shown, without_browser
from heredity.team.assembly import equipped
from heredity.team.settings import TeamSettings

PLANNER = r"""
[[rule]]
when = { user = 's1 \(reader\), done.*\n(?:\[cut.*\n)?  gave: (?P<year>\d+)' }
reply = '{"finished": true, "result": "Answer: ${year}"}'

[[rule]]
when = { user = 'In which year.*bridge' }
reply = '{"steps": [{"id": "s1", "agent": "reader", "task": "When was the bridge built?"}]}'

[[rule]]
when = { any = "(?s)." }
reply = '{"finished": true, "result": "Answer: 7"}'
"""
READER = r"""
[[rule]]
when = { results = 0 }
[rule.reply]
calls = [{ name = "read", arguments = { path = "bridges.csv" } }]

[[rule]]
when = { last = 'old,(?P<year>\d+)' }
reply = "${year}"
"""
TEAM = """
[planner]
model = "scripted/{0}/planner.toml"

[agents.reader]
description = "reads documents"
model = "scripted/{0}/reader.toml"
tools = ["read"]
"""
QUESTIONS: list[dict[str, Any]] = [
    {"question": "Two and two?", "answer": "4", "split": "train"},
    {
        "question": "In which year was the bridge built?", "answer": "1883", "split": "test", "id": "a", "level": 1,
        "files": ["bridges.csv"], "shows": {"hops": 1, "tools": ["read"], "agents": ["reader"]},
    },
    {
        "question": "Which number?", "answer": "8", "split": "test", "id": "b", "level": 2,
        "shows": {"hops": 2, "tools": ["python"], "agents": ["coder"]},
    },
    {"question": "What does the page show?", "answer": "9", "split": "test", "id": "c", "level": 2, "shows": {"tools": ["browse"]}},
]  # fmt: skip
SUITE = """
[run]
protocol = "team-questions"
tasksets = ["questions/file:questions.jsonl"]

[evolver]
method = "static"

[team]
file = "team.toml"

[views]
heldout = 3

[gateway]
execution = "scripted/{0}/reader.toml"
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "planner.toml").write_text(PLANNER)
    (tmp_path / "reader.toml").write_text(READER)
    (tmp_path / "team.toml").write_text(TEAM.replace("{0}", str(tmp_path)))
    for row in QUESTIONS:
        row["files"] = [str(tmp_path / Path(name).name) for name in row.get("files", ())]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    (tmp_path / "bridges.csv").write_text("bridge,year\nold,1883\n")
    path = tmp_path / "suite.toml"
    path.write_text(SUITE.replace("{0}", str(tmp_path)))
    return path


def heredity(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_a_team_answers_and_what_its_record_lacks_is_said(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heredity.protocols.team_questions.protocol.no_browser", lambda: "there is none")
    out = suite.parent / "out"
    ran = heredity("run", str(suite), "--out", str(out))
    assert ran.exit_code == 0, ran.output
    results = json.loads(next(out.glob("runs/*/metrics.json")).read_text())
    assert results["stand_ins"], "what a program answers in a model's place is not ranked"
    rows = {row["id"]: row for row in results["part"]["questions"]}
    assert (rows["a"]["correct"], rows["a"]["lacking"], rows["a"]["tools"]) == (True, [], ["read"])
    assert (rows["b"]["correct"], rows["b"]["status"]) == (False, "ok")
    assert rows["b"]["lacking"] == ["0 of 2 hops", "no python", "no step of coder"]
    assert (rows["c"]["status"], rows["c"]["why"]) == ("missing", "it needs a browser, and there is none")
    page = (out / "report.md").read_text()
    assert "1 of 2 questions were answered right; the records of 1 have all required findings." in page
    assert "not tried: it needs a browser, and there is none" in page
    assert (out / "runs").exists()
    assert next(out.glob("runs/*/teams/a/plan.md")).exists()


def test_a_question_comes_with_its_own_files_alone(suite: Path) -> None:
    """The reader asks for the first question's file; that it is not there is the answer to the second."""
    folder, out = suite.parent, suite.parent / "out"
    step = '[[rule]]\nwhen = { user = "Which number" }\nreply = \'{"steps": [{"id": "s1", "agent": "reader", "task": "Read."}]}\'\n'
    (folder / "planner.toml").write_text(
        PLANNER.replace("[[rule]]", f"{step}\n[[rule]]", 2).replace(f"{step}\n", "", 1)
    )
    (folder / "reader.toml").write_text(
        f"{READER}\n[[rule]]\nwhen = {{ last = 'there is no document' }}\nreply = '8'\n"
    )
    (folder / "others.csv").write_text("number\n8\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    rows = [dict(row) for row in QUESTIONS[:3]]
    rows[2]["files"] = [str(folder / "others.csv")]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    suite.write_text(suite.read_text().replace("heldout = 3", "heldout = 2"))
    ran = heredity("run", str(suite), "--out", str(out))
    assert ran.exit_code == 0, ran.output
    results = json.loads(next(out.glob("runs/*/metrics.json")).read_text())
    rights = {row["id"]: row["correct"] for row in results["part"]["questions"]}
    assert rights == {"a": True, "b": True}, [path.read_text() for path in out.glob("runs/*/teams/b/plan.md")]


async def test_what_comes_with_a_task_is_seen_by_whoever_works_on_it_alone(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    for name in ("shared/all.txt", "one.txt", "one.png", "two.txt", "two.png"):
        (tmp_path / name).write_text(f"of {name}")
    settings = TeamSettings.model_validate(
        {
            "planner": {"model": "m/p"},
            "agents": {"a": {"description": "d", "model": "m/a"}},
            "corpus": {"folder": str(tmp_path / "shared")},
        }
    )
    async with equipped(settings) as shared:
        for task in ("one", "two"):
            own = await shared.for_task(
                {f"{task}.txt": tmp_path / f"{task}.txt", f"{task}.png": tmp_path / f"{task}.png"}
            )
            assert set(own.corpus.documents) == {"all.txt", f"{task}.txt", f"{task}.png"}
            assert own.pictures == (("image/png", f"of {task}.png".encode()),)
            assert set(own.coding.files) == {f"{task}.txt", f"{task}.png"}
        assert (set(shared.corpus.documents), shared.pictures) == ({"all.txt"}, ())


def test_a_file_that_is_missing_is_named_before_a_model_is_asked(suite: Path) -> None:
    (suite.parent / "bridges.csv").unlink()
    ran = heredity("run", str(suite), "--out", str(suite.parent / "out"))
    assert ran.exit_code != 0
    assert "bridges.csv, which does not exist" in f"{ran.exception} {ran.output}".replace("\n", " ")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('file = "team.toml"', "", "team.file"),
        ('file = "team.toml"', 'file = "nowhere.toml"', "cannot be read"),
        ("questions/file:questions.jsonl", "gymnasium/CartPole-v1", "use questions/"),
    ],
)
def test_a_wrong_configuration_is_refused(suite: Path, before: str, after: str, said: str) -> None:
    suite.write_text(suite.read_text().replace(before, after))
    ran = heredity("run", str(suite), "--out", str(suite.parent / "out"))
    assert ran.exit_code != 0
    assert said in f"{ran.exception} {ran.output}"


def test_a_record_that_shows_all_lacks_nothing() -> None:
    record = Shown(("reader",), ("python", "read"), 3, 1, 4, Usage(0, 0))
    assert record.lacking({"hops": 3, "tools": ["read"], "agents": ["reader"]}) == []
    assert record.lacking({"hops": 4, "tools": ["browse"]}) == ["3 of 4 hops", "no browse"]
    assert record.lacking({}) == []


def test_without_a_browser_agents_that_have_nothing_else_are_left_out() -> None:
    agents = {
        "surfer": {"description": "x", "tools": ["browse"]},
        "both": {"description": "x", "tools": ["browse", "python"]},
    }
    settings = TeamSettings.model_validate({"team": {"model": "m"}, "agents": agents, "web": {"allow": ["127.0.0.1"]}})
    left = without_browser(settings).agents
    assert {name: agent.tools for name, agent in left.items()} == {"both": ("python",)}
