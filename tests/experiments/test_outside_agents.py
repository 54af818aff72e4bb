from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity.agents.launchers import available
from heredity.experiments.config import cells, resolve
from heredity.experiments.outside_agents import command_agent, described
from heredity.experiments.suite import open_suite, run_suite
from heredity.records import read_journal
from heredity.sandbox.memory import machine_memory

GREEDY = """
import subprocess, time
subprocess.run(["heredity", "submit", "--episodes", "0-1"], check=True)
held = b"x" * (400 << 20)
time.sleep(60)
"""


def configured(**evolver: object) -> dict[str, Any]:
    return {
        "run": {"tasksets": ["gymnasium/CartPole-v1"]},
        "evolver": {"agent": "x", **evolver},
        "budget": {"episodes": 8},
        "views": {"validation": 2, "heldout": 2},
        "engine": {"workers": 1},
        "suite": {"baselines": False},
    }


def test_the_bounds_of_an_agent_are_half_of_the_memory_and_what_is_set() -> None:
    (cell,) = cells(resolve(configured()))
    agent, _ = command_agent(cell, (), "")
    assert (agent.bounds.memory_bytes, agent.bounds.disk_bytes) == (machine_memory() // 2, 50 << 30)
    (cell,) = cells(resolve(configured(memory_bytes=1 << 30, disk_bytes=2 << 30)))
    agent, _ = command_agent(cell, (), "")
    description = described(cell, agent)
    assert (description["memory_bytes"], description["disk_bytes"]) == (1 << 30, 2 << 30)


@pytest.mark.parametrize("wrong", [{"memory_bytes": 1 << 20}, {"memory_bytes": "1 GB"}, {"disk_bytes": 0}])
def test_bounds_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        resolve(configured(**wrong))


@pytest.mark.skipif(available() is not None, reason=f"bubblewrap: {available()}")
def test_an_agent_that_evolves_policies_is_ended_beyond_its_memory_and_judged(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "agent.py").write_text(GREEDY)
    greedy = configured(agent=f"python3 {tools}/agent.py", read_only=[str(tools)], memory_bytes=200 << 20)
    folder = tmp_path / "runs" / "suite"
    (run,) = asyncio.run(run_suite(folder, open_suite(folder, resolve(greedy)))).runs
    (journal,) = folder.glob("runs/*/journal.jsonl")
    events = read_journal(journal)
    (started,) = [e.data["evolver"] for e in events if e.kind == "run.started"]
    assert started["memory_bytes"] == 200 << 20
    (ended,) = [e.data for e in events if e.kind == "agent.ended"]
    assert ended["reason"] == "memory_limit"
    assert ended["memory_bytes"] > 200 << 20
    assert (run.status, len(run.submissions)) == ("failed", 1)
    assert run.evolver_failure is not None
    assert "exceeded its memory limit" in run.evolver_failure.message
    assert run.heldout is not None
    assert run.budget.used == 2
