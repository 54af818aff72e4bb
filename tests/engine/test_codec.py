from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from heredity.sandbox.guest.codec import Codec, InvalidValueError, leaves_of

Space = dict[str, Any]

DTYPES = [
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
]
SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=3)


@st.composite
def boxes(draw: st.DrawFn) -> tuple[Space, st.SearchStrategy[Any]]:
    dtype, shape = np.dtype(draw(st.sampled_from(DTYPES))), draw(SHAPES)
    space = {"type": "Box", "low": 0, "high": 1, "shape": list(shape), "dtype": str(dtype)}
    return space, arrays.arrays(dtype, shape)


@st.composite
def small(draw: st.DrawFn) -> tuple[Space, st.SearchStrategy[Any]]:
    kind = draw(st.sampled_from(["Discrete", "MultiDiscrete", "MultiBinary", "Text"]))
    size = draw(st.integers(1, 4))
    if kind == "Discrete":
        return {"type": kind, "n": 9, "start": 0}, st.integers(-(2**63), 2**63 - 1)
    if kind == "MultiDiscrete":
        return {"type": kind, "nvec": [5] * size, "dtype": "int64"}, arrays.arrays(np.int64, (size,))
    if kind == "MultiBinary":
        return {"type": kind, "n": size}, arrays.arrays(np.int8, (size,))
    return {"type": kind, "min_length": 0, "max_length": 9}, st.text(max_size=9)


Pairs = st.SearchStrategy[tuple[Space, st.SearchStrategy[Any]]]


def nested(inner: Pairs) -> Pairs:
    @st.composite
    def dicts(draw: st.DrawFn) -> tuple[Space, st.SearchStrategy[Any]]:
        parts = draw(
            st.dictionaries(st.sampled_from(["image", "direction", "a b", "ü"]), inner, min_size=1, max_size=3)
        )
        space = {"type": "Dict", "spaces": {k: s for k, (s, _) in parts.items()}}
        return space, st.fixed_dictionaries({k: v for k, (_, v) in parts.items()})

    @st.composite
    def tuples(draw: st.DrawFn) -> tuple[Space, st.SearchStrategy[Any]]:
        parts = draw(st.lists(inner, min_size=1, max_size=3))
        return {"type": "Tuple", "spaces": [s for s, _ in parts]}, st.tuples(*(v for _, v in parts))

    return st.one_of(dicts(), tuples())


SPACES: Pairs = st.recursive(st.one_of(boxes(), small()), nested, max_leaves=5)


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[k], other[k]) for k in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return type(one) is type(other) and one == other


@given(st.data())
def test_observations_come_back_as_they_were(data: st.DataObject) -> None:
    space, values = data.draw(SPACES)
    sender, receiver = Codec(space), Codec(space)
    for value in data.draw(st.lists(values, min_size=1, max_size=3)):
        encoded = sender.encode_exact(value)
        assert encoded is not None
        assert len(encoded) == sender.nbytes
        receiver.texts += sender.fresh
        sender.fresh.clear()
        assert equal(receiver.decode(encoded), value)
        assert equal(receiver.decode(bytearray(b"head" + encoded), 4), value)


@given(st.data())
def test_columns_hold_every_leaf_of_every_value(data: st.DataObject) -> None:
    space, values = data.draw(SPACES)
    codec = Codec(space)
    drawn = data.draw(st.lists(values, min_size=1, max_size=4))
    encoded = [codec.encode_exact(value) for value in drawn]
    columns = codec.columns(b"".join(e for e in encoded if e is not None), len(drawn))
    leaves = leaves_of(space)
    assert leaves is not None
    assert list(columns) == [leaf.name for leaf in leaves]
    for leaf in leaves:
        for t, value in enumerate(drawn):
            for key in leaf.path:
                value = value[key]
            entry = columns[leaf.name][t]
            assert equal(entry, value) or entry == value or np.asarray(entry).tobytes() == np.asarray(value).tobytes()


@given(st.data())
def test_actions_of_the_right_type_are_encoded_as_observations_are(data: st.DataObject) -> None:
    space, values = data.draw(SPACES)
    codec = Codec(space, texts=False)
    value = data.draw(values)
    if codec.leaves is None or not finite(value):
        return
    assert codec.coerce(value) == Codec(space).encode_exact(value)


def finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    if isinstance(value, tuple):
        return all(map(finite, value))
    return not isinstance(value, str) and bool(np.isfinite(value).all())


BOX = {"type": "Box", "low": -1, "high": 1, "shape": [2], "dtype": "float32"}
DISCRETE = {"type": "Discrete", "n": 4, "start": 0}


@pytest.mark.parametrize(
    ("space", "value", "message"),
    [
        (DISCRETE, float("nan"), "must be finite"),
        (DISCRETE, 1.5, "must be an integer"),
        (DISCRETE, "left", "must be numeric"),
        (DISCRETE, None, "must be numeric"),
        (DISCRETE, [1, 2], "must have shape"),
        (DISCRETE, 10**30, "must be numeric"),
        (BOX, [0.0], "must have shape"),
        (BOX, [[0.0, 0.0], [0.0, 0.0]], "must have shape"),
        (BOX, [0.0, float("inf")], "must be finite"),
        (BOX, [1j, 0], "must be numeric"),
        ({"type": "Dict", "spaces": {"move": BOX}}, {"stay": 0}, "no part 'move'"),
        ({"type": "Tuple", "spaces": [BOX, DISCRETE]}, ([0, 0],), "no part '1'"),
    ],
)
def test_an_action_that_cannot_be_one_is_refused_with_its_reason(space: Space, value: Any, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Codec(space, texts=False).coerce(value)


@pytest.mark.parametrize("value", [2, 2.0, np.int8(2), np.array(2), np.array([2]), [2], True])
def test_an_integer_is_taken_in_every_form(value: Any) -> None:
    assert int.from_bytes(Codec(DISCRETE).coerce(value), "little", signed=True) == int(np.asarray(value).item())


def test_an_observation_of_another_type_or_shape_is_not_encoded() -> None:
    codec = Codec(BOX)
    assert codec.encode_exact(np.zeros(2, np.float64)) is None
    assert codec.encode_exact(np.zeros(3, np.float32)) is None
    assert codec.encode_exact([0.0, 0.0]) is None


def test_a_text_is_sent_once() -> None:
    codec = Codec({"type": "Text", "max_length": 40})
    assert codec.encode_exact("reach the goal") == codec.encode_exact("reach the goal")
    assert codec.fresh == ["reach the goal"]


def test_actions_with_texts_travel_as_json() -> None:
    space = {"type": "Dict", "spaces": {"word": {"type": "Text", "max_length": 9}, "move": BOX}}
    codec = Codec(space, texts=False)
    assert codec.leaves is None
    data = codec.coerce({"word": "hé", "move": np.array([0.5, 1.0], np.float32)})
    assert json.loads(data[4:]) == {"word": "hé", "move": [0.5, 1.0]}
    assert int.from_bytes(data[:4], "little") == len(data) - 4


def test_a_space_without_a_fixed_size_has_no_leaves() -> None:
    assert Codec({"type": "Sequence", "repr": "Sequence(Discrete(2))"}).leaves is None
