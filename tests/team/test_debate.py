"""A debate: agents argue in rounds, told what all have said; another one judges, also when one of them fails."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity.resources import Store
from heredity.team.assembly import work
from heredity.team.evolution.lineage import history_of, read_history
from heredity.team.planning import State, parsed
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
    ],
)  # fmt: skip
def test_a_wrong_debate_is_refused(team: Path, before: str, after: str, said: str) -> None:
    team.write_text(team.read_text().replace(before, after))
    with pytest.raises(ConfigError, match=said):
        load_team(team)


# It speaks once its message lets it; before, it looks for a tool that is not there until its turns are spent.
SHY = r"""
[[rule]]
when = { system = "Speak" }
reply = "1883"
[[rule]]
when = { any = "(?s)." }
[rule.reply]
calls = [{ name = "jump", arguments = {} }]
"""
OPTIMIZER = r"""
[[rule]]
when = { any = '"task": "reflect"' }
reply = '{"hypotheses": [{"cause": "it does not speak", "variables": ["prompt/two:prompt.md"], "tasks": [0]}]}'
[[rule]]
when = { any = '"task": "select"' }
reply = '{"selections": [{"variable": "prompt/two:prompt.md", "change": "x", "hypothesis": 0}]}'
[[rule]]
when = { any = '"task": "improve"' }
reply = '{"edits": [{"variable": "prompt/two:prompt.md", "value": "$NEW", "why": "x"}], "expects": ""}'
"""
EVOLUTION = """
[evolution]
mode = "across"
model = "scripted/{0}/optimizer.toml"
check_every = 1
"""
STEPWISE_JUDGE = r"""
[[rule]]
when = { user = 'Result of step r2-2:\n(?P<said>\w+)' }
reply = "${said}"
[[rule]]
when = { user = 'Result of step r2-1:\n(?P<said>\w+)' }
reply = "${said}"
"""


@pytest.fixture
def evolving(team: Path) -> Path:
    at = team.parent
    (at / "one.toml").write_text('[[rule]]\nwhen = { any = "(?s)." }\nreply = "1900"\n')
    (at / "two.toml").write_text(SHY)
    (at / "judge.toml").write_text(STEPWISE_JUDGE)
    (at / "optimizer.toml").write_text(OPTIMIZER.replace("$NEW", "Speak."))
    shy = 'description = "says 1883"\nprompt = "Wait."\nturns = 2'
    text = team.read_text().replace('description = "says 1883"', shy) + EVOLUTION.replace("{0}", str(at))
    team.write_text(text)
    return team


def versions(team: Path) -> list[str]:
    with Store(team.parent / "team-versions.db") as store:
        return [version.note for version in store.list("prompt", "two")]


def test_who_failed_in_a_round_speaks_better_in_the_next_and_in_later_debates(evolving: Path) -> None:
    """The edit is committed between two rounds; the next debate begins with it; an earlier task is tried as a debate."""
    (evolving.parent / "canaries.jsonl").write_text(json.dumps({"task": "When was it built?", "answer": "1883"}) + "\n")
    first = held(evolving, "first")
    assert (first.outcome, first.answer, first.rounds) == ("ok", "1883", 3), first.error
    plan = parsed((evolving.parent / "first" / "plan.md").read_text())
    states = {step.id: step.state for step in plan.steps}
    assert (states["r1-2"], states["r2-2"], states["verdict"]) == (State.FAILED, State.DONE, State.DONE)
    (made,) = json.loads((evolving.parent / "first" / "evolution.json").read_text())
    assert (made["accepted"], made["parts"]) == (True, ["prompt/two"])
    check = read_history(history_of(evolving.parent / "team-versions.db"))[-1]
    assert (check["what"], len(check["solved"])) == ("check", 1)
    lines = (evolving.parent / "first" / "journal.jsonl").read_bytes()
    assert held(evolving, "first").answer == "1883"
    assert (evolving.parent / "first" / "journal.jsonl").read_bytes() == lines
    held(evolving, "second")
    plan = parsed((evolving.parent / "second" / "plan.md").read_text())
    assert {step.state for step in plan.steps} == {State.DONE}
    assert len(versions(evolving)) == 2


def test_an_edit_that_does_not_let_it_speak_is_refused(evolving: Path) -> None:
    (evolving.parent / "optimizer.toml").write_text(OPTIMIZER.replace("$NEW", "Wait longer."))
    result = held(evolving, "refused")
    assert (result.outcome, result.answer) == ("ok", "1900"), result.error
    made = json.loads((evolving.parent / "refused" / "evolution.json").read_text())
    assert made
    assert not any(one["accepted"] for one in made)
    assert all("committed" not in note for note in versions(evolving))


def test_a_debate_that_lost_an_earlier_task_goes_back(evolving: Path) -> None:
    """What helps this debate and loses an earlier one is rolled back for later ones."""
    shy = SHY.replace('when = { system = "Speak" }', 'when = { system = "Speak", user = "year" }')
    (evolving.parent / "two.toml").write_text('[[rule]]\nwhen = { user = "age" }\nreply = "117"\n' + shy)
    lost = '[[rule]]\nwhen = { system = "Speak", user = "age" }\nreply = "1"\n'
    (evolving.parent / "two.toml").write_text(lost + (evolving.parent / "two.toml").read_text())
    (evolving.parent / "canaries.jsonl").write_text(json.dumps({"task": "Of what age was it?", "answer": "117"}) + "\n")
    evolving.write_text(evolving.read_text() + "at_commit = 0\n")
    assert held(evolving, "aged").answer == "1883"
    check = read_history(history_of(evolving.parent / "team-versions.db"))[-1]
    assert check.get("kept"), "there is no earlier task to go back to yet"
    history = history_of(evolving.parent / "team-versions.db")
    history.write_text(
        json.dumps({"what": "task", "task": "before", "versions": _configured(evolving)}) + "\n" + history.read_text()
    )
    held(evolving, "later")
    check = read_history(history)[-1]
    assert "prompt/two" in check["rolled_back"]
    assert check["solved_again"]


def _configured(team: Path) -> dict[str, str]:
    return json.loads((team.parent / "aged" / "team.json").read_text())
