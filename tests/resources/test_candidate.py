from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import DamagedRecordError
from heredity.resources import Candidate, SourceTree

files = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.binary(max_size=16), max_size=3)
parts = st.dictionaries(st.sampled_from(["agent", "prompt", "memory", "tool"]), files, min_size=1, max_size=4)


def make(content: dict[str, dict[str, bytes]]) -> Candidate:
    return Candidate({name: SourceTree(tree) for name, tree in content.items()})


@given(parts)
def test_a_candidate_is_what_it_was_after_it_was_encoded(content: dict[str, dict[str, bytes]]) -> None:
    candidate = make(content)
    again = Candidate.from_bytes(candidate.to_bytes())
    assert again == candidate
    assert (again.digest, hash(again)) == (candidate.digest, hash(candidate))
    assert dict(again.parts) == dict(candidate.parts)
    assert make(dict(reversed(content.items()))).to_bytes() == candidate.to_bytes()


@given(parts, parts)
def test_candidates_are_equal_if_and_only_if_their_parts_are(one: dict, other: dict) -> None:
    assert (make(one) == make(other)) == (make(one).digest == make(other).digest) == (one == other)


def test_a_program_is_one_part() -> None:
    tree = SourceTree({"policy.py": "x = 1"})
    candidate = Candidate.program(tree)
    assert candidate.agent == tree
    assert candidate != tree
    assert candidate.digest != tree.digest
    with pytest.raises(KeyError):
        _ = make({"prompt": {}}).agent


def test_a_part_under_another_name_is_another_candidate() -> None:
    assert make({"agent": {"a": b""}}) != make({"prompt": {"a": b""}})


def test_parts_cannot_be_changed() -> None:
    given = {"agent": SourceTree({"a": b""})}
    candidate = Candidate(given)
    given["prompt"] = SourceTree({})
    assert list(candidate.parts) == ["agent"]
    with pytest.raises(TypeError):
        candidate.parts["prompt"] = SourceTree({})  # type: ignore[index]


@pytest.mark.parametrize("data", [b"", b"nonsense", SourceTree({}).to_bytes(), SourceTree({"agent": b"x"}).to_bytes()])
def test_bytes_that_are_no_candidate_are_damage(data: bytes) -> None:
    with pytest.raises(DamagedRecordError):
        Candidate.from_bytes(data)
