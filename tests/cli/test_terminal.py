"""What a person types works in a terminal: commands that show progress, and Ctrl-C while they do."""

from __future__ import annotations

import ast
import signal
import sys
from pathlib import Path

import pytest
from tests.terminal import CTRL_C, HEREDITY, Typed, typed

import heredity

SOURCE = Path(heredity.__path__[0])
STARTS = ("subprocess.run", "subprocess.Popen", "asyncio.create_subprocess_exec")
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


@pytest.mark.parametrize("once", ["start program: ", "evolving"])
def test_ctrl_c_says_how_to_go_on_and_nothing_else(folder: Path, once: str) -> None:
    ended = sound(typed((*EVOLVE, "--evaluations", "100000"), folder, press=CTRL_C, once=once, after_s=0.3))
    assert ended.code == 130, ended.text
    assert "heredity resume out" in ended.text


def test_ctrl_c_while_it_is_loaded_ends_it_without_a_word(folder: Path) -> None:
    command = (HEREDITY[0], "-X", "importtime", *HEREDITY[1:], *EVOLVE[len(HEREDITY) :])
    ended = sound(typed(command, folder, press=CTRL_C, once="heredity._core.errors"))
    assert ended.code == -signal.SIGINT


TEAM = """
[team]
[planner]
model = "scripted/rules.toml"
[agents.coder]
description = "computes"
model = "scripted/rules.toml"
tools = ["python"]
"""
RULES = """
[[rule]]
when = { any = "Steps so far, after 0 rounds" }
reply = '{"note": "compute", "steps": [{"id": "s1", "agent": "coder", "task": "What is 6 times 7?"}]}'
[[rule]]
when = { any = "Steps so far" }
reply = '{"note": "known", "finished": true, "result": "42"}'
[[rule]]
when = { results = 0 }
[rule.reply]
calls = [{ name = "python", arguments = { code = "import time; time.sleep(2); print(6 * 7)" } }]
[[rule]]
when = { any = "(?s)." }
reply = "${result}"
"""
STOPPED = {
    "run": ("run", "short.toml", "budget.episodes=4000", "--out", "out"),
    "evolve": EVOLVE[len(HEREDITY) :],
    "demo": ("demo", "--no-open"),
    "resume": ("resume", "out"),
    "worlds": (
        "worlds",
        "generate",
        "A keeper trades oil with ships",
        "--model",
        "offline/world-author",
        "--out",
        "out",
    ),
    "team": ("team", "run", "What is 6 times 7?", "--out", "out"),
    "doctor": ("doctor",),
    "view": ("view", "--no-browser", "--port", "0"),
}
"""Commands that are stopped, by what they are about."""
BEGIN = """
import signal, sys
before = signal.signal(signal.SIGINT, signal.SIG_DFL)
print("begun", flush=True)
from heredity.cli.main import main
signal.signal(signal.SIGINT, before)
sys.argv[0] = "heredity"
main()
"""
LOADED = (sys.executable, "-c", BEGIN)
"""`heredity` from its first line on, as in `heredity.__main__`: before that, Ctrl-C meets Python loading modules of its own."""
INSTANTS = [0.1 * 1.7**number for number in range(10)]
"""Seconds after the start; on a busy machine the same instants meet earlier moments."""


@pytest.mark.fast(3)
@pytest.mark.parametrize(
    ("name", "instant"), [(name, instant) for instant in INSTANTS for name in STOPPED], ids=lambda value: f"{value:.3}"
)
def test_ctrl_c_at_any_instant_ends_a_command_without_a_traceback(name: str, instant: float, folder: Path) -> None:
    (folder / "team.toml").write_text(TEAM)
    (folder / "rules.toml").write_text(RULES)
    (folder / "runs").mkdir()
    if name == "resume":
        begun = sound(typed((*HEREDITY, *STOPPED["run"]), folder, press=CTRL_C, once="evolving", after_s=1.0))
        assert begun.code in (0, 130), begun.text
    ended = sound(typed((*LOADED, *STOPPED[name]), folder, press=CTRL_C, once="begun", after_s=instant))
    # It may have ended before; and until it is loaded the signal itself ends it.
    assert ended.code in (0, 130, -signal.SIGINT), ended.text
    assert "Exception ignored" not in ended.text


OUT_OF_REACH = ("environments", "posttraining", "rollouts", "sandbox", "tasks")
"""Packages whose processes answer a question or do a piece of work: one that Ctrl-C ends would be taken for its answer."""
INSIDE = ("browser_first.py", "first_process.py", "relay.py")
"""What runs in a sandbox, which has a session of its own."""


def test_ctrl_c_in_a_terminal_reaches_no_process_that_is_asked_something() -> None:
    reached: list[str] = []
    for path in (path for package in OUT_OF_REACH for path in (SOURCE / package).rglob("*.py")):
        if path.name in INSIDE or "guest" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            starts = isinstance(node, ast.Call) and ast.unparse(node.func) in STARTS
            if starts and not {"start_new_session", "process_group"} & {word.arg for word in node.keywords}:
                reached.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert reached == []


def test_a_held_ctrl_c_leaves_the_terminal_whole(folder: Path) -> None:
    ended = sound(typed((*EVOLVE, "--evaluations", "100000"), folder, press=CTRL_C * 4, once="evolving", after_s=0.3))
    assert ended.code == 130, ended.text
    assert "heredity resume out" in ended.text
    assert ended.raw.count("\x1b[?25h") == ended.raw.count("\x1b[?25l"), "the cursor is shown again"
