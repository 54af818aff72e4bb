"""A team killed at random instants goes on: nothing that is on record is done again, and it comes to the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import team_kills


def check(told: dict[str, object], kills: int) -> None:
    assert told["kills"] == kills
    assert [told[key] for key in ("twice", "sent_twice", "other_answers", "other_versions")] == [0, 0, 0, 0]


def test_a_team_that_is_killed_does_nothing_again_that_is_on_record() -> None:
    check(team_kills.measure(2, seed=1), 2)


@pytest.mark.slow
def test_a_team_that_is_killed_a_hundred_times_comes_to_the_same() -> None:
    check(team_kills.measure(100), 100)


@pytest.mark.slow
def test_what_is_done_again_would_be_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish = team_kills._finish

    def without_record(folder: Path, process: int) -> None:
        (folder / "team" / "journal.jsonl").unlink(missing_ok=True)
        finish(folder, process)

    monkeypatch.setattr(team_kills, "_finish", without_record)
    told = team_kills.measure(8)
    assert told["twice"] > 0
    assert told["sent_twice"] > 0 or told["by_progress"][-3:] == [0, 0, 0]


def test_importing_teams_imports_no_browser_no_provider_and_no_protocol() -> None:
    code = (
        "import sys, heredity.team, heredity.team.team, heredity.team.settings\n"
        "heavy = ('playwright', 'pydantic_ai', 'openai', 'anthropic', 'google.genai', 'mcp', 'a2a', 'torch', 'transformers',"
        " 'starlette', 'uvicorn', 'pypdf', 'openpyxl', 'docx', 'gymnasium')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
