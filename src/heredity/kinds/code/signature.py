"""Signatures of programming problems, and the wire format of their values for programs of any language.

A value is written as lines with one number or word each. An integer is its decimal digits, a float its shortest exact
form, a boolean `0` or `1`, a string `x` and the hexadecimal digits of its UTF-8 bytes, a list its length and then its
items. A binary tree is the list of its level order, with `n` for a missing child; a linked list is written as a list.
Any language can parse this in a dozen lines, so harnesses stay small enough to review.

A value without a stated type (`any`) has its kind in front: `n`, `b1`, `i7`, `d0.5`, `x61`, and `l`, `u`, `s`, `m`
with the length of a list, tuple, set or dictionary before their items; the items of the last two are sorted by their
written form.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from heredity._core.errors import CandidateError, ConfigError
from heredity._core.refusals import quoted

INT, FLOAT, STRING, BOOL = "int", "float", "string", "bool"
SCALARS = (INT, FLOAT, STRING, BOOL)
TREE, LINKED = "tree", "linked-list"
"""A binary tree of integers, a linked list of integers."""

ANY = "any"
"""Any Python literal, in files that state no types: a case is then judged only in Python."""

NONE = "none"
"""Result type of a method that returns nothing."""

INT_RANGE = (-(1 << 63), (1 << 63) - 1)
"""Integers have 64 bits in every language."""

_IDENTIFIER = re.compile(r"[a-z][a-zA-Z0-9]{0,39}")
_LIST = re.compile(r"list\[(.+)\]")
_MAX_DEPTH = 3
_MAX_NESTED = 50


@dataclass(frozen=True, slots=True)
class Type:
    """The type of an argument or a result.

    Attributes:
        name: `"int"` (64 bits), `"float"`, `"string"`, `"bool"`, `"tree"`, `"linked-list"`, `"none"` or `"list"`.
        item: the type of a list's items.
    """

    name: str
    item: Type | None = None

    @staticmethod
    def parse(text: str, depth: int = 0) -> Type:
        """Parse a type such as `list[list[int]]`.

        Raises:
            ConfigError: if it is invalid.
        """
        text = text.strip()
        if text in (*SCALARS, TREE, LINKED, NONE):
            return Type(text)
        if (match := _LIST.fullmatch(text)) and depth < _MAX_DEPTH:
            item = Type.parse(match[1], depth + 1)
            if item.name in (*SCALARS, "list"):
                return Type("list", item)
        raise ConfigError(
            f"type {quoted(text)} is unknown; give int, float, string, bool, tree, linked-list, none, or list[…] of the first four "
            f"or of lists, at most {_MAX_DEPTH} deep"
        )

    def __str__(self) -> str:
        return f"list[{self.item}]" if self.item else self.name

    def nested(self) -> Iterator[Type]:
        """Yield it and the types in it, innermost first."""
        if self.item:
            yield from self.item.nested()
        yield self


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument: its name in camelCase, and its type."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Function:
    """A function, a constructor or a method.

    Attributes:
        name: in camelCase; a constructor's is `"init"`.
        parameters: its parameters in order.
        result: type of its result.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: Type

    @staticmethod
    def parse(given: Any, where: str) -> Function:
        """Parse `{"name": …, "parameters": {name: type}, "returns": type}`.

        Raises:
            ConfigError: if it is invalid.
        """
        if not isinstance(given, Mapping):
            raise ConfigError(f"{where} is {quoted(given)}; give a table with a name, parameters and returns")
        data = cast("Mapping[str, Any]", given)
        name, parameters = data.get("name"), data.get("parameters", {})
        if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
            raise ConfigError(
                f"{where}.name is {quoted(name)}; give a name in camelCase of at most 40 letters and digits"
            )
        if not isinstance(parameters, Mapping):
            raise ConfigError(f"{where}.parameters is {quoted(parameters)}; give a table of names and types")
        listed: list[Parameter] = []
        for key, value in parameters.items():
            if not _IDENTIFIER.fullmatch(str(key)):
                raise ConfigError(f"{where}.parameters has the name {quoted(key)}; give one in camelCase")
            listed.append(Parameter(str(key), _typed(value, f"{where}.parameters.{key}")))
            if listed[-1].type.name == NONE:
                raise ConfigError(f"{where}.parameters.{key} is none; give it a type")
        return Function(name, tuple(listed), _typed(data.get("returns", NONE), f"{where}.returns"))

    def types(self) -> Iterator[Type]:
        """Yield all types of its values, innermost first."""
        for parameter in self.parameters:
            yield from parameter.type.nested()
        yield from self.result.nested()


@dataclass(frozen=True, slots=True)
class Signature:
    """The definitions that a solution must contain.

    A case of a function is the list of its arguments. A case of a class is the list of its calls, `[method, argument,
    …]`, the first of them `["init", …]`; its answer is the list of the other calls' results.

    Attributes:
        functions: the one function; for a class the constructor `init` first, then its methods.
        class_name: the name of the class, or empty.
        form: `"method"` of a class; in Python also a plain `"function"`, or a `"program"` that reads a case and prints.
        preamble: Python code before a plain function.
        starter: the starter of a solution, if it is not generated from the types.
    """

    functions: tuple[Function, ...]
    class_name: str = ""
    form: str = "method"
    preamble: str = ""
    starter: str = ""

    @property
    def python_alone(self) -> bool:
        """True if it has harnesses only in Python."""
        return self.form != "method" or any(kind.name == ANY for kind in self.types())

    @property
    def function(self) -> Function:
        """The function, or the constructor of a class."""
        return self.functions[0]

    def types(self) -> tuple[Type, ...]:
        """Return the distinct types of all its values, innermost first."""
        return tuple(dict.fromkeys(t for function in self.functions for t in function.types()))

    def encoded(self, case: Sequence[Any]) -> str:
        """Write a case for a harness.

        Raises:
            ConfigError: if it does not fit the signature.
        """
        if not isinstance(case, list | tuple):
            raise ConfigError(f"a case is {quoted(case)}; give a list of arguments, or of calls")
        words: list[str] = []
        if self.form == "program":
            return str(case[0])
        if not self.class_name:
            _write_arguments(self.function, case, words)
            return "\n".join(words) + "\n"
        names = [function.name for function in self.functions]
        words.append(str(len(case)))
        for number, call in enumerate(case):
            if not isinstance(call, list) or not call:
                raise ConfigError(f"call {number} of a case is {call!r:.60}; give [method, argument, …]")
            name, *arguments = cast("list[Any]", call)
            if (number == 0) != (name == "init") or name not in names:
                raise ConfigError(f"call {number} of a case is {name!r}; the first is init, the others are {names[1:]}")
            words.append(str(names.index(name)))
            _write_arguments(self.functions[names.index(name)], arguments, words)
        return "\n".join(words) + "\n"

    def decoded(self, text: str, case: Sequence[Any]) -> Any:
        """Parse an answer written by a harness.

        Args:
            text: the output after its mark.
            case: the case.

        Raises:
            CandidateError: if it does not fit this signature.
        """
        if self.form == "program":
            return printed(text)
        words = iter(text.split())
        if not self.class_name:
            answer: Any = _read(self.function.result, words)
        else:
            by_name = {function.name: function for function in self.functions}
            answer = [_read(by_name[call[0]].result, words) for call in case[1:]]
        if next(words, None) is not None:
            raise CandidateError("the answer has more in it than the signature says")
        return answer


def _typed(value: Any, where: str) -> Type:
    try:
        return Type.parse(str(value)[:1000])
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error


def _write_arguments(function: Function, values: Sequence[Any], words: list[str]) -> None:
    if len(values) != len(function.parameters):
        raise ConfigError(f"{function.name} takes {len(function.parameters)} arguments, a case has {len(values)}")
    for parameter, value in zip(function.parameters, values, strict=True):
        _write(parameter.type, value, words, f"{function.name}.{parameter.name}")


def _write(kind: Type, value: Any, words: list[str], where: str) -> None:
    match kind.name, value:
        case ("int", int()) if not isinstance(value, bool) and INT_RANGE[0] <= value <= INT_RANGE[1]:
            words.append(str(value))
        case ("float", int() | float()) if not isinstance(value, bool) and math.isfinite(value):
            words.append(repr(float(value)))
        case ("bool", bool()):
            words.append("1" if value else "0")
        case ("string", str()):
            words.append("x" + value.encode().hex())
        case ("list", list()):
            assert kind.item
            words.append(str(len(value)))
            for item in value:
                _write(kind.item, item, words, where)
        case ("any", _):
            words += _any_words(value, where)
        case ("tree", list()):
            words.append(str(len(value)))
            for item in value:
                _write(Type(INT), item, words, where) if item is not None else words.append("n")
        case ("linked-list", list()):
            _write(Type("list", Type(INT)), value, words, where)
        case _:
            shown = repr(value)[:60]
            raise ConfigError(f"{where} is {shown}; its type is {kind} (integers of 64 bits, finite floats)")


def _read(kind: Type, words: Iterator[str]) -> Any:
    if kind.name == NONE:
        return None
    word = next(words, None)
    if word is None:
        raise CandidateError("the answer ends too early")
    try:
        match kind.name:
            case "int":
                return _integer(word)
            case "float":
                return float(word)
            case "bool":
                return {"0": False, "1": True}[word]
            case "string":
                if word[0] != "x":
                    raise ValueError
                return bytes.fromhex(word[1:]).decode("utf-8", "replace")
            case "any":
                return _any_read(word, words, _MAX_NESTED)
            case "tree":
                return [None if item == "n" else _integer(item) for item in _take(words, int(word))]
            case "linked-list":
                return [_integer(item) for item in _take(words, int(word))]
            case _:
                assert kind.item
                return [_read(kind.item, words) for _ in range(int(word))]
    except (ValueError, KeyError) as error:
        raise CandidateError(f"the answer has {word[:40]!r} where {kind} was expected") from error


def plain(value: Any) -> Any:
    """Return a value without a stated type as a harness returns it: a set or dictionary is a tuple of its name and items.

    Raises:
        ConfigError: if Python has no literal for it.
    """
    words = iter(_any_words(value, "a value"))
    return _any_read(next(words), words, _MAX_NESTED)


def printed(text: str) -> str:
    """Normalize a whole program's output for comparison: without trailing blanks and empty lines at the end."""
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")


def _any_words(value: Any, where: str, depth: int = _MAX_NESTED) -> list[str]:
    if depth < 0:
        raise ConfigError(f"{where} is nested more than {_MAX_NESTED} deep; give a flatter one")

    def nested(items: Iterable[Any]) -> list[list[str]]:
        return [_any_words(item, where, depth - 1) for item in items]

    match value:
        case None:
            return ["n"]
        case bool():
            return [f"b{value:d}"]
        case int():
            return [f"i{value}"]
        case float():
            return [f"d{value!r}"]
        case str():
            return ["x" + value.encode("utf-8", "surrogatepass").hex()]
        case list() | tuple():
            items = nested(cast("Sequence[Any]", value))
            tag = "l" if isinstance(value, list) else "u"
        case set() | frozenset():
            items, tag = sorted(nested(cast("Iterable[Any]", value))), "s"
        case dict():
            pairs = cast("Mapping[Any, Any]", value).items()
            items, tag = sorted([word for one in nested(pair) for word in one] for pair in pairs), "m"
        case _:
            raise ConfigError(f"{where} is {value!r:.60}; give a Python literal")
    return [f"{tag}{len(items)}", *(word for item in items for word in item)]


def _any_read(word: str, words: Iterator[str], depth: int) -> Any:
    tag, rest = word[0], word[1:]
    if tag in "nbidx":
        return {
            "n": lambda: None,
            "b": lambda: {"0": False, "1": True}[rest],
            "i": lambda: int(rest),
            "d": lambda: float(rest),
            "x": lambda: bytes.fromhex(rest).decode("utf-8", "replace"),
        }[tag]()
    if tag not in "lusm" or depth < 0:
        raise ValueError
    taken = _take(words, int(rest) * (2 if tag == "m" else 1))
    items = [_any_read(item, words, depth - 1) for item in taken]
    if tag in "lu":
        return items if tag == "l" else tuple(items)
    return ("set", *items) if tag == "s" else ("dictionary", *items)


def _integer(word: str) -> int:
    value = int(word)
    if not INT_RANGE[0] <= value <= INT_RANGE[1]:
        raise ValueError
    return value


def _take(words: Iterator[str], count: int) -> Iterator[str]:
    for _ in range(count):
        word = next(words, None)
        if word is None:
            raise CandidateError("the answer ends too early")
        yield word
