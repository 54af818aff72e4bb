"""Evolution across tasks: what is committed is used by later tasks, what drifts is rolled back, everything stays in the lineage."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError, DamagedRecordError, HostError
from heredity.resources import Store
from heredity.team.assembly import work
from heredity.team.evolution.lineage import history_of, read_canaries, read_history
from heredity.team.settings import load_team
from heredity.team.team import TeamResult

PLANNER = r"""
[[rule]]
when = { user = 's\d+ \(reader\), done.*\n  gave: (?P<said>\w+)' }
reply = '{"finished": true, "result": "${said}"}'

[[rule]]
when = { user = 'Task:\n(?P<what>[^\n]+)\n(?s:.)*after 0 rounds' }
reply = '{"steps": [{"id": "s1", "agent": "reader", "task": "${what}"}]}'

[[rule]]
when = { user = 'Task:\n(?P<what>[^\n]+)\n(?s:.)*after 1 rounds' }
reply = '{"steps": [{"id": "s2", "agent": "reader", "task": "${what}"}]}'

[[rule]]
when = { any = "after 2 rounds" }
reply = '{"finished": true, "result": "unknown"}'
"""

# Knows years at first; ages only if its message says so. A message that tells it of ages alone makes it forget the years.
READER = r"""
[[rule]]
when = { system = "Years", user = "year" }
reply = "1883"

[[rule]]
when = { system = "Ages", user = "age" }
reply = "117"

[[rule]]
when = { user = "year" }
reply = "1900"

[[rule]]
when = { results = 0 }
[rule.reply]
calls = [{ name = "jump", arguments = {} }]

[[rule]]
when = { results = 1 }
[rule.reply]
calls = [{ name = "jump", arguments = {} }]
"""

OPTIMIZER = r"""
[[rule]]
when = { any = '"task": "reflect"' }
reply = '{"hypotheses": [{"cause": "it guesses", "variables": ["prompt/reader:prompt.md"], "tasks": [0]}]}'

[[rule]]
when = { any = '"task": "select"' }
reply = '{"selections": [{"variable": "prompt/reader:prompt.md", "change": "x", "hypothesis": 0}]}'

[[rule]]
when = { any = 'must stay solved' }
reply = '{"edits": [{"variable": "prompt/reader:prompt.md", "value": "Years. Ages.", "why": "both"}], "expects": ""}'

[[rule]]
when = { any = '"task": "improve"' }
reply = '{"edits": [{"variable": "prompt/reader:prompt.md", "value": "Ages.", "why": "ages"}], "expects": ""}'
"""

TEAM = """
[planner]
model = "scripted/{0}/planner.toml"

[agents.reader]
description = "reads"
model = "scripted/{0}/reader.toml"
prompt = "Years."
turns = 2

[evolution]
mode = "{1}"
model = "scripted/{0}/optimizer.toml"
{2}
"""

YEAR, AGE = "In which year was it built?", "Of what age was it?"
Task = Callable[..., tuple[TeamResult, list[dict[str, Any]]]]


@pytest.fixture
def task(tmp_path: Path) -> Task:
    for name, rules in (("planner", PLANNER), ("reader", READER), ("optimizer", OPTIMIZER)):
        (tmp_path / f"{name}.toml").write_text(rules)

    def done(
        name: str, asked: str, answer: str, mode: str = "across", **more: Any
    ) -> tuple[TeamResult, list[dict[str, Any]]]:
        lines = "\n".join(f"{key} = {value}" for key, value in more.items())
        (tmp_path / "team.toml").write_text(TEAM.format(tmp_path, mode, lines))
        settings = load_team(tmp_path / "team.toml")
        result = asyncio.run(work(settings, tmp_path / name, asked, answer=answer))
        made = tmp_path / name / "evolution.json"
        return result, json.loads(made.read_text()) if made.exists() else []

    return done


def heads(folder: Path, branch: str = "main") -> str:
    with Store(folder / "team-versions.db") as store:
        return store.tree(store.get("prompt", "reader", branch=branch)).text("prompt.md")


def lineage(folder: Path) -> dict[str, tuple[str, str]]:
    with Store(folder / "team-versions.db") as store:
        return {str(v.number): (store.tree(v).text("prompt.md"), v.note) for v in store.list("prompt", "reader")}


def test_what_makes_it_worse_is_refused_and_what_mends_it_is_used_by_later_tasks(tmp_path: Path, task: Task) -> None:
    first, made = task("one", YEAR, "1883")
    assert (first.answer, made) == ("1883", [])
    assert [case.answer for case in read_canaries(tmp_path / "canaries.jsonl")] == ["1883"]
    second, made = task("two", AGE, "117")
    assert (second.answer, second.rounds) == ("117", 2)
    assert [(one["accepted"], one["versions"]) for one in made] == [
        (False, {"prompt/reader": "1.0.1"}),
        (True, {"prompt/reader": "1.0.2"}),
    ]
    assert heads(tmp_path) == "Years. Ages."
    assert task("two", AGE, "117")[1] == made, "a task that is over says again what was decided in it"
    third, made = task("three", AGE, "117")
    assert (third.answer, third.rounds, made) == ("117", 1, [])
    versions = lineage(tmp_path)
    assert [text for text, _ in versions.values()] == ["Years.", "Ages.", "Years. Ages."]
    assert "two: refused: it loses task 1, which must stay solved" in versions["1.0.1"][1]
    with Store(tmp_path / "team-versions.db") as store:
        numbers = {v.digest: str(v.number) for v in store.list("prompt", "reader")}
        assert [numbers[p] for v in store.list("prompt", "reader")[1:] for p in v.parents] == ["1.0.0", "1.0.0"]


def test_what_was_right_at_first_and_is_lost_is_rolled_back_and_lineage_shows_it(tmp_path: Path, task: Task) -> None:
    loose = {"at_commit": 0, "check_every": 2}
    assert task("one", YEAR, "1883", **loose)[0].answer == "1883"
    _, made = task("two", AGE, "", **loose)
    assert [one["accepted"] for one in made] == [True], "without canaries at the commit, nothing speaks against it"
    assert heads(tmp_path) == "Years.", "the check that is due after the second task has led back"
    tasks, check = [line["what"] for line in read_history(history_of(tmp_path / "team-versions.db"))], None
    assert tasks == ["task", "task", "check"]
    check = read_history(history_of(tmp_path / "team-versions.db"))[-1]
    assert (check["solved"], check["canaries"], check["rolled_back"]) == ([], 1, {"prompt/reader": "1.0.0"})
    assert len(check["solved_again"]) == 1
    assert [text for text, _ in lineage(tmp_path).values()] == ["Years.", "Ages."]
    with Store(tmp_path / "team-versions.db") as store:
        assert [move.action for move in store.moves("prompt", "reader")][-1] == "restore"
    assert task("three", YEAR, "1883", **loose)[0].answer == "1883"
    # The next edit is made from what was restored, and overwrites nothing.
    _, made = task("four", AGE, "", **{**loose, "at_commit": 1})
    assert made[-1]["versions"] == {"prompt/reader": "1.0.3"}


def test_within_a_task_nothing_is_left_for_later_ones_but_the_lineage(tmp_path: Path, task: Task) -> None:
    result, made = task("one", AGE, "117", "within")
    assert (result.answer, [one["accepted"] for one in made]) == ("117", [True])
    assert (heads(tmp_path), heads(tmp_path, "task-one")) == ("Years.", "Ages.")
    assert task("two", AGE, "117", "within", at_commit=0)[0].rounds == 2
    assert task("none", AGE, "117", "none")[0].answer == "unknown"
    assert not (tmp_path / "none" / "team.json").exists()


def test_a_canary_that_no_earlier_versions_solve_leaves_the_team_as_it_is(tmp_path: Path, task: Task) -> None:
    (tmp_path / "canaries.jsonl").write_text(json.dumps({"task": "Who built it?", "answer": "nobody"}) + "\n")
    task("one", YEAR, "1883", check_every=1, at_commit=0)
    task("two", AGE, "117", check_every=1, at_commit=0)
    checks = [c for c in read_history(history_of(tmp_path / "team-versions.db")) if c["what"] == "check"]
    assert len(checks[0]["solved"]) == 1
    assert "kept" in checks[0]


def test_a_person_who_edits_the_team_makes_its_newest_version(tmp_path: Path, task: Task) -> None:
    task("one", AGE, "117", at_commit=0)
    assert heads(tmp_path) == "Ages."
    text = (tmp_path / "team.toml").read_text().replace('prompt = "Years."', 'prompt = "Ages and Years."')
    (tmp_path / "team.toml").write_text(text)
    assert asyncio.run(work(load_team(tmp_path / "team.toml"), tmp_path / "two", YEAR)).answer == "1883"
    assert list(lineage(tmp_path).values())[-1] == ("Ages and Years.", "as configured")
    assert heads(tmp_path) == "Ages and Years."


def test_a_resumed_task_keeps_its_versions_whatever_others_committed(tmp_path: Path, task: Task) -> None:
    task("one", YEAR, "1883")
    (tmp_path / "one" / "journal.jsonl").unlink()
    task("two", AGE, "117")
    assert task("one", YEAR, "1883")[0].answer == "1883"
    assert json.loads((tmp_path / "one" / "team.json").read_text())["prompt/reader"] == "1.0.0"
    (tmp_path / "one" / "team.json").write_text("[")
    with pytest.raises(DamagedRecordError, match="does not say which versions"):
        task("one", YEAR, "1883")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"optimizer": '"reflexion"'}, "did you mean reflection"),
        ({"options": "{ candidate = 2 }"}, "did you mean candidates"),
        ({"targets": '["prompts"]'}, "evolution.targets"),
        ({"attempt": 3}, "unknown key evolution.attempt; did you mean"),
        ({"optimizer": '"ace"'}, "target"),
    ],
)
def test_a_wrong_evolution_is_refused_before_anything_starts(task: Task, more: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        task("one", YEAR, "", **more)


def test_a_check_of_canaries_that_was_interrupted_asks_nothing_again(tmp_path: Path, task: Task) -> None:
    """What canaries asked before a kill is on record: the rest alone is asked, and the check counts all of it."""
    canaries = [{"task": YEAR, "answer": "1883"}, {"task": "Say the colour", "answer": "red"}]
    (tmp_path / "canaries.jsonl").write_text("".join(json.dumps(line) + "\n" for line in canaries))
    reader = tmp_path / "reader.toml"
    rules = reader.read_text()
    years = rules.split("[[rule]]", 2)[1]
    reader.write_text(f"[[rule]]{years}")
    with pytest.raises(HostError, match="colour"):
        task("one", YEAR, "", check_every=1, at_commit=0)
    kept = {path: path.read_bytes() for path in (tmp_path / "one" / "attempts").glob("*/journal.jsonl")}
    assert len(kept) == 2
    reader.write_text(f'[[rule]]\nwhen = {{ user = "colour" }}\nreply = "red"\n[[rule]]{years}')
    assert task("one", YEAR, "", check_every=1, at_commit=0)[0].answer == "1883"
    check = read_history(history_of(tmp_path / "team-versions.db"))[-1]
    assert (check["what"], len(check["solved"]), check["calls"]) == ("check", 2, 6)
    # The finished canary is untouched; the other goes on after its plan.
    grown = [path.read_bytes().removeprefix(data) for path, data in kept.items()]
    assert sorted(bool(more) for more in grown) == [False, True]
    accounts = json.loads((tmp_path / "one" / "usage.json").read_text())
    assert json.dumps(accounts).count('"calls": 1') == 2, accounts
