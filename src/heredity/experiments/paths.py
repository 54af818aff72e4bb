"""Paths in a configuration: as seen from the file that names them, and absolute once it is read.

A suite may be resumed from another folder than it was started in, and one that is installed is run from anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from heredity.configuration.sections import Locate


def with_absolute_paths(data: Mapping[str, Any], places: Mapping[str, Locate], base: Path) -> dict[str, Any]:
    """Return a configuration, not yet checked, with the paths in it, as seen from the folder `base`, made absolute.

    Args:
        data: the configuration.
        places: the dotted keys that may name files, `*` for any table, and what makes a value of one absolute.
        base: a folder.

    Raises:
        ConfigError: if a path is in a package that is not installed.
    """
    result: dict[str, Any] = {name: dict(part) if isinstance(part, Mapping) else part for name, part in data.items()}
    for key, locate in places.items():
        section, *every, name = key.split(".")
        tables: Any = result.get(section)
        if every and isinstance(tables, dict):
            named = cast(dict[str, Any], tables)
            result[section] = {
                own: dict(table) if isinstance(table, Mapping) else table for own, table in named.items()
            }
        given: list[Any] = list(result.get(section, {}).values()) if every and isinstance(tables, dict) else [tables]
        for values, own in (*((table, name) for table in given), (result.get("matrix"), key)):
            if isinstance(values, dict) and own in values:
                values[own] = _absolute(values[own], locate, base)
    return result


def _absolute(value: Any, locate: Locate, base: Path) -> Any:
    """Apply `locate` to a text, or to each of a list; what is neither is left to the check of the configuration."""
    if isinstance(value, list):
        return [_absolute(item, locate, base) for item in cast(list[Any], value)]
    return locate(value, base) if isinstance(value, str) else value
