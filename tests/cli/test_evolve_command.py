"""`heredity evolve`: from a program and a scorer to the best that was found; errors; going on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from heredity.cli.main import app
from heredity.kinds.program import kind
from heredity.kinds.program.commands.evolving import Outcome, in_options, names_of, outcome_line
from heredity.results.run import Verdict
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
    again = evolve(*words, "--quiet")
    assert again.exit_code == 0, again.output
    assert again.stderr == ""
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
        (PROGRAM, "def verify(answer):\n    return -5.0\n", ("--failure-score", "0"), "leave failure_score out"),
        (PROGRAM, "def verify(answer):\n    return {'score': '0.2'}\n", (), "no finite number"),
        (PROGRAM, "x = 1\n", (), "verify(answer)"),
        (PROGRAM, SCORER, ("--metric", "height"), "no finite number for height (it gave size)"),
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


@pytest.mark.parametrize(
    ("program", "scorer", "words", "said"),
    [
        ("def solve(:\n", SCORER, (), "{program} is not valid Python: line 1: invalid syntax, in 'def solve(:'"),
        ("def run(:\n", "def evaluate(path):\n    return 1.0\n", (), "{program} is not valid Python: line 1"),
        (PROGRAM, "def score(answer):\n    return 1.0\n", (), "{scorer} has no function verify(answer)"),
        (PROGRAM, SCORER, ("--failure-score", "nan"), "--failure-score = nan"),
        (PROGRAM, SCORER, ("--python", "nowhere"), "--python is "),
        (PROGRAM, SCORER, ("--method", "gepa"), "set --model"),
        (PROGRAM, SCORER, ("--model", "m", "--base-url", "localhost"), "--base-url is 'localhost'"),
        (PROGRAM, SCORER, ("--seeds", "10000000"), "'--seeds': Input should be less than or equal to 10000"),
        (PROGRAM, SCORER, ("--evaluations", "1000000000000"), "'--evaluations': Input should be less than"),
        (PROGRAM, SCORER, ("--seconds", "1e12"), "'--seconds': Input should be less than"),
        (PROGRAM, SCORER, ("--memory", "1000000000000"), "'--memory': Input should be less than"),
    ],
)
def test_messages_name_what_was_typed(
    tmp_path: Path, program: str, scorer: str, words: tuple[str, ...], said: str
) -> None:
    one, other = files(tmp_path, program, scorer)
    ran = evolve(one, "--scorer", other, "--out", tmp_path / "out", *words)
    told = f"{ran.exception} {ran.output}"
    assert ran.exit_code != 0
    assert said.format(program=one, scorer=other) in told
    assert "evolve.toml" not in told
    assert "task.toml" not in told


def test_a_timeout_names_the_option() -> None:
    names = names_of(Path("out"), ())
    assert in_options("make it faster, or raise limits.episode_s", names) == "make it faster, or raise --seconds"


def test_names_that_lead_nowhere(tmp_path: Path) -> None:
    assert "--tasks" in str(evolve("circle-packing-99").exception)
    assert "--scorer" in str(evolve("circle-packing-26", "--metric", "x").exception)
    listed = json.loads(evolve("--tasks", "--json").stdout)
    assert {"circle-packing-26", "min-overlap", "sorting-network-16"} <= {row["name"] for row in listed}


def environment(folder: Path, module: str) -> Path:
    """Return the interpreter of a new virtual environment in which a package is that this one does not have."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    (packages / "herons.py").write_text(module)
    return folder / "bin" / "python"


def test_what_is_imported_comes_from_the_environment_that_is_named(tmp_path: Path) -> None:
    importing = "import herons\n\n\ndef verify(answer):\n    return {'size': herons.height(answer)}\n"
    program, scorer = files(tmp_path, PROGRAM.replace("# EVOLVE", "import herons\n# EVOLVE", 1), importing)
    words = (program, "--scorer", scorer, "--evaluations", "4")
    without = evolve(*words, "--out", tmp_path / "without")
    assert "No module named 'herons'" in str(without.exception)
    assert "--python venv/bin/python" in str(without.exception)
    python = environment(tmp_path / "a venv", "def height(answer):\n    return 20 + answer\n")
    ran = evolve(*words, "--python", python, "--out", tmp_path / "out", "--json")
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["start"] == 21.0
    caught = importing.replace("import herons", "").replace(
        "return {", "return {'size': 1.0}, 'No module named \\'herons\\''\n    return {"
    )
    scorer.write_text(caught)
    program.write_text(PROGRAM)
    assert "herons'; install it" in evolve(*words, "--out", tmp_path / "caught").stderr
    nowhere = evolve(*words, "--python", tmp_path / "venv" / "python", "--out", tmp_path / "nowhere")
    assert "no program is there" in str(nowhere.exception)
    none = tmp_path / "none"
    none.write_text("#!/bin/sh\necho it is a shell >&2\nexit 3\n")
    none.chmod(0o755)
    assert "it is a shell" in str(evolve(*words, "--python", none, "--out", tmp_path / "shell").exception)


def test_a_folder_is_given_with_all_that_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "data" / "deep" / "goal.txt").write_text("4")
    (tmp_path / "data" / ".key").write_text("secret")
    reading = (
        "import pathlib\n\n\nasync def evaluate(program_path):\n    goal = pathlib.Path(__file__).parent / 'data'\n"
        "    assert not (goal / '.key').exists()\n    return {'goal': float((goal / 'deep' / 'goal.txt').read_text())}\n"
    )
    program, scorer = files(tmp_path, PROGRAM, reading)
    words = (program, "--scorer", scorer, "--with", tmp_path / "data", "--evaluations", "2", "--out", tmp_path / "out")
    ran = evolve(*words, "--json")
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["start"] == 4.0
    (tmp_path / "data" / "deep" / "goal.txt").write_text("5")
    assert "data/deep/goal.txt" in str(evolve(*words).exception)


LOSS = "def verify(answer):\n    return {'loss': (answer - 4) ** 2 + 0.3}\n"


def test_a_positive_loss_is_minimised_and_shown_with_its_own_sign(tmp_path: Path) -> None:
    program, scorer = files(tmp_path, scorer=LOSS)
    words = (program, "--scorer", scorer, "--minimise", "--evaluations", "12", "--out", tmp_path / "out")
    found = json.loads(evolve(*words, "--json").stdout)
    assert found["start"] == pytest.approx(9.3)
    assert 0.3 <= found["score"] < 9.3
    again = evolve(*words)
    assert f"best: {found['score']:.7g}, start 9.3" in again.stdout
    given = evolve(program, "--scorer", scorer, "--minimise", "--failure-score", "5", "--out", tmp_path / "other")
    assert "the start program has 9.3, and a failed one would get 5" in str(given.exception)
    assert evolve(*words[:-1], tmp_path / "third", "--failure-score", "50").exit_code == 0


FAILS = "def verify(answer):\n    if answer != 1.0:\n        raise ValueError('no')\n    return {'size': -5.0}\n"


def test_what_fails_ranks_below_every_score_and_is_no_figure(tmp_path: Path) -> None:
    program, scorer = files(tmp_path, scorer=FAILS)
    ran = evolve(program, "--scorer", scorer, "--evaluations", "9", "--out", tmp_path / "out", "--json")
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["score"] == -5.0
    (metrics,) = (tmp_path / "out").glob("runs/*/metrics.json")
    rows = json.loads(metrics.read_bytes())["submissions"]
    failed = [row for row in rows if row["failures"]]
    assert failed
    assert {row["train_mean"] for row in failed} == {None}
    assert {row["missing"] for row in rows} == {0}
    checked = CliRunner().invoke(app, ["verify", str(tmp_path / "out"), "--replay", "all"])
    assert checked.exit_code == 0, checked.output


NOISY = "import random\ndef verify(answer, seed):\n    return random.Random(f'{seed}-{answer}').gauss(0, 1)\n"


def test_the_last_line_says_of_noise_what_the_report_says(tmp_path: Path) -> None:
    program, scorer = files(tmp_path, scorer=NOISY)
    words = (program, "--scorer", scorer, "--seeds", "2", "--evaluations", "12", "--out", tmp_path / "out")
    ran = evolve(*words, "-q")
    assert ran.exit_code == 0, ran.output
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_bytes())
    (cell,) = [cell for cell in metrics["tasksets"][0]["cells"] if not cell["reference"]]
    found = json.loads(evolve(*words, "--json").stdout)
    assert found["score"] == pytest.approx(cell["mean"])
    assert found["seeds"] == pytest.approx([seed["mean"] for seed in cell["seeds"]])
    line = ran.stdout.splitlines()[0].replace("\u2212", "-")
    assert line.startswith("best: ")
    assert float(line.split()[1]) == pytest.approx(cell["mean"], abs=0.006)
    assert line.endswith(": not conclusive yet")


WITHIN = Outcome("a", 0.12, (-0.12, 0.34), (0.38, -0.1), 0.38, -0.1, Verdict.WITHIN_NOISE)
EXACT = Outcome("a", 9.044883, None, (9.044883,), 9.044883, 10.3, None)
FEW = Outcome("a", 0.5, None, (0.4, 0.6), 0.6, None, None)
GAIN = Outcome("a", 1.5, (1.0, 2.0), (1.5,), 1.5, 0.5, Verdict.BETTER)


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        (WITHIN, "0.12 [−0.12, 0.34] over 2 seeds, start −0.10: within noise"),
        (EXACT, "9.044883, start 10.3"),
        (FEW, "0.5000 (mean of seeds 0.4000, 0.6000)"),
        (GAIN, "1.50 [1.00, 2.00] over hidden cases, start 0.50: a gain beyond noise"),
    ],
)
def test_an_outcome_in_a_line(outcome: Outcome, line: str) -> None:
    assert outcome_line(outcome) == line


def test_what_a_scorer_says_reaches_no_terminal_as_it_is(tmp_path: Path) -> None:
    program, scorer = files(tmp_path, scorer="def verify(answer):\n    return {'\\x1b[2Ja': 1.0}, '\\x1b]0;b\\x07'\n")
    ran = evolve(program, "--scorer", scorer, "--evaluations", "3", "--out", tmp_path / "out")
    assert ran.exit_code == 0, ran.output
    scorer.write_text("def verify(answer):\n    raise OSError('\\x1b[2J' + 'e' * 3_000_000 + '\\ud800 the end')\n")
    failed = evolve(program, "--scorer", scorer, "--evaluations", "3", "--out", tmp_path / "failed")
    assert "the end" in str(failed.exception)
    assert len(str(failed.exception)) < 10_000
    assert "\x1b" not in ran.output + failed.output + str(failed.exception)


def test_a_folder_needs_to_say_which_files_are_which(tmp_path: Path) -> None:
    program, scorer = files(tmp_path)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text(program.read_text())
    for words in ((tmp_path / "package", "--scorer", scorer), (tmp_path / "package",)):
        ran = evolve(*words, "--out", tmp_path / "out")
        assert "task.toml" in str(ran.exception)
        assert "\n" not in str(ran.exception)
    assert not (tmp_path / "out").exists()


def rules(folder: Path, first: str, again: str) -> str:
    """Write a scripted model: what it replies, and what where its reply could not be used."""
    written = [("could not be used", again), ("(?s).", first)]
    text = "".join(f"[[rule]]\nwhen = {{any = '{when}'}}\nreply = '''{reply}'''\n" for when, reply in written)
    (folder / "rules.toml").write_text(text)
    return f"scripted/{folder / 'rules.toml'}"


def test_a_model_of_which_nothing_can_be_used_is_no_result(tmp_path: Path) -> None:
    program, scorer = files(tmp_path)
    words = (program, "--scorer", scorer, "--model", rules(tmp_path, "Wider.", "Much wider."), "--evaluations", "8")
    ran = evolve(*words, "--out", tmp_path / "out")
    assert ran.exit_code == 1, ran.output
    assert "replies of scripted/" in ran.stderr
    assert "could not be used" in ran.stderr
    report = (tmp_path / "out" / "report.md").read_text()
    assert "Nothing failed and nothing is missing" not in report
    assert "were unusable" in report
    page = next((tmp_path / "out").glob("runs/*/report.md")).read_text()
    assert "were unusable" in page
    calls = next((tmp_path / "out").glob("runs/*/journal.jsonl")).read_text()
    assert calls.count('"reply.unused"') == calls.count('"model.called"') > 0
    again = evolve(*words, "--out", tmp_path / "out")
    assert again.exit_code == 1
    assert next((tmp_path / "out").glob("runs/*/journal.jsonl")).read_text() == calls


def test_the_share_of_replies_that_were_used_is_told(tmp_path: Path) -> None:
    program, scorer = files(tmp_path)
    block = "<<<<<<< SEARCH\nWIDTH = 1.0 \n=======\nWIDTH = 4.0\n>>>>>>> REPLACE"
    model = rules(tmp_path, "Wider.", block)
    ran = evolve(program, "--scorer", scorer, "--model", model, "--evaluations", "8", "--out", tmp_path / "out")
    assert ran.exit_code == 0, ran.output
    assert "best: 10, start 7" in ran.stdout
    counted = re.search(r"(\d+) of (\d+) model replies were unusable", " ".join(ran.stderr.split()))
    assert counted is not None
    assert 0 < int(counted[1]) < int(counted[2])
    assert f"{counted[0]}" in (tmp_path / "out" / "report.md").read_text()


@pytest.mark.parametrize("words", [["evolve", "q", "--evaluations", "2"], ["run", "q/suite.toml", "-q"]])
def test_a_folder_whose_name_is_no_text_is_refused_in_a_line(tmp_path: Path, words: list[str]) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"this file system takes text alone: {error}")
    for command, code in ((["init", "program", str(folder / "q")], 0), (words, 2)):
        ran = subprocess.run(
            [sys.executable, "-m", "heredity", *command], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL
        )
        assert ran.returncode == code, ran.stderr
    (line,) = ran.stderr.decode().splitlines()
    assert "caf\\udce9" in line
    assert "rename it" in line


HANGING = """
import hashlib, os, signal, subprocess, sys, time
def evaluate(path):
    text = open(path, "rb").read()
    if int(hashlib.sha256(text).hexdigest(), 16) % 2 == 0 and b"WIDTH = 1.0" not in text:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for _ in range(3):
            subprocess.Popen(["setsid", "sleep", "{mark}"], stdin=subprocess.DEVNULL)
        if os.fork() == 0:
            os.setsid()
            while True:
                pass
        {wait}
    return {{"combined_score": 1.0}}
"""


@pytest.mark.parametrize("wait", ["time.sleep(600)", "while True: pass"])
def test_nothing_is_left_of_an_evaluator_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait: str) -> None:
    monkeypatch.setattr(kind, "_START_S", 1.5)
    mark = f"6{os.getpid()}"
    program, scorer = files(tmp_path, scorer=HANGING.format(mark=mark, wait=wait))
    words = (program, "--scorer", scorer, "--seconds", "0.5", "--evaluations", "6", "--out", tmp_path / "out")
    ran = evolve(*words, "--json")
    assert ran.exit_code == 0, ran.output
    (metrics,) = (tmp_path / "out").glob("runs/*/metrics.json")
    statuses = {row["status"] for row in json.loads(metrics.read_bytes())["submissions"]}
    assert "rollout_timeout" in statuses
    left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if f"sleep\0{mark}" in read_quietly(p)]
    assert left == []


def read_quietly(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
