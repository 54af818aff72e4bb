"""Calling registered tools: arguments are checked against the manifest's schema, code runs in the sandbox.

Schemas come from untrusted authors, so the check is small and covers only the parts of JSON schema that take bounded
time and read nothing external (no `$ref`). Patterns are checked only if they match in bounded time: at most two
repetitions, not nested, on texts of up to 2,000 characters. Anything beyond that reaches the tool unchecked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.engine.actor import Programs, ToolResult
from heredity.resources import Instance, Registry, SourceTree
from heredity.resources.building import MCP, SKILL
from heredity.resources.contracts import parameters_of

TOOL_SECONDS = 30.0
_ENTRY = "tool.py"
_MAX_DEPTH = 32
_LONGEST_MATCHED = 2000
_LONGEST_PATTERN = 400
_ONE_PLACE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_REPEATS = re.compile(r"[*+?]|\{\d*,\d*\}")
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list, tuple),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


async def run_tool(
    registry: Registry,
    programs: Programs,
    name: str,
    arguments: Mapping[str, Any],
    *,
    version: str | None = None,
    seconds: float = TOOL_SECONDS,
) -> ToolResult:
    """Run a registered tool in the sandbox (the operator `run` of Autogenesis, table 7).

    Args:
        registry: the registry that holds the tool.
        programs: the sandbox.
        name: the tool's name.
        arguments: for `run` in its `tool.py`, JSON values.
        version: such as `"1.0.2"`; the head if not given.
        seconds: timeout, in wall seconds.

    Returns:
        The result; failures of the tool are results too. A tool that is only a SKILL.md returns its text.

    Raises:
        UnknownNameError: if the tool or the version does not exist.
        ConfigError: if the arguments do not fit the manifest; the message names the argument.
        HostError: if the sandbox itself fails.
        IsolationError: if this machine cannot confine it.
    """
    return await call_tool(registry.get("tool", name, version), programs, arguments, seconds=seconds)


async def call_tool(
    tool: Instance, programs: Programs, arguments: Mapping[str, Any], *, seconds: float = TOOL_SECONDS
) -> ToolResult:
    """Run a tool that has already been built; see `run_tool`."""
    label = tool.version.label
    if tool.version.type != "tool":
        raise ConfigError(f"{label} is not a tool; only tools can be called")
    check_arguments(parameters_of(label, tool.tree, tool.version.manifest), arguments, where=label)
    if MCP in tool.tree:
        raise ConfigError(f"{label} is an MCP server and cannot be called itself; the agents of a team call its tools")
    if _ENTRY not in tool.tree:
        return read_skill(tool.tree, arguments.get("file", SKILL))
    return await programs.call(tool.tree, "tool:run", arguments, seconds=seconds)


def read_skill(files: SourceTree, path: str) -> ToolResult:
    """Return the text of a skill's file; one that is missing or is no text is a result with an error that says so."""
    if path not in files:
        return ToolResult(error="missing", message=str(UnknownNameError("file of the skill", path, files)))
    text = files.texts().get(path)
    if text is None:
        return ToolResult(error="output", message=f"{path} is not text; it has {len(files[path])} bytes")
    return ToolResult(value=text)


def check_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any], *, where: str) -> None:
    """Check arguments against a JSON schema.

    Supported: `type`, `required`, `properties`, `additionalProperties`, `items`, `enum`, bounds, lengths and `pattern`.

    Raises:
        ConfigError: if an argument is missing, unknown or invalid; the message names it and the expected value.
    """
    _check(schema, arguments, where, 0)


def _check(schema: Any, value: Any, where: str, depth: int) -> None:
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return
    kinds = _texts(schema.get("type"))
    if kinds and not any(_is(kind, value) for kind in kinds):
        raise ConfigError(f"{where} must be {' or '.join(kinds)}, not {value!r:.80}")
    options = schema.get("enum")
    if isinstance(options, list) and not any(
        o == value and isinstance(o, bool) == isinstance(value, bool) for o in options
    ):
        raise ConfigError(f"{where} must be one of {', '.join(map(repr, options))}, not {value!r:.80}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        _check_bounds(schema, value, where)
    if isinstance(value, str):
        _check_text(schema, value, where)
    if isinstance(value, Mapping):
        _check_object(schema, value, where, depth)
    if isinstance(value, list):
        _check_length(schema, ("minItems", "maxItems"), len(value), "elements", where)
        for index, element in enumerate(value):
            _check(schema.get("items"), element, f"{where}[{index}]", depth + 1)


def _check_bounds(schema: Mapping[str, Any], value: float, where: str) -> None:
    low, high = schema.get("minimum"), schema.get("maximum")
    if (isinstance(low, int | float) and value < low) or (isinstance(high, int | float) and value > high):
        given = [f"{word} {bound}" for word, bound in (("at least", low), ("at most", high)) if bound is not None]
        raise ConfigError(f"{where} must be {' and '.join(given)}, not {value!r}")


def _check_text(schema: Mapping[str, Any], value: str, where: str) -> None:
    _check_length(schema, ("minLength", "maxLength"), len(value), "characters", where)
    pattern = schema.get("pattern")
    matcher = _matcher(pattern) if isinstance(pattern, str) and len(value) <= _LONGEST_MATCHED else None
    if matcher is not None and not matcher.search(value):
        raise ConfigError(f"{where} must match {pattern!r}, and {value!r:.80} does not")


def _check_length(schema: Mapping[str, Any], keys: tuple[str, str], length: int, of: str, where: str) -> None:
    low, high = (schema.get(key) for key in keys)
    if (isinstance(low, int | float) and length < low) or (isinstance(high, int | float) and length > high):
        given = [f"{word} {bound}" for word, bound in (("at least", low), ("at most", high)) if bound is not None]
        raise ConfigError(f"{where} must have {' and '.join(given)} {of}, and has {length}")


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> re.Pattern[str] | None:
    """Compile a pattern that matches in bounded time; return None for other or invalid patterns."""
    bare = _ONE_PLACE.sub("x", pattern)
    repeats = len(_REPEATS.findall(bare.replace("(?:", "("))) + (not bare.startswith("^"))
    nested = re.search(r"\)(?:[*+?]|\{)", bare) or re.search(r"\(\?(?!:)", bare) or bare.count("|") > 8
    if len(pattern) > _LONGEST_PATTERN or nested or repeats > 2 or re.search(r"\\[1-9]", pattern):
        return None
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return None


def _check_object(schema: Mapping[str, Any], value: Mapping[str, Any], where: str, depth: int) -> None:
    properties: Any = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    missing = [key for key in _texts(schema.get("required")) if key not in value]
    unknown = [key for key in value if key not in properties] if schema.get("additionalProperties") is False else []
    if missing or unknown:
        wrong = f"has no {', '.join(missing)}" if missing else f"does not take {', '.join(unknown)}"
        raise ConfigError(f"{where} {wrong}; it takes {', '.join(map(str, properties)) or 'no arguments'}")
    for key, inner in properties.items():
        if key in value:
            _check(inner, value[key], f"{key} of {where}", depth + 1)


def _texts(given: Any) -> list[str]:
    given = given if isinstance(given, list) else [given]
    return [text for text in given if isinstance(text, str)]


def _is(kind: str, value: Any) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    # An unknown type is the tool author's mistake; it must not reject calls.
    return kind not in _TYPES or isinstance(value, _TYPES[kind])
