"""The command line as a module, where its script is not on the path."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity import __version__
from heredity.cli.bars import columns
from heredity.cli.main import app


def test_the_package_runs_as_a_module_under_its_own_name() -> None:
    module = [sys.executable, "-m", "heredity"]
    done = subprocess.run([*module, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"heredity {__version__}\n"
    wrong = subprocess.run([*module, "rum"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "Usage: python -m heredity" in wrong.stderr


@pytest.mark.parametrize("group", [(), ("env",), ("worlds",), ("resources",), ("tasks",), ("agents",), ("bench",)])
def test_no_help_is_cut(group: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(app, [*group, "--help"]).output
    listed = shown.partition("Commands:")[2]
    assert listed
    assert not [line for line in listed.splitlines() if line.rstrip().endswith(("...", "…"))]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("sui", {"suites"}), ("run demo", {"demo"}), ("init pol", {"policy"}), ("code show lantern-t", {"lantern-tree"})],
)
def test_a_shell_completes_commands_and_names(typed: str, offered: set[str]) -> None:
    words = f"heredity {typed}"
    environment = {
        "_HEREDITY_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    result = CliRunner().invoke(app, [], env=environment)
    assert offered <= set(result.stdout.split()), result.output


def test_the_last_column_is_broken_at_the_width_of_a_terminal_and_no_other() -> None:
    about = "a long sentence that says what it is for, " * 4
    rows = [("a-name-that-is-copied" * 2, "1", about.strip()), ("short", "22", "short")]
    wide, narrow = columns(("suite", "runs", "about"), rows), columns(("suite", "runs", "about"), rows, width=80)
    assert len(wide.splitlines()) == 3
    assert max(map(len, narrow.splitlines())) <= 80
    assert "a-name-that-is-copied" * 2 in narrow
    assert narrow.split() == wide.split()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written_is_one_line_and_no_success() -> None:
    with open("/dev/full", "wb") as full:
        ran = subprocess.run([sys.executable, "-m", "heredity", "tasks", "list"], stdout=full, stderr=subprocess.PIPE)
    lines = [line for line in ran.stderr.decode().splitlines() if "at work" not in line]
    assert ran.returncode == 2
    assert lines == ["heredity: No space left on device"]


def test_help_names_values_in_words() -> None:
    shown = CliRunner().invoke(app, ["evolve", "--help"]).output
    assert "--with PATH" in shown
    assert "--seeds NUMBER" in shown
    assert "<list" not in shown
    assert "<str>" not in shown
