"""The agents' folders in `examples/`, with the real programs: `HEREDITY_AIDER` and `HEREDITY_OPENHANDS` name them."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.agents.launchers.scripts import BALANCED, LEFT, Call, steps, write_rules
from tests.agents.launchers.test_real_agents import run

from heredity.agents.launchers import available

EXAMPLES = Path(__file__).parents[3] / "examples"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(available() is not None, reason=f"agents cannot be confined here: {available()}"),
]


def edits(path: Path) -> None:
    """Write a model that edits the policy twice, in the form that Aider asks for where a file has fences of three."""
    rules = [("submit_index.: 1", "All is done.")]
    rules += [(at, f"policy.py\n````\n{text}````\n") for at, text in (("submit_index.: 0", BALANCED), ("(?s).", LEFT))]
    path.write_text(
        "\n".join(f"[[rule]]\nwhen = {{ any = {json.dumps(a)} }}\nreply = {json.dumps(b)}" for a, b in rules)
    )


def commands(path: Path) -> None:
    """Write a model that runs commands, each as the one command that OpenHands allows."""

    def call(text: str) -> Call:
        return "terminal", {"command": f"bash -c {shlex.quote(text)}", "security_risk": "LOW", "summary": "a step"}

    write_rules(path, steps(path.parent / "secret.txt", 9), call, "terminal")


@pytest.mark.parametrize(("name", "script"), [("aider", edits), ("openhands", commands)])
def test_an_example_of_an_agent_submits_reads_and_improves(
    name: str, script: Callable[[Path], None], tmp_path: Path
) -> None:
    variable = name.upper()
    if not (program := os.environ.get(f"HEREDITY_{variable}")):
        pytest.skip(f"HEREDITY_{variable} names no program")
    script(tmp_path / "rules.toml")
    folder = Path(program).parents[1]
    evolver: dict[str, Any] = {
        "launcher": str(EXAMPLES / name),
        "model": f"scripted/{tmp_path}/rules.toml",
        "time_limit_s": 300,
        "read_only": [str(folder), str((folder / "bin" / "python").resolve().parents[1])],
        "environment": {variable: program},
    }
    result, kept = run(tmp_path, evolver)
    log = (kept / "logs" / "agent.log").read_text()
    assert {**result.failures, **result.evolver_failures} == {}, log
    metrics: Any
    (metrics,) = result.runs
    first, second, *_ = (row.train_mean for row in metrics.submissions)
    assert first < 15 < 100 < second, log
    assert metrics.tokens.output_tokens > 0
