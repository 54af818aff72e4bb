"""Standard output of commands with `--json`, whatever else is printed meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import heredity
from heredity.cli.interface import asks_for_json

NOISY = """
import os, subprocess, sys
import heredity.kinds.policy.environments as environments
from heredity.cli.main import main
plain = environments.installed
def installed(spec):
    print("printed here")
    os.write(1, b"written to the descriptor\\n")
    subprocess.run(["echo", "of another program"])
    return plain(spec)
environments.installed = installed
sys.argv = ["heredity", *sys.argv[1:]]
main()
"""


def noisy(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", NOISY, *arguments], capture_output=True, text=True, check=False)


def test_what_others_print_goes_to_stderr() -> None:
    done = noisy("env", "list", "--family", "toy_text", "--json")
    assert {row["family"] for row in json.loads(done.stdout)} == {"toy_text"}
    for line in ("printed here", "written to the descriptor", "of another program"):
        assert line in done.stderr


def test_without_json_it_stays_where_it_was() -> None:
    assert "of another program" in noisy("env", "list", "--family", "toy_text").stdout


def test_errors_stay_on_stderr() -> None:
    done = noisy("env", "check", "Nothing-v0", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown environment" in done.stderr


@pytest.mark.parametrize(
    ("line", "asks"),
    [("env list --json", True), ("run x", False), ("broker -- agent --json", False), ("broker --json -- agent", True)],
)
def test_what_belongs_to_another_command_asks_for_nothing(line: str, asks: bool) -> None:
    assert asks_for_json(line.split()) is asks


def test_commands_print_by_echo_alone() -> None:
    package = Path(heredity.__file__).parent
    modules = [*(package / "cli").glob("*.py"), *(path for path in package.rglob("*.py") if "commands" in path.parts)]
    wrong = [path.name for path in modules for way in (" print(", "sys.stdout.write") if way in path.read_text()]
    assert not wrong


def test_an_environment_that_prints_keeps_out_of_json(tmp_path: Path) -> None:
    source = (Path(__file__).parents[2] / "examples" / "corridor.py").read_text()
    loud = source.replace("super().reset(seed=seed)", "super().reset(seed=seed); print('loud', flush=True)")
    assert loud != source
    (tmp_path / "loud_corridor.py").write_text(loud + "print('loaded')\n")
    command = [sys.executable, "-m", "heredity", "env", "check", f"{tmp_path}/loud_corridor.py:Corridor-v0", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["passed"], done.stderr
    assert done.returncode == 0
