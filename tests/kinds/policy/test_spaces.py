from __future__ import annotations

import json

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from heredity.kinds.policy.environments.spaces import action_from_json, describe_space, zero_action

EVERY_KIND = spaces.Dict(
    {
        "box": spaces.Box(np.array([-1.0, -np.inf]), np.array([1.0, np.inf]), dtype=np.float64),
        "pixels": spaces.Box(0, 255, (2, 2, 3), np.uint8),
        "pick": spaces.Discrete(3, start=5),
        "grid": spaces.MultiDiscrete([2, 3]),
        "bits": spaces.MultiBinary((2, 2)),
        "pair": spaces.Tuple((spaces.Discrete(2), spaces.Text(4, min_length=1, charset="ab"))),
    }
)


def test_every_kind_is_described_as_json():
    described = describe_space(EVERY_KIND)
    assert json.loads(json.dumps(described, allow_nan=False)) == described
    parts = described["spaces"]
    assert parts["box"] == {
        "type": "Box",
        "low": [-1.0, "-inf"],
        "high": [1.0, "inf"],
        "shape": [2],
        "dtype": "float64",
    }
    assert parts["pixels"] == {"type": "Box", "low": 0, "high": 255, "shape": [2, 2, 3], "dtype": "uint8"}
    assert parts["pick"] == {"type": "Discrete", "n": 3, "start": 5}
    assert parts["grid"]["nvec"] == [2, 3]
    assert parts["bits"] == {"type": "MultiBinary", "n": [2, 2]}
    assert parts["pair"]["spaces"][1] == {"type": "Text", "min_length": 1, "max_length": 4, "characters": "ab"}


def test_equal_bounds_become_one_number_even_when_infinite():
    assert describe_space(spaces.Box(-np.inf, np.inf, (3,)))["low"] == "-inf"


def test_an_unknown_kind_keeps_its_name_and_no_address():
    class Odd(spaces.Space):
        def __repr__(self) -> str:
            return "Odd(<function f at 0x7f02d9156ac0>)"

    assert describe_space(Odd()) == {"type": "Odd", "repr": "Odd(<function f>)"}


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=5))
def test_bounds_survive_json_exactly(values: list[float]):
    low = np.array(values, dtype=np.float32)
    described = json.loads(json.dumps(describe_space(spaces.Box(low, low + np.float32(1e6), dtype=np.float32))))
    assert np.array_equal(np.broadcast_to(np.array(described["low"], dtype=np.float32), low.shape), low)


@pytest.mark.parametrize("space", [EVERY_KIND, spaces.Box(2.0, 3.0, (2,)), spaces.Discrete(2, start=-1)], ids=str)
def test_a_zero_action_is_inside_its_space(space: spaces.Space):
    assert space.contains(zero_action(space))


def test_an_action_comes_back_from_json():
    space = spaces.Tuple((spaces.Box(-1, 1, (2,)), spaces.Discrete(3), spaces.Dict(a=spaces.MultiBinary(2))))
    action = action_from_json(space, [[0.5, -1], 2, {"a": [0, 1]}])
    assert space.contains(action)
