from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.engine.calling import check_arguments, run_tool
from heredity.resources import Registry, Store

SCHEMA = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "unit": {"enum": ["m", "s", 1]},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": ["number", "null"]}}}},
        "deep": {"type": "object", "required": ["y"], "additionalProperties": False, "properties": {"y": {}}},
    },
    "required": ["count"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "arguments",
    [
        {"count": 1},
        {"count": 3.0, "unit": "m"},
        {"count": 9, "unit": 1, "rows": [{"x": 1.5}, {"x": None}, {}]},
        {"count": 2, "deep": {"y": [object]}},
    ],
)
def test_what_the_schema_allows_passes(arguments: dict[str, Any]) -> None:
    check_arguments(SCHEMA, arguments, where="t")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "t has no count; it takes count, unit, rows, deep"),
        ({"count": 1, "cont": 2}, "t does not take cont"),
        ({"count": "1"}, "count of t must be integer, not '1'"),
        ({"count": True}, "must be integer"),
        ({"count": 1.5}, "must be integer"),
        ({"count": 0}, "must be at least 1 and at most 9, not 0"),
        ({"count": 1, "unit": "kg"}, "must be one of 'm', 's', 1"),
        ({"count": 1, "unit": True}, "must be one of"),
        ({"count": 1, "rows": [{}, {"x": "1"}]}, r"x of rows of t\[1\] must be number or null"),
        ({"count": 1, "deep": {}}, "deep of t has no y"),
        ({"count": 1, "deep": {"y": 1, "z": 1}}, "does not take z"),
    ],
)
def test_what_it_does_not_allow_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_arguments(SCHEMA, arguments, where="t")


TEXTS: dict[str, Any] = {
    "properties": {
        "day": {"type": "string", "pattern": r"^\d{4}-\d{2}$"},
        "name": {"type": "string", "minLength": 2, "maxLength": 4},
        "rows": {"type": "array", "minItems": 1, "maxItems": 2},
    }
}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "a"}, "name of t must have at least 2 and at most 4 characters, and has 1"),
        ({"name": "abcde"}, "and has 5"),
        ({"rows": []}, "rows of t must have at least 1 and at most 2 elements, and has 0"),
        ({"day": "1883"}, "day of t must match .*, and '1883' does not"),
    ],
)
def test_lengths_and_patterns_are_enforced(arguments: dict[str, Any], message: str) -> None:
    check_arguments(TEXTS, {"day": "1883-05", "name": "ab", "rows": [1]}, where="t")
    with pytest.raises(ConfigError, match=message):
        check_arguments(TEXTS, arguments, where="t")


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "a*a*a*b", r"(a)\1", "(?=a*)a*", "a?" * 30, "(", "a{1,9}{2,3}", "x" * 500]
)
def test_a_pattern_that_may_take_for_ever_or_is_none_refuses_nothing(pattern: str) -> None:
    schema = {"properties": {"text": {"pattern": pattern}}}
    check_arguments(schema, {"text": "a" * 1500 + "!"}, where="t")


def test_a_long_text_is_not_tried_with_a_pattern() -> None:
    check_arguments({"properties": {"text": {"pattern": "^b"}}}, {"text": "a" * 3000}, where="t")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
KEYS = (
    "type",
    "enum",
    "properties",
    "required",
    "items",
    "minimum",
    "maximum",
    "additionalProperties",
    "pattern",
    "minLength",
)


@given(st.dictionaries(st.sampled_from(KEYS), JSON), st.dictionaries(st.text(max_size=3), JSON, max_size=3))
def test_a_schema_of_nonsense_refuses_or_passes_and_never_breaks(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    with suppress(ConfigError):
        check_arguments(schema, arguments, where="t")


@pytest.fixture
def registry(tmp_path: Path) -> Any:
    with Store(tmp_path / "s.db") as store:
        yield Registry(store)


async def test_a_tool_that_is_a_text_gives_it_without_a_sandbox(registry: Registry) -> None:
    registry.register("tool", "care", {"SKILL.md": "Look twice."}, {"description": "care"})
    nothing: Any = None
    assert (await run_tool(registry, nothing, "care", {})).value == "Look twice."
    with pytest.raises(ConfigError, match=r"care@1\.0\.0 does not take x; it takes no arguments"):
        await run_tool(registry, nothing, "care", {"x": 1})
    with pytest.raises(UnknownNameError, match="did you mean care"):
        await run_tool(registry, nothing, "car", {})
