from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.ids import NAME_PATTERN, canonical_json, digest_bytes, digest_json, generator, seed_sequence

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('aä\n"', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_equal_values_have_equal_bytes_and_the_bytes_are_json(value: object) -> None:
    assert json.loads(canonical_json(value)) == value
    assert digest_json(value) == digest_json(json.loads(canonical_json(value)))


def test_the_order_of_keys_does_not_matter_and_that_of_lists_does() -> None:
    assert canonical_json({"b": 1, "a": [2, 1]}) == b'{"a":[2,1],"b":1}'
    assert digest_json({"a": 1, "b": 2}) == digest_json({"b": 2, "a": 1})
    assert digest_json([1, 2]) != digest_json([2, 1])
    assert canonical_json("ä") == '"ä"'.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object()])
def test_what_is_not_json_has_no_digest(value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        digest_json(value)


def test_digests_are_sha256() -> None:
    assert digest_bytes(b"abc") == hashlib.sha256(b"abc").hexdigest()
    assert digest_bytes(memoryview(b"abc")) == digest_bytes(bytearray(b"abc"))


def test_a_named_sequence_is_the_same_on_every_machine() -> None:
    # Were these to change, no run could be repeated.
    assert generator(7, "method", "parametric").integers(0, 2**31, 4).tolist() == [
        478931795,
        513467616,
        416714887,
        1171433064,
    ]
    assert seed_sequence(7, "method", "parametric").generate_state(1).tolist() == [1465706405]


def test_names_and_entropy_each_make_another_sequence() -> None:
    paths = [(), ("a",), ("b",), ("a", "b"), ("ab",), ("a", 1), ("a", "1"), ("a", 2)]
    states = {tuple(seed_sequence(entropy, *path).generate_state(4)) for path in paths for entropy in (0, 1, 2**200)}
    assert len(states) == 3 * len(paths)


def test_a_generator_draws_what_its_sequence_says() -> None:
    own = np.random.Generator(np.random.PCG64(seed_sequence(3, "x")))
    assert generator(3, "x").random(5).tolist() == own.random(5).tolist()


@pytest.mark.parametrize("name", ["a", "CartPole-v1--random--s0", "0.x_y", "a" * 64])
def test_names_that_folders_may_have(name: str) -> None:
    assert NAME_PATTERN.fullmatch(name)


@pytest.mark.parametrize("name", ["", "-a", ".hidden", "a/b", "a b", "ä", "a" * 65, "a\n"])
def test_names_that_folders_may_not_have(name: str) -> None:
    assert not NAME_PATTERN.fullmatch(name)
