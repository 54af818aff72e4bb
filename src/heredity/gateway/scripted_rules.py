"""What scripted models' rules are written in: `${…}` in answers, and the TOML files they come from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from heredity.errors import ConfigError
from heredity.outside import read_text, toml_table
from heredity.refusals import hint, quoted, reading

PLACE = re.compile(r"(?<!\$)\$\{([\w.-]+)\}")
"""Where a value is put in: `${1}`, `${name}`, `${result.key}`; `$${` stands for `${` itself."""


def fill(value: Any, groups: Mapping[str, str], results: Sequence[str]) -> Any:
    """Put values into the texts of a JSON value.

    Args:
        value: a text, or mappings and lists with texts in them. A text in these that is nothing but one place keeps the type
            of what is put in.
        groups: what regular expressions found, by number and name.
        results: the tools' results, oldest first.

    Raises:
        LookupError: if there is no such value; its text says what there is.
    """
    if isinstance(value, Mapping):
        return {key: _typed(inner, groups, results) for key, inner in value.items()}
    if isinstance(value, list):
        return [_typed(inner, groups, results) for inner in value]
    if not isinstance(value, str):
        return value
    filled = PLACE.sub(lambda m: _text(_value(m[1], groups, results)), value)
    return filled.replace("$${", "${")


def parse_rules(path: Path) -> list[tuple[int, Mapping[str, Any]]]:
    """Read the rules of a TOML file as tables, numbered from 1.

    Raises:
        ConfigError: if the file cannot be read, or has other keys than the ones documented.
    """
    with reading(path, "valid TOML", "give the path of a TOML file with [[rule]]"):
        data = toml_table(read_text(path))
    check_keys(str(path), data, ["rule"])
    rules: Any = data.get("rule")
    if not isinstance(rules, list) or not rules:
        raise ConfigError(f"{path} has no rules; write at least one, under [[rule]]")
    for number, rule in enumerate(cast("list[Any]", rules), 1):
        where = f"{path}, rule {number}"
        check_keys(where, rule, RULE_KEYS)
        if "reply" not in rule:
            raise ConfigError(f"{where} has no reply; give a text or a table with {', '.join(REPLY_TYPES)}")
        check_types(f"{where}, when", rule.get("when", {}), WHEN_TYPES)
        if not isinstance(rule["reply"], str):
            check_types(f"{where}, reply", rule["reply"], REPLY_TYPES)
            for call in rule["reply"].get("calls", ()):
                check_types(f"{where}, reply.calls", call, CALL_TYPES)
                if "name" not in call:
                    raise ConfigError(f"{where}, reply.calls: a call has no name; give the tool's")
    return list(enumerate(rules, 1))


RULE_KEYS = ("name", "when", "reply")
WHEN_TYPES: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("user", "last", "system", "any", "tool"), (str,)),
    **dict.fromkeys(("results", "times"), (int,)),
}
REPLY_TYPES: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "calls": (list,),
    "finish": (str,),
    "error": (str,),
    "failures": (int,),
    "delay_s": (int, float),
}
CALL_TYPES: Mapping[str, tuple[type, ...]] = {"name": (str,), "arguments": (dict, str)}


def check_types(where: str, table: Any, types: Mapping[str, tuple[type, ...]]) -> None:
    """Check a table's keys and the types of their values.

    Raises:
        ConfigError: naming the key, and what was expected.
    """
    check_keys(where, table, types)
    for key, value in table.items():
        if not isinstance(value, types[key]) or isinstance(value, bool):
            expected = " or ".join(_TYPE_NAMES[kind] for kind in types[key])
            raise ConfigError(f"{where}: {key} is {quoted(value)}; expected {expected}")


def check_keys(where: str, table: Any, keys: Iterable[str]) -> None:
    """Check that a value is a table with known keys only.

    Raises:
        ConfigError: naming the key, and the nearest known ones.
    """
    if not isinstance(table, Mapping):
        raise ConfigError(f"{where} is {quoted(table)}; expected a table")
    keys = list(keys)
    for key in cast("Mapping[str, Any]", table):
        if key not in keys:
            raise ConfigError(f"{where}: unknown key {quoted(key)}; {hint(key, keys)}")


_TYPE_NAMES: Mapping[type, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


def _typed(value: Any, groups: Mapping[str, str], results: Sequence[str]) -> Any:
    whole = PLACE.fullmatch(value) if isinstance(value, str) else None
    return _value(whole[1], groups, results) if whole else fill(value, groups, results)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value(placeholder: str, groups: Mapping[str, str], results: Sequence[str]) -> Any:
    if placeholder in groups:
        return groups[placeholder]
    head, *path = placeholder.split(".")
    chosen: Sequence[str] = results[-1:] if head == "result" else ()
    if head == "results" and path and path[0].isdigit():
        chosen, path = results[int(path[0]) :][:1], path[1:]
    if not chosen:
        raise LookupError(f"${{{placeholder}}} has no value; tools have given {len(results)} results")
    if not path:
        return chosen[0]
    try:
        value: Any = json.loads(chosen[0])
        for key in path:
            value = value[int(key)] if isinstance(value, list) else value[key]
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise LookupError(f"${{{placeholder}}} is not in the tool's result {chosen[0][:80]!r}") from error
    return value
