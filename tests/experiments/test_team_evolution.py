"""A team as the candidate of a run: its prompts are evolved, committed and judged like those of a single solver."""

from __future__ import annotations

import json
from pathlib import Path

from heredity.experiments.results import LINEAGE
from heredity.resources import Store

from .test_resource_evolution import config, needs_sandbox, ran

PLANNER = r"""
[[rule]]
when = { system = "You lead a team", user = 's1 \(reader\), done.*\n  gave: (?P<word>.*)' }
reply = '{"finished": true, "result": "Answer: ${word}"}'

[[rule]]
when = { system = "You lead a team", user = 'code word of (?P<what>\w+ \d+ is \w+)' }
reply = '{"steps": [{"id": "s1", "agent": "reader", "task": "Of ${what}"}]}'

[[rule]]
when = { system = "Repeat the word", user = 'is (?P<word>\w+)' }
reply = "${word}"

[[rule]]
when = { any = "." }
reply = "I do not know."
"""

OPTIMIZER = """
[[rule]]
when = { any = "." }
reply = '''{"edits": [{"variable": "prompt/reader:prompt.md", "value": "Repeat the word.", "why": "it guesses"}], "expects": ""}'''
"""


@needs_sandbox
def test_a_method_edits_the_prompt_of_one_agent_and_the_team_gains(tmp_path: Path) -> None:
    rows = [{"question": f"The code word of day {n} is w{n}. Which is it?", "answer": f"w{n}"} for n in range(40)]
    (tmp_path / "words.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "model.toml").write_text(PLANNER)
    (tmp_path / "optimizer.toml").write_text(OPTIMIZER)
    team = {"agents": {"reader": {"description": "reads", "tools": []}}, "rounds": 3}
    files = {"agent/team/agent.json": json.dumps(team), "prompt/reader/prompt.md": "Guess."}
    for path, text in files.items():
        (tmp_path / "team" / path).parent.mkdir(parents=True)
        (tmp_path / "team" / path).write_text(text)
    metrics = ran(
        tmp_path / "runs" / "team",
        config(
            run={"tasksets": [f"questions/file:{tmp_path / 'words.jsonl'}"]},
            evolver={
                "method": "best-of-n-edits",
                "options": {"candidates": 1, "batch": 8},
                "initial": str(tmp_path / "team"),
            },
            budget={"rollouts": 60, "train_cases": 12},
            views={"heldout": 8},
            gateway={
                "execution": f"scripted/{tmp_path / 'model.toml'}",
                "optimisation": f"scripted/{tmp_path / 'optimizer.toml'}",
            },
        ),
    )
    initial, edited = metrics.decisions
    assert edited.accepted
    assert edited.candidate != initial.candidate
    assert metrics.gain.difference == 1.0
    (run,) = (tmp_path / "runs" / "team" / "runs").iterdir()
    with Store(run / LINEAGE) as store:
        assert store.tree(store.get("prompt", "reader"))["prompt.md"] == b"Repeat the word."
        assert len(store.list("agent", "team")) == 1
