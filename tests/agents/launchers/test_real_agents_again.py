"""The real programs, where they are installed: their own tools, and how they go on after they stopped or were killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from tests.agents.launchers.real import Real, each_real
from tests.agents.launchers.scripts import BALANCED, LEFT, Call, write_turns
from tests.agents.launchers.test_real_agents import assert_same_accounts, run

from heredity.agents.launchers import available
from heredity.agents.launchers.registry import programs
from heredity.records import read_journal

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(available() is not None, reason=f"agents cannot be confined here: {available()}"),
]


WRITE_LEFT = f"cat > system/policy.py <<'END'\n{LEFT}END\n"
WRONG, RIGHT = "        return 0\n", "        return int(obs[2] + 0.5 * obs[3] > 0)\n"
POLICY = "system/policy.py"


def step(number: int, then: str = "") -> str:
    return f"echo {number} >> turns.txt; {then}"


def turns_of(folder: Path) -> list[str]:
    return (folder / "workspace" / "turns.txt").read_text().split()


def log_of(folder: Path) -> str:
    return (folder / "logs" / "agent.log").read_text()[-6000:]


@each_real
def test_an_agent_edits_its_policy_with_its_own_tools(real: Real, tmp_path: Path) -> None:
    turns = [
        real.shell(f"rm {POLICY}"),
        real.write(POLICY, LEFT),
        real.shell("heredity submit --episodes 0-1"),
        *real.edit(POLICY, [(WRONG, RIGHT)]),
        real.shell("heredity submit --episodes 0-1; heredity finish"),
    ]
    result, folder = run(
        tmp_path, {"launcher": real.launcher, "model": real.driven_by(turns, tmp_path), "time_limit_s": 120}
    )
    assert {**result.failures, **result.evolver_failures} == {}, log_of(folder)
    (metrics,) = result.runs
    returns = [row.train_mean for row in metrics.submissions]
    assert len(returns) == 2, log_of(folder)
    assert returns[0] < 15 < 100 < returns[1], log_of(folder)
    assert (folder / "workspace" / POLICY).read_text() == BALANCED
    assert metrics.heldout.mean > 100
    assert_same_accounts(metrics)


@each_real
def test_an_agent_that_stops_goes_on_with_its_conversation(real: Real, tmp_path: Path) -> None:
    turns: list[Call | str] = [
        real.shell(step(1, WRITE_LEFT + "heredity submit --episodes 0-1")),
        "That will do.",
        real.shell(step(3, "heredity submit --episodes 2-3")),
        "And that.",
        real.shell(step(5, "heredity submit --episodes 4-5; heredity finish")),
    ]
    result, folder = run(
        tmp_path, {"launcher": real.launcher, "model": real.driven_by(turns, tmp_path), "time_limit_s": 200}
    )
    assert {**result.failures, **result.evolver_failures} == {}, log_of(folder)
    (metrics,) = result.runs
    assert turns_of(folder) == ["1", "3", "5"], log_of(folder)
    assert [(s.number, s.code, s.submissions) for s in metrics.starts] == [(1, 0, 1), (2, 0, 1), (3, 0, 1)]
    assert metrics.budget.used == 6
    assert_same_accounts(metrics)


@each_real
def test_an_agent_that_is_killed_goes_on_with_its_conversation(real: Real, tmp_path: Path) -> None:
    # An agent asks again for a command whose result it did not keep: only the first time is deadly.
    deadly = "[ -e killed ] || { touch killed; kill -9 $PPID; sleep 20; }"
    turns: list[Call | str] = [
        real.shell(step(1, "heredity submit --episodes 0-1")),
        real.shell(step(2, deadly)),
        real.shell(step(3, "heredity submit --episodes 2-3; heredity finish")),
    ]
    evolver = {
        "launcher": real.launcher,
        "model": real.driven_by(turns, tmp_path),
        "time_limit_s": 200,
        "continue_wait_s": 0.1,
    }
    result, folder = run(tmp_path, evolver)
    assert {**result.failures, **result.evolver_failures} == {}, log_of(folder)
    (metrics,) = result.runs
    assert sorted(set(turns_of(folder))) == ["1", "2", "3"], log_of(folder)
    assert turns_of(folder).count("1") == 1
    assert [(s.number, s.code, s.submissions) for s in metrics.starts] == [(1, 137, 1), (2, 0, 1)], log_of(folder)


def configuration(folder: Path, evolver: dict[str, Any]) -> Path:
    table = {
        "run": {"tasksets": ["gymnasium/CartPole-v1"]},
        "evolver": evolver,
        "budget": {"episodes": 8},
        "views": {"validation": 2, "heldout": 2},
        "engine": {"workers": 1},
    }
    (folder / "mine.toml").write_text(tomli_w.dumps(table))
    return folder / "mine.toml"


def heredity(*words: str, folder: Path) -> subprocess.Popen[bytes]:
    with open(folder / "output.txt", "a") as output:
        return subprocess.Popen([sys.executable, "-m", "heredity", *words], stdout=output, stderr=output)


def until(condition: Callable[[], bool], folder: Path, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, (folder / "output.txt").read_text()[-4000:]
        time.sleep(0.1)


def named(folder: Path) -> list[str]:
    """The command lines of processes that name a folder, or hold it as their own."""
    lines: list[str] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(folder) in line:
            lines.append(line.decode(errors="replace"))
    return lines


@each_real
def test_a_run_that_is_killed_with_its_agent_goes_on_with_the_agents_conversation(real: Real, tmp_path: Path) -> None:
    turns: list[Call | str] = [
        real.shell(step(1, "heredity submit --episodes 0-1")),
        real.shell(step(2, "[ -e slept ] || { touch slept; sleep 100; }")),
        real.shell(step(3, "heredity submit --episodes 2-3; heredity finish")),
    ]
    evolver = {"launcher": real.launcher, "model": real.driven_by(turns, tmp_path), "time_limit_s": 200}
    suites = tmp_path / "runs"
    running = heredity("run", str(configuration(tmp_path, evolver)), "--folder", str(suites), folder=tmp_path)
    until(lambda: any(suites.glob("*/runs/*/workspace/slept")), tmp_path)
    running.send_signal(signal.SIGKILL)
    running.wait()
    until(lambda: not named(tmp_path), tmp_path, 20)
    (folder,) = suites.glob("*/runs/*")
    resumed = heredity("resume", str(folder.parents[1]), folder=tmp_path)
    assert resumed.wait(200) == 0, (tmp_path / "output.txt").read_text()[-4000:] + log_of(folder)
    events = list(read_journal(folder / "journal.jsonl"))
    assert [e.data["start"] for e in events if e.kind == "agent.started"] == [1, 2]
    assert [e.data["code"] for e in events if e.kind == "agent.ended"] == [0]
    assert turns_of(folder).count("1") == turns_of(folder).count("3") == 1, log_of(folder)
    assert len([e for e in events if e.kind == "submission.admitted"]) == 2
    assert [e.data["reason"] for e in events if e.kind == "session.closed"] == ["finished"]


@each_real
def test_an_agent_that_is_killed_before_it_is_answered_begins_as_if_it_had_not_been(real: Real, tmp_path: Path) -> None:
    turns: list[Call | str] = [real.shell(step(1, "heredity submit --episodes 0-1; heredity finish"))]
    evolver = {"launcher": real.launcher, "model": real.driven_by(turns, tmp_path), "time_limit_s": 200}
    rules = tmp_path / real.model
    rules.write_text(rules.read_text().replace('text = "Turn 1', 'delay_s = 4.0\ntext = "Turn 1'))
    suites = tmp_path / "runs"
    running = heredity("run", str(configuration(tmp_path, evolver)), "--folder", str(suites), folder=tmp_path)
    until(lambda: any(suites.glob("*/runs/*/workspace/.home/.c*/**/*.jsonl")), tmp_path)
    time.sleep(0.5)
    running.send_signal(signal.SIGKILL)
    running.wait()
    until(lambda: not named(tmp_path), tmp_path, 20)
    (folder,) = suites.glob("*/runs/*")
    assert not (folder / "workspace" / "turns.txt").exists()
    resumed = heredity("resume", str(folder.parents[1]), folder=tmp_path)
    assert resumed.wait(200) == 0, (tmp_path / "output.txt").read_text()[-4000:] + log_of(folder)
    assert turns_of(folder) == ["1"], log_of(folder)
    events = list(read_journal(folder / "journal.jsonl"))
    assert [e.data["start"] for e in events if e.kind == "agent.started"] == [1, 2]


@each_real
def test_an_agent_whose_conversation_is_refused_begins_another(real: Real, tmp_path: Path) -> None:
    turns: list[Call | str] = [
        real.shell(step(1, "[ -e shown ] && printf '%s\\n' well || { touch shown; printf '%sSON\\n' POI; }")),
        real.shell(step(2, "heredity submit --episodes 0-1; heredity finish")),
    ]
    evolver = {"launcher": real.launcher, "model": real.driven_by(turns, tmp_path), "continue_wait_s": 0.1}
    rules = tmp_path / real.model
    rules.write_text('[[rule]]\nwhen = { any = "^POISON" }\nreply = { error = "request" }\n\n' + rules.read_text())
    result, folder = run(tmp_path, {**evolver, "time_limit_s": 200})
    assert {**result.failures, **result.evolver_failures} == {}, log_of(folder)
    assert [(s.number, s.code) for s in result.runs[0].starts] == [(1, 1), (2, 1), (3, 0)], log_of(folder)
    assert turns_of(folder) == ["1", "1", "2"]


def test_an_agent_that_keeps_no_conversation_is_told_what_remains(tmp_path: Path) -> None:
    if not programs()["mini-swe-agent"].installed:
        pytest.skip("mini-swe-agent is not installed; heredity agents install mini-swe-agent")

    def shell(text: str) -> Call:
        return "bash", {"command": text}

    end = shell("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
    write_turns(tmp_path / "first.toml", [shell("heredity submit --episodes 0-1"), end], "bash")
    write_turns(tmp_path / "second.toml", [shell("heredity submit --episodes 2-3; heredity finish"), end], "bash")
    later = (
        (tmp_path / "second.toml").read_text().replace('tool = "bash"', 'tool = "bash", user = "This is start 2 of"')
    )
    (tmp_path / "rules.toml").write_text(later.rpartition("[[rule]]")[0] + (tmp_path / "first.toml").read_text())
    evolver = {"launcher": "mini-swe-agent", "model": f"scripted/{tmp_path}/rules.toml", "time_limit_s": 200}
    result, folder = run(tmp_path, evolver)
    assert {**result.failures, **result.evolver_failures} == {}, log_of(folder)
    assert [(s.number, s.code, s.submissions) for s in result.runs[0].starts] == [(1, 0, 1), (2, 0, 1)], log_of(folder)
