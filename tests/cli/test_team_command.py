"""`heredity team`: run, resume, replay, approve, wrong files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError, ProviderError
from heredity.cli.main import app
from heredity.team.assembly import read_memory

PLANNER = r"""
[[rule]]
when = { user = 's2 \(coder\), done.*\n  gave: (?P<age>\d+)' }
reply = '{"note": "both are known", "finished": true, "result": "${age}"}'

[[rule]]
when = { any = "Steps so far, after 0 rounds" }
reply = '''
{"note": "first its year", "steps": [
  {"id": "s1", "agent": "reader", "task": "When was the bridge built?"},
  {"id": "s2", "agent": "coder", "task": "How old was it in 2000?", "after": ["s1"]}]}'''
"""

READER = r"""
[[rule]]
when = { results = 0 }
[rule.reply]
calls = [{ name = "search", arguments = { query = "bridge built" } }]

[[rule]]
when = { last = 'Built in (?P<year>\d+)' }
reply = "${year}"
"""

CODER = r"""
[[rule]]
when = { results = 0, user = 'Result of step s1:\n(?P<year>\d+)' }
[rule.reply]
calls = [
  { name = "python", arguments = { code = "2000 - ${year}" } },
  { name = "remember", arguments = { text = "The bridge is from ${year}.", scope = "general" } },
]

[[rule]]
when = { any = '(?s).' }
reply = "${result}"
"""

TEAM = """
[team]
memory = "memory.jsonl"

[planner]
model = "scripted/{0}/planner.toml"

[corpus]
folder = "documents"

[agents.reader]
description = "reads documents"
model = "scripted/{0}/reader.toml"
tools = ["search", "read"]

[agents.coder]
description = "computes"
model = "scripted/{0}/coder.toml"
tools = ["python"]
"""


@pytest.fixture
def team(tmp_path: Path) -> Path:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "bridge.md").write_text("# The bridge\n\nBuilt in 1883 over the river.\n")
    coder = CODER.replace('reply = "${result}"', 'reply = "117"')
    for name, rules in (("planner", PLANNER), ("reader", READER), ("coder", coder)):
        (tmp_path / f"{name}.toml").write_text(rules)
    (tmp_path / "team.toml").write_text(TEAM.format(tmp_path))
    return tmp_path / "team.toml"


def heredity(*arguments: str, keys: str = "") -> Any:
    return CliRunner().invoke(app, list(arguments), input=keys, catch_exceptions=True)


def test_a_task_is_planned_worked_off_and_answered(team: Path) -> None:
    out = team.parent / "run"
    ran = heredity("team", "run", "How old was the bridge in 2000?", "--team", str(team), "--out", str(out), "--json")
    assert ran.exit_code == 0, ran.output
    result = json.loads(ran.stdout)
    assert (result["outcome"], result["answer"], result["rounds"]) == ("ok", "117", 1)
    assert result["usage"], "what the models used is told"
    plan = (out / "plan.md").read_text()
    assert "- [x] **s1** (reader): When was the bridge built?" in plan
    assert "- s1 (reader), done: 1883" in plan
    chart, times = (ElementTree.parse(out / name).getroot() for name in ("plan.svg", "timeline.svg"))
    boxes = [e.get("class") for e in chart.iter("{http://www.w3.org/2000/svg}rect")]
    assert boxes == ["step done", "step done"]
    assert len([e for e in chart.iter() if e.get("class") == "arrow"]) == 1, "the second waited for the first"
    assert [e.get("class") for e in times.iter() if e.tag.endswith("rect")] == ["bar done", "bar done"]
    assert json.loads((team.parent / "memory.jsonl").read_text())["text"] == "The bridge is from 1883."

    # Another team may have added to the memory meanwhile, and a person may have left its last line open.
    (team.parent / "memory.jsonl").write_text('{"text": "noted by another team"}')
    assert heredity("team", "resume", str(out)).exit_code == 0
    assert [entry.text for entry in read_memory(str(team.parent / "memory.jsonl"))] == [
        "noted by another team",
        "The bridge is from 1883.",
    ]

    told = heredity("team", "replay", str(out)).stdout
    assert "user → planner [task] How old was the bridge in 2000?" in told
    assert "coder → planner [result ok] 117" in told
    assert "· python-" in told

    again = heredity("team", "resume", str(out))
    assert (again.exit_code, again.stdout.strip()) == (0, "117")
    taken = heredity("team", "run", "x", "--team", str(team), "--out", str(out))
    assert "already holds a task; resume it" in str(taken.exception)


def test_a_person_is_asked_before_each_round_and_an_edit_is_followed(
    team: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = team.parent / "run"
    edits = iter(("- [?] **s2**", "- [-] **s2**"))

    def edit(*_: object, **__: object) -> str:
        path = out / "plan.md"
        for box in (" ", "?"):
            path.write_text(path.read_text().replace(f"- [{box}] **s2**", "- [#] **s2**"))
        path.write_text(path.read_text().replace("- [#] **s2**", next(edits)))
        return ""

    monkeypatch.setattr("typer.prompt", edit)
    ran = heredity("team", "run", "How old?", "--team", str(team), "--out", str(out), "--approve")
    assert "is no step" in ran.stderr, "an edit that cannot be read is asked for again"
    assert "- [-] **s2** (coder)" in (out / "plan.md").read_text()
    # The planner's rules know no plan without s2: a model that does not answer is nobody's failure, and the task can go on.
    assert isinstance(ran.exception, ProviderError)
    assert f"resume with: heredity team resume {out}" in ran.stderr
    rules = team.parent / "planner.toml"
    rules.write_text(
        rules.read_text()
        + '\n[[rule]]\nwhen = { any = \'s2 .coder., skipped\' }\nreply = \'{"finished": true, "result": "1883"}\'\n'
    )
    again = heredity("team", "resume", str(out))
    assert (again.exit_code, again.stdout.strip()) == (0, "1883")
    assert (out / "journal.jsonl").read_text().count('"kind":"task"') == 2, "one task, one step: nothing was done again"


def test_files_of_a_task_are_kept_and_searched(team: Path) -> None:
    out, given = team.parent / "files-run", team.parent / "given"
    given.mkdir()
    (given / "a.csv").write_text("bridge,year\nold,1883\n")
    (given / "b.md").write_text("Bridges: Built in 1883")
    files = ("--files", str(given / "a.csv"), str(given / "b.md"))
    ran = heredity("team", "run", "How old?", "--team", str(team), "--out", str(out), *files)
    assert ran.exit_code == 0, ran.output
    assert json.loads((out / "task.json").read_text())["files"] == ["a.csv", "b.md"]
    assert "[b.md, paragraph 1, from 0]" in (out / "journal.jsonl").read_text()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('tools = ["python"]', 'tools = ["pithon"]', "unknown tool 'pithon'; did you mean python?"),
        ('folder = "documents"', 'folder = "nowhere"', "is no folder"),
        ('description = "computes"', "", "agents.coder.description is missing; add it"),
        ("[agents.coder]", "[agents.planner]", "are not 'planner', 'memory'"),
        ('memory = "memory.jsonl"', 'memry = "x"', "unknown key team.memry; did you mean memory?"),
        ('tools = ["python"]', 'asks = ["readr"]', "unknown other agent 'readr'; did you mean reader?"),
        ("[team]", "[team]\nrounds = 0", "team.rounds = 0"),
    ],
)
def test_a_wrong_team_is_refused_with_the_key(team: Path, before: str, after: str, said: str) -> None:
    team.write_text(team.read_text().replace(before, after))
    ran = heredity("team", "run", "x", "--team", str(team), "--out", str(team.parent / "run"))
    assert isinstance(ran.exception, ConfigError)
    assert said in str(ran.exception)
    assert not (team.parent / "run").exists()


@pytest.mark.parametrize("made_before", [False, True])
def test_a_team_without_its_key_leaves_nothing_and_can_be_given_again(
    team: Path, made_before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    out, given = team.parent / "run", team.parent / "a.csv"
    given.write_text("a,b\n1,2\n")
    if made_before:
        out.mkdir()
        (out / "notes.txt").write_text("mine")
    words = ("team", "run", "When?", str(given), "--team", str(team), "--out", str(out))
    team.write_text(
        team.read_text().replace(f'model = "scripted/{team.parent}/planner.toml"', 'model = "openai/gpt-5"')
    )
    ran = heredity(*words)
    assert "OPENAI_API_KEY" in str(ran.exception)
    assert [path.name for path in out.rglob("*")] == (["notes.txt"] if made_before else [])
    assert out.exists() == made_before
