from __future__ import annotations

from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.experiments.config import cells
from heredity.experiments.evolvers import Evolver, build_evolver, initial_candidate
from heredity.protocols.policy_evolution.protocol import BRIEFING
from heredity.tasks.registry import taskset

from .sample import config

INFO = taskset("gymnasium/CartPole-v1").info


def build(folder: Path, **evolver: object) -> Evolver:
    cell = cells(config(evolver={"method": None, **evolver}))[0]
    return build_evolver(cell, INFO, folder / "run", (folder / "sealed",), briefing=BRIEFING)


def test_a_method_is_replayed_and_described(tmp_path: Path) -> None:
    made = build(tmp_path, method="parametric", options={"step": 0.25})
    assert made.replay
    assert made.publisher is None
    assert made.description == {
        "name": "parametric",
        "kind": "method",
        "method": "parametric",
        "options": {"step": 0.25},
    }
    assert not (tmp_path / "run").exists()


def test_an_agent_is_not_replayed_and_its_feedback_is_published(tmp_path: Path) -> None:
    made = build(tmp_path, agent="my-agent --x")
    assert not made.replay
    assert made.publisher is not None
    assert (made.description["kind"], made.description["command"]) == ("agent", "my-agent --x")


@pytest.mark.parametrize(
    ("evolver", "message"),
    [
        ({"method": "parametrc"}, r"unknown method 'parametrc'; did you mean parametric\?"),
        ({"method": "parametric", "options": {"stp": 1}}, r"no option 'stp'; did you mean step"),
        ({"method": "parametric", "options": {"step": -1}}, r"method 'parametric': step = -1: expected greater than 0"),
        ({"method": "random", "initial": "/nowhere/at/all"}, r"/nowhere/at/all does not exist"),
        ({"agent": "x", "read_only": ["/nowhere/at/all"]}, r"read_only names '/nowhere/at/all', which is not a folder"),
        ({"agent": "x", "devices": ["/dev/nvidia9"]}, r"devices names '/dev/nvidia9', which is not a device here"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(tmp_path: Path, evolver: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build(tmp_path, **evolver)


def test_a_program_needs_a_policy(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("x = 1")
    with pytest.raises(ConfigError, match=r"evolver\.initial, .* has no policy\.py"):
        initial_candidate(cells(config(evolver={"initial": str(tmp_path)}))[0], INFO)
    (tmp_path / "policy.py").write_text("x = 2")
    candidate = initial_candidate(cells(config(evolver={"initial": str(tmp_path)}))[0], INFO)
    assert dict(candidate.agent) == {"main.py": b"x = 1", "policy.py": b"x = 2"}


def test_an_unknown_environment_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean .*CartPole-v1"):
        taskset("gymnasium/CartPol-v1")
    with pytest.raises(UnknownNameError, match=r"did you mean gymnasium/CartPole-v1"):
        taskset("CartPole-v1")
