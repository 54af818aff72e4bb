from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heredity._core.errors import UnknownNameError
from heredity.attacks import ATTACKS, run_attacks
from heredity.attacks.suite import LIMITS, judge
from heredity.engine.trajectory import Trajectory
from heredity.sandbox import isolation

BROKEN = re.compile(r"NameError|SyntaxError|IndentationError|UnboundLocalError|kit\.py")
CLEAN = Trajectory("train/0", "c", "ok", "none", 4.0, 4, False, {"info/foreign": np.zeros(4, dtype=bool)})


@pytest.fixture(scope="session")
def attempts() -> dict[str, dict[str, Any]]:
    return {a["name"]: a for a in run_attacks()["attempts"]}


@pytest.mark.parametrize("name", [attack.name for attack in ATTACKS])
def test_the_sandbox_stops(name: str, attempts: dict[str, dict[str, Any]]) -> None:
    attempt = attempts[name]
    assert not attempt["succeeded"], attempt["detail"]
    assert not BROKEN.search(attempt["detail"]), f"the attack itself is broken: {attempt['detail']}"


def test_there_are_at_least_forty_kinds_of_attack_with_names_of_their_own() -> None:
    assert len(ATTACKS) >= 45
    assert len({a.name for a in ATTACKS}) == len(ATTACKS)


def test_forged_frames_have_the_form_that_the_host_expects(attempts: dict[str, dict[str, Any]]) -> None:
    # The attack sends whole frames before it is asked; if they did not look like answers it would end as an error.
    assert attempts["answer-before-asked"]["outcome"] == "ok"


@pytest.fixture(scope="module")
def undefended() -> dict[str, dict[str, Any]]:
    names = [
        "read-secret",
        "read-sealed-cases",
        "read-other-program",
        "read-heredity",
        "list-folders",
        "follow-links",
        "write-records",
        "tcp",
        "udp",
        "unix-socket",
        "abstract-socket",
        "socket-pair",
        "every-socket-family",
        "memory-files",
        *(["fork"] if os.geteuid() == 0 else []),  # the number of processes is bounded by itself for other users
        "neighbours",
        "import-by-path",
        "load-libraries",
        "process-files",
    ]
    nothing = isolation.Isolation(namespaces=False, landlock=False, seccomp=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isolation, "resolve", lambda *, unsafe=False: nothing)
        return {a["name"]: a for a in run_attacks(names=names)["attempts"]}


@pytest.mark.slow
def test_without_isolation_the_same_attacks_succeed_and_are_seen(undefended: dict[str, dict[str, Any]]) -> None:
    missed = [f"{name}: {a['outcome']}, {a['detail']}" for name, a in undefended.items() if not a["succeeded"]]
    assert not missed


@pytest.mark.parametrize(
    ("name", "evidence"),
    [
        ("read-secret", "a secret came out"),
        ("write-records", "a file of the host was changed"),
        ("tcp", "a listener of the host was reached"),
        ("abstract-socket", "a listener of the host was reached"),
        ("fork", "made process"),
    ],
)
def test_what_the_host_sees_is_the_evidence(name: str, evidence: str, undefended: dict[str, dict[str, Any]]) -> None:
    if name not in undefended:
        pytest.skip("only root can do it where nothing confines it")
    assert evidence in undefended[name]["detail"]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"failure_source": "host", "status": "host_error"}, "the failure is laid on the host"),
        ({"failure_source": "environment", "status": "environment_error"}, "the failure is laid on the environment"),
        ({"total_reward": 100.0}, "100.0 of reward"),
        ({"length": 9, "total_reward": 9.0}, "9.0 of reward in 9 steps"),
        ({"columns": {"info/foreign": np.array([False, True])}}, "an action that its space does not hold"),
        ({"stdout": "x" * (LIMITS.output_bytes + 1)}, "beyond the limit"),
        ({"seconds": 3600.0}, "it went on for"),
    ],
)
def test_an_episode_that_shows_a_breach_is_judged_so(changed: dict[str, Any], reason: str) -> None:
    assert judge(ATTACKS[0], CLEAN, LIMITS) == []
    (breach,) = judge(ATTACKS[0], replace(CLEAN, **changed), LIMITS)
    assert reason in breach


def test_an_attack_that_has_to_be_stopped_by_the_clock_must_be() -> None:
    endless = next(a for a in ATTACKS if a.name == "loop-in-act")
    assert judge(endless, CLEAN, LIMITS) == ["it ended as ok rather than init_timeout or rollout_timeout"]


def test_an_unknown_attack_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="read-shadow"):
        run_attacks(names=["read-shadows"])


def test_an_attack_leaves_nothing_on_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run_attacks(names=["disk-flood", "deep-folders"])
    assert list(tmp_path.iterdir()) == []
