"""Agents that fail, stop early or are started again, through whole runs; and what the pages then say."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from heredity.agents.launchers import available
from heredity.cli.main import app
from heredity.experiments.config import resolve
from heredity.experiments.suite import SuiteResult, open_suite, run_suite
from heredity.records import read_journal

pytestmark = pytest.mark.skipif(available() is not None, reason=f"bubblewrap: {available()}")


def configured(**evolver: object) -> dict[str, Any]:
    return {
        "run": {"tasksets": ["gymnasium/CartPole-v1"]},
        "evolver": {"continue_wait_s": 0, **evolver},
        "budget": {"episodes": 8},
        "views": {"validation": 2, "heldout": 2},
        "engine": {"workers": 1},
        "suite": {"baselines": False},
    }


def ran(folder: Path, **evolver: object) -> SuiteResult:
    config = resolve(configured(**evolver))
    return asyncio.run(run_suite(folder, open_suite(folder, config)))


def journalled(folder: Path, kind: str) -> list[Any]:
    (journal,) = folder.glob("runs/*/journal.jsonl")
    return [event.data for event in read_journal(journal) if event.kind == kind]


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("no-such-agent --at all", 127, "the agent could not be started (exit code 127)"),
        ("echo working; printf 'lost \\033[31mkey\\n' >&2; exit 3", 3, "the agent ended with exit code 3"),
        ("kill -SEGV $$", 139, "the agent was ended by SIGSEGV (exit code 139)"),
        ("true", 0, "the agent ended with exit code 0"),
    ],
)
def test_an_agent_that_submits_nothing_has_failed_and_every_page_says_why(
    command: str, code: int, said: str, tmp_path: Path
) -> None:
    suite = tmp_path / "runs" / "suite"
    result = ran(suite, agent=command, name="mine")
    (run,) = result.runs
    assert run.status == "failed"
    assert run.evolver_failure is not None
    assert run.evolver_failure.message == f"{said}; it submitted nothing, so there is nothing to judge"
    assert list(result.evolver_failures) == [run.run_id]
    assert [(s.code, s.submissions) for s in run.starts] == [(code, 0)]
    (entry,) = [e for e in result.metrics.leaderboard if not e.reference]
    assert (entry.failed, entry.exit_codes, entry.unspent) == (1, [code] if code else [], 8)
    for page in [*suite.glob("runs/*/report.*"), *suite.glob("report.*")]:
        text = page.read_text()
        assert said in text.replace("\\", ""), page
        if code == 3:
            assert r"lost \x1b[31mkey" in text
    leaderboard = (suite / "report.md").read_text()
    assert "1 of 1 run failed" in leaderboard
    assert "8 episodes unspent" in leaderboard
    assert "Nothing was graded: no run has a held-out return; 1 run failed." in leaderboard


def test_the_exit_code_of_the_command_says_that_an_agent_failed(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[run]\ntasksets = ["gymnasium/CartPole-v1"]\n[evolver]\nagent = "exit 9"\n[budget]\nepisodes = 4\n'
        "[views]\nvalidation = 1\nheldout = 1\n[engine]\nworkers = 1\n"
    )
    ended = CliRunner().invoke(app, ["run", str(file), "--folder", str(tmp_path / "runs"), "--json"])
    assert ended.exit_code == 1
    assert [entry["exit_codes"] for entry in json.loads(ended.stdout)["leaderboard"] if not entry["reference"]] == [[9]]
    assert "exit code 9; it submitted nothing" in ended.stderr


def test_a_crash_after_submissions_is_judged_and_marked(tmp_path: Path) -> None:
    result = ran(tmp_path / "suite", agent="heredity submit --episodes 0-1 && exit 5")
    (run,) = result.runs
    assert run.status == "failed"
    assert run.heldout is not None
    assert run.evolver_failure is not None
    assert run.evolver_failure.message == ("the agent ended with exit code 5; its earlier submissions (1) are judged")
    page = next((tmp_path / "suite").glob("runs/*/report.md")).read_text()
    assert "its earlier submissions (1) are judged" in page
    (entry,) = [e for e in result.metrics.leaderboard if not e.reference]
    assert (entry.failed, entry.unspent) == (1, 6)


@pytest.mark.parametrize("end", ["heredity finish; exit 5", "heredity submit --episodes 1-7; exit 5"])
def test_an_agent_that_finished_or_spent_its_budget_has_not_failed(end: str, tmp_path: Path) -> None:
    (run,) = ran(tmp_path / "suite", agent=f"heredity submit --episodes 0 && {end}").runs
    assert (run.status, run.evolver_failure) == ("finished", None)


def test_an_agent_is_continued_until_its_budget_is_spent(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    script = 'echo "start ${HEREDITY_START:-1}: $HEREDITY_PROMPT"; heredity submit --episodes 0-1; exit 1'
    (run,) = ran(folder, agent=script, continue_turns=9).runs
    assert (run.status, run.budget.used, len(run.starts)) == ("finished", 8, 4)
    (log,) = folder.glob("runs/*/logs/agent.log")
    assert "start 2: This is start 2 of at most 9: the agent ended with exit code 1." in log.read_text()
    assert "1 submissions are on record. Left: 6 episodes" in log.read_text()


def test_an_agent_that_submits_nothing_is_not_started_for_ever(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    (run,) = ran(folder, agent="exit 1", continue_turns=99, continue_idle=3, continue_wait_s=0.01).runs
    assert [s.number for s in run.starts] == [1, 2, 3]
    assert [data["wait_s"] for data in journalled(folder, "agent.started")] == [0.0, 0.01, 0.02]
    assert run.evolver_failure is not None
    assert "exit code 1 at start 3" in run.evolver_failure.message


def test_the_last_start_after_failures_begins_a_new_conversation(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    script = 'echo "anew: ${HEREDITY_ANEW:-no}"; '
    run = ran(folder, agent=script + "exit 1", continue_turns=9, continue_idle=3, continue_wait_s=0).runs[0]
    assert [s.number for s in run.starts] == [1, 2, 3]
    (log,) = folder.glob("runs/*/logs/agent.log")
    assert log.read_text().splitlines() == ["anew: no", "anew: no", "anew: 1"]


def test_what_an_agent_prints_of_its_keys_is_not_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_KEY", "sk-very-secret-key")
    folder = tmp_path / "suite"
    ran(folder, agent="echo using $AGENT_KEY; exit 1", inherit=["AGENT_KEY"])
    (ended,) = journalled(folder, "agent.ended")
    assert ended["output"] == "using [secret]"


COUNTED = "echo start >> count.txt; heredity submit --episodes 0 && exit 1"


def cut_after(folder: Path, kind: str, number: int) -> None:
    """Cut a run's journal as if its process had been killed after the event of a kind with this number, from 1."""
    (journal,) = folder.glob("runs/*/journal.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if json.loads(line)["kind"] == kind]
    journal.write_bytes(b"".join(lines[: places[number - 1] + 1]))


@pytest.mark.parametrize(
    ("kind", "number", "starts"),
    [("agent.started", 2, 4), ("agent.ended", 2, 3), ("agent.ended", 3, 3), ("session.closed", 1, 3)],
)
@pytest.mark.fast(2)
def test_a_run_that_was_killed_continues_its_agent_as_if_nothing_had_happened(
    kind: str, number: int, starts: int, tmp_path: Path
) -> None:
    folder = tmp_path / "suite"
    (whole,) = ran(folder, agent=COUNTED, continue_turns=3).runs
    assert [(s.number, s.code, s.submissions) for s in whole.starts] == [(1, 1, 1), (2, 1, 1), (3, 1, 1)]
    cut_after(folder, kind, number)
    (resumed,) = ran(folder, agent=COUNTED, continue_turns=3).runs
    assert [s.number for s in resumed.starts] == list(range(1, starts + 1))
    # A start that was interrupted with its run is none of the agent's turns.
    assert sum(s.code is not None for s in resumed.starts) == 3
    assert resumed.evolver_failure == (
        whole.evolver_failure
        if starts == 3
        else whole.evolver_failure
        and whole.evolver_failure.model_copy(
            update={"message": whole.evolver_failure.message.replace("start 3", "start 4")}
        )
    )


def test_the_time_of_an_agent_holds_for_all_its_starts(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    (run,) = ran(folder, agent="sleep 1.1; exit 1", continue_turns=9, continue_idle=9, time_limit_s=2).runs
    assert [s.number for s in run.starts] == [1, 2]
    assert run.evolver_failure is not None
    assert run.evolver_failure.message.startswith("the agent's time was up at start 2; it submitted nothing")
