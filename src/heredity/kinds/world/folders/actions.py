"""Reads the action list of a world folder from `action_space.txt`, which is mostly prose.

Parameters are listed as a mapping of names to texts (`"column": "int, 0 to 6"`), as a JSON schema, or as a list of
objects with names. Types, ranges and choices come from fields with the usual names, or from the text.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from heredity.kinds.world.folders.folder import WorldFolder

_KINDS = {
    "dict": re.compile(r"\b(dict(ionary)?|mapping)\b", re.IGNORECASE),
    "list": re.compile(r"\b(list|array|tuple|pair)s? of\b|^\W*(list|array|tuple)\b|\[\s*x\d?\s*,\s*y", re.IGNORECASE),
    "integer": re.compile(r"\b(int(eger)?|index|count)\b|\bnumber of\b", re.IGNORECASE),
    "boolean": re.compile(r"\bbool(ean)?\b", re.IGNORECASE),
    "number": re.compile(
        r"\b(float|number|decimal|real|ratio|fraction|amount|quantity|volume|percent(age)?)\b", re.IGNORECASE
    ),
    "text": re.compile(r"\b(str|string|text|name)\b", re.IGNORECASE),
}
_FRACTIONS = re.compile(r"\b(float|decimal|real|ratio|fraction)\b", re.IGNORECASE)
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_ASIDE = r"(?:\s*\([^()]*\))?"
_RANGE = re.compile(
    rf"(?<![\w.]){_NUMBER}{_ASIDE}\s*(?:-|–|to|through|\.\.\.?)\s*{_NUMBER}(?![\w.])"
    rf"|between\s+{_NUMBER}\s+and\s+{_NUMBER}|[\[(]\s*{_NUMBER}\s*,\s*{_NUMBER}\s*[\])]",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"(?<![\w.])(-?\d+(?:\s*,\s*-?\d+)*)\s*,?\s*or\s+(-?\d+)(?![\w.])", re.IGNORECASE)
_QUOTED = re.compile(r"'([^'\n]{1,40})'|\"([^\"\n]{1,40})\"|`([^`\n]{1,40})`")
_EXAMPLES = re.compile(r"\be\.\s?g\.|\bfor example\b|\bsuch as\b|\betc\b|\blike\b", re.IGNORECASE)
_IDENTIFIER = r"[A-Za-z][\w-]*"
_LISTED = re.compile(
    r"(?:one of|options?|choices|values|allowed|available)\s*(?:are|is)?\s*[:=]\s*\[?\(?"
    rf"({_IDENTIFIER}(?:\s*(?:,\s*or|,\s*and|,|/|\||\bor\b)\s*{_IDENTIFIER})+)"
    rf"|\((?:e\.\s?g\.\s*,?\s*|such as\s+)?({_IDENTIFIER}(?:\s*(?:,\s*or|,\s*and|,|/|\||\bor\b)\s*{_IDENTIFIER})+)\)",
    re.IGNORECASE,
)
_ENUMS = ("enum", "options", "choices", "values", "allowed_values", "allowed")
_LOW, _HIGH = ("minimum", "min", "low"), ("maximum", "max", "high")
_MOST_VALUES = 24
_IDLE = re.compile(r"^(wait|idle|no_?op|skip|pass|rest|stay|nothing|do_?nothing|hold|stand)([_A-Z].*)?$", re.IGNORECASE)
_CLEARLY: tuple[Any, ...] = (None, [], {}, "no such word", 10**9, -(10**9), 1e308)
_WRONG: tuple[Any, ...] = (*_CLEARLY, "", -1, 2.5, True)


@dataclass(frozen=True, slots=True)
class Values:
    """The possible values of a parameter.

    Attributes:
        kind: `integer`, `number`, `boolean`, `list`, `text`, or `""` if the file does not say.
        tried: values to try.
        complete: True if there are no other values.
        elements: possible elements of a list, if the file names them.
        low: minimum of a number, if the file gives it; `high`: maximum.
    """

    kind: str
    tried: tuple[Any, ...]
    complete: bool
    low: float | None = None
    high: float | None = None
    elements: tuple[Any, ...] = ()


def parameters_of(action: Mapping[str, Any]) -> dict[str, Any]:
    """Return an action's parameters: name to description."""
    given: Any = action.get("parameters") or action.get("params") or {}
    if isinstance(given, list):
        named = [
            (cast(Any, entry).get("name") if isinstance(entry, dict) else entry, entry)
            for entry in cast(list[Any], given)
        ]
        return {name: entry if isinstance(entry, dict) else "" for name, entry in named if isinstance(name, str)}
    if not isinstance(given, dict):
        return {}
    fields = cast(dict[str, Any], given)
    inner = fields.get("properties")
    return cast(dict[str, Any], inner) if isinstance(inner, dict) else fields


def values_of(declared: Any) -> Values:
    """Return the possible values of a parameter from its description."""
    fields = cast(dict[str, Any], declared) if isinstance(declared, dict) else {}
    if isinstance(declared, list):
        fields = {"enum": declared}
    text = declared if isinstance(declared, str) else " ".join(str(v) for v in fields.values() if isinstance(v, str))
    kind = next((name for name, pattern in _KINDS.items() if pattern.search(str(fields.get("type", text)))), "")
    listed = next((fields[name] for name in _ENUMS if isinstance(fields.get(name), list)), None)
    if listed:
        return Values(kind or _kind_of(listed[0]), tuple(listed), True)
    if kind == "boolean":
        return Values(kind, (True, False), True)
    words = _words(text)
    if kind == "list":
        pairs: tuple[Any, ...] = ([[0, 0]], [[0, 0], [0, 1]], [[1, 1], [1, 2], [1, 3]], [[2, 2], [2, 3]])
        single: tuple[Any, ...] = ([0, 0], [0, 1], [1, 0], [1, 1])
        return Values(kind, pairs if re.search(r"\bpairs\b", text) else single, False, elements=words)
    if kind != "dict":
        numbers = _numbers_in(text) if kind in ("integer", "number", "") else ()
        if numbers:
            return Values("integer", numbers, True)
        low, high = _range(fields, text)
        if low is not None and high is not None and kind != "text":
            return _numbers(_kind_of_range(kind, text, low, high), low, high)
        if words and kind not in ("integer", "number"):
            return Values("text", words, not _EXAMPLES.search(text))
    guesses: dict[str, tuple[Any, ...]] = {
        "integer": (0, 1, 2, 3),
        "number": (0.0, 0.5, 1.0) if _FRACTIONS.search(text) else (1, 2, 5),
        "text": ("a", "A", "1"),
        "dict": ({},),
    }
    return Values(kind, guesses.get(kind, (0, 1, "a")), False)


def examples_in(text: str, actions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the complete JSON actions in a text, if their names are in the list."""
    defined = {action["name"] for action in actions}
    examples: list[dict[str, Any]] = []
    for start in (match.start() for match in re.finditer(r"\{\s*\"action\"", text)):
        try:
            value: Any = json.JSONDecoder().raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
        params = cast(dict[str, Any], value).get("params", {})
        if value.get("action") in defined and isinstance(params, dict):
            examples.append({"action": value["action"], "params": params})
    return [example for index, example in enumerate(examples) if example not in examples[:index]]


def enumerate_actions(actions: Sequence[Mapping[str, Any]], most: int = 200) -> tuple[list[dict[str, Any]], bool]:
    """Return actions to try, alternating between names, and whether they are complete."""
    complete, rows = True, list[list[dict[str, Any]]]()
    for action in actions:
        values = {name: values_of(declared) for name, declared in parameters_of(action).items()}
        complete = complete and all(possible.complete for possible in values.values())
        choices = itertools.product(*(possible.tried for possible in values.values()))
        combinations = [
            {"action": action["name"], "params": dict(zip(values, choice, strict=True))}
            for choice in itertools.islice(choices, most + 1)
        ]
        complete = complete and len(combinations) <= most
        rows.append(combinations[:most])
    mixed = [action for turn in itertools.zip_longest(*rows) for action in turn if action is not None]
    return mixed[:most], complete and len(mixed) <= most


def idle_actions(actions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the actions without parameters whose names mean doing nothing."""
    names = [action["name"] for action in actions if not parameters_of(action)]
    return [{"action": name, "params": {}} for name in names if _IDLE.match(name)]


def unknown_actions(actions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return actions that are not in the list."""
    defined = {action["name"] for action in actions}
    names = ("no_such_action", "", "None", "cheat")
    return [{"action": name, "params": {}} for name in names if name not in defined]


def questions(folder: WorldFolder) -> dict[str, Any]:
    """Return the arguments of a level's search (see `world_folder_explorer.explore` in the guest)."""
    actions = folder.actions
    unknown = [("an action that does not exist", action) for action in unknown_actions(actions)]
    malformed = [(f"an action with {what}", a) for what, a, clearly in malformed_actions(actions) if clearly]
    examples = examples_in(f"{folder.action_text}\n{folder.instruction}", actions)
    return {
        "actions": described_actions(actions),
        "examples": [example for example in examples if not misfit(example, actions)],
        "idle": idle_actions(actions),
        "refused": [*unknown, *malformed],
        "horizon": folder.max_steps,
    }


def described_actions(actions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the actions in the format of a level's search (see `world_folder_choices.Choices` in the guest)."""
    return [
        {
            "name": action["name"],
            "params": {
                name: {
                    "kind": values.kind,
                    "tried": list(values.tried),
                    "complete": values.complete,
                    "closed": values.complete or values.low is not None,
                    "elements": list(values.elements),
                    "text": json.dumps(declared),
                }
                for name, declared in parameters_of(action).items()
                for values in [values_of(declared)]
            },
        }
        for action in actions
    ]


def surely_fits(given: Mapping[str, Any], actions: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if an action fits the list without any guess at prose."""
    if misfit(given, actions):
        return False
    listed = next(action for action in actions if action["name"] == given["action"])
    possible = [values_of(declared) for declared in parameters_of(listed).values()]
    return all(values.complete or values.low is not None for values in possible)


def malformed_actions(actions: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield a description of a defect, an action with it, and whether such an action clearly must not pay.

    Only actions that reach an environment: malformed input is refused before (`FolderWorldProcess.take`).
    """
    for action in actions:
        name = action["name"]
        values = {key: values_of(declared) for key, declared in parameters_of(action).items()}
        plain = {key: possible.tried[0] for key, possible in values.items()}
        if values:
            yield "no parameters", {"action": name, "params": {}}, True
        yield "an unknown parameter", {"action": name, "params": {**plain, "no_such_parameter": 1}}, False
        for key, possible in values.items():
            if len(values) > 1:
                yield f"{key} left out", {"action": name, "params": {k: v for k, v in plain.items() if k != key}}, True
            for value in _WRONG:
                if not _may_be(value, possible):
                    clearly = possible.complete or value in _CLEARLY
                    yield f"{key} {value!r}", {"action": name, "params": {**plain, key: value}}, clearly


def misfit(given: Mapping[str, Any], actions: Sequence[Mapping[str, Any]]) -> str:
    """Describe how an action fails to fit the list, by its name or parameters; `""` if it may fit."""
    name, params = given["action"], cast(Mapping[str, Any], given["params"])
    listed = next((action for action in actions if action["name"] == name), None)
    if listed is None:
        return f"there is no action {name[:60]!r}"
    values = {key: values_of(declared) for key, declared in parameters_of(listed).items()}
    for key in params:
        if key not in values:
            return f"{name} has no parameter {key[:60]!r}"
    for key, possible in values.items():
        if key not in params:
            return f"{name} is given no {key}"
        if not _may_be(params[key], possible):
            return f"{key} of {name} is {str(params[key])[:60]}"
    return ""


def _may_be(given: object, values: Values) -> bool:
    """Return True if a value may be valid as far as the file says."""
    value: Any = given
    if any(type(value) is type(tried) and value == tried for tried in values.tried):
        return True
    if value in (None, {}, "") or values.complete:
        return False
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if number and values.low is not None and values.high is not None:
        return values.low <= value <= values.high and (values.kind != "integer" or value == int(value))
    fits = {
        "integer": number and abs(value) < 10**6 and value == int(value) and value >= 0,
        "number": number and abs(value) < 10**6,
        "list": isinstance(value, list) and bool(value),
        "dict": isinstance(value, dict),
        "text": isinstance(value, str),
    }
    return fits.get(values.kind, isinstance(value, int | float | str) and not isinstance(value, bool))


def _kind_of(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "text", list: "list"}
    return kinds.get(type(value), "")


def _range(fields: Mapping[str, Any], text: str) -> tuple[float | None, float | None]:
    low, high = (
        next((fields[name] for name in names if isinstance(fields.get(name), int | float)), None)
        for names in (_LOW, _HIGH)
    )
    both: Any = fields.get("range")
    if isinstance(both, list) and len(cast(list[Any], both)) == 2:
        low, high = cast(list[Any], both)
    if low is None or high is None:
        match = _RANGE.search(text)
        bounds = [float(group) for group in match.groups() if group is not None] if match else []
        return (bounds[0], bounds[1]) if bounds and bounds[0] <= bounds[1] else (None, None)
    return float(low), float(high)


def _numbers(kind: str, low: float, high: float) -> Values:
    if kind == "integer":
        every = range(int(low), int(high) + 1)
        if len(every) <= _MOST_VALUES:
            return Values(kind, tuple(every), True, low, high)
        step = (int(high) - int(low)) / (_MOST_VALUES - 1)
        return Values(kind, tuple(int(low + step * i) for i in range(_MOST_VALUES)), False, low, high)
    return Values(kind, tuple(round(low + (high - low) * i / 4, 12) for i in range(5)), False, low, high)


def _kind_of_range(kind: str, text: str, low: float, high: float) -> str:
    whole = low == int(low) and high == int(high) and "." not in (_RANGE.search(text) or [""])[0]
    return "integer" if kind == "integer" or (whole and not _FRACTIONS.search(text)) else "number"


def _numbers_in(text: str) -> tuple[int, ...]:
    """Return the integers of a list that ends with `or`: "10, 20, or 30"."""
    match = _NUMBERS.search(text)
    return tuple(int(number) for number in (*match[1].split(","), match[2])) if match else ()


def _words(text: str) -> tuple[str, ...]:
    words = ["".join(groups) for groups in _QUOTED.findall(text)]
    if not words:
        match = _LISTED.search(text)
        words = re.split(r"\s*(?:,\s*or\b|,\s*and\b|,|/|\||\bor\b)\s*", match[1] or match[2]) if match else []
    return tuple(dict.fromkeys(word for word in words if word))[:_MOST_VALUES]
