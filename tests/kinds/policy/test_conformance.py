from __future__ import annotations

import gymnasium
import pytest
from tests.kinds.policy import faulty

from heredity.kinds.policy.environments.conformance import check_environment


def made(kind: type[faulty.Sound], horizon: int | None = 50):
    def make():
        env = kind()
        env.spec = gymnasium.spec("Sound-v0")
        return gymnasium.wrappers.TimeLimit(env, horizon) if horizon else env

    return make


def failed(kind: type[faulty.Sound], **options) -> dict[str, str]:
    return {f.name: f.detail for f in check_environment(made(kind), steps=120, **options) if not f.passed}


def test_a_sound_environment_passes_every_check():
    findings = check_environment(made(faulty.Sound), steps=120)
    assert all(f.passed for f in findings), findings
    assert len(findings) == 12


@pytest.mark.parametrize(
    ("kind", "names", "hint"),
    [
        (faulty.Leaky, {"repeat", "hidden state"}, "differ"),
        (faulty.Unseeded, {"seeding", "repeat", "hidden state"}, "differ from the first observation"),
        (faulty.Outside, {"observations"}, "outside"),
        (faulty.Infinite, {"rewards"}, "nan"),
        (faulty.Aliased, {"aliasing"}, "return a copy"),
        (faulty.Mistyped, {"contract"}, "int, not bool"),
        (faulty.Constant, {"different seeds"}, "declare it constant"),
        (faulty.Unclosable, {"close"}, "closed already"),
    ],
)
def test_each_fault_fails_its_own_checks_and_no_other(kind: type[faulty.Sound], names: set[str], hint: str):
    failures = failed(kind)
    assert set(failures) == names
    assert all(hint in detail for detail in failures.values())


def test_a_constant_environment_passes_if_it_says_so():
    assert not failed(faulty.Constant, constant=True)


def test_an_environment_that_is_falsely_declared_constant_fails():
    assert set(failed(faulty.Sound, constant=True)) == {"different seeds"}


def test_an_error_of_the_environment_is_a_finding_with_its_file_and_line():
    failures = failed(faulty.Raising)
    assert set(failures) == {"step"}
    assert "the wheel came off" in failures["step"]
    assert "faulty.py:" in failures["step"]


def test_an_environment_that_cannot_be_made_is_a_finding():
    def broken():
        raise OSError("no such map")

    assert [(f.name, f.passed) for f in check_environment(broken)] == [("make", False)]


def test_an_episode_longer_than_declared_is_found():
    findings = check_environment(made(faulty.Overlong, horizon=None), steps=120)
    assert {f.name: f.detail for f in findings if not f.passed} == {
        "horizon": "an episode took 120 steps, but 50 are declared"
    }


def test_a_missing_horizon_is_found():
    findings = check_environment(faulty.Sound, steps=20)
    assert {f.name for f in findings if not f.passed} == {"horizon"}


def test_the_process_wide_generators_are_left_as_they_were():
    import random

    import numpy as np

    random.seed(3)
    np.random.seed(3)
    expected = random.random(), np.random.random()
    random.seed(3)
    np.random.seed(3)
    check_environment(made(faulty.Sound), steps=5)
    assert (random.random(), np.random.random()) == expected
