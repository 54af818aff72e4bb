from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.engine.schemas import check_arguments, schema_fault
from heredity.engine.tools import run_tool
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
        ({"count": 0}, "count of t must be at least 1, not 0"),
        ({"count": 1, "unit": "kg"}, "must be one of 'm', 's', 1"),
        ({"count": 1, "unit": True}, "must be one of"),
        ({"count": 1, "rows": [{}, {"x": "1"}]}, r"x of rows\[1\] of t must be number or null"),
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
        ({"name": "a"}, "name of t must have at least 2 characters, and has 1"),
        ({"name": "abcde"}, "and has 5"),
        ({"rows": []}, "rows of t must have at least 1 elements, and has 0"),
        ({"day": "1883"}, "day of t must match .*, and '1883' does not"),
    ],
)
def test_lengths_and_patterns_are_enforced(arguments: dict[str, Any], message: str) -> None:
    check_arguments(TEXTS, {"day": "1883-05", "name": "ab", "rows": [1]}, where="t")
    with pytest.raises(ConfigError, match=message):
        check_arguments(TEXTS, arguments, where="t")


@pytest.mark.parametrize("pattern", [r"(a)\1", "(?=a*)a*", "(", "a{1000}{1000}"])
def test_a_pattern_that_may_take_for_ever_or_is_none_refuses_nothing(pattern: str) -> None:
    schema = {"properties": {"text": {"pattern": pattern}, "n": {"type": "integer"}}}
    check_arguments(schema, {"text": "a" * 1500 + "!"}, where="t")
    with pytest.raises(ConfigError, match="n of t must be integer"):
        check_arguments(schema, {"text": "a", "n": "1"}, where="t")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "a*a*a*b", "x" * 500])
def test_patterns_match_in_linear_time(pattern: str) -> None:
    with pytest.raises(ConfigError, match="must match"):
        check_arguments({"properties": {"text": {"pattern": pattern}}}, {"text": "a" * 100_000 + "!"}, where="t")


REFERRING: dict[str, Any] = {
    "$defs": {
        "unit": {"const": "metre"},
        "tree": {
            "type": "object",
            "properties": {"left": {"$ref": "#/$defs/tree"}, "right": {"$ref": "#/$defs/tree"}},
            "additionalProperties": False,
        },
    },
    "properties": {
        "unit": {"$ref": "#/$defs/unit"},
        "tree": {"$ref": "#/$defs/tree"},
        "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "day": {"oneOf": [{"minimum": 1}, {"maximum": 3}]},
    },
}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"unit": "mile"}, "unit of t must be 'metre', not 'mile'"),
        (
            {"tree": {"left": {"right": {"up": {}}}}},
            "right of left of tree of t does not take up; it takes left, right",
        ),
        ({"size": "5"}, r'size of t must fit one of \[{"type": "integer"}, {"type": "null"}\], not "5"'),
        ({"day": 2}, "day of t must fit one of"),
        ({"unit": "mile", "size": "5", "day": 2, "tree": 1}, "; .*; .*; and 1 more"),
        ({"tree": json.loads('{"left":' * 70 + "{}" + "}" * 70)}, "nested at most 64 deep"),
    ],
)
def test_references_alternatives_and_constants_are_checked(arguments: dict[str, Any], message: str) -> None:
    check_arguments(REFERRING, {"unit": "metre", "tree": {"left": {}}, "size": None, "day": 4}, where="t")
    with pytest.raises(ConfigError, match=message):
        check_arguments(REFERRING, arguments, where="t")


def test_a_reference_to_elsewhere_is_never_followed(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"type": "integer"}')
    for reference in (other.as_uri(), "http://127.0.0.1:1/other.json", "other.json", "#/nowhere", 3):
        schema = {"properties": {"x": {"$ref": reference}, "n": {"type": "integer"}}}
        assert "does not lead to a place in it" in schema_fault(schema)
        check_arguments(schema, {"x": "text"}, where="t")
        with pytest.raises(ConfigError, match="n of t must be integer"):
            check_arguments(schema, {"n": "1"}, where="t")


def test_branches_that_multiply_are_not_followed() -> None:
    doubled = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(30)}
    once = {"$ref": "#/$defs/d0", "$defs": {**doubled, "d30": {"required": ["x"]}}}
    assert schema_fault(once) == "branches too often to be checked"
    check_arguments(once, {}, where="t")
    alternatives = [{"properties": {"a": {"$ref": "#"}}, "required": [key]} for key in "bc"]
    deep = json.loads('{"a":' * 60 + "{}" + "}" * 60)
    assert not schema_fault({"anyOf": alternatives})
    check_arguments({"anyOf": alternatives}, deep, where="t")
    with pytest.raises(ConfigError, match="must fit one of"):
        check_arguments({"anyOf": alternatives}, {"a": {}}, where="t")


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"type": "object", "properties": []}, "is no JSON schema at properties"),
        ({"properties": {"x": {"type": "any"}}}, "is no JSON schema at properties/x/type"),
        ({"$schema": "http://example.org/mine"}, "is no JSON schema"),
        ({"properties": {"x": {"pattern": "("}}}, "is no JSON schema at properties/x/pattern"),
        ({"properties": {"x": {"default": object}}}, "is no JSON schema"),
        (json.loads('{"not":' * 300 + "{}" + "}" * 300), "is no JSON schema"),
    ],
    ids=["no object", "type", "draft", "pattern", "no JSON", "depth"],
)
def test_a_schema_that_cannot_be_used_says_why(schema: dict[str, Any], fault: str) -> None:
    assert schema_fault(schema).startswith(fault)
    check_arguments(schema, {"x": 1}, where="t")


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
    "anyOf",
    "$ref",
    "const",
    "not",
)


@given(st.dictionaries(st.sampled_from(KEYS), JSON), st.dictionaries(st.text(max_size=3), JSON, max_size=3))
def test_a_schema_of_nonsense_refuses_or_passes_and_never_breaks(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    with suppress(ConfigError):
        check_arguments(schema, arguments, where="t")


SIMPLE = st.sampled_from([{}, {"type": "integer"}, {"type": ["string", "null"]}, {"const": 1}, {"enum": ["", None]}])
SCHEMAS = st.recursive(
    SIMPLE,
    lambda inner: (
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
        | st.fixed_dictionaries({"items": inner})
        | st.fixed_dictionaries({"properties": st.dictionaries(st.sampled_from("ab"), inner)})
        | st.fixed_dictionaries({"additionalProperties": inner, "required": st.just(["a"])})
        | st.fixed_dictionaries({"not": inner})
    ),
    max_leaves=8,
)


@given(SCHEMAS, st.dictionaries(st.sampled_from("abc"), JSON, max_size=3))
def test_another_validator_agrees(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = {"$defs": {"s": schema}, "properties": {"a": {"$ref": "#/$defs/s"}}, "allOf": [schema]}
    valid = jsonschema.Draft202012Validator(schema).is_valid(arguments)
    assert schema_fault(schema) == ""
    try:
        check_arguments(schema, arguments, where="t")
    except ConfigError:
        assert not valid
    else:
        assert valid


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
