"""JSON schemas of tools' arguments: checks of schemas, and of arguments against them (any draft).

Schemas come from untrusted authors. References lead only inside the schema, patterns match in linear time, and a check
whose branches multiply is not made. A keyword that makes no sense is the tool author's mistake and refuses no call.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NoReturn, cast

import jsonschema_rs
from jsonschema_rs import RegexOptions, ValidationError, Validator

from heredity._core.errors import ConfigError

_MOST_DEPTH = 64
_MOST_FAULTS = 32
_MOST_SHOWN = 3
_MOST_BRANCHES = 64
"""Evaluations of subschemas for one value, up to which an argument of any size is checked."""
_MOST_EVALUATIONS = 20_000
_PATTERNS = RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)
_DATA = frozenset({"const", "default", "enum", "example", "examples", "required", "type"})
_DEFINITIONS = frozenset({"$defs", "definitions"})
_BY_NAME = frozenset({"dependentSchemas", "dependencies", "patternProperties", "properties", *_DEFINITIONS})
_INSIDE = frozenset(
    {"additionalItems", "additionalProperties", "contains", "items", "patternProperties", "prefixItems"}
    | {"propertyNames", "unevaluatedItems", "unevaluatedProperties"}
)


def schema_fault(schema: Mapping[str, Any]) -> str:
    """Return the reason why a schema cannot be used, such as a reference to another server; empty if it can."""
    try:
        own = json.loads(json.dumps(schema))
        for _, reference in _outward(own):
            return f"has the reference {reference!r:.80}, which does not lead to a place in it"
        _compiled(own)
        if _branches(own, 4) > _MOST_EVALUATIONS:
            return "branches too often to be checked"
    except ValidationError as error:
        where = "/".join(map(str, error.instance_path))
        return f"is no JSON schema{f' at {where}' if where else ''}: {error.message:.200}"
    except (ValueError, TypeError, RecursionError) as error:
        return f"is no JSON schema: {error!s:.200}"
    return ""


def check_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any], *, where: str) -> None:
    """Check arguments against a JSON schema of any draft.

    Args:
        schema: the schema of an object. References to other documents are not followed.
        arguments: JSON values.
        where: the tool's name (for errors).

    Raises:
        ConfigError: if an argument is missing, unknown or invalid; the message names it and the expected value, for up
            to three arguments.
    """
    size, depth = _extent(arguments)
    if depth > _MOST_DEPTH:
        raise ConfigError(f"{where} must be nested at most {_MOST_DEPTH} deep; pass flatter values")
    try:
        sound, validator = _sound(text := json.dumps(schema))
        branches = _branches(sound, depth) if '"$ref"' in text else 0
        if validator is None or (branches > _MOST_BRANCHES and branches * size > _MOST_EVALUATIONS):
            return
        errors = list(validator.iter_errors(arguments))
    except (TypeError, ValueError, RecursionError):
        # The schema or the values are not JSON; the tool checks them.
        return
    if errors:
        faults = list(dict.fromkeys(_words(error, sound, arguments, where) for error in errors))
        more = f"; and {len(faults) - _MOST_SHOWN} more" if len(faults) > _MOST_SHOWN else ""
        raise ConfigError("; ".join(faults[:_MOST_SHOWN]) + more)


def _refuse(address: str) -> NoReturn:
    raise ValueError(f"references to other documents are not followed: {address:.200}")


def _compiled(schema: Any) -> Validator:
    return jsonschema_rs.validator_for(schema, retriever=_refuse, pattern_options=_PATTERNS)


@lru_cache(maxsize=256)
def _sound(text: str) -> tuple[Any, Validator | None]:
    """Return a schema without its invalid parts, and its validator; None if nothing can be checked."""
    schema = json.loads(text)
    for holder, _ in list(_outward(schema)):
        del holder["$ref"]
    for _ in range(_MOST_FAULTS):
        try:
            return schema, _compiled(schema)
        except ValidationError as error:
            path = list(error.instance_path) or ["$schema"]
        except ValueError:
            break
        holder = schema
        for step in path[:-1]:
            holder = holder[step]
        if isinstance(holder, dict) and path[-1] not in holder:
            break
        del holder[path[-1]]
    return schema, None


def _outward(schema: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield each subschema with a reference that does not lead to a place in the schema, and the reference."""
    for subschema in _subschemas(schema):
        if "$ref" in subschema and _target(schema, subschema["$ref"]) is None:
            yield subschema, subschema["$ref"]


def _subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        own = cast("dict[str, Any]", schema)
        yield own
        for key, inner in own.items():
            if key not in _DATA:
                yield from _subschemas_by_name(inner) if key in _BY_NAME else _subschemas(inner)
    elif isinstance(schema, list):
        for inner in cast("list[Any]", schema):
            yield from _subschemas(inner)


def _subschemas_by_name(value: Any) -> Iterator[dict[str, Any]]:
    for inner in cast("dict[str, Any]", value).values() if isinstance(value, dict) else ():
        yield from _subschemas(inner)


def _target(schema: Any, reference: Any) -> Any:
    """Return the subschema that a reference leads to, as a JSON pointer or an anchor; None if there is none."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    pointer = reference[1:]
    if pointer and not pointer.startswith("/"):
        return next((s for s in _subschemas(schema) if s.get("$anchor") == pointer), None)
    place = schema
    for step in (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]):
        if isinstance(place, dict):
            place = cast("dict[str, Any]", place).get(step)
        elif isinstance(place, list) and step.isdecimal() and int(step) < len(cast("list[Any]", place)):
            place = cast("list[Any]", place)[int(step)]
        else:
            return None
    return place if isinstance(place, dict | bool) else None


_Evaluations = tuple[int, Counter[str], int]
"""Evaluations of a value by a subschema, of its members by their name, and of any member."""


def _branches(schema: Any, depth: int) -> int:
    """Return how often subschemas may be evaluated for one value nested so deep; at most about `_MOST_EVALUATIONS`.

    Branches that lead to the same value multiply with its depth, as in a tree whose children two alternatives allow.
    """
    known: dict[tuple[int, int], _Evaluations] = {}

    def here(value: Any, left: int, active: frozenset[int]) -> _Evaluations:
        if not isinstance(value, dict) or id(cast("Any", value)) in active:
            return 0, Counter(), 0
        own = cast("dict[str, Any]", value)
        if (key := (id(own), left)) not in known:
            count, named, others = 1, Counter[str](), 0
            for word, inner in own.items():
                more, names, rest = of(word, inner, left, active | {id(own)})
                count, others = min(count + more, _MOST_EVALUATIONS + 1), min(others + rest, _MOST_EVALUATIONS + 1)
                named.update(names)
            known[key] = count, named, others
        return known[key]

    def of(word: str, inner: Any, left: int, active: frozenset[int]) -> _Evaluations:
        if word in _DATA or word in _DEFINITIONS:
            return 0, Counter(), 0
        if word == "properties" and isinstance(inner, dict):
            members = cast("dict[str, Any]", inner)
            return 0, Counter({name: total(member, left - 1) for name, member in members.items()}), 0
        if word in _INSIDE:
            return 0, Counter(), sum(total(member, left - 1) for member in _members(word, inner))
        parts = [
            here(member, left, active)
            for member in ([_target(schema, inner)] if word == "$ref" else _members(word, inner))
        ]
        named = sum((names for _, names, _ in parts), Counter[str]())
        return sum(more for more, _, _ in parts), named, sum(rest for _, _, rest in parts)

    def total(value: Any, left: int) -> int:
        count, named, others = here(value, left, frozenset()) if left >= 0 else (0, Counter[str](), 0)
        return min(count + max(named.values(), default=0) + others, _MOST_EVALUATIONS + 1)

    return total(schema, depth)


def _members(word: str, value: Any) -> list[Any]:
    """Return the subschemas under a keyword: one, a list of them, or some by name."""
    if isinstance(value, list):
        return cast("list[Any]", value)
    if isinstance(value, dict) and word in _BY_NAME:
        return list(cast("dict[str, Any]", value).values())
    return [value]


def _extent(value: Any) -> tuple[int, int]:
    """Return the number of values in a JSON value and their depth, which is cut just above the limit."""
    size, depth, level = 0, -1, [value]
    while level and depth <= _MOST_DEPTH:
        size, depth = size + len(level), depth + 1
        inside: list[Any] = []
        for item in level:
            if isinstance(item, Mapping):
                inside += cast("Mapping[Any, Any]", item).values()
            elif isinstance(item, list | tuple):
                inside += cast("list[Any]", item)
        level = inside
    return size, depth


def _words(error: ValidationError, schema: Any, arguments: Any, where: str) -> str:
    """Return an error as a sentence that names the argument, the expected value, and the given one."""
    path = list(error.instance_path)
    own = _argument_name(path, where)
    keyword, wanted = error.kind.name, error.kind.value
    value = arguments
    for step in path:
        value = value[step]
    if keyword in ("required", "additionalProperties", "unevaluatedProperties"):
        holder = _holder(schema, error.schema_path)
        takes = f"; it takes {', '.join(holder.get('properties', {})) or 'no arguments'}"
        if keyword == "required":
            return f"{own} has no {wanted}{takes}"
        return f"{own} does not take {', '.join(map(str, wanted))}{takes}"
    if keyword in ("anyOf", "oneOf"):
        branches = cast("list[Any]", _holder(schema, error.schema_path).get(keyword) or [])
        return f"{own} must fit one of {_as_text(branches)}, not {_as_text(value)}"
    if keyword in _LIMITS:
        measure = len(value) if _LIMITS[keyword][1] else _as_text(value)
        return (
            f"{own} must {_LIMITS[keyword][0].format(wanted)}, {'and has' if _LIMITS[keyword][1] else 'not'} {measure}"
        )
    if keyword == "type":
        return f"{own} must be {' or '.join(_in_order(wanted, schema, error))}, not {value!r:.80}"
    if keyword == "enum":
        return f"{own} must be one of {', '.join(map(repr, wanted))}, not {value!r:.80}"
    if keyword == "const":
        return f"{own} must be {wanted!r:.200}, not {value!r:.80}"
    if keyword == "pattern":
        return f"{own} must match {wanted!r:.200}, and {value!r:.80} does not"
    return f"{own}: {error.message:.300}"


_LIMITS: Mapping[str, tuple[str, bool]] = {
    "minimum": ("be at least {}", False),
    "maximum": ("be at most {}", False),
    "exclusiveMinimum": ("be more than {}", False),
    "exclusiveMaximum": ("be less than {}", False),
    "multipleOf": ("be a multiple of {}", False),
    "minLength": ("have at least {} characters", True),
    "maxLength": ("have at most {} characters", True),
    "minItems": ("have at least {} elements", True),
    "maxItems": ("have at most {} elements", True),
    "minProperties": ("have at least {} members", True),
    "maxProperties": ("have at most {} members", True),
}


def _argument_name(path: list[str | int], where: str) -> str:
    """Return the name of an argument: `x of rows[1] of t`."""
    names: list[str] = []
    for step in path:
        if isinstance(step, int):
            names[-1:] = [f"{names[-1] if names else ''}[{step}]"]
        else:
            names.append(step)
    return " of ".join([*reversed(names), where])


def _holder(schema: Any, path: list[str | int]) -> dict[str, Any]:
    """Return the subschema whose keyword an error is about."""
    place = schema
    try:
        for step in path[:-1]:
            place = place[step]
    except (LookupError, TypeError):
        return {}
    return cast("dict[str, Any]", place) if isinstance(place, dict) else {}


def _in_order(types: list[str], schema: Any, error: ValidationError) -> list[str]:
    """Return types in the order of the schema; the validator sorts them differently."""
    given = _holder(schema, error.schema_path).get("type")
    return cast("list[str]", given) if isinstance(given, list) else types


def _as_text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]} … ({len(text)} characters)"
