"""Reading tables of a TOML file one key at a time: wrong types are rejected, unread keys are listed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from heredity._core.errors import ConfigError


class Section:
    """One table of a file.

    Args:
        file: the file, for messages.
        key: its dotted name in the file; empty for the whole file.
        values: the parsed values.
        unknown: collects the dotted names of unread keys.
    """

    def __init__(self, file: Path, key: str, values: Mapping[str, Any], unknown: list[str]) -> None:
        self.file = file
        self._key, self._values, self._unknown = key, values, unknown
        self._asked: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def refuse(self, name: str, expected: str) -> NoReturn:
        """Reject the value of a key.

        Raises:
            ConfigError: naming the file, the key, the value and the expected form.
        """
        given = repr(self._values.get(name))
        raise ConfigError(
            f"{self.file}: {self._name(name)} is {given if len(given) <= 100 else given[:100] + '…'}; "
            f"expected {expected}; correct it or leave the key out"
        )

    def text(self, name: str) -> str | None:
        """Return a text, or None if the key is absent."""
        return self._value(name, "a text", lambda value: isinstance(value, str))

    def choice(self, name: str, choices: tuple[str, ...]) -> str | None:
        """Return one of some texts, or None if the key is absent."""
        return self._value(name, " or ".join(map(repr, choices)), lambda value: value in choices)

    def flag(self, name: str) -> bool | None:
        """Return true or false, or None if the key is absent."""
        return self._value(name, "true or false", lambda value: isinstance(value, bool))

    def positive(self, name: str) -> float | None:
        """Return a finite number above 0, or None if the key is absent."""
        number = self._value(name, "a finite number above 0", lambda value: _is_number(value) and value > 0)
        return None if number is None else float(number)

    def number(self, name: str) -> float | None:
        """Return a finite number, or None if the key is absent."""
        given = self._value(name, "a finite number", _is_number)
        return None if given is None else float(given)

    def numbers(self, name: str) -> float | dict[str, float] | None:
        """Return a finite number or a table of them, or None if the key is absent."""
        return self._value(
            name,
            "a finite number, or a table of finite numbers",
            lambda value: all(map(_is_number, value.values())) if isinstance(value, dict) else _is_number(value),
        )

    def count(self, name: str, least: int = 0) -> int | None:
        """Return a whole number of at least `least`, or None if the key is absent."""
        return self._value(
            name,
            f"a whole number, {least} or more",
            lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least,
        )

    def user(self, name: str = "user") -> str | None:
        """Return the name or the number of a user as a text, or None if the key is absent."""
        given = self._value(name, "a user's name or number", lambda value: type(value) in (str, int))
        return None if given is None else str(given)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; empty if the key is absent."""
        given = self._value(name, "a list of texts", lambda value: isinstance(value, list) and _all_text(value))
        return tuple(given or ())

    def variables(self, name: str = "env") -> dict[str, str]:
        """Return a table of texts; empty if the key is absent."""
        given = self._value(
            name, "a table of texts", lambda value: isinstance(value, dict) and _all_text(list(value.values()))
        )
        return dict(given or {})

    def table(self, name: str) -> dict[str, Any]:
        """Return a table unchanged; empty if the key is absent."""
        return dict(self._value(name, "a table", lambda value: isinstance(value, dict)) or {})

    def items(self, name: str) -> tuple[Any, ...]:
        """Return a list unchanged; empty if the key is absent."""
        return tuple(self._value(name, "a list", lambda value: isinstance(value, list)) or ())

    def section(self, name: str) -> Section:
        """Return a table as a section; an empty one if the key is absent."""
        return Section(self.file, self._name(name), self.table(name), self._unknown)

    def sections(self, name: str) -> list[Section]:
        """Return a list of tables as sections; empty if the key is absent."""
        tables = self.items(name)
        if not all(isinstance(item, dict) for item in tables):
            self.refuse(name, "a list of tables")
        return self.entries(name, "")

    def entries(self, name: str, key: str) -> list[Section]:
        """Return a list of tables as sections; a text stands for a table with only this key."""
        entries = self.items(name)
        if not all(isinstance(entry, str | dict) for entry in entries):
            self.refuse(name, "a list of texts and tables")
        tables: list[dict[str, Any]] = [{key: entry} if isinstance(entry, str) else entry for entry in entries]
        return [
            Section(self.file, f"{self._name(name)}[{index}]", table, self._unknown)
            for index, table in enumerate(tables)
        ]

    def close(self) -> None:
        """List the keys that were not read."""
        self._unknown += [self._name(name) for name in self._values if name not in self._asked]

    def _name(self, name: str) -> str:
        return f"{self._key}.{name}" if self._key else name

    def _value(self, name: str, expected: str, fits: Callable[[Any], bool]) -> Any:
        self._asked.add(name)
        if name not in self._values:
            return None
        if not fits(self._values[name]):
            self.refuse(name, expected)
        return self._values[name]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _all_text(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)
