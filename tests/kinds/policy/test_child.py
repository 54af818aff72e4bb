from __future__ import annotations

import contextlib
import math
import re
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kinds.policy import odd
from tests.kinds.policy.faulty import Sound

from heredity._core.errors import ConfigError, HostError
from heredity.kinds.policy.environments import child, environment_spec, make
from heredity.kinds.policy.environments.child import TIMEOUT_VARIABLE, ChildEnvironment, EnvironmentFailedError
from heredity.kinds.policy.environments.conformance import check_spec
from heredity.kinds.policy.environments.spec import EnvironmentSpec
from heredity.kinds.policy.environments.wire import decode, encode

FAILING = {
    "ExitsInConstruct": "SystemExit",
    "VanishesInConstruct": "ended its process in make, with exit code 0",
    "ExitsInReset": r"SystemExit: 0 \(odd.py:\d+\)",
    "VanishesInReset": "ended its process in reset, with exit code 0; it printed last: the lamp went out",
    "VanishesInStep": "ended its process in step, with exit code 7",
    "SleepsInReset": f"reset took more than 5 s; make it faster, or set {TIMEOUT_VARIABLE} higher",
    "SpinsInStep": "step took more than 5 s",
    "Aborts": "its process was ended in step by SIGABRT",
    "Segfaults": "its process was ended in step by SIGSEGV",
    "KillsItself": "by SIGKILL, probably because it ran out of memory",
    "Alarms": "by SIGALRM",
    "LeavesAProcess": "ended its process in step, with exit code 3",
    "Recurses": "RecursionError",
    "TakesAllMemory": "MemoryError",
    "ReadsInput": "EOFError",
    "ClosesEverything": "ended its process|closed the channel of its process",
    "WritesEverywhere": "wrote to the channel of its process",
    "Interrupts": "KeyboardInterrupt",
    "RaisesWithoutText": "BadError: <its text raised ValueError>",
    "ReturnsFour": "ValueError: not enough values to unpack",
    "PaysAVector": "TypeError: only",
    "TellsAList": "the info is of type list, not dict",
    "ShowsAnObject": "is no number, text or array",
    "HasNoSpaces": "AttributeError|TypeError|AssertionError",
}
PLAYABLE = [
    "Quiet",
    "Forks",
    "Prints",
    "PaysNothingKnown",
    "TellsObjects",
    "HasAnOddSpace",
    "SettlesLate",
    "HashOrdered",
]


def odd_spec(name: str) -> EnvironmentSpec:
    entry = f"Odd{name}-v0"
    return EnvironmentSpec(
        f"tests.kinds.policy.odd:{entry}", "odd", entry, 10, 0.0, "", modules=("tests.kinds.policy.odd",), child=True
    )


def play(name: str) -> tuple[Any, list[Any]]:
    with contextlib.closing(make(odd_spec(name))) as env:
        first, _ = env.reset(seed=1)
        answers = []
        while not answers or not (answers[-1][2] or answers[-1][3]):
            answers.append(env.step(env.action_space.sample()))
    return first, answers


def test_every_odd_environment_is_tried():
    assert {*FAILING, *PLAYABLE} == {kind.__name__ for kind in [odd.Quiet, *odd.Quiet.__subclasses__()]}


@pytest.mark.parametrize("name", FAILING)
def test_what_an_environment_does_is_said_and_ends_its_process_at_most(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(TIMEOUT_VARIABLE, "5")
    with pytest.raises(HostError, match=FAILING[name]):
        play(name)


@pytest.mark.parametrize("name", PLAYABLE)
def test_what_is_merely_odd_is_played(name: str, capfd: pytest.CaptureFixture[str]):
    first, answers = play(name)
    assert np.shape(first) == (2,)
    assert len(answers) in (1, 3)
    assert capfd.readouterr() == ("", "")


def test_a_reward_that_is_no_number_and_an_info_of_objects_arrive():
    assert math.isnan(play("PaysNothingKnown")[1][0][1])
    info = play("TellsObjects")[1][0][4]
    assert info["where"].startswith("<")
    assert (info["big"], info["half"], info[3]) == (str(1 << 200), "\ud800", np.float32(0.5))


def test_a_space_of_another_class_asks_the_process():
    with contextlib.closing(make(odd_spec("HasAnOddSpace"))) as env:
        assert env.action_space.contains({"move": "ahead", "speed": 1})
        assert not env.action_space.contains({"move": "back", "speed": 1})


def test_an_environment_in_a_child_plays_as_it_does_here():
    spec = environment_spec("tests.kinds.policy.faulty:Sound-v0")
    assert spec.child
    here = Sound()
    with contextlib.closing(make(spec)) as env:
        np.testing.assert_array_equal(env.reset(seed=5)[0], here.reset(seed=5)[0])
        for action in (0, 1, 1):
            mine, other = env.step(action), here.step(action)
            np.testing.assert_array_equal(mine[0], other[0])
            assert mine[1:] == other[1:]


@pytest.mark.parametrize(
    ("name", "what", "complaint"),
    [
        ("ExitsInReset", "reset", "SystemExit"),
        ("VanishesInReset", "reset", "exit code 0"),
        ("SpinsInStep", "step", "took more than 5 s"),
        ("HashOrdered", "processes", "PYTHONHASHSEED 0 and 1.*sort what comes from a set"),
        ("ExitsInConstruct", "make", "SystemExit"),
    ],
)
def test_the_check_names_what_an_environment_did(name: str, what: str, complaint: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(TIMEOUT_VARIABLE, "5")
    last = check_spec(odd_spec(name), steps=10)[-1]
    assert (last.name, last.passed) == (what, False)
    assert re.search(complaint, last.detail)


def test_a_module_that_ends_its_process_is_refused(tmp_path: Path):
    (tmp_path / "leaving.py").write_text("import os\nos.write(1, b'so long')\nos._exit(0)\n")
    with pytest.raises(HostError, match="ended its process in make, with exit code 0; it printed last: so long"):
        environment_spec(f"{tmp_path}/leaving.py:Leaving-v0")


@pytest.mark.parametrize("given", ["0", "-1", "nan", "soon", "inf"])
def test_a_limit_that_is_no_time_is_refused(given: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(TIMEOUT_VARIABLE, given)
    with pytest.raises(ConfigError, match=f"{TIMEOUT_VARIABLE} is '{given}'"):
        child.timeout_s()


def test_nothing_of_a_process_remains_when_it_is_closed():
    env = make(odd_spec("Quiet"))
    assert isinstance(env, ChildEnvironment)
    pid = env._child._process.pid
    env.close()
    assert not Path(f"/proc/{pid}").exists()


def test_a_failed_environment_says_so_again():
    env = make(odd_spec("VanishesInReset"))
    for complaint in ("exit code 0", "ended before"):
        with pytest.raises(EnvironmentFailedError, match=complaint):
            env.reset(seed=1)
    env.close()


GRAPH = spaces.GraphInstance(np.zeros((2, 1), np.float32), None, None)


@pytest.mark.parametrize(
    "value",
    [None, True, 3, -1.5, float("inf"), "text", "\ud800", b"bytes", (1, (2.0, [3])), {"a": {1: "b"}}, np.float32(0.5)],
)
def test_values_arrive_as_they_are(value: Any):
    again = decode(encode(value))
    assert again == value
    assert type(again) is type(value)


@pytest.mark.parametrize("kind", ["<f4", ">f8", "|u1", "?", "<U3", "<c8"])
def test_arrays_arrive_as_they_are(kind: str):
    for array in (np.zeros((2, 3), kind), np.ones((), kind), np.zeros((0, 4), kind), np.ones((3, 2), kind).T):
        again = decode(encode(array))
        assert again.dtype == array.dtype
        assert again.flags.writeable
        np.testing.assert_array_equal(again, array)


def test_a_graph_arrives_as_one():
    again = decode(encode(GRAPH))
    assert isinstance(again, spaces.GraphInstance)
    assert again.nodes.shape == (2, 1)


@settings(max_examples=200)
@given(st.binary(max_size=64))
def test_no_bytes_do_more_than_be_refused(data: bytes):
    with contextlib.suppress(ValueError):
        decode(data)


def test_an_array_of_objects_is_refused_at_either_end():
    with pytest.raises(TypeError, match="none of numbers"):
        encode(np.array([object()]))
    header = msgpack.packb(["|O", [1]])
    with pytest.raises(ValueError, match="malformed"):
        decode(msgpack.packb(msgpack.ExtType(1, header + bytes(8))))
