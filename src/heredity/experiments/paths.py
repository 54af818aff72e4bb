"""Paths in a configuration: as seen from the file that names them, and absolute once it is read.

A suite may be resumed from another folder than it was started in, and one that is installed is run from anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel


def with_absolute_paths(data: Mapping[str, Any], model: type[BaseModel], base: Path) -> dict[str, Any]:
    """Return a configuration, not yet checked, with its paths made absolute; its matrix too.

    Args:
        data: the configuration.
        model: its type; the type of a section says by `paths` which of its keys may name files.
        base: the folder that paths are seen from.

    Raises:
        ConfigError: if a path is in a package that is not installed.
    """
    result: dict[str, Any] = {name: dict(part) if isinstance(part, Mapping) else part for name, part in data.items()}
    for section, field in model.model_fields.items():
        for key, place in getattr(field.annotation, "paths", {}).items():
            for values, name in ((result.get(section), key), (result.get("matrix"), f"{section}.{key}")):
                if isinstance(values, dict) and name in values:
                    values[name] = _absolute(values[name], place, base)
    return result


def _absolute(value: Any, place: Callable[[str, Path], str], base: Path) -> Any:
    """Apply `place` to a text, or to each of a list; what is neither is left to the check of the configuration."""
    if isinstance(value, list):
        return [_absolute(item, place, base) for item in cast(list[Any], value)]
    return place(value, base) if isinstance(value, str) else value
