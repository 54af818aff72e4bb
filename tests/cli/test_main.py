"""The command line as a module, where its script is not on the path."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from heredity import __version__
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
