from __future__ import annotations

from typing import Any

import pytest

from heredity._core.errors import CandidateError, ConfigError
from heredity.kinds.code.signature import Function, Signature, Type


def signature(returns: str, **parameters: str) -> Signature:
    return Signature((Function.parse({"name": "solve", "parameters": parameters, "returns": returns}, "signature"),))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", -(1 << 63)),
        ("float", 0.1),
        ("bool", True),
        ("string", "tür\n ☃"),
        ("string", ""),
        ("list[int]", []),
        ("list[list[string]]", [["a", ""], []]),
        ("tree", [1, None, 2]),
        ("tree", []),
        ("linked-list", [3, 3]),
    ],
)
def test_what_is_written_is_read_again(kind: str, value: Any) -> None:
    one = signature(kind, value=kind)
    text = one.encoded([value])
    assert one.decoded(text, [value]) == value
    assert text.isascii()


@pytest.mark.parametrize("kind", ["list[tree]", "list[none]", "integer", "list[list[list[list[int]]]]", ""])
def test_a_type_that_is_none_is_refused(kind: str) -> None:
    with pytest.raises(ConfigError, match="is unknown; give int"):
        Type.parse(kind)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("int", 1 << 63), ("int", True), ("float", float("nan")), ("bool", 1), ("string", 1), ("tree", 3)],
)
def test_a_case_that_does_not_fit_is_refused(kind: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=r"solve\.value is .*; its type is"):
        signature("int", value=kind).encoded([value])


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("int", ""),
        ("int", "1\n2"),
        ("int", "x"),
        ("int", str(1 << 63)),
        ("int", "9" * 5000),
        ("bool", "yes"),
        ("string", "abc"),
        ("string", "xzz"),
        ("list[int]", "2\n1"),
        ("list[int]", "-1\n1"),
        ("list[int]", "1000000000000\n1"),
        ("tree", "2\n1\nx"),
    ],
)
def test_an_answer_that_is_none_is_the_candidates(kind: str, answer: str) -> None:
    with pytest.raises(CandidateError, match="the answer"):
        signature(kind).decoded(answer, [])


def test_calls_of_a_class_are_its_constructor_first() -> None:
    made = Function.parse({"name": "init", "parameters": {"room": "int"}}, "s")
    put = Function.parse({"name": "put", "parameters": {"word": "string"}}, "s")
    get = Function.parse({"name": "get", "returns": "list[string]"}, "s")
    one = Signature((made, put, get), "Shelf")
    case = [["init", 2], ["put", "a"], ["get"]]
    assert one.encoded(case).split() == ["3", "0", "2", "1", "x61", "2"]
    assert one.decoded("1\nx61\n", case) == [None, ["a"]]
    with pytest.raises(ConfigError, match="the first is init"):
        one.encoded([["put", "a"]])
