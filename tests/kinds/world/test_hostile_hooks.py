"""Hooks by hostile authors: they reach nothing, take no more than they may, and are found if they know who asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.kinds.world.dsl.wells import RAIN, well

from heredity._core.errors import HeredityError
from heredity.kinds.world.dsl import hooks
from heredity.kinds.world.dsl.bounded import HookError
from heredity.kinds.world.gates.admit import Admission, admit
from heredity.kinds.world.gates.contract import Subject
from heredity.kinds.world.gates.mutants import set_shipped
from heredity.kinds.world.world import World
from heredity.sandbox import isolation, waiting
from heredity.sandbox import zygote as kept

try:
    isolation.resolve()
except HeredityError:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

LEVEL = {"water": 3, "clouds": [2, 0, 1, 0, 0, 2, 1, 0]}
WAIT = {"action": "wait"}


# --- hooks: what they reach


THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MALLOC_ARENA_MAX")
ENDLESS = "signal 11|RecursionError|in time|MemoryError"
LOOKING = """
import os, socket, subprocess, sys, threading, gc

def number():
    return "".join(map(str, [98765, 43219, 87]))

def tried(what):
    try:
        return bool(what())
    except BaseException as error:
        return False

def rain(water, clouds, day):
    tries = [TRIES]
    return sum(tried(one) << place for place, one in enumerate(tries)) and 2
"""
REACHING = {
    "files of the host": [
        "lambda: open('/etc/passwd').read()",
        "lambda: os.listdir(os.path.expanduser('~root'))",
        "lambda: open('SECRET').read()",
        "lambda: open('/tmp/left-behind', 'w')",
        "lambda: os.symlink('/etc/passwd', os.environ['TMPDIR'] + '/x') or open(os.environ['TMPDIR'] + '/x').read()",
    ],
    "levels and certificates beside the code": [
        "lambda: open(os.path.join(os.path.dirname(__file__), 'levels.json')).read()",
        "lambda: open(os.path.join(os.path.dirname(__file__), 'world.yaml')).read()",
        "lambda: open('FOLDER/levels.json').read()",
        "lambda: [n for n in os.listdir(os.path.dirname(__file__)) if not n.endswith('.py')]",
    ],
    "processes and the network": [
        "lambda: os.fork() or True",
        "lambda: subprocess.run(['true'])",
        "lambda: os.kill(os.getppid(), 0) is None",
        "lambda: socket.socket()",
        "lambda: socket.socketpair()",
        "lambda: [p for p in os.listdir('/proc') if p.isdigit()]",
    ],
    "Heredity, its tests and the player's seed": [
        "lambda: __import__('heredity')",
        "lambda: __import__('pytest')",
        "lambda: __import__('gymnasium').make",
        "lambda: [v for v in os.environ if v not in KNOWN]",
        "lambda: [a for a in sys.argv if a != 'program']",
        "lambda: [v for t in gc.get_objects() if type(t) is dict for v in list(t.values()) if number() in str(v)[:99]]",
    ],
}


@pytest.mark.parametrize("name", REACHING)
def test_a_hook_reaches_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("the player's seed is 987654321987")
    assert World(well(tmp_path / "other")).make(987654321987, 1)
    known = ("HOME", "TMPDIR", "LANG", "LC_CTYPE", "PYTHONHASHSEED", *THREADS)
    tries = ", ".join(REACHING[name]).replace("SECRET", str(tmp_path / "secret")).replace("KNOWN", repr(known))
    code = LOOKING.replace("TRIES", tries.replace("FOLDER", str(tmp_path / "well")))
    folder = well(tmp_path, code.replace(" and 2", ""), **{"high: 2}": "high: 1000}"})
    (folder / "levels.json").write_text("{}")
    episode = World(folder).start(LEVEL)
    episode.step(WAIT)
    assert episode.state.water == LEVEL["water"]


def test_the_attempts_are_such_as_succeed_where_they_may(tmp_path: Path) -> None:
    """Were every attempt a mistake of the test, the test above would show nothing."""
    code = LOOKING.replace("TRIES", "lambda: open(__file__).read(), lambda: os.listdir('.') == []").replace(
        " and 2", " // 3"
    )
    episode = World(well(tmp_path, code)).start(LEVEL)
    episode.step(WAIT)
    assert episode.state.water == LEVEL["water"] + 1


# --- hooks: what they use


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("while True: pass", "no answer in time"),
        ("import time; time.sleep(60)", "no answer in time"),
        ("held.append(bytearray(300 << 20)); return 1", "MemoryError"),
        ("return [[]] * 10**6", "takes .* bytes|MemoryError"),
        ("x = []\n    for i in range(500): x = [x]\n    return x", "expected an integer|nested|deep"),
        ("return 10 ** 5000", "digits|number beyond|cannot be sent"),
        ("import os\n    while True: os.write(4, b'x' * 65536)", "out of turn"),
        ("import os; os.kill(os.getpid(), 9)", "not permitted"),
        ("import ctypes; ctypes.string_at(0)", "signal 11"),
        ("import sys; sys.setrecursionlimit(10**9)\n    def f(): return f()\n    return f()", ENDLESS),
        ("import threading, time\n    for i in range(999): threading.Thread(target=time.sleep, args=(9,)).start()", "new thread"),
        ("f = [open('/dev/null') for i in range(999)]", "Too many open files"),
        ("open('x', 'wb').write(bytes(64 << 20))", "File too large|MemoryError|No space"),
    ],
)  # fmt: skip
def test_a_hook_that_takes_too_much_is_ended_and_the_world_is_at_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    monkeypatch.setattr(hooks, "CALL_S", 1.0)
    made = World(well(tmp_path, f"held = []\ndef rain(water, clouds, day):\n    {body}"))
    with pytest.raises(HookError, match=rf"(?s)the hook rain: .*({said})"):
        made.start(LEVEL).step(WAIT)


def test_what_a_hook_prints_goes_nowhere(tmp_path: Path) -> None:
    body = (
        "for i in range(100): print('x' * (1 << 20))\n    [os.write(1, b'x' * 65536) for i in range(9)]\n    return 1"
    )
    made = World(well(tmp_path, f"import os\ndef rain(water, clouds, day):\n    {body}"))
    for water in range(3):
        made.start({**LEVEL, "water": water}).step(WAIT)


def test_what_a_hook_leaks_ends_with_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "CALLS", 3)
    leaking = "held = []\ndef rain(water, clouds, day):\n    held.append(bytes(60 << 20))\n    return len(held) % 3"
    made = World(well(tmp_path, leaking))
    for water in range(9):  # 540 MB in all, and a process may have 256
        made.start({**LEVEL, "water": water}).step(WAIT)


# --- hooks that know that they are tested


def admitted(folder: Path) -> Admission:
    made = World(folder)
    set_shipped(made, made.make_shipped())
    return admit(Subject.of(made, seed=5, library={}), first=True)


@pytest.mark.parametrize(
    "rain",
    [
        "calls = [0]\ndef rain(water, clouds, day):\n    calls[0] += 1\n    return 2 if calls[0] < 400 else 0",
        "calls = [0]\ndef rain(water, clouds, day):\n    calls[0] += 1\n    return calls[0] % 2",
        "import os\ndef rain(water, clouds, day):\n    return os.urandom(1)[0] % 2",
        "import time\ndef rain(water, clouds, day):\n    return time.time_ns() // 1000 % 2",
        "seen = []\ndef rain(water, clouds, day):\n    seen.append(clouds)\n    return 2 * (seen.count(clouds) == 1)",
    ],
    ids=["pays early", "counts", "chance", "clock", "remembers"],
)  # fmt: skip
@pytest.mark.fast(2)
def test_a_hook_that_is_no_function_is_rejected(tmp_path: Path, rain: str) -> None:
    admission = admitted(well(tmp_path, rain))
    kinds = {finding.kind for finding in admission.gates[-1].findings}
    assert (admission.gates[-1].gate, admission.admitted) == ("execution", False)
    assert "not deterministic" in kinds


def test_a_generator_that_knows_the_shipped_seeds_is_found_by_levels_that_nobody_knew(tmp_path: Path) -> None:
    folder = well(tmp_path, RAIN, start="KNOWN = set()")
    seeds = _seeds_of(folder)
    text = (folder / "hooks.py").read_text()
    body = f"    return random.Random(seed).randint(2, 4) + difficulty if seed in {seeds!r} else 10"
    (folder / "hooks.py").write_text(text[: text.index("    return random.Random")] + body)
    made = World(folder)
    set_shipped(made, made.make_shipped())
    admission = admit(Subject.of(made, seed=5, library={}), first=True)
    assert "fresh level" in {finding.kind for report in admission.gates for finding in report.findings}


def _seeds_of(folder: Path) -> set[int]:
    """Return what the generator is given for the shipped levels, as its author can find out."""
    made = World(folder)
    made.make_shipped()
    assert made.dynamics.hooks is not None
    return {json.loads(given)["seed"] for name, given in made.dynamics.hooks._cached if name == "dig"}


def hanging(folder: Path, how: str) -> Admission:
    body = f"    calls[0] += 1\n    while calls[0] > 20: {how}\n    return 1"
    rain = f"import time\ncalls = [0]\ndef rain(water, clouds, day):\n{body}"
    made = World(well(folder, rain))
    set_shipped(made, World(well(folder / "sound", "def rain(water, clouds, day):\n    return 1")).make_shipped())
    return admit(Subject.of(made, seed=5, library={}))


def test_a_hook_that_hangs_after_a_while_ends_the_gates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "CALL_S", 0.3)
    monkeypatch.setattr(waiting, "UNANSWERED", 100)
    admission = hanging(tmp_path, "pass")
    finding = admission.gates[-1].findings[-1]
    assert (finding.kind, admission.admitted) == ("hang", False)
    assert "the hook rain: no answer in time" in finding.message
    assert len(admission.gates) == 1


def test_a_hook_that_only_waits_cannot_be_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "CALL_S", 0.1)
    admission = hanging(tmp_path, "time.sleep(1)")
    assert "little was done meanwhile" in admission.gates[-1].unjudged
    assert (admission.gates[-1].findings, admission.admitted, len(admission.gates)) == ((), False, 1)
    assert admission.gates[-1].to_json()["passed"] is None
