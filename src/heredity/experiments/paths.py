"""Paths in a configuration: as seen from the file that names them, and absolute once it is read.

A suite may be resumed from another folder than it was started in, and one that is installed is run from anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from heredity.plugins import located
from heredity.posttraining.models.bases import located_model
from heredity.tasks.registry import located_taskset

PATHS: Mapping[str, Callable[[str, Path], str]] = MappingProxyType(
    {
        "run.tasksets": located_taskset,
        "run.ood": located_taskset,
        "evolver.initial": located,
        "evolver.launcher": lambda name, base: located(name, base) if "/" in name else name,
        "evolver.read_only": located,
        "schedule.plan": located,
        "training.base_model": located_model,
        "gateway.cache": located,
    }
)
"""The keys that may name files, and what makes a value of one absolute, as seen from a folder."""


def with_absolute_paths(data: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Return a configuration, not yet checked, with the paths in it, as seen from the folder `base`, made absolute.

    Raises:
        ConfigError: if a path is in a package that is not installed.
    """
    result: dict[str, Any] = {name: dict(part) if isinstance(part, Mapping) else part for name, part in data.items()}
    for key, place in PATHS.items():
        section, name = key.split(".")
        for values, own in ((result.get(section), name), (result.get("matrix"), key)):
            if isinstance(values, dict) and own in values:
                values[own] = _absolute(values[own], place, base)
    return result


def _absolute(value: Any, place: Callable[[str, Path], str], base: Path) -> Any:
    """Apply `place` to a text, or to each of a list; what is neither is left to the check of the configuration."""
    if isinstance(value, list):
        return [_absolute(item, place, base) for item in cast(list[Any], value)]
    return place(value, base) if isinstance(value, str) else value
