from __future__ import annotations

import json

import pytest
from tests.evolution.sums import SYSTEM, agent

from heredity.errors import ConfigError, UnknownNameError
from heredity.evolution.targets import Target, checked_edits, chosen_variables, new_variables
from heredity.resources import Candidate

ALL: tuple[Target, ...] = ("prompt", "solution", "tool", "memory", "agent")
TOOL = {"tool.py": "def run(): ...", "resource.json": json.dumps({"description": "adds"})}


def whole() -> Candidate:
    return agent(
        prompt__critic={"prompt.md": "Look again.", "resource.json": "{}"},
        tool__adder=TOOL,
        memory__facts={"memory.jsonl": '{"text": "1 + 1 = 2"}\n', "picture.png": "x"},
        agent__solver={"agent.py": "def solve(problem, host): ...", "parts/own.py": "X = 1"},
        environment__desk={"environment.json": "{}"},
    )


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        (["prompt"], [SYSTEM]),
        (["solution"], ["prompt/critic:prompt.md"]),
        (["tool"], ["tool/adder:resource.json", "tool/adder:tool.py"]),
        (["agent"], ["agent/solver:agent.py", "agent/solver:parts/own.py"]),
        (["prompt", "solution"], ["prompt/critic:prompt.md", SYSTEM]),
    ],
)
def test_a_target_has_its_own_variables(targets: list[Target], expected: list[str]) -> None:
    assert list(chosen_variables(whole(), targets)) == expected


def test_what_is_not_there_yet_may_be_added() -> None:
    assert new_variables(whole(), ["solution", "agent"]) == ["prompt/revise:prompt.md"]
    edits = {
        "prompt/revise:prompt.md": "Check it.",
        "memory/rules:memory.md": "Carry.",
        "tool/halver:SKILL.md": "How to halve.",
        "tool/halver:resource.json": json.dumps({"description": "halves"}),
        "agent/solver:more.py": "Y = 2",
    }
    made = checked_edits(whole(), ALL, dict(edits))
    assert {"prompt/revise", "memory/rules", "tool/halver"} <= set(made.parts)
    assert made.parts["agent/solver"].text("more.py") == "Y = 2"


def test_a_part_cannot_stop_to_be_evolvable() -> None:
    about = json.dumps({"description": "adds", "evolvable": False})
    with pytest.raises(ConfigError, match="would no longer be evolvable"):
        checked_edits(whole(), ALL, {"tool/adder:resource.json": about})


@pytest.mark.parametrize(
    "name", ["environment/desk:environment.json", "prompt/other:prompt.md", "tool/adder:", "tool/:tool.py", "x:y", ""]
)
def test_what_is_no_target_is_refused(name: str) -> None:
    with pytest.raises((ConfigError, UnknownNameError)):
        checked_edits(whole(), ALL, {name: "{}"})


def test_a_file_that_is_removed_is_gone() -> None:
    made = checked_edits(whole(), ALL, {"agent/solver:parts/own.py": None})
    assert list(made.parts["agent/solver"]) == ["agent.py"]
