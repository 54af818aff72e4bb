"""Paths in a configuration: relative to the file that names them, and absolute once it is read.

A suite may be resumed from another folder than it was started in, and an installed suite runs from anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from heredity._core.ids import digest_json
from heredity.configuration.sections import Locate
from heredity.experiments.model_files import digest_of


def with_absolute_paths(data: Mapping[str, Any], places: Mapping[str, Locate], base: Path) -> dict[str, Any]:
    """Make the paths of a configuration absolute, before it is checked.

    Args:
        data: the configuration.
        places: dotted keys that may name files (`*` for any table), each with the function that makes a value
            absolute.
        base: folder that relative paths start from.

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
    """Apply `locate` to a string, or to each item of a list; the check of the configuration handles anything else."""
    if isinstance(value, list):
        return [_absolute(item, locate, base) for item in cast(list[Any], value)]
    return locate(value, base) if isinstance(value, str) else value


def named(value: Any) -> Any:
    """Return the public name of a file or folder, which does not reveal its location on this machine.

    A file of Heredity is called `heredity:…`, as a configuration may write it. Any other has its name and the first
    characters
    of a digest of its content.

    Args:
        value: an absolute path; anything else is returned unchanged.
    """
    if not isinstance(value, str) or not Path(value).is_absolute():
        return value
    path, own = Path(value), Path(str(files("heredity")))
    if path.is_relative_to(own):
        return f"heredity:{path.relative_to(own).as_posix()}"
    return f"{path.name} ({(digest_of(path) if path.exists() else digest_json(value))[:8]})"


def brief(value: Any, values: Sequence[Any]) -> Any:
    """Return the last parts of an absolute path that distinguish it from others; anything else is returned unchanged.

    Args:
        value: one of `values`.
        values: all possible values.
    """
    if not isinstance(value, str) or not Path(value).is_absolute():
        return value
    others = [Path(other).parts for other in values if isinstance(other, str) and other != value]
    parts = Path(value).parts
    enough = (n for n in range(1, len(parts)) if all(parts[-n:] != other[-n:] for other in others))
    return "/".join(parts[-next(enough, len(parts) - 1) :])
