"""Values of rules: what fits a variable, and how JSON values become such and back. Lists are tuples inside, and never change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from heredity.errors import ConfigError
from heredity.worlds.dsl.bounded import MAX_NUMBER, PLAIN, RuleError, whole

if TYPE_CHECKING:
    from heredity.worlds.dsl.schema import Shape

MAX_CELLS = 160_000
"""Of a grid."""


def fitting(name: str, variable: Shape) -> Callable[[Any], Any]:
    """Return what gives a value back that fits a variable, and raises `RuleError` for others."""
    fits, optional = _fits(variable), variable.optional

    def fitted(value: Any) -> Any:
        if fits(value) or (optional and value is None):
            return value
        raise RuleError(f"{name} is given {value!r:.60}; expected {_expected(variable)}")

    return fitted


def _expected(variable: Shape) -> str:
    match variable.type:
        case "integer" | "number":
            return f"a {variable.type} from {variable.low:g} to {variable.high:g}"
        case "choice":
            return f"one of {', '.join(map(str, variable.of))}"
        case _:
            return f"a {variable.type} of at most {variable.most}"


def _fits(variable: Shape) -> Callable[[Any], bool]:
    low, high, most = variable.low, variable.high, variable.most

    def of_texts(value: Any) -> bool:
        whole = type(value) is tuple and len(value) <= most and all(type(v) is str and len(v) <= most for v in value)
        return whole and sum(map(len, value)) <= MAX_CELLS

    match variable.type:
        case "integer":
            return lambda value: type(value) is int and low <= value <= high
        case "number":
            return lambda value: type(value) in (int, float) and low <= value <= high
        case "flag":
            return lambda value: type(value) is bool
        case "choice":
            return lambda value: value in variable.of
        case "cell":
            return lambda value: type(value) is tuple and len(value) == 2 and type(value[0]) is type(value[1]) is int
        case "grid":
            return of_texts
        case "text" | "list" | "table":
            kind = {"text": str, "list": tuple, "table": dict}[variable.type]
            return lambda value: isinstance(value, kind) and len(value) <= most


def frozen(value: Any, path: str) -> Any:
    """Return a JSON value whose lists are tuples, all the way down.

    Raises:
        ConfigError: if it is no JSON value, too large or too deep, or has a number that rules do not.
    """
    made = _frozen(value, path, 0)
    try:
        return whole(made) if isinstance(made, tuple | dict | str) else made
    except RuleError as error:
        raise ConfigError(f"{path}: {error}") from error


def _frozen(value: Any, path: str, depth: int) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_frozen(inner, path, depth + 1) for inner in value) if depth < 20 else ()
    if isinstance(value, Mapping):
        return (
            {
                key if isinstance(key, int | str) else str(key): _frozen(inner, path, depth + 1)
                for key, inner in value.items()
            }
            if depth < 20
            else {}
        )
    if isinstance(value, int | float) and not abs(value) <= MAX_NUMBER:
        raise ConfigError(f"{path} has a number beyond {MAX_NUMBER:g}; use a smaller one")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ConfigError(f"{path} holds {value!r:.60}, which is no JSON value; put texts in quotes")


def thawed(value: Any) -> Any:
    """Return a value whose tuples are lists, all the way down."""
    if type(value) is tuple:
        return list(value) if PLAIN.issuperset(map(type, value)) else [thawed(inner) for inner in value]
    if type(value) is dict:
        return {key: inner if type(inner) in PLAIN else thawed(inner) for key, inner in value.items()}
    return value


def weight(value: Any) -> int:
    """Return about how many bytes a value takes; numbers count as nothing beside the list that holds them."""
    if type(value) is tuple:
        return 8 * len(value) + sum(map(weight, value))
    if type(value) is dict:
        return 100 * len(value) + sum(map(weight, value.values()))
    return len(value) if type(value) is str else 0
