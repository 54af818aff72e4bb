"""What a person types works in a terminal: commands that show progress, and Ctrl-C while they do."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from tests.terminal import CTRL_C, HEREDITY, Typed, typed

PROGRAM = "# EVOLVE-BLOCK-START\nA = 1.0\ndef solve():\n    return [A]\n# EVOLVE-BLOCK-END\n"
SCORER = "def verify(answer):\n    return answer[0]\n"
EVOLVE = (*HEREDITY, "evolve", "p.py", "--scorer", "s.py", "--out", "out")
RUN = """
[run]
name = "short"
tasksets = ["gymnasium/CartPole-v1"]
seeds = 1
[evolver]
method = "random"
[budget]
episodes = 4
[views]
validation = 2
heldout = 2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.py").write_text(PROGRAM)
    (tmp_path / "s.py").write_text(SCORER)
    (tmp_path / "short.toml").write_text(RUN)
    return tmp_path


def sound(ended: Typed) -> Typed:
    assert "Traceback" not in ended.text, ended.text[-3000:]
    return ended


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_run_shows_its_progress_and_its_leaderboard(folder: Path, columns: int) -> None:
    ended = sound(typed((*HEREDITY, "run", "short.toml", "--out", "out"), folder, columns=columns))
    assert ended.code == 0, ended.text
    assert "held-out" in ended.text
    assert ended.text.rstrip().splitlines()[-1].startswith("report: out")
    again = sound(typed((*HEREDITY, "resume", "out"), folder, columns=columns))
    assert again.code == 0


def test_evolve_shows_its_progress_and_its_best_program(folder: Path) -> None:
    ended = sound(typed((*EVOLVE, "--evaluations", "4"), folder))
    assert ended.code == 0, ended.text
    assert "best: " in ended.text


@pytest.mark.parametrize("once", ["start program", "evolving"])
def test_ctrl_c_says_how_to_go_on_and_nothing_else(folder: Path, once: str) -> None:
    ended = sound(typed((*EVOLVE, "--evaluations", "100000"), folder, press=CTRL_C, once=once, after_s=0.3))
    assert ended.code == 130, ended.text
    assert "heredity resume out" in ended.text


def test_ctrl_c_while_it_is_loaded_ends_it_without_a_word(folder: Path) -> None:
    command = (HEREDITY[0], "-X", "importtime", *HEREDITY[1:], *EVOLVE[len(HEREDITY) :])
    ended = sound(typed(command, folder, press=CTRL_C, once="heredity.errors"))
    assert ended.code == -signal.SIGINT
