"""`heredity code check` says what is done as it goes, stops where it is told to, and goes on from there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.kinds.code.sums import write
from typer.testing import CliRunner

from heredity._core.errors import ConfigError
from heredity.kinds.code.check import Checked, Checking, Kept
from heredity.kinds.code.commands import app
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.problem import Problem
from heredity.sandbox.bubblewrap_root import available

if available() is not None:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of problems as they are checked; the one that is called `stop` is where somebody presses Ctrl-C the first time."""
    checked: list[str] = []

    async def check(_: Any, problem: Problem, *how: Any) -> Checked:
        checked.append(problem.name)
        if problem.name == "stop" and checked.count("stop") == 1:
            raise KeyboardInterrupt
        return Checked(
            problem.name, ("it is odd",) if problem.name == "odd" else (), 500, 40, 0.25, {"reference.py": "PR"}, ("x",)
        )

    monkeypatch.setattr("heredity.kinds.code.check.check", check)
    return checked


def problems(folder: Path) -> list[str]:
    return [str(folder / write(folder / name).name) for name in ("odd", "stop", "last")]


def test_a_line_is_printed_for_each_problem_and_the_json_is_as_before(tmp_path: Path, made: list[str]) -> None:
    made.append("stop")
    ran = CliRunner().invoke(app, ["check", *problems(tmp_path), "--json", "--language", "python3"])
    assert ran.exit_code == 1
    said = ran.stderr.splitlines()
    assert said[0].startswith("[1/3] odd: it is odd (0 s, about 1 min left)")
    assert said[2].startswith("[3/3] last: sound (0 s)")
    found = json.loads(ran.stdout)
    assert found.keys() == {"problems", "failed", "languages", "checked"}
    assert (found["problems"], found["failed"], found["languages"]) == (3, ["odd"], ["python3"])


def test_what_was_done_is_kept_and_not_done_again(tmp_path: Path, made: list[str]) -> None:
    names, kept = problems(tmp_path), str(tmp_path / "kept.jsonl")
    asked = ["check", *names, "--resume", kept, "--language", "python3"]
    stopped = CliRunner().invoke(app, asked)
    assert stopped.exit_code == 130
    assert "stopped after 1 of 3" in stopped.stderr
    assert "0 of 1 problems are sound" in stopped.stdout
    again = CliRunner().invoke(app, asked)
    assert again.exit_code == 1
    assert made == ["odd", "stop", "odd", "stop", "last"], "what had a fault is checked again"
    third = CliRunner().invoke(app, [*asked[:1], *names[1:], *asked[4:]])
    assert third.exit_code == 0
    assert "[1/2] stop: sound (checked before)" in third.stderr
    assert "2 of 2 problems are sound" in third.stdout
    (tmp_path / "last" / "brute.py").write_text("class Solution:\n    pass\n")
    CliRunner().invoke(app, asked)
    assert made[5:] == ["odd", "last"], "what was changed is checked again"
    CliRunner().invoke(app, [*asked, "--agree", "7"])
    assert len(made) == 10, "and so is all where it is checked otherwise"


def test_a_line_that_was_cut_off_is_no_check(tmp_path: Path) -> None:
    path, problem = tmp_path / "kept.jsonl", write(tmp_path / "sum")
    key = Checking("0", 500, [LANGUAGES["python3"]]).key(problem)
    Kept(path).put(key, Checked("sum", skipped=("solutions/a.go",)))
    path.write_text(path.read_text() + '{"key": "abc", "che')
    assert Kept(path).get(key) == Checked("sum", skipped=("solutions/a.go",))
    assert Kept(path).get("abc") is None
    assert len(path.read_text().splitlines()) == 1
    path.write_text("no check\n")
    with pytest.raises(ConfigError, match=r"kept.jsonl, line 1 is not a check of a problem"):
        Kept(path)
