from __future__ import annotations

import json

import pytest
from tests.methods.sums import SYSTEM, agent

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.methods.targets import Target, checked_edits, chosen_variables, may_be_added, new_variables
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
    inside = ["agent/solver:middleware/NAME.py", "agent/solver:project/PATH"]
    assert new_variables(whole(), ["solution", "agent"]) == ["prompt/revise:prompt.md", *inside]
    assert new_variables(agent(), ["agent"]) == ["agent/solver:agent.py", "agent/player:agent.py"]
    fixed = agent(agent__solver={"agent.py": "", "resource.json": json.dumps({"evolvable": False})})
    assert new_variables(fixed, ["agent"]) == []
    edits = {
        "prompt/revise:prompt.md": "Check it.",
        "memory/rules:memory.md": "Carry.",
        "tool/halver:SKILL.md": "How to halve.",
        "tool/halver:resource.json": json.dumps({"description": "halves"}),
        "agent/solver:more.py": "Y = 2",
        "agent/solver:middleware/check.py": "def after_tool(call, result): return result",
        "agent/solver:project/notes/layout.md": "Tests lie beside the code.",
    }
    made = checked_edits(whole(), ALL, dict(edits))
    assert {"prompt/revise", "memory/rules", "tool/halver"} <= set(made.parts)
    assert made.parts["agent/solver"].text("more.py") == "Y = 2"
    assert "middleware/check.py" in made.parts["agent/solver"]


@pytest.mark.parametrize(
    ("variable", "may"),
    [
        ("tool/adder:tool.py", True),
        ("tool/:tool.py", False),
        ("tool/a/b:tool.py", False),
        ("tool/adder:tool_py", False),
        ("agent/solver:middleware/check.py", True),
        ("agent/solver:middleware/a/b.py", False),
        ("agent/solver:project/a/b.txt", True),
        ("agent/solver:project/", False),
        ("prompt/system:prompt.md", False),
    ],
)
def test_names_and_paths_stand_for_any(variable: str, may: bool) -> None:
    patterns = ["tool/NAME:tool.py", "agent/solver:middleware/NAME.py", "agent/solver:project/PATH"]
    assert may_be_added(variable, patterns) == may


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
