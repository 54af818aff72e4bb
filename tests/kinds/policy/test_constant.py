"""Programs that repeat one action: what they do in each kind of space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from heredity.engine.kind import KINDS
from heredity.kinds.policy.kind import MOST, constant_programs
from heredity.tasks.registry import taskset

BOX = {"type": "Box", "low": [-1.0, 0.5], "high": [1.0, 2.0], "shape": [2], "dtype": "float32"}
UNBOUNDED = {"type": "Box", "low": "-inf", "high": "inf", "shape": [2], "dtype": "float64"}
BYTES = {"type": "Box", "low": 3, "high": 9, "shape": [2, 1], "dtype": "uint8"}


def actions(space: dict[str, Any]) -> list[Any]:
    listed: list[Any] = []
    for program in constant_programs({"action_space": space}):
        names: dict[str, Any] = {}
        exec(program.text("policy.py"), names)
        policy = names["Policy"](None, None, {})
        policy.reset(0)
        listed.append(policy.act(None))
    return listed


@pytest.mark.parametrize(
    ("space", "null"),
    [
        ({"type": "Discrete", "n": 3}, 0),
        ({"type": "Discrete", "n": 3, "start": 5}, 5),
        (BOX, [0.0, 0.5]),
        (UNBOUNDED, [0.0, 0.0]),
        (BYTES, [[3], [3]]),
        ({"type": "MultiDiscrete", "nvec": [2, 3], "start": [1, 0]}, [1, 0]),
        ({"type": "MultiBinary", "n": 3}, [0, 0, 0]),
        ({"type": "Tuple", "spaces": [{"type": "Discrete", "n": 2}, {"type": "MultiBinary", "n": 1}]}, (0, [0])),
        ({"type": "Dict", "spaces": {"a": {"type": "Discrete", "n": 2}}}, {"a": 0}),
    ],
)
def test_the_null_action_is_zero_or_the_bound_next_to_it(space: dict[str, Any], null: Any) -> None:
    assert plain(actions(space)[0]) == null


def plain(action: Any) -> Any:
    if isinstance(action, np.ndarray):
        return action.tolist()
    if isinstance(action, tuple):
        return tuple(map(plain, action))
    return action


def test_a_few_choices_are_all_tried_and_of_many_the_first_and_the_last_are_among_them() -> None:
    assert actions({"type": "Discrete", "n": 3}) == [0, 1, 2]
    many = actions({"type": "Discrete", "n": 100})
    assert len(many) == MOST
    assert {0, 99} <= set(many)


@pytest.mark.parametrize("space", [BOX, BYTES, UNBOUNDED])
def test_all_actions_are_different_within_the_bounds_and_the_same_every_time(space: dict[str, Any]) -> None:
    listed = [np.asarray(action) for action in actions(space)]
    assert MOST // 2 < len({action.tobytes() for action in listed}) == len(listed) <= MOST + 1
    low, high = (np.reshape(np.asarray(space[key], float), -1) for key in ("low", "high"))
    assert all((action.ravel() >= low).all() and (action.ravel() <= high).all() for action in listed)
    assert [a.tobytes() for a in listed] == [np.asarray(a).tobytes() for a in actions(space)]


def test_a_space_without_numbers_has_none() -> None:
    assert constant_programs({"action_space": {"type": "Text"}}) == []


@pytest.mark.parametrize("name", ["gymnasium/CartPole-v1", "gymnasium/Pendulum-v1"])
def test_the_null_action_is_one_that_the_environment_takes(name: str) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    info = taskset(name).info
    null = KINDS.load(info.kind).candidates.constant(info)[0]
    names: dict[str, Any] = {}
    exec(null.parts["agent"].text("policy.py"), names)
    environment = gymnasium.make(name.partition("/")[2])
    assert environment.action_space.contains(names["Policy"](None, None, {}).act(None))
    environment.close()
