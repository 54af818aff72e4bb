"""`heredity evolve`: from a program and a scorer to the best that was found; errors; going on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from heredity.cli.main import app
from heredity.sandbox.bubblewrap_root import available

pytestmark = pytest.mark.skipif(available() is not None, reason="needs bubblewrap")

PROGRAM = "# EVOLVE-BLOCK-START\nWIDTH = 1.0\n# EVOLVE-BLOCK-END\n\n\ndef solve():\n    return WIDTH\n"
SCORER = "def verify(answer):\n    return {'size': 10 - abs(answer - 4)}\n"


def evolve(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["evolve", *map(str, words)])


def files(folder: Path, program: str = PROGRAM, scorer: str = SCORER) -> tuple[Path, Path]:
    (folder / "start.py").write_text(program)
    (folder / "judge.py").write_text(scorer)
    return folder / "start.py", folder / "judge.py"


def test_a_program_and_a_scorer_are_enough(tmp_path: Path) -> None:
    program, scorer = files(tmp_path)
    words = (program, "--scorer", scorer, "--evaluations", "8", "--out", tmp_path / "out")
    ran = evolve(*words, "--json")
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert found["start"] == 7.0
    assert found["score"] >= 7.0
    best = (tmp_path / "out" / "best" / "start.py").read_text()
    assert best.endswith("def solve():\n    return WIDTH\n")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Maps of elites" in page
    assert "start program" in page
    assert "random policy" not in page
    again = evolve(*words)
    assert again.exit_code == 0, again.output
    assert f"best: {found['score']:.7g}, start 7" in again.output
    program.write_text(PROGRAM.replace("1.0", "2.0"))
    changed = evolve(*words)
    assert changed.exit_code != 0
    assert "start.py" in str(changed.exception)


@pytest.mark.parametrize(
    ("program", "scorer", "words", "said"),
    [
        (PROGRAM, "def verify(answer):\n    raise ValueError('too wide')\n", (), "too wide"),
        ("def solve():\n    return 1 / 0\n", SCORER, (), "ZeroDivisionError"),
        (PROGRAM, "def verify(answer):\n    return -5.0\n", (), "--failure-score"),
        (PROGRAM, "x = 1\n", (), "verify(answer)"),
        (PROGRAM, SCORER, ("--metric", "height"), "no finite number height"),
        (PROGRAM, SCORER, ("--cascade", "a"), "--cascade"),
        (PROGRAM, SCORER, ("--with", "nowhere.json"), "nowhere.json"),
        (PROGRAM, SCORER, ("--method", "map-elite"), "map-elites"),
    ],
)
def test_what_cannot_begin_says_why(
    tmp_path: Path, program: str, scorer: str, words: tuple[str, ...], said: str
) -> None:
    one, other = files(tmp_path, program, scorer)
    ran = evolve(one, "--scorer", other, "--evaluations", "4", "--out", tmp_path / "out", *words)
    assert ran.exit_code != 0
    assert said in f"{ran.exception} {ran.output}"


def test_names_that_lead_nowhere(tmp_path: Path) -> None:
    assert "--tasks" in str(evolve("circle-packing-99").exception)
    assert "--scorer" in str(evolve("circle-packing-26", "--metric", "x").exception)
    listed = json.loads(evolve("--tasks", "--json").stdout)
    assert {"circle-packing-26", "min-overlap", "sorting-network-16"} <= {row["name"] for row in listed}
