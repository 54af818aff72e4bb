"""A debate: agents argue in rounds, told what all have said; another one judges, also when one of them fails."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from heredity.errors import ConfigError
from heredity.team.assembly import work
from heredity.team.plan import State, parsed
from heredity.team.settings import load_team
from heredity.team.view import View

# Who is for it gives way to what the other has found; the judge counts on what was said last.
ARGUING = r"""
[[rule]]
when = { user = 'Result of step r1-2:\n(?P<said>\w+)' }
reply = "${said}, as was said"
[[rule]]
when = { any = "Argue your case" }
reply = "$OWN"
"""
JUDGE = r"""
[[rule]]
when = { user = 'Result of step r2-1:\n1883(?s:.)*Result of step r2-2:\n1883' }
reply = "1883"
[[rule]]
when = { user = 'Result of step r1-1:\n(?P<only>\w+)' }
reply = "${only} unopposed"
"""
TEAM = """
[debate]
agents = ["one", "two"]
judge = "judge"
[agents.one]
description = "says 1900"
model = "scripted/{0}/one.toml"
[agents.two]
description = "says 1883"
model = "scripted/{0}/two.toml"
[agents.judge]
description = "decides"
model = "scripted/{0}/judge.toml"
"""


@pytest.fixture
def team(tmp_path: Path) -> Path:
    (tmp_path / "one.toml").write_text(ARGUING.replace("$OWN", "1900"))
    (tmp_path / "two.toml").write_text(ARGUING.replace("$OWN", "1883"))
    (tmp_path / "judge.toml").write_text(JUDGE)
    (tmp_path / "team.toml").write_text(TEAM.replace("{0}", str(tmp_path)))
    return tmp_path / "team.toml"


def held(team: Path, name: str = "debate") -> Any:
    return asyncio.run(work(load_team(team), team.parent / name, "In which year was it built?"))


def test_all_are_told_what_all_have_said_and_the_judge_decides(team: Path) -> None:
    result = held(team)
    assert (result.outcome, result.answer, result.rounds) == ("ok", "1883", 1)
    plan = parsed((team.parent / "debate" / "plan.md").read_text())
    assert [(step.id, step.agent, step.after) for step in plan.steps] == [
        ("r1-1", "one", ()),
        ("r1-2", "two", ()),
        ("r2-1", "one", ("r1-1", "r1-2")),
        ("r2-2", "two", ("r1-1", "r1-2")),
        ("verdict", "judge", ("r2-1", "r2-2")),
    ]
    spans = {span.step: span for span in View.of(team.parent / "debate").spans.values()}
    assert max(spans["r1-1"].start, spans["r1-2"].start) <= min(spans["r1-1"].end or 0, spans["r1-2"].end or 0)
    assert spans["verdict"].start >= max(spans[step].end or 0 for step in ("r2-1", "r2-2"))
    lines = (team.parent / "debate" / "journal.jsonl").read_bytes()
    assert held(team).answer == "1883"
    assert (team.parent / "debate" / "journal.jsonl").read_bytes() == lines, "what is over is not held again"


def test_where_one_fails_the_judge_decides_on_what_the_others_have_said(team: Path) -> None:
    (team.parent / "two.toml").write_text('[[rule]]\nwhen = { any = "(?s)." }\nreply = ""\n')
    result = held(team)
    assert (result.outcome, result.answer) == ("ok", "1900 unopposed")
    plan = parsed((team.parent / "debate" / "plan.md").read_text())
    assert {step.id: step.state for step in plan.steps}["r1-2"] is State.FAILED


def test_a_debate_in_which_nobody_says_anything_has_no_answer(team: Path) -> None:
    for name in ("one", "two"):
        (team.parent / f"{name}.toml").write_text('[[rule]]\nwhen = { any = "(?s)." }\nreply = ""\n')
    result = held(team)
    assert result.outcome == "failed"
    assert "empty" in result.error


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('judge = "judge"', 'judge = "jugde"', "debate.judge: .*did you mean judge"),
        ('["one", "two"]', '["one"]', "name two or more different agents"),
        ('["one", "two"]', '["one", "one"]', "name two or more different agents"),
        ('["one", "two"]', '["one", "judge"]', "a judge that is none of them"),
        ("[agents.one]", 'rounds = 0\n[agents.one]', "debate.rounds"),
        ("[agents.one]", '[evolution]\nmode = "within"\n[agents.one]', "a debate has no planner"),
    ],
)  # fmt: skip
def test_a_wrong_debate_is_refused(team: Path, before: str, after: str, said: str) -> None:
    team.write_text(team.read_text().replace(before, after))
    with pytest.raises(ConfigError, match=said):
        load_team(team)
