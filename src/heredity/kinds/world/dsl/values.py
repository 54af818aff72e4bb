"""Values of rules: validation, and conversion from and to JSON. Lists are tuples internally, and immutable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from heredity._core.errors import ConfigError
from heredity.kinds.world.dsl.bounded import MAX_NUMBER, PLAIN, RuleError, whole

if TYPE_CHECKING:
    from heredity.kinds.world.dsl.schema import Shape

MAX_CELLS = 160_000
"""Maximum rows and columns of a grid."""


def fitting(name: str, variable: Shape) -> Callable[[Any], Any]:
    """Return a function that returns valid values of a variable and raises `RuleError` for others."""
    fits, optional = _fits(variable), variable.optional

    def fitted(value: Any) -> Any:
        if fits(value) or (optional and value is None):
            return value
        raise RuleError(f"{name} is {value!r:.60}; expected {_expected(variable)}")

    return fitted


def _expected(variable: Shape) -> str:
    match variable.type:
        case "integer" | "number":
            article = "an" if variable.type == "integer" else "a"
            return f"{article} {variable.type} from {variable.low:g} to {variable.high:g}"
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
    """Return a JSON value with tuples in place of lists, recursively.

    Raises:
        ConfigError: if it is not a JSON value, is too large or too deep, or has a number out of range.
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
    raise ConfigError(f"{path} holds {value!r:.60}, which is not a JSON value; put texts in quotes")


def thawed(value: Any) -> Any:
    """Return a value with lists in place of tuples, recursively."""
    if type(value) is tuple:
        return list(value) if PLAIN.issuperset(map(type, value)) else [thawed(inner) for inner in value]
    if type(value) is dict:
        return {key: inner if type(inner) in PLAIN else thawed(inner) for key, inner in value.items()}
    return value


def weight(value: Any) -> int:
    """Return the approximate size of a value in bytes; numbers are ignored next to the list that holds them."""
    if type(value) is tuple:
        return 8 * len(value) + sum(map(weight, value))
    if type(value) is dict:
        return 100 * len(value) + sum(map(weight, value.values()))
    return len(value) if type(value) is str else 0
